// A run's first page: ask, or start from a fact that the run has held back.

import { address, ask, runPath } from "../api.js";
import { h } from "../dom.js";
import { heading, section } from "../parts/frame.js";
import { questionForm, whereTo } from "../parts/question_form.js";
import { later, lines } from "../parts/states.js";
import { humanSpan } from "../times.js";
import { SLOTS, asked, count, factSentence, unseenFigures } from "../words.js";

const EXAMPLES = 4;

export function view({ run, path, signal }) {
  const about = ask(runPath(run.name), {}, signal);
  const split = ["test", "valid", "train"].find((name) => run.facts[name] > 0);
  const more = ask(runPath(run.name, "facts"), { split, order: "latest", limit: 40 }, signal).catch(() => ({
    facts: [],
  }));
  return [
    heading(run.forecasts ? "What happened, or will happen?" : "What else happened?", {
      path,
      lead: "Fill in three of who, what, to whom and when. The run ranks candidates for the fourth, and explains them.",
    }),
    questionForm(run),
    section(
      "Try one",
      h("p", { class: "note" }, `${origin(run, split)} Choose what to leave open.`),
      later(
        Promise.all([about, more]),
        ([details, facts]) => [
          details.config.rules?.splits?.includes(split) &&
            split !== "train" &&
            h("p", { class: "note" }, `The rules of this run were also counted on ${split}.`),
          examples(run, details.example, facts.facts),
        ],
        lines(EXAMPLES, "tall"),
      ),
    ),
    section("The graph", figures(run)),
  ];
}

/** Return in words what the run has done with the facts of a split. */
function origin(run, split) {
  if (split === "test") return "Facts that the run was not trained on.";
  if (split === "train") return "Facts that the run was trained on; it has no others.";
  return run.valid_fitted ? "Facts that its re-ranker was fitted on." : "Facts that the best epoch was chosen by.";
}

function examples(run, first, others) {
  const seen = new Set();
  const picked = [first, ...others].filter((fact) => {
    if (!fact || seen.has(fact.predicate)) return false;
    return seen.add(fact.predicate);
  });
  return h(
    "ul",
    { class: "examples" },
    picked.slice(0, EXAMPLES).map((fact) => example(run, fact)),
  );
}

function example(run, fact) {
  const slots = SLOTS.filter((slot) => slot !== "time" || fact.time);
  const links = slots.map((slot) =>
    h("a", { class: "chip", href: whereTo(run, without(fact, slot)) }, asked([slot])),
  );
  return h("li", {}, factSentence(fact), h("span", { class: "chips" }, links));
}

function without(fact, slot) {
  const names = ["subject", "predicate", "object", "time", "start", "end"];
  return Object.fromEntries(names.filter((name) => name !== slot && fact[name]).map((name) => [name, fact[name]]));
}

function figures(run) {
  const facts = run.facts.train + run.facts.valid + run.facts.test;
  const tiles = [
    [count(facts), "facts", address(runPath(run.name, "facts"), { order: "latest" })],
    [count(run.entities), "entities", runPath(run.name, "timeline")],
    [count(run.predicates), "predicates", runPath(run.name, "report")],
    [count(run.rules), "rules", runPath(run.name, "rules")],
  ];
  for (const [split, mrr] of unseenFigures(run).slice(-1))
    tiles.push([mrr.toFixed(3), `MRR on ${split}`, runPath(run.name, "report")]);
  return [
    h(
      "ul",
      { class: "tiles" },
      tiles.map(([value, text, href]) => h("li", {}, h("a", { href }, h("b", {}, value), text))),
    ),
    h(
      "p",
      { class: "note" },
      `${run.data}, ${humanSpan(run.first, run.last, { short: false, join: " to " })}, `,
      `by ${run.granularity.replace(/^bins:(\d+)$/, "$1 bins")}; model ${run.model}.`,
    ),
  ];
}
