// Two answers next to each other: what each summand gives to the one and to the other.

import { reach, signedBar, splitBar, termClass, termNumbers } from "../charts/split_bar.js";
import { h } from "../dom.js";
import { answerName, counted, number, ordinal, percent } from "../words.js";
import { section } from "./frame.js";

/** Return why one answer and not another. */
export function comparison(why, competitor, differences) {
  const [name, other] = [why, competitor].map((one) => answerName(one.answer, one.slot));
  const ahead = differences.score >= 0;
  const scale = reach([why.terms, competitor.terms]);
  return section(
    [h("em", {}, name), " or ", h("em", {}, other), "?"],
    h(
      "p",
      {},
      h("b", {}, ahead ? name : other),
      ` is ahead by ${number(Math.abs(differences.score))}. `,
      "Bars to the right favour ",
      h("b", {}, name),
      ", bars to the left ",
      h("b", {}, other),
      ".",
    ),
    h("div", { class: "pair" }, side(why, scale), side(competitor, scale)),
    table("The terms of the score", differences.terms, name, other),
    table("From the evidence", differences.reasons, name, other, differences.other_reasons),
    differences.reranker &&
      table("From the re-ranker", differences.reranker, name, other, differences.other_reranker),
  );
}

function side(why, scale) {
  const probability = why.probability === null ? "already known" : `${percent(why.probability)} probability`;
  return h(
    "div",
    { class: "side" },
    h("h3", {}, answerName(why.answer, why.slot)),
    h("p", { class: "note" }, `${ordinal(why.rank)}, ${probability}, score ${number(why.score)}`),
    splitBar(why.terms, scale),
    termNumbers(why.terms),
  );
}

function table(title, rows, name, other, others = null) {
  if (rows.length === 0) return null;
  const all = rows.flatMap((row) => [row.difference, -row.difference]);
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "differences" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", {}, title),
          h("th", { class: "figure" }, name),
          h("th", { class: "figure" }, other),
          h("th", { class: "bar-cell" }, h("span", { class: "unseen" }, "bar")),
          h("th", { class: "figure" }, "difference"),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) => line(row, all)),
        others?.count > 0 &&
          h(
            "tr",
            {},
            h("td", {}, counted(others.count, "other")),
            h("td"),
            h("td"),
            h("td"),
            h("td", { class: "figure" }, number(others.difference, true)),
          ),
      ),
    ),
  );
}

function line(row, all) {
  const known = termClass(row.name);
  return h(
    "tr",
    {},
    h("td", {}, known !== "term-other" && h("i", { class: `swatch ${known}`, "aria-hidden": "true" }), row.name),
    h("td", { class: "figure" }, number(row.answer)),
    h("td", { class: "figure" }, number(row.competitor)),
    h("td", { class: "bar-cell" }, signedBar(row.difference, all)),
    h("td", { class: "figure" }, h("b", {}, number(row.difference, true))),
  );
}
