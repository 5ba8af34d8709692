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

export function view({ run, runs, path, query, signal }) {
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
  const [top, alreadyKnown] = [query.get("top"), query.get("already_known")];
  const other = runs.find((one) => one !== run && one.data === run.data);
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
        "Already known",
        [
          ["mark", "marked"],
          ["hide", "hidden"],
        ],
        alreadyKnown ?? "mark",
        change("already_known"),
      ),
      other &&
        h(
          "a",
          {
            class: "quiet",
            href: address("/compare", {
              ...question, left: run.name, right: other.name, top, already_known: alreadyKnown,
            }),
          },
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
    return empty("No answers left", "All of them are already in train or valid. Show the known answers too.");
  const scale = reach(answers.map((answer) => split(answer.terms)));
  const reranked = answers.some((answer) => "reranker" in answer.terms);
  const reading = reranked
    ? "the score of the base model by term; a re-ranker orders the best answers"
    : "the score by term; left of the line counts against the answer";
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
      h("span", { class: "name" }, answerName(answer.name, slot), knownBadge(answer.already_known)),
      probabilityCell(answer.probability),
      splitBar(split(answer.terms), scale),
      termNumbers(split(answer.terms), "reranker" in answer.terms ? answer.score : null),
      h("span", { class: "go" }, "why"),
    ),
  );
}

/** Return the badge of an answer that a split already has. */
export function knownBadge(split) {
  if (!split) return null;
  return h(
    "span",
    { class: `badge in-${split}`, title: `The ${split} split already has this answer at this time` },
    `already in ${split}`,
  );
}

function probabilityCell(probability) {
  if (probability === null)
    return h("span", { class: "probability none", title: "Already known: there is nothing to predict" }, "–");
  const meter = h("i", { class: "meter", "aria-hidden": "true" }, h("i"));
  meter.firstChild.style.width = `${(probability * 100).toFixed(1)}%`;
  return h(
    "span",
    { class: "probability", title: "Calibrated probability among the answers not yet known" },
    percent(probability),
    meter,
  );
}
