// Two answers next to each other: what each topic, and each reason in it, gives to the one and to the other.

import { signedBar } from "../charts/signed_bar.js";
import { h } from "../dom.js";
import { answerName, counted, number, ordinal, percent, sentence } from "../words.js";
import { section } from "./frame.js";

/** Return why one answer and not another. */
export function comparison(why, competitor, differences) {
  const [name, other] = [why, competitor].map((one) => answerName(one.answer, one.slot));
  return section(
    [h("em", {}, h("bdi", {}, name)), " or ", h("em", {}, h("bdi", {}, other)), "?"],
    h("p", { class: "lead" }, sentence(differences.sentence)),
    h("div", { class: "pair" }, side(why), side(competitor)),
    table(differences.topics, name, other),
    h(
      "p",
      { class: "note" },
      "Bars to the right favour ",
      h("b", {}, h("bdi", {}, name)),
      ", bars to the left ",
      h("b", {}, h("bdi", {}, other)),
      `. All differences add up to ${number(differences.score, true)}.`,
    ),
  );
}

function side(why) {
  const probability = why.probability === null ? "already known" : `${percent(why.probability)} probability`;
  return h(
    "div",
    { class: "side" },
    h("h3", {}, h("bdi", {}, answerName(why.answer, why.slot))),
    h("p", { class: "note" }, `${ordinal(why.rank)}, ${probability}`),
  );
}

function table(topics, name, other) {
  const all = topics.flatMap((topic) => [topic.difference, -topic.difference]);
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
          h("th", {}, "What it is about"),
          h("th", { class: "figure" }, h("bdi", {}, name)),
          h("th", { class: "figure" }, h("bdi", {}, other)),
          h("th", { class: "bar-cell" }, h("span", { class: "unseen" }, "bar")),
          h("th", { class: "figure" }, "difference"),
        ),
      ),
      topics.map((topic) =>
        h(
          "tbody",
          {},
          line(topic, all, "topic-row"),
          topic.reasons.map((reason) => line(reason, all, "reason-row")),
          topic.other_reasons.count > 0 &&
            h(
              "tr",
              { class: "reason-row" },
              h("td", {}, counted(topic.other_reasons.count, "other reason")),
              h("td"),
              h("td"),
              h("td"),
              h("td", { class: "figure" }, number(topic.other_reasons.difference, true)),
            ),
        ),
      ),
    ),
  );
}

function line(row, all, className) {
  return h(
    "tr",
    { class: className },
    h("td", {}, sentence(row.title)),
    h("td", { class: "figure" }, number(row.answer)),
    h("td", { class: "figure" }, number(row.competitor)),
    h("td", { class: "bar-cell" }, signedBar(row.difference, all)),
    h("td", { class: "figure" }, h("b", {}, number(row.difference, true))),
  );
}
