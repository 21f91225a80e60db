"use strict";
// The desk. Requests and decisions quote what agents were told to do: they reach the page as text only, through kit.make.
(() => {
  const { KINDS, byId, count, many, ms, make, put, pill, nothing, table, theme } = kit;
  const state = { requests: [], decisions: [], chosen: "", view: "requests", online: false, pin: true, skew: 0, until: 0, armed: 0, form: "" };
  let visit = null; // {id, token, welcome}: in this page's memory and nowhere else
  const VIEWS = { requests: "Requests", decisions: "Decisions", figures: "Figures", policies: "Policies", health: "Health" };
  const GUARD = 800; // ms for which a request that appeared by itself cannot be answered: the person was looking at another one

  // --- text -------------------------------------------------------------------------------------------------------------------------

  /** Text with every character visible: those that hide, reorder or control text are spelled out. */
  function seen(text) {
    return text.split(/([\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u00a0\u115f\u1160\u3164\uffa0])/u).map((part, at) => {
      if (at % 2 === 0 || part === "\n" || part === "\t") return part;
      const code = part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      return make("span", { class: "odd", title: "an invisible character" }, `U+${code}`);
    });
  }
  const code = (text, style = null) => make("code", { class: style }, ...seen(text));
  const block = (text, label) => make("pre", { class: "block", tabindex: "0", role: "group", "aria-label": label }, ...seen(text));
  /** A path with ~ for the home folder. */
  const short = (path) => (visit && path.startsWith(`${visit.home}/`) ? `~${path.slice(visit.home.length)}` : path);
  const subjectOf = (one) => (one.command || !one.changes.length ? one.subject : `${one.native_tool} ${one.changes.map((change) => short(change.path)).join(", ")}`);
  const lastPart = (path) => path.replace(/[\\/]+$/, "").split(/[\\/]/).pop() || path;
  const localTime = (time) => new Date(time).toLocaleTimeString("en-GB");
  const now = () => Date.now() / 1000 + state.skew;
  const clockOf = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
  function ago(seconds) {
    const [number, unit] = seconds < 60 ? [seconds, "second"] : seconds < 3600 ? [seconds / 60, "minute"] : [seconds / 3600, "hour"];
    return `${many(Math.max(0, Math.floor(number)), unit)} ago`;
  }

  let quietly;
  function say(text) {
    put("said", make("p", {}, text));
    clearTimeout(quietly);
    quietly = setTimeout(() => put("said"), 7000);
  }

  // --- the server -------------------------------------------------------------------------------------------------------------------

  async function call(path, given) {
    const headers = { "Content-Type": "application/json", ...(visit ? { "X-Onehook-Page": visit.token } : {}) };
    const answer = await fetch(`/api/${path}`, given === undefined ? {} : { method: "POST", headers, body: JSON.stringify(given) });
    const value = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(value.error), { status: answer.status });
    return value;
  }

  /** The request that a notification's link names. */
  const linked = () => location.hash.match(/^#([0-9a-f]+-[0-9a-f]+)$/)?.[1] ?? "";

  async function begin() {
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    if (token) {
      history.replaceState(null, "", "/"); // so that it stays neither in the address bar nor in the history
      await call("enter", { token });
    }
    state.chosen = linked();
    visit = await call("visit", {});
    put("pin-kept", ...visit.kept_for.map((minutes) => make("option", { value: minutes, selected: minutes === 15 }, minutes ? many(minutes, "minute") : "this answer only")));
    put("foot", `onehook ${visit.version}. Answers are given as ${visit.by}, with the PIN, and are logged. Press ? for keyboard shortcuts.`);
    const stream = new EventSource(`/api/events?visit=${visit.id}`);
    stream.addEventListener("welcome", (event) => {
      if (JSON.parse(event.data).welcome === visit.welcome) return online(true);
      stream.close();
      lost("Another program is answering in place of the desk. Do not enter your PIN. Run `onehook desk` again, and open the link that it prints.");
    });
    stream.addEventListener("beat", (event) => {
      const { now: time, pin } = JSON.parse(event.data);
      state.skew = time - Date.now() / 1000;
      state.pin = pin;
      notice();
    });
    stream.addEventListener("requests", (event) => arrived(JSON.parse(event.data).requests));
    stream.addEventListener("decisions", (event) => decided(JSON.parse(event.data).decisions));
    stream.addEventListener("error", () => {
      online(false);
      if (stream.readyState === EventSource.CLOSED) lost("The desk was stopped. Run `onehook desk` again, and open the link that it prints.");
    });
  }

  function online(is) {
    state.online = is;
    if (!is) {
      byId("pin").close();
      forget();
    }
    notice();
    headline();
    buttons();
  }
  /** For good: nothing more is sent from this page. */
  function lost(text) {
    visit = null;
    state.lost = text;
    online(false);
  }

  let noticed = null;
  function notice() {
    const text = state.lost ?? (!visit ? null : !state.online ? "The connection to the desk was lost. Trying again." : state.pin ? null
      : "Answers from this page need a PIN, and none is set. Run `onehook approve --set-pin` in a terminal of your own.");
    if (text === noticed) return;
    noticed = text;
    put("notice", ...(text ? [make("p", {}, ...text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part)))] : []));
  }

  function headline() {
    const number = state.requests.length;
    const waiting = state.requests.filter((one) => one.state === "waiting").length;
    const text = state.lost ? "The desk is closed" : !state.online ? "Connecting" : number === 0 ? "Nothing waits for you" : waiting ? `${many(waiting, "request")} ${waiting === 1 ? "waits" : "wait"} for you` : many(number, "request") + " for the next attempt";
    if (byId("headline").textContent !== text) put("headline", text);
    document.title = number ? `(${number}) onehook desk` : "onehook desk";
    const tab = byId("tab-requests");
    tab.replaceChildren("Requests", number ? make("span", { class: "number" }, String(number)) : "");
  }

  // --- the PIN ----------------------------------------------------------------------------------------------------------------------

  let retry = null; // what to do once the PIN is right

  function unlocked(seconds) {
    state.until = seconds ? Date.now() + 1000 * seconds : 0;
    lockButton();
  }
  function lockButton() {
    const left = Math.max(0, state.until - Date.now());
    const button = byId("lock");
    const text = left ? `Lock (${left > 60000 ? `${Math.ceil(left / 60000)} min` : `${Math.ceil(left / 1000)} s`})` : "Unlock";
    button.hidden = !state.online;
    button.classList.toggle("open", left > 0);
    if (button.textContent !== text) button.textContent = text;
  }
  const forget = () => unlocked(0);
  async function lock() {
    forget();
    await call("lock", {});
    say("Locked: the next answer needs the PIN.");
  }

  function askPin(then, ...what) {
    retry = then;
    put("pin-for", ...(what.length ? what : ["You can then answer from this page."]));
    put("pin-problem");
    byId("pin-text").value = "";
    byId("pin").showModal();
    byId("pin-text").focus();
  }
  async function givePin(event) {
    event.preventDefault();
    const button = byId("pin").querySelector("button.go");
    button.disabled = true;
    try {
      const { seconds } = await call("unlock", { pin: byId("pin-text").value, minutes: Number(byId("pin-kept").value) });
      byId("pin").close();
      unlocked(seconds);
      const then = retry;
      retry = null;
      if (then) await then();
      else say("Unlocked.");
    } catch (error) {
      put("pin-problem", error.message);
      byId("pin-text").select();
    } finally {
      byId("pin-text").value = byId("pin").open ? byId("pin-text").value : "";
      button.disabled = false;
    }
  }

  // --- answering --------------------------------------------------------------------------------------------------------------------

  const WHAT = { allow: "Approve", deny: "Deny" };
  async function answer(request, given) {
    if (!state.online) return say("The desk cannot be reached.");
    if (Date.now() < state.armed) return say("This request has just appeared: read it first.");
    const body = { id: request.id, digest: request.digest, decision: "allow", scope: "once", ...given };
    const send = async () => {
      const { said, seconds } = await call("answer", body);
      unlocked(seconds);
      leave(request.id);
      say(said[0].toUpperCase() + said.slice(1) + ".");
    };
    try {
      await send();
    } catch (error) {
      if (error.status === 423) askPin(() => send().catch((problem) => say(problem.message)), `${WHAT[body.decision]}: `, code(body.command || subjectOf(request)));
      else say(error.message);
    }
  }

  /** Continue with the next request, once this one is answered. */
  function leave(id) {
    const at = state.requests.findIndex((one) => one.id === id);
    state.requests = state.requests.filter((one) => one.id !== id);
    state.form = "";
    choose(state.requests[Math.min(Math.max(at, 0), state.requests.length - 1)]?.id ?? "", true);
    byId("request").querySelector("h2")?.focus();
  }

  // --- requests ---------------------------------------------------------------------------------------------------------------------

  function arrived(requests) {
    const known = new Set(state.requests.map((one) => one.id));
    const fresh = requests.filter((one) => !known.has(one.id));
    const at = state.requests.findIndex((one) => one.id === state.chosen);
    state.requests = requests;
    if (chosen()) choose(state.chosen, false);
    else {
      if (at >= 0) say("That request was answered elsewhere, or its agent has ended.");
      choose(requests[Math.min(Math.max(at, 0), requests.length - 1)]?.id ?? "", true);
    }
    if (fresh.length && known.size) say(`${fresh[0].title} asks: ${subjectOf(fresh[0]).slice(0, 80)}`);
  }

  /** Show this request. byItself: the person did not choose it. */
  function choose(id, byItself) {
    const changed = id !== state.chosen;
    if (changed) state.form = "";
    state.chosen = id;
    if (changed && byItself) state.armed = Date.now() + GUARD;
    if (changed && !byItself) state.armed = 0;
    headline();
    waitingList();
    detail();
    ticks();
  }
  function move(by) {
    const at = state.requests.findIndex((one) => one.id === state.chosen);
    const to = state.requests[Math.min(Math.max(at + by, 0), state.requests.length - 1)];
    if (to) choose(to.id, false);
  }
  const chosen = () => state.requests.find((one) => one.id === state.chosen);

  function waitingList() {
    const focused = document.activeElement?.closest?.("#waiting button")?.dataset.id;
    const item = (one) => make("li", {}, make("button", { type: "button", "data-id": one.id, "aria-current": one.id === state.chosen ? "true" : null, click: () => choose(one.id, false) },
      make("span", { class: "who" }, make("span", {}, one.title), make("span", { class: "left", "data-until": one.state === "waiting" ? one.until : null }, one.state === "waiting" ? "" : "next attempt")),
      make("span", { class: "what" }, ...seen(subjectOf(one))), make("span", { class: "who" }, ...seen(lastPart(one.project)))));
    put("waiting", ...(state.requests.length ? state.requests.map(item) : [make("li", { class: "empty" }, "No open requests. New ones appear here.")]));
    if (focused) byId("waiting").querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  const WANTS = { Bash: "run a command", Write: "write a file", Edit: "change a file", Delete: "delete a file", Read: "read a file", WebFetch: "fetch an address", WebSearch: "search the web", MCP: "use an MCP tool" };
  let drawn = "";
  function detail() {
    const one = chosen();
    const key = one ? `${one.id} ${one.digest} ${one.state}` : "none";
    if (key === drawn) return;
    drawn = key;
    const place = byId("request");
    place.className = one ? "" : "none";
    if (!one) {
      place.replaceChildren(make("h2", { tabindex: "-1" }, "All requests are answered"), make("p", {}, "An agent that asks waits for your answer, as long as it can."));
      return;
    }
    const typed = state.form && place.querySelector(".acts form"); // keep what was typed if the same request only changes its state
    place.replaceChildren(...head(one), ...about(one), why(one), ...read(one), facts(one), acts(one, typed));
    buttons();
  }

  function head(one) {
    const who = [lastPart(one.project), one.session ? `session ${one.session.slice(0, 8)}` : "", one.agent ? `subagent ${one.agent}` : ""].filter(Boolean).join(" · ");
    const waits = one.state === "waiting"
      ? make("div", { class: "waits" }, make("b", { "data-until": one.until }), "still waiting")
      : make("div", { class: "waits dim" }, make("b", {}, "Next attempt"), "it has stopped waiting");
    return [
      make("div", { class: "top" },
        make("div", {}, make("h2", { tabindex: "-1" }, `${one.title} wants to ${WANTS[one.tool] ?? (one.native_tool ? `use ${one.native_tool}` : "go on")}`),
          make("p", { class: "where" }, ...seen(who), who ? " · " : "", make("span", { "data-since": one.asked }))), waits),
      make("div", { class: "time-left", "aria-hidden": "true" }, one.state === "waiting" ? make("span", { "data-from": one.asked, "data-to": one.until }) : ""),
    ];
  }

  function about(one) {
    if (one.command) return [block(one.command, "The command")];
    if (one.changes.length) return one.changes.map(difference);
    if (one.url) return [block(one.url, "The address")];
    return [block(one.prompt || one.input, "Subject")];
  }
  function difference(change) {
    const kinds = { "+": "add", "-": "cut", "@": "hunk" };
    const title = { write: "Write", edit: "Change", delete: "Delete", move: "Move" }[change.kind] ?? change.kind;
    const line = ([sign, text]) => make("div", { class: kinds[sign] ?? null, "data-sign": sign === "@" ? "" : sign }, ...seen(text || " "));
    return make("div", { class: "diff" }, make("h3", {}, `${title} `, code(short(change.path)), ...(change.to ? [" to ", code(short(change.to))] : [])),
      change.lines.length ? make("div", { class: "lines", tabindex: "0", role: "group", "aria-label": "The change" }, ...change.lines.map(line)) : "",
      change.note ? make("p", { class: "note" }, change.note) : "");
  }

  function why(one) {
    const asking = one.by.filter((by) => by.said === "ask");
    const place = (by) => (by.file ? ` ${short(by.file)}${by.line ? `:${by.line}` : ""}` : "");
    return make("div", { class: "why" }, make("p", { class: "reason" }, ...seen(one.reason || "No reason given.")),
      ...asking.map((by) => make("p", { class: "small" }, make("span", { class: "dim" }, `${by.kind} `), code(by.name), by.severity ? make("span", { class: `sev ${by.severity}` }, ` ${by.severity}`) : "", make("span", { class: "dim" }, ...seen(place(by))))));
  }

  function read(one) {
    const plain = one.parts.length < 2 && !one.parts.some((part) => part.via.length);
    if (plain) return [];
    const item = (part) => make("li", {}, code(part.command), part.via.length ? make("span", { class: "through" }, "through ", ...seen(part.via.join(", "))) : "",
      ...part.said.map((said) => make("span", { class: "told", title: said.reason }, ...seen(`${said.record}: ${said.rule}`))));
    return [make("h3", {}, "How it is parsed"), make("ol", { class: "parts" }, ...one.parts.map(item))];
  }

  function facts(one) {
    const told = [
      ["Agent", `${one.title} ${one.host_version}`], ["Model", one.model], ["Project", short(one.project)], ["Folder", one.cwd === one.project ? "" : short(one.cwd)], ["Session", one.session],
      ["Subagent", one.agent], ["Event", `${one.event} ${one.native_tool}`], ["Policy", short(one.policy)], ["Request", one.id],
    ];
    return make("details", { class: "facts" }, make("summary", {}, "All details"),
      make("dl", {}, ...told.filter(([, value]) => value.trim()).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, ...seen(value))])), block(one.input, "The whole input"));
  }

  function acts(one, typed) {
    const button = (key, label, style, act) => make("button", { type: "button", class: style, "data-act": key, "aria-keyshortcuts": key, click: act }, label, make("kbd", { "aria-hidden": "true" }, key));
    const form = make("div", { class: "place" });
    const open = (name) => () => show(one, name);
    const always = button("e", "Always…", null, open("always"));
    const possible = one.exception.rules.length > 0;
    always.dataset.never = possible ? "" : "yes";
    if (!possible) always.title = "This request does not come from a rule of a pack or rules file, so no exception is possible";
    const rewrite = button("r", "Rewrite…", null, open("rewrite"));
    rewrite.dataset.never = one.command ? "" : "yes";
    const whole = make("div", { class: "acts" }, make("div", { class: "answers", role: "group", "aria-label": "Answers" },
      button("a", "Approve once", "go", () => answer(one, {})), button("d", "Deny…", "stop", open("deny")),
      button("s", "This session", "first", () => answer(one, { scope: "session" })), always, rewrite), form);
    if (typed) form.append(typed);
    whole.classList.toggle("open", Boolean(typed));
    return whole;
  }
  function buttons() {
    for (const button of byId("request").querySelectorAll(".acts button")) button.disabled = !state.online || button.dataset.never === "yes";
  }

  const FORMS = { deny: denyForm, rewrite: rewriteForm, always: alwaysForm };
  function show(one, name) {
    const place = byId("request").querySelector(".acts .place");
    if (!place) return;
    state.form = state.form === name ? "" : name;
    place.replaceChildren(...(state.form ? [FORMS[name](one)] : []));
    place.parentElement.classList.toggle("open", state.form !== "");
    const field = place.querySelector("input, textarea, select");
    if (field) {
      place.scrollIntoView({ block: "nearest" });
      field.focus();
    } else byId("request").querySelector(`[data-act="${{ deny: "d", rewrite: "r", always: "e" }[name]}"]`)?.focus();
  }
  /** A form that is sent with its button or Ctrl+Enter. */
  function formOf(label, send, ...content) {
    const form = make("form", { "aria-label": label }, ...content);
    form.addEventListener("submit", (event) => { event.preventDefault(); send(); });
    form.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); } });
    return form;
  }
  const submit = (label, style) => make("div", { class: "row" }, make("button", { type: "submit", class: style }, label, make("kbd", { "aria-hidden": "true" }, "Ctrl Enter")));

  function denyForm(one) {
    const words = make("textarea", { rows: "2", maxlength: "4000" });
    return formOf("Deny", () => answer(one, { decision: "deny", words: words.value.trim() }), make("label", {}, "Message for the model (optional)", words), submit("Deny", "stop full"));
  }

  function rewriteForm(one) {
    const text = make("textarea", { rows: "3", class: "mono", spellcheck: "false", autocapitalize: "off", required: true });
    text.value = one.command;
    const hint = one.rewritable ? "" : make("p", { class: "dim small" }, `${one.title} cannot run a changed command: the original is denied, and the model is told to run yours.`);
    const send = () => (text.value.trim() === one.command.trim() ? say("That is the same command.") : answer(one, { command: text.value }));
    return formOf("Rewrite", send, make("label", {}, "Run this instead", text), hint, submit("Run this", "go"));
  }

  function alwaysForm(one) {
    const { rules, suggested, until } = one.exception;
    const rule = make("select", {}, ...rules.map((name) => make("option", { value: name }, name)));
    const what = make("input", { type: "text", class: "mono", required: true, spellcheck: "false", autocapitalize: "off" });
    what.value = one.command ? suggested : one.changes[0]?.path ?? "";
    const end = make("input", { type: "date", required: true });
    end.value = until;
    const reason = make("input", { type: "text", required: true, maxlength: "300" });
    const place = make("div", { class: "preview", role: "status" });
    const given = () => ({ rule: rule.value, [one.command ? "command" : "path"]: what.value.trim(), until: end.value, reason: reason.value.trim() });
    let draft = null;
    const look = async () => {
      try {
        draft = { given: JSON.stringify(given()), ...(await call("exception", { id: one.id, digest: one.digest, ...given() })) };
        place.replaceChildren(make("p", { class: "small" }, "This will be added to ", code(short(draft.file)), ":"), block(draft.added, "Preview"),
          make("div", { class: "row" }, make("button", { type: "submit", class: "go" }, "Write it, and approve", make("kbd", { "aria-hidden": "true" }, "Ctrl Enter"))));
      } catch (error) {
        draft = null;
        place.replaceChildren(make("p", { class: "problem" }, error.message), first);
      }
    };
    const first = submit("Show the preview", null);
    const send = () => (draft && draft.given === JSON.stringify(given()) ? answer(one, { exception: { ...given(), added: draft.added } }) : look());
    const hint = !one.command ? "Files, as in permissions; * and ** are wildcards."
      : suggested ? "Exactly this command. Use * for any words; the pattern must cover the whole command." : "This command needs a pattern: write one that covers all of it, with * for any words.";
    const form = formOf("An exception", send,
      rules.length > 1 ? make("label", {}, "Rule", rule) : make("p", { class: "small" }, "An exception to ", code(rules[0]), ", for you and all of your agents."),
      make("label", {}, one.command ? "Command" : "Files", what), make("p", { class: "dim small" }, hint),
      make("div", { class: "pair" }, make("label", {}, "Until", end), make("label", {}, "Why", reason)), place);
    place.append(first);
    form.addEventListener("input", () => { if (draft) { draft = null; place.replaceChildren(first); } });
    return form;
  }

  // --- decisions --------------------------------------------------------------------------------------------------------------------

  const wanted = { kind: "", text: "" };
  let most = 50;
  function decided(fresh) {
    const known = new Set(state.decisions.map((one) => one.id));
    state.decisions = [...fresh.filter((one) => !known.has(one.id)).reverse(), ...state.decisions].slice(0, 500);
    put("latest", ...state.decisions.slice(0, 7).map((one) => make("li", { class: `k-${one.mark}` },
      make("span", { class: "who" }, make("span", {}, make("span", { class: "dot", "aria-hidden": "true" }), one.outcome, one.approver ? ` by ${one.approver}` : ""), make("span", {}, `${one.agent} · ${localTime(one.time)}`)), code(one.subject || one.event))));
    if (state.view === "decisions") decisionList();
  }
  function decisionFilters() {
    const kind = make("select", { id: "by-kind" }, make("option", { value: "" }, "All"), ...Object.entries(KINDS).map(([name, label]) => make("option", { value: name }, label)));
    const text = make("input", { type: "search", id: "by-text" });
    kind.addEventListener("input", () => { wanted.kind = kind.value; decisionList(); });
    text.addEventListener("input", () => { wanted.text = text.value.toLowerCase(); decisionList(); });
    put("filters", make("label", {}, "Decision", kind), make("label", {}, "Command, path, rule, reason, agent or session", text));
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
  }
  function decisionList() {
    const fits = (one) => (!wanted.kind || one.mark === wanted.kind) && (!wanted.text
      || [one.subject, one.reason, one.agent, one.session, one.project, ...one.by.map((by) => by.name)].some((part) => part.toLowerCase().includes(wanted.text)));
    const found = state.decisions.filter(fits);
    const told = found.length === state.decisions.length ? `The newest ${many(found.length, "decision")}.` : `${count(found.length)} of the newest ${many(state.decisions.length, "decision")}.`;
    if (byId("shown").textContent !== told) put("shown", told);
    const open = new Set([...byId("list").querySelectorAll(".toggle[aria-expanded=true]")].map((one) => one.dataset.id));
    const focused = document.activeElement?.closest?.("#list .toggle")?.dataset.id;
    if (!found.length) return put("list", nothing(state.decisions.length ? "No decision matches." : "No decision yet."));
    const heads = [["Time", "time"], ["Decision", "decision"], ["Agent", "agent"], ["Tool", "tool"], ["What", "what"], ["By", "rule"]];
    const more = found.length > most ? make("div", { class: "more" }, make("button", { type: "button", click: () => { most += 100; decisionList(); } }, "Show more")) : "";
    put("list", make("table", { class: "stack" }, make("caption", { class: "quiet" }, "Decisions, newest first"),
      make("thead", {}, make("tr", {}, ...heads.map(([heading, name]) => make("th", { scope: "col", class: `w-${name}` }, heading)))),
      make("tbody", {}, ...found.slice(0, most).flatMap((one) => decisionRow(one, open.has(one.id))))), more);
    if (focused) byId("list").querySelector(`.toggle[data-id="${CSS.escape(focused)}"]`)?.focus();
  }
  function decisionRow(one, open) {
    const toggle = make("button", { type: "button", class: "toggle", "data-id": one.id, "aria-expanded": String(open), "aria-label": `${localTime(one.time)}: details of ${one.id}` }, localTime(one.time));
    const line = make("tr", {}, make("td", { class: "inline" }, toggle), make("td", { class: "inline" }, pill(one.mark, one.outcome)), make("td", { class: "inline" }, one.agent),
      make("td", { class: "inline" }, one.tool || one.event), make("td", {}, code(one.subject || "–", "what")), make("td", { class: "code dim" }, ...seen([...new Set(one.by.map((by) => by.name))].join(", ") || "–")));
    const story = () => make("tr", { class: "story" }, make("td", { colspan: "6" }, decisionStory(one)));
    toggle.addEventListener("click", () => {
      const opens = toggle.getAttribute("aria-expanded") !== "true";
      toggle.setAttribute("aria-expanded", String(opens));
      if (opens) line.after(story());
      else line.nextElementSibling.remove();
    });
    return open ? [line, story()] : [line];
  }
  function decisionStory(one) {
    const facts = [
      ["What", one.subject], ["When", `${new Date(one.time).toLocaleString("en-GB")}, ${ms(one.ms)}`], ["Project", short(one.project)], ["Session", one.session], ["Reason", one.reason], ["Error", one.error],
      ["Said", one.by.map((by) => `${by.said} by the ${by.kind} ${by.name}${by.reason ? `: ${by.reason}` : ""}`).join("\n")], ["Answered by", one.approver],
      ["Not possible", one.dropped.join("\n")], ["Policy", `${short(one.policy)}, mode ${one.mode}`], ["More", `onehook log show ${one.id}`],
    ];
    return make("dl", {}, ...facts.filter(([, value]) => value).flatMap(([name, value]) => [make("dt", {}, name), make("dd", { class: name === "What" || name === "More" ? "code" : null }, ...seen(value))]));
  }

  // --- figures, policies, health ----------------------------------------------------------------------------------------------------

  let since = "7d";
  async function loadFigures() {
    const place = byId("view-figures");
    if (!place.firstChild) place.append(nothing("Counting."));
    const data = await call(`figures?since=${since}`);
    const span = make("select", { id: "since" }, ...[["24h", "the last day"], ["7d", "the last week"], ["30d", "the last month"]].map(([value, label]) => make("option", { value, selected: value === since }, label)));
    span.addEventListener("input", () => { since = span.value; loadFigures().then(() => byId("since").focus()); });
    const card = (kind, label) => make("li", {}, make("button", { type: "button", class: `k-${kind}`, click: () => filtered(kind) },
      make("span", { class: "label" }, label), make("span", { class: "value" }, count(data.total[kind])), make("span", { class: "share" }, kind === "events" ? `median ${ms(data.total.p50)}` : " "), data.days.length > 2 ? spark(data.days, kind) : ""));
    const shown = ["denied", "asked", "would_deny", "overridden", "errors"];
    place.replaceChildren(
      make("div", { class: "head" }, make("label", {}, "Figures of ", span)),
      make("ul", { id: "figures" }, card("events", "Events"), ...shown.map((kind) => card(kind, KINDS[kind]))),
      make("div", { class: "two more" }, groups("By rule", data.rules.slice(0, 12), "denied", (rule) => [code(rule.name)]), groups("By agent", data.by_agent, "denied", (agent) => [agent.name])));
  }
  function groups(title, rows, tone, name) {
    const largest = Math.max(1, ...rows.map((row) => row.events));
    const bar = (row) => { const one = make("div", { class: "bar-of", "aria-hidden": "true" }); one.style.width = `${(100 * row.events) / largest}%`; return one; };
    const columns = [["Name", name], ["Events", (row) => count(row.events), "n"], ...["denied", "asked", "allowed"].map((kind) => [KINDS[kind], (row) => count(row[kind]), "n"]), ["Share", bar, "w-bar"]];
    return make("article", {}, make("h2", {}, title), rows.length ? table(title, rows, columns, "stack") : nothing("Nothing in this period."));
  }
  function spark(days, kind) {
    const svg = (tag, attributes) => { const one = document.createElementNS("http://www.w3.org/2000/svg", tag); for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value); return one; };
    const largest = Math.max(1, ...days.map((day) => day[kind]));
    const whole = svg("svg", { viewBox: `0 0 ${Math.max(7, days.length) * 10} 26`, preserveAspectRatio: "none", "aria-hidden": "true" });
    days.forEach((day, at) => whole.append(svg("rect", { x: at * 10 + 1, width: 8, y: 26 - (26 * day[kind]) / largest, height: (26 * day[kind]) / largest })));
    return whole;
  }
  function filtered(kind) {
    wanted.kind = kind === "events" ? "" : kind;
    byId("by-kind").value = wanted.kind;
    look("decisions");
    byId("main").focus();
  }

  async function loadPolicies() {
    const place = byId("view-policies");
    if (!place.firstChild) place.append(nothing("Looking."));
    const data = await call("policies");
    const box = (title, ...content) => make("article", {}, make("h2", {}, title), ...content);
    const rules = (row) => Object.entries(row.rules).map(([severity, number]) => `${number} ${severity}`).join(", ");
    place.replaceChildren(make("div", { class: "stackof" },
      ...(data.paused.length ? [box("Paused", make("ul", { class: "items" }, ...data.paused.map((one) => make("li", { class: "warn" }, make("p", {}, `${one.rule || "Everything"} until ${new Date(1000 * one.until).toLocaleTimeString("en-GB")}${one.reason ? `: ${one.reason}` : ""}`)))))] : []),
      box("In force", data.layers.length ? table("Files in force, strongest layer first", data.layers, [["Layer", (one) => one.layer], ["File", (one) => [code(short(one.file))]], ["Rules", (one) => (one.rules === null ? "–" : count(one.rules)), "n"]], "stack") : nothing("No policy is in force. `onehook install POLICY` installs one."),
        make("p", { class: "dim small" }, `As seen from ${short(data.project)}.`)),
      box("Installed", data.installed.length ? table("Installed policies", data.installed, [
        ["Agent", (row) => row.agent], ["Scope", (row) => row.scope], ["Policy and config", (row) => [code(short(row.policy)), make("div", { class: "dim small" }, short(row.file)), row.note ? make("p", { class: "problem small" }, row.note) : ""]],
        ["Mode", (row) => [row.mode || "–", make("div", { class: "dim small" }, rules(row))]], ["Fails", (row) => row.fail],
      ], "stack") : nothing("Nothing."), data.without.length ? make("p", { class: "dim small" }, `Agents found without a policy: ${data.without.join(", ")}.`) : "")));
  }

  async function loadHealth() {
    const place = byId("view-health");
    const button = make("button", { type: "button", id: "examine", click: () => loadHealth().catch((error) => say(error.message)) }, "Check again");
    place.replaceChildren(make("article", {}, make("h2", {}, "Would a deny take effect?"), nothing("Checking each agent. This runs the installed commands, and takes a few seconds.")));
    const { findings, absent } = await call("health");
    const bad = findings.filter((one) => one.level === "fail").length;
    const agents = [...new Set(findings.map((one) => one.agent))];
    const item = (one) => make("li", { class: `level-${one.level}` }, make("p", {}, make("strong", {}, { fail: "Fails: ", warn: "Warning: ", note: "Note: ", ok: "" }[one.level]), one.what),
      one.fix ? make("p", { class: "dim small" }, "Fix: ", code(one.fix)) : "", one.file ? make("p", { class: "dim small" }, short(one.file)) : "");
    place.replaceChildren(make("div", { class: "stackof" },
      make("article", {}, make("div", { class: "head" }, make("h2", {}, bad ? "A deny would not take effect everywhere" : "A deny takes effect"), button),
        make("p", { class: "dim small" }, absent.length ? `Not found here: ${absent.join(", ")}.` : "")),
      ...agents.map((agent) => make("article", {}, make("h2", {}, agent), make("ul", { class: "items" }, ...findings.filter((one) => one.agent === agent).map(item))))));
  }

  // --- the page ---------------------------------------------------------------------------------------------------------------------

  const LOADS = { figures: loadFigures, policies: loadPolicies, health: loadHealth, decisions: async () => decisionList() };
  function look(view) {
    state.view = view;
    for (const name of Object.keys(VIEWS)) {
      byId(`view-${name}`).hidden = name !== view;
      byId(`tab-${name}`).toggleAttribute("aria-current", false);
    }
    byId(`tab-${view}`).setAttribute("aria-current", "page");
    LOADS[view]?.().catch((error) => byId(`view-${view}`).replaceChildren(make("article", {}, make("p", { class: "problem" }, error.message))));
  }

  function ticks() {
    for (const place of document.querySelectorAll("[data-until]")) {
      const left = Math.max(0, Number(place.dataset.until) - now());
      place.textContent = clockOf(left);
      place.classList.toggle("soon", left < 20);
    }
    for (const place of document.querySelectorAll("[data-since]")) place.textContent = `asked ${ago(now() - Number(place.dataset.since))}`;
    for (const place of document.querySelectorAll("[data-from]")) {
      const [from, to] = [Number(place.dataset.from), Number(place.dataset.to)];
      place.style.width = `${Math.max(0, Math.min(100, (100 * (to - now())) / Math.max(1, to - from)))}%`;
    }
    lockButton();
  }

  const KEYS = [
    [["j", "↓"], "next request", () => move(1)], [["k", "↑"], "previous request", () => move(-1)],
    [["a"], "approve once", act("a")], [["s"], "approve for this session", act("s")], [["d"], "deny, with a message for the model", act("d")],
    [["e"], "always: an exception until a date", act("e")], [["r"], "rewrite the command, and run the new one", act("r")],
    [["l"], "lock, or unlock", () => byId("lock").click()],
    ...Object.keys(VIEWS).map((view, at) => [[String(at + 1)], VIEWS[view].toLowerCase(), () => look(view)]),
    [["?"], "this list", () => help()],
  ];
  function act(key) {
    return () => { if (state.view === "requests") byId("request").querySelector(`[data-act="${key}"]:not(:disabled)`)?.click(); };
  }
  const kept = (value) => { try { return value === undefined ? localStorage.getItem("onehook-keys") !== "off" : localStorage.setItem("onehook-keys", value ? "on" : "off"); } catch { return true; } };
  let keysOn = kept();
  function help() {
    put("help-keys", ...KEYS.flatMap(([keys, what]) => [make("dt", {}, ...keys.map((key) => make("kbd", {}, key))), make("dd", {}, what)]),
      make("dt", {}, make("kbd", {}, "Ctrl Enter")), make("dd", {}, "send the form"), make("dt", {}, make("kbd", {}, "Esc")), make("dd", {}, "close the form or this list"));
    byId("keys-on").checked = keysOn;
    byId("help").showModal();
  }
  function pressed(event) {
    const inField = event.target.closest?.("input, textarea, select, dialog");
    if (event.key === "Escape" && state.form && !event.target.closest?.("dialog")) return void show(chosen(), state.form);
    if (!keysOn || inField || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const name = { ArrowDown: "↓", ArrowUp: "↑" }[event.key] ?? event.key;
    if ((name === "↓" || name === "↑") && (state.view !== "requests" || event.target.closest?.("pre, .lines"))) return;
    const found = KEYS.find(([keys]) => keys.includes(name));
    if (!found) return;
    event.preventDefault();
    found[2]();
  }

  put("views", ...Object.entries(VIEWS).map(([name, label]) => make("button", { type: "button", id: `tab-${name}`, click: () => look(name) }, label)));
  theme();
  decisionFilters();
  decided([]);
  look("requests");
  document.addEventListener("keydown", pressed);
  window.addEventListener("hashchange", () => { if (linked()) { look("requests"); choose(linked(), false); } });
  byId("keys").addEventListener("click", help);
  byId("help-close").addEventListener("click", () => byId("help").close());
  byId("keys-on").addEventListener("input", () => { keysOn = byId("keys-on").checked; kept(keysOn); });
  byId("lock").addEventListener("click", () => (state.until > Date.now() ? lock().catch((error) => say(error.message)) : askPin(null)));
  byId("pin").querySelector("form").addEventListener("submit", givePin);
  byId("pin-cancel").addEventListener("click", () => byId("pin").close());
  byId("pin").addEventListener("close", () => { byId("pin-text").value = ""; });
  setInterval(ticks, 1000);
  begin().catch((error) => lost(error.status === 401 ? "Open this page with the link that `onehook desk` prints." : `The desk cannot be reached: ${error.message}`));
})();
