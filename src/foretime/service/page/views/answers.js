// The ranked answers to a question.

import { address, ask, runPath } from "../api.js";
import { reach, splitBar, termLegend, termNumbers } from "../charts/split_bar.js";
import { h } from "../dom.js";
import { go } from "../navigation.js";
import { chooser, heading, section } from "../parts/frame.js";
import { questionForm } from "../parts/question_form.js";
import { empty, later, lines } from "../parts/states.js";
import { answerName, asked, factSentence, openPieces, percent, questionOf } from "../words.js";

export function answersView({ run, path, query, signal }) {
  const question = questionOf(query);
  const open = openPieces(question)[0];
  const found = ask(path, query, signal);
  const change = (name) => (value) => {
    const changed = new URLSearchParams(query);
    changed.set(name, value);
    go(address(path, changed));
  };
  return [
    questionForm(run, question),
    heading(h("span", {}, h("small", { class: "kicker" }, asked(open)), factSentence(question, open)), { path, parameters: query }),
    h(
      "div",
      { class: "choices" },
      chooser("Show", ["5", "10", "25", "50", "100"].map((many) => [many, `${many} answers`]), query.get("top") ?? "10", change("top")),
      chooser("Known answers", [["mark", "marked"], ["hide", "left out"]], query.get("known") ?? "mark", change("known")),
    ),
    section(null, later(found, (value) => answerList(run, question, value), lines(10, "tall"))),
  ];
}

/** Return the list of answers of a response, each a link to its reasons. */
export function answerList(run, question, { piece, answers, note }) {
  if (answers.length === 0) return empty("No answer is left", "Train and valid know every one; show the known answers too.");
  const scale = reach(answers.map((answer) => answer.terms));
  return [
    note && h("p", { class: "note" }, note),
    h("div", { class: "legend-line" }, termLegend(Object.keys(answers[0].terms)), h("span", { class: "note" }, "the score, split; left of the line speaks against")),
    h("ol", { class: "answers" }, answers.map((answer) => answerRow(run, question, piece, answer, scale))),
  ];
}

function answerRow(run, question, piece, answer, scale) {
  const href = address(runPath(run.name, "explain"), { ...question, [piece]: answer.name, piece });
  return h(
    "li",
    {},
    h(
      "a",
      { class: "answer", href },
      h("span", { class: "rank" }, String(answer.rank)),
      h("span", { class: "name" }, answerName(answer.name, piece), knownBadge(answer.known)),
      confidenceCell(answer.confidence),
      splitBar(answer.terms, scale),
      termNumbers(answer.terms),
      h("span", { class: "go" }, "why"),
    ),
  );
}

/** Return the badge of an answer that a split has already. */
export function knownBadge(split) {
  if (!split) return null;
  return h("span", { class: `badge known-${split}`, title: `The ${split} facts hold this answer at this time` }, `known in ${split}`);
}

function confidenceCell(confidence) {
  if (confidence === null) return h("span", { class: "confidence", title: "Known already: it needs no prediction" }, "known");
  const meter = h("i", { class: "meter", "aria-hidden": "true" }, h("i"));
  meter.firstChild.style.width = `${(confidence * 100).toFixed(1)}%`;
  return h("span", { class: "confidence", title: "Calibrated confidence, among the answers that are not known yet" }, percent(confidence), meter);
}
