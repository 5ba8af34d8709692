// What a researcher may want to see: every feature with its value and what it adds, and the terms of the base score.

import { ask } from "../api.js";
import { h } from "../dom.js";
import { number } from "../words.js";
import { later, lines } from "./states.js";

/** Return a box that asks for the full table when it is first opened; `pick` finds what it is of in the explanation. */
export function fullTable(path, query, signal, pick = (why) => why) {
  const box = h("details", { class: "more full" }, h("summary", {}, "The full table: features, base score"));
  box.addEventListener("toggle", () => {
    if (!box.open || box.children.length > 1) return;
    const wanted = new URLSearchParams(query);
    wanted.set("full", "true");
    box.append(later(ask(path, wanted, signal), (why) => tables(pick(why).full), lines(6)));
  });
  return box;
}

function tables({ expected_value: expected, features, terms, base_score: base, base_place: place }) {
  return [
    expected !== null && table("Feature (TreeSHAP)", [["expected value", "", expected], ...features.map(row)]),
    table(`Base score ${number(base)}`, Object.entries(terms).map(([name, value]) => [name, "", value])),
    place && h("p", { class: "note" }, placeWords(place)),
  ];
}

const row = ({ words, value, contribution }) => [words, value === null ? "" : String(+value.toPrecision(4)), contribution];

function placeWords({ shortlist, listed, place }) {
  const list = `the base model's shortlist of the best ${shortlist}`;
  if (!listed) return `Not on ${list}.`;
  return place === null ? `Already known, so in addition to ${list}.` : `Place ${place} on ${list}.`;
}

function table(title, rows) {
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, h("th", {}, title), h("th", { class: "figure" }, "value"), h("th", { class: "figure" }, "adds"))),
      h(
        "tbody",
        {},
        rows.map(([name, value, adds]) =>
          h(
            "tr",
            {},
            h("td", {}, name),
            h("td", { class: "figure" }, value),
            h("td", { class: "figure" }, number(adds, true)),
          ),
        ),
      ),
    ),
  );
}
