// What all views have: a heading, a link to their JSON, tabs, pages of lists.

import { ROOT, address, openJson } from "../api.js";
import { h } from "../dom.js";
import { count } from "../words.js";

/** Return the heading of a view with a link to its twin. */
export function heading(title, { path, parameters = {}, lead = null }) {
  return h(
    "header",
    { class: "view-head" },
    h("div", {}, h("h1", { tabindex: "-1" }, title), lead && h("p", { class: "lead" }, lead)),
    jsonLink(path, parameters),
  );
}

/** Return a link to what the API says under a path. */
export function jsonLink(path, parameters = {}, text = "JSON") {
  return h(
    "a",
    { class: "json", href: ROOT + address(path, parameters), title: "The same as JSON", onclick: openJson },
    text,
  );
}

/** Return a section of a view. */
export function section(title, ...children) {
  return h("section", { class: "card" }, title && h("h2", {}, title), children);
}

/** Return links between views of the same thing; `current` is the text of this one. */
export function tabs(label, links, current) {
  return h(
    "nav",
    { class: "tabs", "aria-label": label },
    links.map(([text, href]) => h("a", { href, "aria-current": text === current ? "page" : null }, text)),
  );
}

/** Return links to the next and the previous part of a list. */
export function pages(path, query, { total, limit }) {
  const offset = Number(query.get("offset") ?? 0);
  if (total <= limit && offset === 0) return null;
  const at = (start) => {
    const changed = new URLSearchParams(query);
    if (start > 0) changed.set("offset", start);
    else changed.delete("offset");
    return address(path, changed);
  };
  const last = Math.min(offset + limit, total);
  return h(
    "nav",
    { class: "pages", "aria-label": "Pages" },
    offset > 0
      ? h("a", { class: "button", href: at(Math.max(offset - limit, 0)), rel: "prev" }, "← Previous")
      : h("span"),
    h("span", {}, `${count(offset + 1)}–${count(last)} of ${count(total)}`),
    last < total ? h("a", { class: "button", href: at(last), rel: "next" }, "Next →") : h("span"),
  );
}

/** Return a select that goes to another address when it is changed. */
export function chooser(label, options, value, changed) {
  const select = h(
    "select",
    { onchange: () => changed(select.value) },
    options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)),
  );
  return h("label", { class: "chooser" }, h("span", {}, label), select);
}
