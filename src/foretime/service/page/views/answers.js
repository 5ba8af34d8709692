// The ranked answers to a question.

import { address, ask, runPath } from "../api.js";
import { h, replace } from "../dom.js";
import { go } from "../navigation.js";
import { chooser, heading, section } from "../parts/frame.js";
import { probabilityMeter } from "../parts/probability.js";
import { questionForm, whereTo } from "../parts/question_form.js";
import { empty, later, lines } from "../parts/states.js";
import {
  answerName,
  asked,
  factSentence,
  openSlots,
  percent,
  questionOf,
  sentence,
  slotNames,
  slotsOf,
} from "../words.js";

const EXPLAINED = 10;
const NARROW = matchMedia("(max-width: 640px)");

export function view({ run, runs, path, query, signal }) {
  const question = questionOf(query);
  const open = openSlots(question);
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
  const [top, alreadyKnown] = [query.get("top"), query.get("already_known")];
  const restricted = Object.fromEntries(["type", "where"].map((name) => [name, query.get(name)]));
  const form = questionForm(run, question, (again) => whereTo(run, { ...again, ...(asksWho(again) && restricted) }));
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
      run.types.length > 0 &&
        asksWho(question) &&
        chooser(
          "Only",
          [["", "all entities"], ...run.types.map((type) => [type, type])],
          restricted.type ?? "",
          change("type"),
        ),
      other &&
        h(
          "a",
          {
            class: "quiet",
            href: address("/compare", {
              ...question, ...restricted, left: run.name, right: other.name, top, already_known: alreadyKnown,
            }),
          },
          "Ask another run too",
        ),
    ),
    section(
      null,
      later(found, (value) => answerList(run, { ...question, ...restricted }, value, signal), lines(10, "tall")),
    ),
  ];
}

/** Return whether an entity is asked for: only entities have types. */
const asksWho = (question) => openSlots(question).some((slot) => slot === "subject" || slot === "object");

/** Return the list of answers of a response, each a link to its reasons; the first say why in a sentence. */
export function answerList(run, question, { slot, answers, note, other_probability: others }, signal = null) {
  if (answers.length === 0)
    return empty("No answers left", "All of them are already in train or valid. Show the known answers too.");
  const rows = answers.map((answer) => answerRow(run, question, slot, answer));
  const list = h(
    "ol",
    { class: "answers", "aria-busy": "true" },
    rows.map(({ element }) => element),
  );
  const explained = slotsOf(slot).length === 1 ? rows.slice(0, EXPLAINED) : []; // of two, a row says both probabilities
  sayWhy(run, explained, signal).finally(() => list.removeAttribute("aria-busy"));
  const rest = others >= 0.0005 && h("p", { class: "note" }, `All other answers together: ${percent(others)}`);
  return [note && h("p", { class: "note" }, note), list, rest];
}

/** Fill in why the first answers stand where they do, one after the other. */
export async function sayWhy(run, rows, signal) {
  for (const { asked: fact, line } of rows) {
    try {
      const { sentences } = await ask(runPath(run.name, "explain"), fact, signal);
      replace(line, sentence(sentences[0]));
    } catch {
      return; // the list is complete without it, and the view of the reasons says what is wrong
    }
  }
}

function answerRow(run, question, slot, answer) {
  const names = slotNames(answer, slot);
  const fact = { ...question, ...names, slot };
  const line = h("span", { class: "first-reason" }, slotsOf(slot).length > 1 && bothChances(answer));
  const element = h(
    "li",
    {},
    h(
      "a",
      { class: "answer", href: address(runPath(run.name, "explain"), fact) },
      h("span", { class: "rank" }, String(answer.rank)),
      h("span", { class: "name" }, shownNames(names), knownBadge(answer.already_known)),
      probabilityMeter(answer.probability),
      line,
      h("span", { class: "go" }, "why"),
    ),
  );
  return { asked: fact, element, line };
}

/** Return the names of an answer, those of two slots one after the other. */
function shownNames(names) {
  const each = Object.entries(names).map(([slot, name]) => h("bdi", {}, answerName(name, slot)));
  return h("span", {}, each[0], each[1] && [", ", each[1]]);
}

/** Return the two probabilities whose product an answer to two slots has: of the first, and of the second given it. */
function bothChances({ names, terms }) {
  const [first, second] = Object.keys(terms).map((slot) => [h("bdi", {}, names[slot]), ` ${percent(Math.exp(terms[slot]))}`]);
  return [first, ", then ", second];
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
