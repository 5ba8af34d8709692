// The runs of the service. If there is only one, its own page is shown at once.

import { runPath } from "../api.js";
import { h } from "../dom.js";
import { goInstead, reloadLater } from "../navigation.js";
import { heading } from "../parts/frame.js";
import { empty } from "../parts/states.js";
import { humanSpan } from "../times.js";
import { count, unseenFigures } from "../words.js";

const LOOK_AGAIN = 3; // seconds

export function view({ runs, problems, signal }) {
  if (runs.length === 1 && problems.length === 0) {
    queueMicrotask(() => goInstead(runPath(runs[0].name)));
    return null;
  }
  if (runs.length === 0) reloadLater(LOOK_AGAIN, signal);
  return [
    heading("Runs", { path: "/runs", lead: runs.length > 0 && "Choose a run to ask." }),
    runs.length === 0 &&
      empty(
        "No runs yet",
        'The service may be loading one. Otherwise train one with "foretime train": ',
        "it appears here as soon as its report is written.",
      ),
    h("div", { class: "cards" }, runs.map(runCard)),
    runs.length > 1 && h("p", {}, h("a", { class: "button", href: "/compare" }, "Ask two runs the same question")),
    problems.length > 0 &&
      h(
        "div",
        { class: "state state-error" },
        problems.map((one) => h("p", {}, h("b", {}, one.run), ` ${one.message}`)),
      ),
  ];
}

function runCard(run) {
  const facts = run.facts.train + run.facts.valid + run.facts.test;
  const figures = unseenFigures(run);
  return h(
    "a",
    { class: "card run-card", href: runPath(run.name) },
    h("h2", {}, run.name),
    h(
      "p",
      {},
      `${run.model} on ${run.data}`,
      h("br"),
      `${count(facts)} facts, ${humanSpan(run.first, run.last)}`,
    ),
    h(
      "p",
      { class: "figures" },
      figures.map(([split, mrr]) => h("span", {}, `MRR on ${split} `, h("b", {}, mrr.toFixed(3)))),
    ),
    h(
      "p",
      { class: "badges" },
      [
        run.evidence && "explains its answers",
        run.reranker && (run.valid_fitted ? "re-ranker fitted on valid" : "re-ranker"),
        run.forecasts && "forecasts",
      ]
        .filter(Boolean)
        .map((text) => h("span", { class: "badge" }, text)),
    ),
  );
}
