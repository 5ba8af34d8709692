// Why an answer has its score, and why not another one.

import { address, ask, runPath } from "../api.js";
import { splitBar, termNumbers } from "../charts/split_bar.js";
import { h, replace } from "../dom.js";
import { heading, section } from "../parts/frame.js";
import { block, later, lines } from "../parts/states.js";
import { questionForm } from "../parts/question_form.js";
import { reasonList } from "../parts/reasons.js";
import { betweenTwo } from "../parts/between.js";
import { competitorsPicker } from "../parts/competitors.js";
import { comparison } from "../parts/comparison.js";
import { sharedNeighbours } from "../parts/shared_neighbours.js";
import { answerName, counted, factSentence, number, openSlots, ordinal, percent, questionOf } from "../words.js";
import { knownBadge } from "./answers.js";

export function view({ run, path, query, signal }) {
  const question = questionOf(query);
  const found = ask(path, query, signal);
  const open = openSlots(question)[0]; // without an answer, the best one is explained
  const slot = open ?? query.get("slot") ?? "object";
  const fact = h("span", {}, factSentence(question, slot));
  const title = h(
    "span",
    {},
    h("small", { class: "kicker" }, query.get("competitor") ? "Why, and why not" : "Why?"),
    " ",
    fact,
  );
  if (open) found.then((why) => replace(fact, factSentence(question, slot, why.answer))).catch(() => {});
  return [
    heading(title, { path, parameters: query }),
    later(found, (why) => reasons(run, why, query, signal), [lines(3), block("chart-block"), lines(6, "tall")]),
    h("details", { class: "card ask-again" }, h("summary", {}, "Ask something else"), questionForm(run, question)),
  ];
}

function reasons(run, why, query, signal) {
  const { competitor, differences } = why;
  return [
    h("p", { class: "standing" }, standing(why), " ", allAnswers(run, why)),
    why.note && h("p", { class: "note" }, why.note),
    competitor && comparison(why, competitor, differences),
    competitor
      ? section("Compare with yet another answer", competitorsPicker(run, why, query, signal))
      : h(
          "div",
          { class: "pair" },
          section("The score", score(why)),
          section("Compare with another answer", competitorsPicker(run, why, query, signal)),
        ),
    section(
      competitor ? ["Between the two, with ", h("em", {}, shownName(why))] : "Between the two",
      betweenTwo(run, why, signal),
    ),
    competitor && bothShared(why, competitor),
    why.reasons.length > 0 &&
      section(competitor ? ["Reasons for ", h("em", {}, shownName(why))] : "The rules behind it", reasonList(run, why)),
    competitor &&
      competitor.reasons.length > 0 &&
      section(["Reasons for ", h("em", {}, shownName(competitor))], reasonList(run, competitor, "competitor-reason")),
    competitor &&
      section(["Between the two, with ", h("em", {}, shownName(competitor))], betweenTwo(run, competitor, signal)),
  ];
}

/** Return the shared neighbours of two answers that are compared. */
function bothShared(...both) {
  const found = both.map((why) => [why, sharedNeighbours(why)]).filter(([, list]) => list !== null);
  return found.map(([why, list]) => section(["Shared neighbours of ", h("em", {}, shownName(why))], list));
}

const shownName = (why) => answerName(why.answer, why.slot);

function standing(why) {
  const probability = why.probability === null ? null : [h("b", {}, percent(why.probability)), " probability"];
  return [
    h("b", {}, ordinal(why.rank)),
    " of all answers",
    probability && [", ", probability],
    " ",
    knownBadge(why.already_known),
  ];
}

function allAnswers(run, why) {
  const question = { ...why.question, [why.slot]: null };
  return h("a", { href: address(runPath(run.name, "complete"), question) }, "All answers");
}

function score(why) {
  const { base_model: base, reranker } = why;
  return [
    h(
      "p",
      { class: "total" },
      h("b", {}, number(why.score)),
      h("span", {}, reranker ? "by the re-ranker" : "the sum of its terms"),
    ),
    splitBar(why.terms),
    termNumbers(why.terms),
    base && h("p", { class: "note" }, baseWords(base)),
    reranker && features(reranker),
    sharedNeighbours(why),
  ];
}

function baseWords({ score: given, shortlist, listed, place }) {
  const list = `the shortlist of the best ${shortlist}`;
  if (!listed) return `The base model scores it ${number(given)}: below ${list}, so its rank stays.`;
  const where = place === null ? `already known, so in addition to ${list}` : `place ${place} on ${list}`;
  return `The base model scores it ${number(given)}: ${where}.`;
}

function features({ base, contributions, other_contributions: others }) {
  const rows = contributions.map((one) =>
    h("tr", {}, h("td", {}, one.words), h("td", { class: "figure" }, number(one.contribution, true))),
  );
  return h(
    "details",
    { class: "more" },
    h("summary", {}, "What the re-ranker adds"),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        h("tr", {}, h("td", {}, "expected value"), h("td", { class: "figure" }, number(base, true))),
        rows,
        others.count > 0 &&
          h(
            "tr",
            {},
            h("td", {}, counted(others.count, "other feature")),
            h("td", { class: "figure" }, number(others.contribution, true)),
          ),
      ),
    ),
  );
}
