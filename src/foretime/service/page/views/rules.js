// The rules of a run: filters, the rules as sentences, and real groundings of each.

import { address, ask, runPath } from "../api.js";
import { h, replace } from "../dom.js";
import { go, keepShown, shown } from "../navigation.js";
import { combobox } from "../parts/combobox.js";
import { chooser, heading, jsonLink, pages, section } from "../parts/frame.js";
import { empty, later, lines } from "../parts/states.js";
import { humanTime } from "../times.js";
import { PATTERNS, count, counted, eventWords, percent, ruleSentence } from "../words.js";

const SORTS = [
  ["confidence", "confidence"],
  ["support", "support"],
  ["head_coverage", "head coverage"],
];
const LIMIT = 20;
const GROUNDINGS = 5;

export function view({ run, path, query, signal }) {
  return [
    heading("Rules", {
      path,
      parameters: query,
      lead: "What tends to happen together, or one after the other, counted exactly.",
    }),
    filterForm(run, path, query),
    section(
      null,
      later(
        Promise.all([ask(path, query, signal), ask(runPath(run.name), {}, signal)]),
        ([found, { config }]) => list(run, path, query, { ...found, splits: config.rules?.splits ?? [] }, signal),
        lines(12, "tall"),
      ),
    ),
  ];
}

function filterForm(run, path, query) {
  const suggest = (prefix) => ask(runPath(run.name, "predicates"), { prefix, limit: 12 });
  const given = (name) => query.get(name) ?? "";
  const apply = (changes = {}) => go(address(path, { ...values(), ...changes }));
  const head = combobox({
    label: "Then (head)",
    name: "head",
    value: given("head"),
    placeholder: "any predicate",
    suggest,
    chosen: (name) => apply({ head: name }),
  });
  const body = combobox({
    label: "If (body)",
    name: "body",
    value: given("body"),
    placeholder: "any predicate",
    suggest,
    chosen: (name) => apply({ body: name }),
  });
  const confidence = h("input", {
    type: "range",
    id: "least",
    name: "min_confidence",
    min: 0,
    max: 1,
    step: 0.05,
    value: given("min_confidence") || 0,
  });
  const output = h("output", { for: "least" });
  const tell = () => replace(output, percent(Number(confidence.value)));
  confidence.addEventListener("input", tell);
  confidence.addEventListener("change", () => apply());
  tell();
  const chosen = { pattern: given("pattern"), sort: given("sort") };
  const values = () => ({
    head: head.value,
    body: body.value,
    pattern: chosen.pattern,
    sort: chosen.sort,
    min_support: given("min_support"),
    min_confidence: Number(confidence.value) || "",
  });
  const patterns = [
    ["", "any"],
    ...Object.entries(PATTERNS).map(([name, words]) => [name, `${name.replace("_", " ")}: ${words}`]),
  ];
  const submit = (event) => {
    event.preventDefault();
    apply();
  };
  return h(
    "form",
    { class: "card rule-filters", "aria-label": "Filter the rules", onsubmit: submit },
    body.element,
    head.element,
    chooser("Pattern", patterns, chosen.pattern, (pattern) => apply({ pattern })),
    h("div", { class: "field" }, h("label", { for: "least" }, "Confidence at least ", output), confidence),
    chooser("Order by", SORTS, chosen.sort || "confidence", (sort) => apply({ sort })),
    h(
      "div",
      { class: "row" },
      h("button", { class: "button primary" }, "Filter"),
      [...query].length > 0 && h("a", { class: "quiet", href: path }, "Show all"),
    ),
  );
}

function list(run, path, query, { total, rules, window, splits }, signal) {
  if (rules.length === 0) {
    return run.rules === 0
      ? empty("This run has no rules", "It was trained without them.")
      : empty(
          "No rule matches these filters",
          "Lower the confidence, or ",
          h("a", { href: path }, "show all rules"),
          ".",
        );
  }
  const open = shown().get("rule");
  return [
    h(
      "p",
      { class: "note" },
      `${counted(total, "rule")}${splits.length > 0 ? `, counted on the facts of ${splits.join(" and ")}` : ""}. `,
      `"Later" means within ${window} steps. Open a rule to see where it held.`,
    ),
    h(
      "div",
      { class: "rules" },
      rules.map((rule) => ruleItem(run, rule, String(rule.id) === open, signal)),
    ),
    pages(path, query, { total, limit: Number(query.get("limit") ?? LIMIT) }),
  ];
}

function ruleItem(run, rule, open, signal) {
  const meter = h("i", { class: "meter", "aria-hidden": "true" }, h("i"));
  meter.firstChild.style.width = `${rule.confidence * 100}%`;
  const body = h("div", { class: "reason-body" });
  const element = h(
    "details",
    { class: "rule", id: `rule-${rule.id}` },
    h(
      "summary",
      {},
      h("span", { class: "confidence" }, percent(rule.confidence), meter),
      h("span", { class: "sentence" }, ruleSentence(rule)),
      h(
        "span",
        { class: "note counts" },
        h("span", {}, `${count(rule.support)} of ${count(rule.body_count)}`),
        h("span", {}, rule.pattern.replace("_", " ")),
      ),
    ),
    body,
  );
  element.addEventListener("toggle", () => {
    if (element.open && !body.hasChildNodes()) body.append(grounded(run, rule, signal));
    if (element.open) keepShown("rule", String(rule.id));
    else if (shown().get("rule") === String(rule.id)) keepShown("rule", null);
  });
  element.open = open;
  return element;
}

function grounded(run, rule, signal) {
  const path = runPath(run.name, `rules/${rule.id}/groundings`);
  const [box, twin] = [h("div", {}), h("span", {})];
  const show = (misses) => {
    const parameters = { limit: GROUNDINGS, misses };
    replace(twin, jsonLink(path, parameters));
    replace(box, later(ask(path, parameters, signal), (found) => groundings(found, misses), lines(5)));
  };
  const choose = (value) => show(value === "misses" ? "true" : "");
  show("");
  return h(
    "div",
    {},
    h(
      "p",
      { class: "note" },
      h("code", {}, rule.text),
      ` head coverage ${percent(rule.head_coverage)} (${count(rule.head_support)} of ${count(rule.head_count)}). `,
    ),
    h(
      "div",
      { class: "row spread" },
      chooser(
        "Show",
        [
          ["hits", "where it held"],
          ["misses", "where it did not"],
        ],
        "hits",
        choose,
      ),
      twin,
    ),
    box,
  );
}

function groundings({ groundings: found, note }, misses) {
  if (found.length === 0) return empty(note ?? (misses ? "It always held" : "It never held here"));
  return h(
    "ol",
    { class: "groundings" },
    found.map((grounding) =>
      h(
        "li",
        {},
        h(
          "ul",
          {},
          grounding.events.map((event) =>
            h(
              "li",
              { class: event.role },
              h("span", { class: "role" }, event.role === "head" ? "then" : "if"),
              eventWords(event, humanTime(event.time, true)),
            ),
          ),
        ),
        !grounding.holds && h("p", { class: "note" }, "then nothing of the kind followed."),
      ),
    ),
  );
}
