// The timeline of an explanation: the dated events between the two entities, around the time asked about.

import { address, ask, runPath } from "../api.js";
import { markLegend } from "../charts/marks.js";
import { outside, timeline } from "../charts/timeline.js";
import { h, replace } from "../dom.js";
import { keepShown, shown } from "../navigation.js";
import { isDated, position } from "../times.js";
import { counted } from "../words.js";
import { chooser } from "./frame.js";
import { block, empty, later } from "./states.js";

const MOST = 500;
const MANY = 80;
const WINDOWS = [
  ["all", "the whole graph"],
  ["180", "± 180 days"],
  ["60", "± 60 days"],
  ["14", "± 14 days"],
];
const DAY = 86_400_000;

/** Return the timeline between the two entities of an explained fact. */
export function betweenTwo(run, why, signal) {
  const { subject, object } = why.question;
  if (subject === object) return empty("Subject and object are the same", "There are no events between two to show.");
  const facts = ask(runPath(run.name, "facts"), { entity: subject, other: object, limit: MOST }, signal);
  return later(facts, (found) => draw(run, why, found), block("chart-block"));
}

function draw(run, why, { total, facts }) {
  const { question } = why;
  const grounding = new Set(why.reasons.flatMap((reason) => reason.events.map(keyOf)));
  const asked = [question.time, question.start, question.end].filter(Boolean);
  const times = asked.map(position);
  const events = facts.map((fact) => ({
    ...fact,
    mark: markOf(fact, times),
    used:
      grounding.has(keyOf({ ...fact, time: fact.time ?? fact.start })) ||
      grounding.has(keyOf({ ...fact, time: fact.end })),
    own: sameFact(fact, question),
  }));
  const browse = h(
    "a",
    { class: "quiet", href: address(runPath(run.name, "facts"), { entity: question.subject, other: question.object }) },
    "All as a list",
  );
  if (events.length === 0) {
    return empty("No event between the two is known", "What speaks for this answer comes from others: see the rules.");
  }
  const box = h("div", {});
  const show = (days) => replace(box, chartOf(run, question, events, asked, days));
  const choose = (days) => {
    keepShown("window", days);
    show(days);
  };
  const initial = shown().get("window") ?? (isDated(run.first) && events.length > MANY ? "60" : "all");
  show(initial);
  return [
    h(
      "div",
      { class: "legend-line" },
      markLegend(),
      h(
        "ul",
        { class: "legend" },
        h("li", {}, h("i", { class: "swatch faint" }), "faint: grounds no reason told here"),
        events.some((event) => event.own) && h("li", {}, h("i", { class: "swatch own" }), "the fact itself"),
      ),
      isDated(run.first) && chooser("Show", WINDOWS, initial, choose),
    ),
    box,
    h(
      "p",
      { class: "note" },
      counted(total, "event"),
      total > MOST ? `, of which the first ${MOST} are shown. ` : ". ",
      browse,
    ),
  ];
}

function chartOf(run, question, events, asked, days) {
  const range = windowOf(run, asked[0], Number(days));
  const name = `events between ${question.subject} and ${question.object}`;
  const left = outside(events, position(range.first), position(range.last));
  return [
    timeline({ events, from: question.subject, to: question.object, asked, range, name }),
    left && h("p", { class: "note" }, left),
  ];
}

function windowOf(run, asked, days) {
  if (Number.isNaN(days)) return { first: run.first, last: run.last };
  const at = position(asked);
  const label = (day) => new Date(day * DAY).toISOString().slice(0, 10);
  return {
    first: label(Math.max(at - days, position(run.first))),
    last: label(Math.min(at + days, Math.max(at, position(run.last)))),
  };
}

function markOf(fact, times) {
  const [start, end] = [position(fact.time ?? fact.start ?? fact.end), position(fact.time ?? fact.end ?? fact.start)];
  const [first, last] = [Math.min(...times), Math.max(...times)];
  return end < first ? "cause" : start > last ? "effect" : "companion";
}

const keyOf = ({ subject, predicate, object, time }) => [subject, predicate, object, time].join("\n");

function sameFact(fact, question) {
  return ["subject", "predicate", "object", "time"].every((name) => (fact[name] ?? "") === (question[name] ?? ""));
}
