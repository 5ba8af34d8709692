// Why an answer has its score, and why not another one.

import { address, ask, runPath } from "../api.js";
import { h, replace } from "../dom.js";
import { heading, section } from "../parts/frame.js";
import { block, later, lines } from "../parts/states.js";
import { questionForm } from "../parts/question_form.js";
import { topicList } from "../parts/reasons.js";
import { betweenTwo } from "../parts/between.js";
import { competitorsPicker } from "../parts/competitors.js";
import { comparison } from "../parts/comparison.js";
import { fullTable } from "../parts/full_table.js";
import { probabilityMeter } from "../parts/probability.js";
import { answerName, factSentence, number, openSlots, ordinal, questionOf, sentence, slotsOf } from "../words.js";
import { knownBadge } from "./answers.js";

export function view({ run, path, query, signal }) {
  const question = questionOf(query);
  const found = ask(path, query, signal);
  const open = openSlots(question); // without an answer, the best one is explained
  const slots = open.length > 0 ? open : slotsOf(query.get("slot") ?? "object");
  const fact = h("span", {}, factSentence(question, slots));
  const title = h(
    "span",
    {},
    h("small", { class: "kicker" }, query.get("competitor") ? "Why, and why not" : "Why?"),
    " ",
    fact,
  );
  if (open.length > 0) found.then((why) => replace(fact, factSentence(why.question, slots))).catch(() => {});
  return [
    heading(title, { path, parameters: query }),
    later(found, (why) => (why.steps ? steps : reasons)(run, why, { path, query, signal }), [lines(3), block("chart-block"), lines(6, "tall")]),
    h("details", { class: "card ask-again" }, h("summary", {}, "Ask something else"), questionForm(run, question)),
  ];
}

/** Return why two slots: the two probabilities, and the reasons of each. */
function steps(run, why, { path, query, signal }) {
  const titles = ["First: ", "Then, given that: "];
  return [
    h("p", { class: "standing" }, standing(why), " ", allAnswers(run, why)),
    lead(why),
    why.steps.map((step, place) =>
      section(
        [titles[place], named(step)],
        h("p", { class: "standing" }, standing(step), " ", place > 0 && allAnswers(run, step)),
        step.note && h("p", { class: "note" }, step.note),
        total(step),
        topicList(run, step, place === 0 ? "first" : "reason"),
        fullTable(path, query, signal, (found) => found.steps[place]),
      ),
    ),
    section("Between the two", betweenTwo(run, why.steps.at(-1), signal)),
  ];
}

function reasons(run, why, { path, query, signal }) {
  const { competitor, differences } = why;
  return [
    h("p", { class: "standing" }, standing(why), " ", allAnswers(run, why)),
    lead(why),
    why.note && h("p", { class: "note" }, why.note),
    competitor && comparison(why, competitor, differences),
    section(
      competitor ? ["What speaks for ", named(why)] : "What it is about",
      total(why),
      topicList(run, why),
      fullTable(path, query, signal),
    ),
    competitor &&
      section(
        ["What speaks for ", named(competitor)],
        lead(competitor),
        total(competitor),
        topicList(run, competitor, "competitor-reason"),
      ),
    section(
      competitor ? ["Between the two, with ", named(why)] : "Between the two",
      betweenTwo(run, why, signal),
    ),
    competitor && section(["Between the two, with ", named(competitor)], betweenTwo(run, competitor, signal)),
    section(
      competitor ? "Compare with yet another answer" : "Compare with another answer",
      competitorsPicker(run, why, query, signal),
    ),
  ];
}

const named = (why) => h("em", {}, h("bdi", {}, answerName(why.answer, why.slot)));

function lead(why) {
  return h(
    "div",
    { class: "lead" },
    why.sentences.map((text) => h("p", {}, sentence(text))),
  );
}

function standing(why) {
  return [
    probabilityMeter(why.probability),
    " ",
    h("b", {}, ordinal(why.rank)),
    " of all answers ",
    knownBadge(why.already_known),
  ];
}

function allAnswers(run, why) {
  const question = { ...why.question, ...Object.fromEntries(slotsOf(why.slot).map((slot) => [slot, null])) };
  return h("a", { href: address(runPath(run.name, "complete"), question) }, "All answers");
}

function total(why) {
  return h("p", { class: "note" }, `Score ${number(why.score)}: the sum of what follows.`);
}
