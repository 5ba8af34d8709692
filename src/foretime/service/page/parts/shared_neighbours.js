// The shared neighbours that support an answer: who has it and shares a neighbour with the entity asked about.

import { h } from "../dom.js";
import { counted, number } from "../words.js";
import { eventList } from "./reasons.js";

const FACTS = 6;

/** Return the co-neighbours that support an answer, the heaviest first, with their facts; null if there are none. */
export function sharedNeighbours(why) {
  const shared = why.reranker?.shared_neighbours;
  if (!shared?.count) return null;
  const given = why.question[why.slot === "subject" ? "object" : "subject"];
  const total = `${counted(shared.paths, "path")}, total weight ${number(shared.weight)}`;
  const left = shared.count - shared.co_neighbours.length;
  return h(
    "details",
    { class: "more" },
    h("summary", {}, "Shared neighbours that support it"),
    h("p", { class: "note" }, `Entities that share a neighbour with ${given} and have this answer: ${total}.`),
    shared.co_neighbours.map(coNeighbour),
    left > 0 && h("p", { class: "note" }, `${counted(left, "other")} not shown.`),
  );
}

function coNeighbour({ name, via, paths, weight, events }) {
  const left = events.length - FACTS;
  return h(
    "div",
    { class: "co-neighbour" },
    h("p", {}, h("b", {}, name), ` via ${via}: ${number(weight)} over ${counted(paths, "path")}`),
    eventList(events.slice(0, FACTS)),
    left > 0 && h("p", { class: "note" }, `${counted(left, "other fact")}.`),
  );
}
