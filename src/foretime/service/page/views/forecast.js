// What comes next: the most likely events of the coming steps, each with its probability and its first reason.

import { address, ask, runPath } from "../api.js";
import { h } from "../dom.js";
import { go } from "../navigation.js";
import { combobox } from "../parts/combobox.js";
import { chooser, heading, section } from "../parts/frame.js";
import { probabilityMeter } from "../parts/probability.js";
import { empty, later, lines } from "../parts/states.js";
import { humanSpan, humanTime } from "../times.js";
import { factSentence } from "../words.js";
import { sayWhy } from "./answers.js";

const SLOTS = { subject: "Subject", predicate: "Predicate", object: "Object" };
const STEPS = ["1", "7", "30"];
const TOPS = ["10", "20", "50", "100"];
const SUGGESTIONS = 12;
const EXPLAINED = 20;

export function view({ run, path, query, signal }) {
  const head = heading("What comes next?", {
    path,
    parameters: query,
    lead: "The events that the coming days are likely to bring, by what has happened so far.",
  });
  if (!run.forecasts)
    return [
      head,
      section(null, empty("This run does not forecast", "It may look at what comes later; train one with --forecast.")),
    ];
  return [
    head,
    limits(run, path, query),
    section(
      null,
      later(ask(path, query, signal), (found) => eventList(run, found, Boolean(query.get("start")), signal), lines(10, "tall")),
    ),
  ];
}

function limits(run, path, query) {
  const given = (name) => query.get(name) ?? "";
  const unit = run.granularity === "day" ? "day" : "step";
  const values = () => ({
    ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value])),
    start: given("start"),
    steps: given("steps"),
    top: given("top"),
  });
  const apply = (changes = {}) => go(address(path, { ...values(), ...changes }));
  const fields = Object.fromEntries(
    Object.entries(SLOTS).map(([name, label]) => {
      const list = name === "predicate" ? "predicates" : "entities";
      const suggest = (prefix) => ask(runPath(run.name, list), { prefix, limit: SUGGESTIONS });
      const chosen = (value) => apply({ [name]: value });
      return [name, combobox({ label, name, value: given(name), placeholder: "any", suggest, chosen })];
    }),
  );
  const submit = (event) => {
    event.preventDefault();
    apply();
  };
  return h(
    "form",
    { class: "card rule-filters", "aria-label": "Limit the events", onsubmit: submit },
    Object.values(fields).map((field) => field.element),
    chooser(
      "Within",
      STEPS.map((many) => [many, `${many} ${unit}${many === "1" ? "" : "s"}`]),
      given("steps") || "7",
      (steps) => apply({ steps }),
    ),
    chooser(
      "Show",
      TOPS.map((many) => [many, `${many} events`]),
      given("top") || "20",
      (top) => apply({ top }),
    ),
    h(
      "div",
      { class: "row" },
      h("button", { class: "button primary" }, "Forecast"),
      [...query].length > 0 && h("a", { class: "quiet", href: path }, "Show all"),
    ),
  );
}

function eventList(run, { start, end, steps, known_until: until, events, note }, earlier, signal) {
  if (events.length === 0)
    return empty("Nothing like it has happened before", "Leave out the subject, the predicate or the object.");
  const rows = events.map((event) => eventRow(run, event, earlier ? start : null));
  const list = h(
    "ol",
    { class: "answers", "aria-busy": "true" },
    rows.map(({ element }) => element),
  );
  sayWhy(run, rows.slice(0, EXPLAINED), signal).finally(() => list.removeAttribute("aria-busy"));
  const window = steps === 1 ? humanTime(start) : humanSpan(start, end, { short: false, join: " to " });
  return [h("p", { class: "note" }, `${window}, by what happened until ${humanTime(until)}. `, note), list];
}

function eventRow(run, { rank, subject, predicate, object, probability, time, new: unseen }, asOf) {
  const fact = { subject, predicate, object, time };
  const line = h("span", { class: "first-reason" });
  const badge = unseen && h("span", { class: "badge", title: "It has never happened before" }, "new");
  const asked = { ...fact, slot: "object", as_of: asOf };
  const element = h(
    "li",
    {},
    h(
      "a",
      { class: "answer", href: address(runPath(run.name, "explain"), asked) },
      h("span", { class: "rank" }, String(rank)),
      h("span", { class: "name" }, h("span", {}, factSentence(fact)), badge),
      probabilityMeter(probability, "That it happens at least once by then"),
      line,
      h("span", { class: "go" }, "why"),
    ),
  );
  return { asked, element, line };
}
