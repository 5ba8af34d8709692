// The dated events between two entities: a lane for each predicate and direction, and the time asked about across all.

import { drawn, h, replace, s } from "../dom.js";
import { humanTime, humanWhen, isDated, lastPosition, position, ticks } from "../times.js";
import { count, counted, eventWords } from "../words.js";
import { markClass, shape } from "./marks.js";
import { walk } from "./walking.js";

const LANES = 9;
const WIDE = 620;
const AXIS = 26;
const LETTER = 6.4;

/**
 * Return a timeline of `events` (facts with a `mark`, and `used` if they ground a reason) between `from` and `to`.
 *
 * `asked` are labels of the times to mark, `range` the first and the last label of the axis.
 */
export function timeline({ events, from, to, asked = [], range, name = "" }) {
  const placed = events
    .map(place)
    .filter((event) => event.at !== null)
    .sort((one, other) => one.at - other.at);
  const lanes = lanesOf(placed, from);
  const rest = "Point at an event to read it, or move through them with ← and →.";
  const caption = h("p", { class: "caption", "aria-live": "polite" }, rest);
  const tell = (event) => replace(caption, event ? wordsOf(event) : rest);
  const chart = drawn("chart timeline", (width) => draw(width, { lanes, asked, range, tell, from, to, name }));
  const wide = lanes.length * 30 + AXIS + 30;
  chart.style.setProperty("--wide", `${wide}px`);
  chart.style.setProperty("--narrow", `${lanes.length * 42 + AXIS + 30}px`);
  return h("div", { class: "timeline-box" }, chart, caption);
}

function place(event) {
  const at = position(event.time ?? event.start ?? event.end);
  const until = event.time ? at : position(event.end ?? event.start);
  return { ...event, at, until };
}

function lanesOf(events, from) {
  const found = new Map();
  for (const event of events) {
    const forward = event.subject === from;
    const key = `${forward} ${event.predicate}`;
    if (!found.has(key)) found.set(key, { title: event.predicate, forward, events: [] });
    found.get(key).events.push(event);
  }
  const weight = (lane) => lane.events.length + 1000 * lane.events.filter((event) => event.used).length;
  const sorted = [...found.values()].sort((one, other) => weight(other) - weight(one));
  if (sorted.length <= LANES) return sorted;
  const others = sorted.slice(LANES - 1);
  const rest = {
    title: `${others.length} other predicates`,
    forward: null,
    events: others.flatMap((lane) => lane.events),
  };
  return [...sorted.slice(0, LANES - 1), rest];
}

function draw(width, { lanes, asked, range, tell, from, to, name }) {
  const wide = width >= WIDE;
  const left = wide ? Math.min(250, width * 0.32) : 8;
  const [lane, top, right] = [wide ? 30 : 42, 24, 14];
  const bottom = top + lanes.length * lane;
  const [first, last] = spanOf(range, asked);
  const x = (at) => left + ((at - first) / (last - first || 1)) * (width - left - right);
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${bottom + AXIS + 4}`,
    width,
    height: bottom + AXIS + 4,
    role: "group",
    "aria-label": `Timeline: ${name}`,
  });
  svg.append(...axis(first, last, x, { top, bottom, width: width - left - right, dated: isDated(range.first) }));
  svg.append(askedLines(asked, x, top, bottom, width));
  const marks = [];
  lanes.forEach((one, index) => {
    const middle = top + index * lane + (wide ? lane / 2 : lane - 13);
    svg.append(s("line", { class: "lane", x1: left, x2: width - right, y1: middle, y2: middle }));
    svg.append(
      laneLabel(one, wide ? left - 12 : width - 20, wide ? 4 : left, wide ? middle + 4 : middle - 15, from, to),
    );
    for (const event of one.events) {
      if (event.until < first || event.at > last) continue;
      marks.push(markOf(event, x, middle, tell));
    }
  });
  marks.sort((one, other) => one.at - other.at);
  svg.append(...[...marks].sort((one, other) => one.height - other.height).map((mark) => mark.element));
  walk(marks.map((mark) => mark.element));
  return svg;
}

function spanOf(range, asked) {
  const ends = [lastPosition(range.last), ...[range.first, ...asked].map(position)];
  return [Math.min(...ends), Math.max(...ends)];
}

function axis(first, last, x, { top, bottom, width, dated }) {
  return ticks(first, last, Math.max(2, width / 70), dated).map(({ at, text }) =>
    s(
      "g",
      { class: "tick" },
      s("line", { x1: x(at), x2: x(at), y1: top, y2: bottom + 4 }),
      s("text", { x: Math.max(x(at), 16), y: bottom + 18, "text-anchor": "middle" }, text),
    ),
  );
}

function askedLines(asked, x, top, bottom, width) {
  const places = asked.map((label) => x(position(label)));
  const middle = places.reduce((all, one) => all + one, 0) / places.length;
  const anchor = middle < 90 ? "start" : middle > width - 90 ? "end" : "middle";
  return s(
    "g",
    { class: "asked" },
    places.map((at) => s("line", { x1: at, x2: at, y1: top - 6, y2: bottom + 4 })),
    s(
      "text",
      { x: middle, y: top - 10, "text-anchor": anchor },
      `asked: ${asked.map((label) => humanTime(label, true)).join(" – ")}`,
    ),
  );
}

function laneLabel(lane, room, x, y, from, to) {
  const arrow = lane.forward === null ? "" : lane.forward ? " →" : " ←";
  const letters = Math.floor(room / LETTER) - arrow.length;
  const text = lane.title.length > letters ? `${lane.title.slice(0, letters - 1)}…` : lane.title;
  const who = lane.forward === null ? "" : lane.forward ? `: ${from} → ${to}` : `: ${to} → ${from}`;
  return s(
    "text",
    { class: "lane-label", x, y },
    text,
    s("tspan", { class: "direction" }, arrow),
    s("title", {}, lane.title + who),
  );
}

function markOf(event, x, y, tell) {
  const [at, until] = [x(event.at), x(event.until)];
  const label = `${event.mark}: ${event.subject}, ${event.predicate}, ${event.object}, ${humanWhen(event)}`;
  const classes = ["event", event.used && "used", event.own && "own"].filter(Boolean).join(" ");
  const element = s(
    "g",
    {
      class: classes,
      tabindex: "-1",
      role: "img",
      "aria-label": label,
      onfocus: () => tell(event),
      onpointerenter: () => tell(event),
    },
    until > at + 1 && s("line", { class: `span ${markClass(event.mark)}`, x1: at, x2: until, y1: y, y2: y }),
    s("circle", { class: "target", cx: at, cy: y, r: 9 }),
    shape(event.mark, at, y, event.used ? 5.5 : 4.5),
  );
  const height = (event.used ? 2 : 0) + (event.mark === "same time" ? 1 : 0) + (event.own ? 4 : 0);
  return { at: event.at, height, element };
}

function wordsOf(event) {
  const role = event.own ? "the fact asked about" : event.mark;
  const notes = [event.used && "grounds a reason", event.split && `in ${event.split}`].filter(Boolean).join(", ");
  return [...eventWords(event, humanWhen(event)), h("small", {}, ` ${role}${notes && `, ${notes}`}`)];
}

/** Return how many events lie before and after a window, in words; none if there are none. */
export function outside(events, first, last) {
  const at = events.map((event) => position(event.time ?? event.start ?? event.end));
  const before = at.filter((one) => one < first).length;
  const after = at.filter((one) => one > last).length;
  return before + after > 0
    ? `${counted(before + after, "event")} (${count(before)} before, ${count(after)} after)`
    : "";
}
