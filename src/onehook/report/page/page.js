"use strict";
// Draws the report from the JSON in #data. What comes from the log reaches the page as text only: textContent, attributes, never HTML.
(() => {
  const { KINDS, byId, count, many, ms, clock, dayName, make, put, pill, nothing, table, theme } = kit;
  const sum = (row, kinds) => kinds.reduce((all, kind) => all + row[kind], 0);
  const data = JSON.parse(document.getElementById("data").textContent);
  const used = Object.keys(KINDS).filter((kind) => data.total[kind] || kind === "denied");
  data.by_agent.sort((a, b) => sum(b, used) - sum(a, used));

  // --- tables ---------------------------------------------------------------------------------------------------------------------

  const counts = (kinds) => kinds.map((kind) => [KINDS[kind], (row) => count(row[kind]), "n"]);
  const behind = (...content) => make("details", { class: "table" }, make("summary", {}, "Show as a table"), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table" }, ...content));

  /** The first rows of a table, and a button for the others. */
  function shortTable(most, caption, rows, columns) {
    const holder = make("div");
    const draw = (shown) => {
      const button = make("button", { type: "button", click: () => { draw(rows); holder.querySelectorAll("tbody tr")[most].querySelector("button")?.focus(); } }, `Show all ${rows.length}`);
      holder.replaceChildren(table(caption, shown, columns, "stack"), shown.length < rows.length ? make("div", { class: "more" }, button) : "");
    };
    draw(rows.slice(0, most));
    return holder;
  }

  // --- charts ---------------------------------------------------------------------------------------------------------------------

  const drawn = [];
  /** A chart that is drawn again when its width changes. */
  function chart(place, draw) {
    const holder = make("div");
    drawn.push([holder, draw]);
    place.append(holder);
  }
  function redraw() {
    for (const [holder, draw] of drawn) if (holder.clientWidth) holder.replaceChildren(draw(holder.clientWidth));
  }
  const svgOf = (width, height, attributes) => {
    const svg = d3.create("svg").attr("viewBox", [0, 0, width, height]).attr("width", width).attr("height", height);
    for (const [name, value] of Object.entries(attributes)) svg.attr(name, value);
    return svg;
  };

  /** Bars that can be clicked, or reached with Tab and the arrow keys. */
  function buttons(svg, rows, kinds, place, filter, what) {
    const series = d3.stack().keys(kinds)(rows);
    rows.forEach((row, at) => {
      series.filter((one) => row[one.key]).forEach((one) => {
        const label = `${what(row)}: ${count(row[one.key])} ${KINDS[one.key].toLowerCase()}`;
        const bar = svg.append("rect").attr("class", `bar k-${one.key}`).attr("role", "button").attr("tabindex", -1).attr("aria-label", label).attr("data-tip", label);
        for (const [name, value] of Object.entries(place(row, one[at]))) bar.attr(name, value);
        bar.on("click", () => go({ ...filter(row), decision: one.key }));
      });
    });
    const bars = [...svg.node().querySelectorAll(".bar")];
    bars[0]?.setAttribute("tabindex", 0);
    svg.on("keydown", (event) => {
      const at = bars.indexOf(event.target);
      const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: bars.length - 1 }[event.key];
      if (event.key === "Enter" || event.key === " ") event.target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      else if (to === undefined || !bars[to]) return;
      else {
        bars[at].setAttribute("tabindex", -1);
        bars[to].setAttribute("tabindex", 0);
        bars[to].focus();
      }
      event.preventDefault();
    });
    return svg.node();
  }
  const most = (rows, kinds) => Math.max(1, ...rows.map((row) => sum(row, kinds)));

  function dayChart(width) {
    const [height, left, bottom] = [270, 34, 24];
    const x = d3.scaleBand().domain(data.days.map((day) => day.name)).range([left, width]).padding(0.22).paddingOuter(0.1);
    const y = d3.scaleLinear().domain([0, most(data.days, used)]).nice(5).range([height - bottom, 8]);
    const svg = svgOf(width, height, { role: "group", "aria-label": "Decisions by day, stacked. Use the arrow keys to move between bars, and Enter to show the events of one." });
    const every = Math.ceil((data.days.length * 52) / (width - left));
    const days = d3.axisBottom(x).tickSize(0).tickPadding(9).tickValues(x.domain().filter((_, at) => at % every === 0)).tickFormat(dayName);
    const whole = y.ticks(5).filter(Number.isInteger);
    svg.append("g").attr("class", "axis").attr("aria-hidden", true).attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).tickValues(whole).tickFormat(count).tickSize(left - width));
    svg.append("g").attr("class", "axis").attr("aria-hidden", true).attr("transform", `translate(0,${height - bottom})`).call(days);
    const wide = Math.min(x.bandwidth(), 44);
    const place = (day, [from, to]) => ({ x: x(day.name) + (x.bandwidth() - wide) / 2, y: y(to), width: wide, height: y(from) - y(to), rx: 2 });
    return buttons(svg, data.days, used, place, (day) => ({ day: day.name }), (day) => day.name);
  }

  function agentChart(width) {
    const [row, left, right] = [42, 84, 44];
    const x = d3.scaleLinear().domain([0, most(data.by_agent, used)]).range([left, width - right]);
    const svg = svgOf(width, data.by_agent.length * row, { role: "group", "aria-label": "Decisions by agent, stacked. Use the arrow keys to move between bars, and Enter to show the events of one." });
    data.by_agent.forEach((agent, at) => {
      svg.append("text").attr("class", "name").attr("aria-hidden", true).attr("x", 0).attr("y", at * row + 25).text(agent.name);
      svg.append("text").attr("class", "name").attr("aria-hidden", true).attr("x", x(sum(agent, used)) + 8).attr("y", at * row + 25).text(count(sum(agent, used)));
    });
    const place = (agent, [from, to]) => ({ x: x(from), y: data.by_agent.indexOf(agent) * row + 8, width: x(to) - x(from), height: 24, rx: 2 });
    return buttons(svg, data.by_agent, used, place, (agent) => ({ agent: agent.name }), (agent) => agent.name);
  }

  function timeChart(width) {
    const [height, left, bottom, top] = [240, 34, 24, 34];
    const bins = data.times;
    const x = d3.scaleLog().domain([bins[0][0], bins[bins.length - 1][1]]).range([left, width]);
    const y = d3.scaleLinear().domain([0, Math.max(...bins.map((bin) => bin[2]))]).nice(4).range([height - bottom, top]);
    const told = ["p50", "p95", "p99"].map((name) => `${name} ${ms(data.total[name])}`).join(", ");
    const svg = svgOf(width, height, { role: "img", "aria-label": `Distribution of ${many(data.total.events, "event")} by milliseconds: ${told}` });
    svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(4).tickFormat(count).tickSize(left - width));
    let end = -Infinity;
    const apart = (step) => x(step) >= left && x(step) <= width && x(step) - end > 46 && ((end = x(step)), true);
    const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 100000].filter(apart);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - bottom})`).call(d3.axisBottom(x).tickValues(steps).tickFormat((step) => (step < 1000 ? `${step} ms` : `${step / 1000} s`)).tickSize(4));
    for (const [from, to, number] of bins) {
      svg.append("rect").attr("class", "time").attr("x", x(from) + 1).attr("width", Math.max(1, x(to) - x(from) - 2)).attr("y", y(number)).attr("height", y(0) - y(number)).attr("rx", 2)
        .attr("data-tip", `${ms(from)} to ${ms(to)}: ${many(number, "event")}`);
    }
    let [before, raised] = [-Infinity, false];
    for (const name of ["p50", "p95", "p99"]) {
      const at = Math.min(Math.max(x(data.total[name]), left), width);
      raised = at - before < 30 && !raised; // a label close to another one is moved up
      before = at;
      const mark = svg.append("g").attr("class", "mark");
      mark.append("line").attr("x1", at).attr("x2", at).attr("y1", raised ? 14 : top - 6).attr("y2", height - bottom);
      mark.append("text").attr("x", at).attr("y", raised ? 10 : top - 10).attr("text-anchor", "middle").text(name);
    }
    return svg.node();
  }

  /** A thin stacked bar next to the same figures as text. */
  function thinBar(row, kinds, largest, width = 120) {
    const svg = svgOf(width, 12, { "aria-hidden": true });
    const x = d3.scaleLinear().domain([0, largest]).range([0, width]);
    for (const one of d3.stack().keys(kinds)([row])) svg.append("rect").attr("class", `k-${one.key}`).attr("x", x(one[0][0])).attr("width", x(one[0][1]) - x(one[0][0])).attr("height", 12).attr("rx", 2);
    return svg.node();
  }

  // --- the parts of the page ---------------------------------------------------------------------------------------------------------

  function figures() {
    const share = (kind) => (data.total.events ? `${((100 * data.total[kind]) / data.total.events).toFixed(1)} % of events` : "");
    const told = {
      events: `${many(data.by_agent.length, "agent")}, ${many(data.projects.length, "project")}`,
      would_deny: "in observe mode", overridden: "by a pause or a person", errors: "of a policy",
    };
    const card = (kind, label) => make("li", {}, make("button", { type: "button", class: `k-${kind}`, click: () => go(kind === "events" ? {} : { decision: kind }) },
      make("span", { class: "label" }, label), make("span", { class: "value" }, count(data.total[kind])), make("span", { class: "share" }, told[kind] ?? share(kind)), spark(kind)));
    put("figures", card("events", "Events"), ...Object.entries(KINDS).filter(([kind]) => kind !== "allowed").map((pair) => card(...pair)));
  }
  function spark(kind) {
    const [width, height] = [120, 26];
    const x = d3.scaleBand().domain(data.days.map((day) => day.name)).range([0, width]).padding(0.2);
    const y = d3.scaleLinear().domain([0, most(data.days, [kind])]).range([0, height]);
    const svg = svgOf(width, height, { "aria-hidden": true, preserveAspectRatio: "none" });
    for (const day of data.days) svg.append("rect").attr("x", x(day.name)).attr("width", x.bandwidth()).attr("y", height - y(day[kind])).attr("height", y(day[kind]));
    return svg.node();
  }

  function legend() {
    const swatch = (kind) => {
      const svg = svgOf(11, 11, { class: "swatch", "aria-hidden": true });
      svg.append("rect").attr("class", `k-${kind}`).attr("width", 11).attr("height", 11).attr("rx", 2);
      return svg.node();
    };
    put("legend", ...used.map((kind) => make("li", {}, swatch(kind), KINDS[kind])));
  }

  function decisions() {
    if (!sum(data.total, used)) {
      put("days", nothing("No decisions in this period."));
      put("agents", nothing("No decisions in this period."));
      return;
    }
    chart(byId("days"), dayChart);
    byId("days").append(behind(table("Decisions by day", data.days, [["Day", (day) => day.name], ["Events", (day) => count(day.events), "n"], ...counts(used)])));
    chart(byId("agents"), agentChart);
    const columns = [["Agent", (agent) => agent.name], ["Events", (agent) => count(agent.events), "n"], ...counts(used)];
    byId("agents").append(behind(table("Decisions by agent", data.by_agent, columns)));
  }

  const ruleButton = (rule, filter = {}) => make("button", { type: "button", class: "link code", click: () => go({ rule: rule.name, ...filter }) }, rule.name);

  function rules() {
    const largest = most(data.rules, used);
    const about = (rule) => [ruleButton(rule), make("div", {}, make("span", { class: `sev ${rule.severity}` }, rule.severity || rule.kind))];
    put("rules", data.rules.length ? shortTable(8, "Rules that decided", data.rules, [
      ["Rule", about, "w-rule"], ["Why", (rule) => rule.reason || "–"], ["Events", (rule) => count(rule.events), "n"], ...counts(used),
      ["Share", (rule) => thinBar(rule, used, largest), "bars"],
    ]) : nothing("No rule decided anything in this period."));
  }

  function observe() {
    const found = data.rules.filter((rule) => rule.would_deny).sort((a, b) => b.would_deny - a.would_deny);
    if (!found.length) return put("observe", nothing("Nothing. Every denial took effect, or no policy was in observe mode."));
    const largest = most(found, ["would_deny"]);
    const example = (rule) => data.contexts.findLast((context) => context.marks.includes("would_deny") && context.by.some((one) => one.name === rule.name))?.subject ?? "–";
    put("observe",
      make("p", {}, `${many(data.total.would_deny, "call")} went through that the policy denies. In mode "enforce" the agents would have been stopped.`),
      shortTable(5, "What observe mode would have blocked", found, [
        ["Rule", (rule) => [ruleButton(rule, { decision: "would_deny" })], "w-observed"], ["For example", (rule) => [make("code", {}, example(rule))]],
        ["Would deny", (rule) => count(rule.would_deny), "n"], ["Share", (rule) => thinBar(rule, ["would_deny"], largest), "bars"],
      ]));
  }

  function look() {
    const item = (warn, title, ...content) => make("li", { class: warn ? "warn" : null }, make("h3", {}, title), ...content);
    const items = [];
    if (data.total.errors) items.push(item(true, `${many(data.total.errors, "error")} of a policy`, make("p", {}, make("button", { type: "button", class: "link", click: () => go({ decision: "errors" }) }, "Show them"))));
    for (const one of data.exceptions) items.push(item(true, `An exception ends on ${one.until}`, make("p", {}, make("code", {}, one.rule), `: ${one.reason ?? ""}`), make("p", { class: "dim" }, `${one.file}:${one.line}`)));
    if (data.agents_without_policy.length) items.push(item(true, `${many(data.agents_without_policy.length, "agent")} without a policy`, make("p", {}, data.agents_without_policy.join(", "))));
    const silent = data.never_fired;
    if (silent.length) {
      const list = make("details", {}, make("summary", {}, "Show them"), make("p", { class: "code" }, silent.join(", ")));
      items.push(item(false, `${many(silent.length, "rule")} never fired`, make("p", { class: "dim" }, `on in ${data.rules_file}`), list));
    }
    put("look", items.length ? make("ul", { class: "items" }, ...items) : nothing("Nothing: no errors, no exception about to end, and every agent found here has a policy."));
  }

  function times() {
    if (!data.times.length) return put("times", nothing("No events in this period."));
    const names = ["p50", "p95", "p99"];
    put("times", make("div", { class: "chips" }, ...names.map((name) => make("div", {}, make("b", {}, ms(data.total[name])), make("span", {}, name)))));
    chart(byId("times"), timeChart);
    byId("times").append(behind(
      table("Milliseconds by agent", data.by_agent, [["Agent", (agent) => agent.name], ...names.map((name) => [name, (agent) => ms(agent[name]), "n"])]),
      table("Distribution", data.times, [["From", (bin) => ms(bin[0]), "n"], ["To", (bin) => ms(bin[1]), "n"], ["Events", (bin) => count(bin[2]), "n"]])));
  }

  function projects() {
    const kinds = ["denied", "would_deny", "errors"].filter((kind) => kind === "denied" || data.total[kind]);
    const name = (project) => [make("button", { type: "button", class: "link", click: () => go({ project: project.name }) }, project.name || "(none)")];
    put("projects", data.projects.length ? shortTable(8, "Projects", data.projects, [["Project", name, "w-project"], ["Events", (project) => count(project.events), "n"], ...counts(kinds)]) : nothing("No events in this period."));
  }

  // --- events -----------------------------------------------------------------------------------------------------------------------

  const events = data.events.map(([time, id, took, session, context]) => ({ time, id, took, session, ...data.contexts[context] }));
  const kindsOf = (event) => (event.marks.length ? event.marks : [event.outcome]);
  const VALUES = {
    agent: (event) => [event.agent], rule: (event) => event.by.map((one) => one.name), decision: kindsOf,
    project: (event) => [event.project], day: (event) => [event.time.slice(0, 10)],
  };
  const PAGE = 50;
  let wanted = {};
  let shown = PAGE;

  function filters() {
    const fields = Object.keys(VALUES).map((name) => {
      const known = [...new Set(events.flatMap(VALUES[name]))].sort();
      if (name === "day") known.reverse();
      const field = make("select", { name, id: `by-${name}` }, make("option", { value: "" }, "All"), ...known.map((value) => make("option", { value }, name === "decision" ? KINDS[value] ?? value : value || "(none)")));
      return make("label", {}, name[0].toUpperCase() + name.slice(1), field);
    });
    const search = make("label", {}, "Command, path, reason or session", make("input", { type: "search", name: "text", id: "by-text" }));
    put("filters", ...fields, search, make("button", { type: "button", id: "clear", click: () => filter({}) }, "Clear"));
    byId("filters").addEventListener("input", (event) => filter({ ...wanted, [event.target.name]: event.target.value }));
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
  }

  function filter(given) {
    wanted = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
    shown = PAGE;
    for (const field of byId("filters").elements) {
      if (!field.name) continue;
      const value = wanted[field.name] ?? "";
      // A value that no event in the list has, since its events are older.
      if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) field.append(make("option", { value }, KINDS[value] ?? value));
      if (field.value !== value) field.value = value;
      field.classList.toggle("on", value !== "");
    }
    list();
  }
  /** Shows the events of a bar, a figure or a rule, and scrolls to them. */
  function go(given) {
    filter(given);
    byId("events").focus({ preventScroll: true });
    byId("events").scrollIntoView();
  }

  function fits(event) {
    const text = (wanted.text ?? "").toLowerCase();
    return Object.entries(VALUES).every(([name, values]) => wanted[name] === undefined || values(event).includes(wanted[name]))
      && (!text || [event.subject, event.reason, event.error, event.session, event.id].some((part) => part.toLowerCase().includes(text)));
  }

  function list() {
    const found = events.filter(fits);
    const oldest = events.length ? clock(events[events.length - 1].time) : "";
    const bound = data.older ? ` This page contains the newest ${count(events.length)} decisions, since ${oldest}; older ones are in the figures above, and in \`onehook log\`.` : "";
    put("shown", `${found.length === events.length ? "" : `${count(found.length)} of `}${many(events.length, "decision")}.${bound}`);
    if (!found.length) return put("list", nothing(data.older ? "No event on this page matches. Older ones may." : "No event matches."));
    const heads = [["Time (UTC)", "time"], ["Decision", "decision"], ["Agent", "agent"], ["Tool", "tool"], ["What", "what"], ["Rule", "rule"]];
    const body = make("tbody", {}, ...found.slice(0, shown).map(row));
    const more = make("button", { type: "button", click: () => { const from = shown; shown += PAGE; list(); byId("list").querySelectorAll(".toggle")[from]?.focus(); } }, `Show ${Math.min(PAGE, found.length - shown)} more`);
    put("list",
      make("table", { class: "stack" }, make("caption", { class: "quiet" }, "Events, newest first"),
        make("thead", {}, make("tr", {}, ...heads.map(([heading, name]) => make("th", { scope: "col", class: `w-${name}` }, heading)))), body),
      found.length > shown ? make("div", { class: "more" }, more) : "");
  }

  function row(event) {
    const kind = event.marks[0] ?? "other";
    const label = event.marks[0] === "overridden" ? "overridden" : event.outcome;
    const toggle = make("button", { type: "button", class: "toggle", "aria-expanded": "false", "aria-label": `${clock(event.time)}: details of ${event.id}` }, clock(event.time));
    const names = [...new Set(event.by.map((one) => one.name))].join(", ");
    const line = make("tr", {},
      make("td", { class: "inline" }, toggle), make("td", { class: "inline" }, pill(kind, label)), make("td", { class: "inline" }, event.agent),
      make("td", { class: "inline" }, event.tool || event.event), make("td", {}, make("code", { class: "what" }, event.subject || "–")), make("td", { class: "code dim" }, names || "–"));
    toggle.addEventListener("click", () => {
      const open = toggle.getAttribute("aria-expanded") !== "true";
      toggle.setAttribute("aria-expanded", open);
      line.classList.toggle("open", open);
      if (open) line.after(make("tr", { class: "story" }, make("td", { colspan: 6 }, story(event))));
      else line.nextElementSibling.remove();
    });
    return line;
  }

  /** The same details as `onehook log show`. */
  function story(event) {
    const { parts, findings, agents, policy_now: now } = event.story;
    const paused = event.pause && `${event.pause.rules.join(", ") || "everything"} until ${clock(event.pause.until)}${event.pause.reason ? `: ${event.pause.reason}` : ""}`;
    const said = event.by.map((one) => `${one.said}${one.exception ? ` (lifted by an exception: ${one.exception})` : one.observed ? " (no effect)" : ""} by the ${one.kind} ${one.name}, ${one.file ?? ""}${one.line ? `:${one.line}` : ""}${one.reason ? `\n${one.reason}` : ""}`);
    const facts = [
      ["What", event.subject], ["When", `${clock(event.time)} UTC, ${ms(event.took)}`],
      ["Agent", `${event.agent}${event.agent_version ? ` ${event.agent_version}` : ""}, session ${event.session || "not named"}`], ["Project", event.project],
      ["Event", `${event.event} ${event.tool}`], ["Policy", `${event.policy}, mode ${event.mode}, ${now}`], ["Pause", paused], ["Approver", event.approver],
      ["Error", event.error], ["Reason", event.reason], ["Said", said.join("\n")], ["Effects", event.effects.join(", ")],
      ["Not possible", event.dropped.map((drop) => drop.text).join("\n")],
      ["Read as", parts.map((part) => part.command + (part.via.length ? ` (through ${part.via.join(", ")})` : "")).join("\n")],
      ["Matches now", findings.map((one) => `${one.rule} (${one.record}), ${one.file}:${one.line}`).join("\n")],
      ["On each agent", Object.entries(agents).map(([outcome, names]) => `${names.join(", ")}: ${outcome}`).join("\n")],
      ["More", `onehook log show ${event.id}`],
    ];
    const code = new Set(["What", "Read as", "More", "Matches now"]);
    return make("dl", {}, ...facts.filter(([, value]) => value).flatMap(([name, value]) => [make("dt", {}, name), make("dd", { class: code.has(name) ? "code" : null }, value)]));
  }

  // --- the page ---------------------------------------------------------------------------------------------------------------------

  function scope() {
    const span = data.days.length ? `${dayName(data.days[0].name)} to ${dayName(data.days[data.days.length - 1].name)}, ${data.days[data.days.length - 1].name.slice(0, 4)}` : `Since ${clock(data.since)}`;
    const parts = [span, data.agents.length ? `agents: ${data.agents.join(", ")}` : "", data.project ? `project ${data.project}` : ""];
    put("scope", parts.filter(Boolean).join(" · "));
    put("foot", `Made by onehook ${data.version} report on ${clock(data.generated)} UTC from the decision log. Days and times are UTC. Credentials are masked. An event can count for several rules. Times are those of onehook's own code, without the start of the interpreter.`);
  }

  function tips() {
    const tip = byId("tip");
    const show = (event) => {
      const told = event.target.getAttribute?.("data-tip");
      tip.hidden = !told;
      if (!told) return;
      tip.textContent = told;
      const box = event.target.getBoundingClientRect();
      tip.style.left = `${Math.max(6, Math.min(box.left + box.width / 2 - tip.offsetWidth / 2, document.documentElement.clientWidth - tip.offsetWidth - 6))}px`;
      tip.style.top = `${box.top > 50 ? box.top - tip.offsetHeight - 6 : box.bottom + 6}px`;
    };
    for (const name of ["mouseover", "focusin"]) document.addEventListener(name, show);
    document.addEventListener("scroll", () => { tip.hidden = true; });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });
  }

  /** Would-be denials are hatched: they had no effect, and colour alone should not show that. */
  function hatch() {
    const svg = svgOf(0, 0, { "aria-hidden": true });
    const pattern = svg.append("defs").append("pattern").attr("id", "hatch").attr("width", 6).attr("height", 6).attr("patternUnits", "userSpaceOnUse").attr("patternTransform", "rotate(45)");
    pattern.append("rect").attr("width", 6).attr("height", 6);
    pattern.append("path").attr("d", "M2.5 0V6");
    document.body.append(svg.node());
  }

  for (const draw of [theme, hatch, scope, figures, legend, decisions, rules, observe, look, times, projects, filters, tips]) draw();
  filter({});
  redraw();
  let width = document.documentElement.clientWidth;
  window.addEventListener("resize", () => {
    if (width !== document.documentElement.clientWidth) redraw();
    width = document.documentElement.clientWidth;
  });
  for (const name of ["beforeprint", "afterprint"]) window.addEventListener(name, redraw);
})();
