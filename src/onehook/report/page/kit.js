"use strict";
// Shared by the pages of the report and the desk. Foreign data reaches a page as text only: textContent, attributes, never HTML.
const kit = (() => {
  const KINDS = { denied: "Denied", asked: "Asked", would_deny: "Would deny", overridden: "Overridden", errors: "Errors", allowed: "Allowed" };
  const byId = (id) => document.getElementById(id);
  const count = (number) => number.toLocaleString("en");
  const many = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
  const ms = (value) => (value === null ? "–" : `${value < 10 ? value.toFixed(1) : count(Math.round(value))} ms`);
  const clock = (time) => `${time.slice(0, 10)} ${time.slice(11, 19)}`;
  const dayName = (day) => new Date(`${day}T00:00:00Z`).toLocaleDateString("en", { timeZone: "UTC", month: "short", day: "numeric" });

  /** An element with these attributes and children; strings become text. */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "click") element.addEventListener("click", value);
      else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== ""));
    return element;
  }
  const put = (id, ...children) => byId(id).replaceChildren(...children);
  const pill = (kind, label) => make("span", { class: `pill k-${kind}` }, label);
  const nothing = (text) => make("p", { class: "empty" }, text);

  /** columns: [heading, row => cell content, class]. */
  function table(caption, rows, columns, kind = "") {
    const cell = (row, [heading, content, style = ""]) => {
      const shown = content(row);
      const zero = style === "n" && shown === "0";
      return make("td", { class: zero ? "n zero dim" : style || null, "data-label": style === "n" ? heading : null }, ...[shown].flat());
    };
    return make("table", { class: kind || null },
      make("caption", { class: "quiet" }, caption),
      make("thead", {}, make("tr", {}, ...columns.map(([heading, , style]) => make("th", { scope: "col", class: style || null }, heading)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {}, ...columns.map((column) => cell(row, column))))));
  }

  function theme() {
    const names = ["auto", "light", "dark"];
    let at = 0;
    const set = (name) => {
      at = Math.max(0, names.indexOf(name));
      if (at) document.documentElement.dataset.theme = names[at];
      else delete document.documentElement.dataset.theme;
      put("theme", `Theme: ${names[at]}`);
    };
    const kept = (name) => { try { return name ? localStorage.setItem("onehook-theme", name) : localStorage.getItem("onehook-theme"); } catch { return null; } };
    set(kept());
    byId("theme").addEventListener("click", () => { set(names[(at + 1) % 3]); kept(names[at]); });
  }

  return { KINDS, byId, count, many, ms, clock, dayName, make, put, pill, nothing, table, theme };
})();
