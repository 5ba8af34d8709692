// A small graph of what grounds a reason: who is linked with whom by its events, which are numbered as in their list.

import { drawn, s } from "../dom.js";
import { markClass } from "./marks.js";

const ROW = 58;
const LETTER = 7.2;

/** Return the graph of events around the two of a fact: its subject on the left, its object on the right. */
export function groundingGraph(events, fact, slot) {
  const named = new Set(events.flatMap((event) => [event.subject, event.object]));
  const others = [...named].filter((name) => name !== fact.subject && name !== fact.object);
  const sides = {
    left: named.has(fact.subject) ? fact.subject : null,
    right: named.has(fact.object) ? fact.object : null,
  };
  const height = Math.max(others.length * ROW, others.length === 0 ? events.length * 34 : 0, ROW) + 24;
  const box = drawn("chart graph", (width) => draw(width, height, { events, others, sides, answer: fact[slot] }));
  box.style.setProperty("--height", `${height}px`);
  return box;
}

function draw(width, height, { events, others, sides, answer }) {
  const half = Math.min(200, width * (others.length && sides.left && sides.right ? 0.27 : 0.36)) / 2;
  const places = placesOf(width, height, half, others, sides);
  const links = new Map();
  events.forEach((event, index) => {
    const key = [event.subject, event.object].sort().join("\n");
    if (!links.has(key)) links.set(key, []);
    links.get(key).push({ ...event, number: index + 1 });
  });
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": describe(events) },
    [...links.values()].flatMap((group) =>
      group.map((event, index) => link(event, places, index - (group.length - 1) / 2)),
    ),
    [...places].map(([name, place]) => node(name, place, name === answer)),
  );
}

function placesOf(width, height, half, others, { left, right }) {
  const places = new Map();
  if (left !== null) places.set(left, { x: half + 2, y: height / 2, half });
  if (right !== null) places.set(right, { x: width - half - 2, y: height / 2, half });
  const column = left === null ? half + 2 : right === null ? width - half - 2 : width / 2;
  others.forEach((name, index) =>
    places.set(name, { x: column, y: (height / (others.length + 1)) * (index + 1), half, other: true }),
  );
  return places;
}

function link(event, places, turn) {
  const [from, to] = [places.get(event.subject), places.get(event.object)];
  if (from === to) return null;
  const rightward = to.x === from.x ? (to.y > from.y ? 1 : -1) : Math.sign(to.x - from.x);
  const start = { x: from.x + rightward * from.half, y: from.y };
  const end = { x: to.x - rightward * (to.half + 7), y: to.y };
  const bend = turn * 38;
  const control = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 + 2 * bend };
  // links of many run together at the one: their numbers stand nearer to the many
  const badge = along(start, control, end, from.other ? 0.28 : to.other ? 0.72 : 0.5);
  const angle = Math.atan2(end.y - control.y, end.x - control.x);
  return s(
    "g",
    { class: `link ${markClass(event.mark)}` },
    s("path", { class: "line", d: `M${start.x} ${start.y}Q${control.x} ${control.y} ${end.x} ${end.y}` }),
    s("path", { class: "tip", d: tip(end, angle) }),
    s("circle", { class: "number", cx: badge.x, cy: badge.y, r: 9 }),
    s("text", { x: badge.x, y: badge.y + 4, "text-anchor": "middle" }, String(event.number)),
  );
}

function along(start, control, end, share) {
  const at = (name) =>
    (1 - share) ** 2 * start[name] + 2 * share * (1 - share) * control[name] + share ** 2 * end[name];
  return { x: at("x"), y: at("y") };
}

function tip({ x, y }, angle) {
  const point = (length, turn) =>
    `${(x + length * Math.cos(angle + turn)).toFixed(1)} ${(y + length * Math.sin(angle + turn)).toFixed(1)}`;
  return `M${point(7, 0)}L${point(4.5, 2.2)}L${point(4.5, -2.2)}Z`;
}

function node(name, { x, y, half, other }, isAnswer) {
  const letters = Math.floor((2 * half - 16) / LETTER);
  const text = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
  return s(
    "g",
    { class: `node ${isAnswer ? "node-answer" : other ? "node-other" : ""}` },
    s("title", {}, name),
    s("rect", { x: x - half, y: y - 15, width: 2 * half, height: 30, rx: 15 }),
    s("text", { x, y: y + 4.5, "text-anchor": "middle" }, text),
  );
}

function describe(events) {
  return `Graph: ${events.map((event, index) => `${index + 1}, ${event.subject} to ${event.object}`).join("; ")}`;
}
