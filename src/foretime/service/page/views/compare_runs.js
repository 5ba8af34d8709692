// The same question to two runs, next to each other.

import { address, ask } from "../api.js";
import { h } from "../dom.js";
import { go, goInstead } from "../navigation.js";
import { chooser, heading, section } from "../parts/frame.js";
import { questionForm } from "../parts/question_form.js";
import { empty, later, lines } from "../parts/states.js";
import { answerName, asked, canBeAsked, counted, factSentence, openSlots, questionOf } from "../words.js";
import { answerList } from "./answers.js";

export function view({ runs, query, signal }) {
  if (runs.length < 2)
    return [
      heading("Two runs", { path: "/runs" }),
      empty("There is only one run here", 'Serve two: "foretime serve runs/a runs/b".'),
    ];
  const named = (name, fallback) => runs.find((run) => run.name === name) ?? fallback;
  const left = named(query.get("left"), runs[0]);
  const others = runs.filter((run) => run !== left);
  const right = named(query.get("right"), others.find((run) => run.data === left.data) ?? others[0]);
  const question = questionOf(query);
  const open = openSlots(question);
  const shownAs = {
    left: left.name, right: right.name, top: query.get("top"), already_known: query.get("already_known"),
  };
  const to = (given) => address("/compare", { ...given, ...shownAs });
  if (query.get("left") !== left.name || query.get("right") !== right.name) {
    queueMicrotask(() => goInstead(to(question)));
    return null;
  }
  const pick = (side) => (name) => go(address("/compare", { ...question, ...shownAs, [side]: name }));
  const names = runs.map((run) => [run.name, run.name]);
  const ready = canBeAsked(open);
  const parameters = { ...question, ...shownAs };
  return [
    questionForm(left, question, to),
    heading(
      ready
        ? h("span", {}, h("small", { class: "kicker" }, asked(open)), " ", factSentence(question, open))
        : "Ask two runs the same question",
      ready ? { path: "/compare", parameters } : { path: "/runs" },
    ),
    h(
      "div",
      { class: "choices" },
      chooser("Left", names, left.name, pick("left")),
      chooser("Right", names, right.name, pick("right")),
    ),
    ready
      ? later(ask("/compare", parameters, signal), (found) => both(left, right, question, found), [lines(10, "tall")])
      : section(null, empty("Ask a question above", "Both runs will answer it.")),
  ];
}

function both(left, right, question, { slot, answers, shared, ...sides }) {
  const place = (rank) => (rank === null ? "–" : String(rank));
  return [
    section(
      "Where they agree",
      h("p", { class: "note" }, `${counted(shared, "answer")} in common.`),
      h(
        "div",
        { class: "scroll tall-scroll" },
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", {}, "Answer"),
              h("th", { class: "figure" }, left.name),
              h("th", { class: "figure" }, right.name),
            ),
          ),
          h(
            "tbody",
            {},
            answers.map((one) =>
              h(
                "tr",
                {},
                h("td", {}, answerName(one.name, slot)),
                h("td", { class: "figure" }, place(one.left)),
                h("td", { class: "figure" }, place(one.right)),
              ),
            ),
          ),
        ),
      ),
    ),
    h(
      "div",
      { class: "pair" },
      section(left.name, answerList(left, question, sides.left)),
      section(right.name, answerList(right, question, sides.right)),
    ),
  ];
}
