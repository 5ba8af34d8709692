// The timeline of an explanation: the dated events between the two entities, around the time asked about.

import { address, ask, runPath } from "../api.js";
import { markLegend } from "../charts/marks.js";
import { outside, timeline } from "../charts/timeline.js";
import { h, replace } from "../dom.js";
import { keepShown, shown } from "../navigation.js";
import { isDated, lastPosition, position } from "../times.js";
import { count, counted } from "../words.js";
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
  if (subject === object) return empty("Subject and object are the same", "There are no events between them to show.");
  return later(nearestFacts(run, why.question, signal), (found) => draw(run, why, found), block("chart-block"));
}

/** Promise `{total, facts}` between the two: all of them or, of too many, those nearest to the time asked about. */
async function nearestFacts(run, question, signal) {
  const look = (part) =>
    ask(runPath(run.name, "facts"), { entity: question.subject, other: question.object, limit: MOST, ...part }, signal);
  const all = await look({});
  if (all.total <= MOST) return all;
  const asked = timesOf(question).map((label) => onTimeline(run, label));
  const [before, after] = await Promise.all([
    look({ to: asked.at(-1), order: "latest", limit: MOST / 2 }),
    look({ from: asked[0], order: "earliest", limit: MOST / 2 }),
  ]);
  const facts = new Map([...before.facts, ...after.facts].map((fact) => [wholeKey(fact) + fact.split, fact]));
  return { total: all.total, facts: [...facts.values()] };
}

const timesOf = (question) => [question.time, question.start, question.end].filter(Boolean);

/** Return a time, or the end of the graph's range that is nearest to it: a forecast may ask about a later one. */
function onTimeline(run, label) {
  if (position(label) > position(run.last)) return run.last;
  return position(label) < position(run.first) ? run.first : label;
}

function draw(run, why, { total, facts }) {
  const { question } = why;
  const grounding = new Set(
    why.topics.flatMap(({ reasons }) => reasons.flatMap((reason) => reason.events.map(keyOf))),
  );
  const asked = timesOf(question);
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
    return empty(
      "No known events between the two",
      "What supports this answer comes from others: see the reasons.",
    );
  }
  const box = h("div", {});
  const hidden = total - events.length;
  const show = (days) => replace(box, chartOf(run, question, events, asked, days, hidden));
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
        h("li", {}, h("i", { class: "swatch faint" }), "faint: behind none of the reasons shown"),
        events.some((event) => event.own) && h("li", {}, h("i", { class: "swatch own" }), "the fact itself"),
      ),
      isDated(run.first) && chooser("Show", WINDOWS, initial, choose),
    ),
    box,
    h(
      "p",
      { class: "note" },
      hidden > 0 && `The ${count(events.length)} nearest of `,
      `${counted(total, "event")}. `,
      browse,
    ),
  ];
}

function chartOf(run, question, events, asked, days, hidden) {
  const range = windowOf(run, asked[0], Number(days));
  const name = `events between ${question.subject} and ${question.object}`;
  const left = outside(events, position(range.first), lastPosition(range.last));
  return [
    timeline({ events, from: question.subject, to: question.object, asked, range, name }),
    left && h("p", { class: "note" }, `Outside this window${hidden > 0 ? ", of the nearest" : ""}: ${left}.`),
  ];
}

function windowOf(run, asked, days) {
  if (Number.isNaN(days)) return { first: run.first, last: run.last };
  const at = position(asked);
  const label = (day) => new Date(day * DAY).toISOString().slice(0, 16);
  return {
    first: label(Math.max(at - days, position(run.first))),
    last: label(Math.min(at + days, Math.max(at, lastPosition(run.last)))),
  };
}

function markOf(fact, times) {
  const [start, end] = [position(fact.time ?? fact.start ?? fact.end), position(fact.time ?? fact.end ?? fact.start)];
  const [first, last] = [Math.min(...times), Math.max(...times)];
  return end < first ? "before" : start > last ? "after" : "same time";
}

const keyOf = ({ subject, predicate, object, time }) => [subject, predicate, object, time].join("\n");

/** A point may be written as a time, or as an interval whose ends are the same. */
const wholeKey = (fact) => [keyOf({ ...fact, time: fact.time ?? fact.start }), fact.time ?? fact.end].join("\n");

const sameFact = (fact, question) => wholeKey(fact) === wholeKey(question);
