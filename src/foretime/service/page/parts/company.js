// The company that speaks for an answer: who is to a third what the given entity is.

import { h } from "../dom.js";
import { counted, number } from "../words.js";
import { eventList } from "./reasons.js";

const FACTS = 6;

/** Return who speaks for an answer, the heaviest first, with the facts; nothing where nobody does. */
export function companyList(why) {
  const company = why.second_stage?.company;
  if (!company?.count) return null;
  const given = why.question[why.slot === "subject" ? "object" : "subject"];
  const told = `${counted(company.paths, "path")} of weight ${number(company.weight)} in all`;
  const left = company.count - company.peers.length;
  return h(
    "details",
    { class: "more" },
    h("summary", {}, "The company that speaks for it"),
    h("p", { class: "note" }, `Who is to a third what ${given} is, and has this answer: ${told}.`),
    company.peers.map(peer),
    left > 0 && h("p", { class: "note" }, `${counted(left, "other")}, not shown.`),
  );
}

function peer({ name, third, paths, weight, events }) {
  const left = events.length - FACTS;
  return h(
    "div",
    { class: "peer" },
    h("p", {}, h("b", {}, name), ` over ${third}: ${number(weight)} by ${counted(paths, "path")}`),
    eventList(events.slice(0, FACTS)),
    left > 0 && h("p", { class: "note" }, `${counted(left, "other fact")}.`),
  );
}
