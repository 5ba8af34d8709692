// The ranked answers to a question.

import { address, ask, runPath } from "../api.js";
import { reach, split, splitBar, termLegend, termNumbers } from "../charts/split_bar.js";
import { h } from "../dom.js";
import { go } from "../navigation.js";
import { chooser, heading, section } from "../parts/frame.js";
import { questionForm } from "../parts/question_form.js";
import { empty, later, lines } from "../parts/states.js";
import { answerName, asked, factSentence, openSlots, percent, questionOf } from "../words.js";

const NARROW = matchMedia("(max-width: 640px)");

export function answersView({ run, runs, path, query, signal }) {
  const question = questionOf(query);
  const open = openSlots(question)[0];
  const found = ask(path, query, signal);
  const change = (name) => (value) => {
    const changed = new URLSearchParams(query);
    changed.set(name, value);
    go(address(path, changed));
  };
  const head = heading(h("span", {}, h("small", { class: "kicker" }, asked(open)), " ", factSentence(question, open)), {
    path,
    parameters: query,
  });
  const form = questionForm(run, question);
  const [top, known] = [query.get("top"), query.get("known")];
  const competitor = runs.find((other) => other !== run && other.data === run.data);
  return [
    NARROW.matches
      ? [head, h("details", { class: "card ask-again" }, h("summary", {}, "Change the question"), form)]
      : [form, head],
    h(
      "div",
      { class: "choices" },
      chooser(
        "Show",
        ["5", "10", "25", "50", "100"].map((many) => [many, `${many} answers`]),
        top ?? "10",
        change("top"),
      ),
      chooser(
        "Known answers",
        [
          ["mark", "marked"],
          ["hide", "left out"],
        ],
        known ?? "mark",
        change("known"),
      ),
      competitor &&
        h(
          "a",
          { class: "quiet", href: address("/compare", { ...question, left: run.name, right: competitor.name, top, known }) },
          "Ask another run too",
        ),
    ),
    section(
      null,
      later(found, (value) => answerList(run, question, value), lines(10, "tall")),
    ),
  ];
}

/** Return the list of answers of a response, each a link to its reasons. */
export function answerList(run, question, { slot, answers, note }) {
  if (answers.length === 0)
    return empty("No answer is left", "Train and valid know every one; show the known answers too.");
  const scale = reach(answers.map((answer) => split(answer.terms)));
  const stages = answers.some((answer) => "reranker" in answer.terms);
  const reading = stages
    ? "the score of the first stage, split; a second stage orders the best"
    : "the score, split; left of the line speaks against";
  return [
    note && h("p", { class: "note" }, note),
    h(
      "div",
      { class: "legend-line" },
      termLegend(Object.keys(split(answers[0].terms))),
      h("span", { class: "note" }, reading),
    ),
    h(
      "ol",
      { class: "answers" },
      answers.map((answer) => answerRow(run, question, slot, answer, scale)),
    ),
  ];
}

function answerRow(run, question, slot, answer, scale) {
  const href = address(runPath(run.name, "explain"), { ...question, [slot]: answer.name, slot });
  return h(
    "li",
    {},
    h(
      "a",
      { class: "answer", href },
      h("span", { class: "rank" }, String(answer.rank)),
      h("span", { class: "name" }, answerName(answer.name, slot), knownBadge(answer.known)),
      confidenceCell(answer.confidence),
      splitBar(split(answer.terms), scale),
      termNumbers(split(answer.terms), "reranker" in answer.terms ? answer.score : null),
      h("span", { class: "go" }, "why"),
    ),
  );
}

/** Return the badge of an answer that a split has already. */
export function knownBadge(split) {
  if (!split) return null;
  return h(
    "span",
    { class: `badge known-${split}`, title: `The ${split} facts hold this answer at this time` },
    `known in ${split}`,
  );
}

function confidenceCell(confidence) {
  if (confidence === null)
    return h("span", { class: "confidence none", title: "Known already: it needs no prediction" }, "–");
  const meter = h("i", { class: "meter", "aria-hidden": "true" }, h("i"));
  meter.firstChild.style.width = `${(confidence * 100).toFixed(1)}%`;
  return h(
    "span",
    { class: "confidence", title: "Calibrated confidence, among the answers that are not known yet" },
    percent(confidence),
    meter,
  );
}
