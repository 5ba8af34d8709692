// "Compare with another answer": the best others as links, and a field for any other.

import { address, ask, runPath } from "../api.js";
import { h } from "../dom.js";
import { go } from "../navigation.js";
import { answerName } from "../words.js";
import { combobox } from "./combobox.js";
import { later, lines } from "./states.js";
import { timeField } from "./time_field.js";

const OFFERED = 6;

/** Return links to compare an explained answer with others. */
export function competitorsPicker(run, why, query, signal) {
  const question = { ...why.question, [why.slot]: null };
  const best = ask(runPath(run.name, "complete"), { ...question, top: OFFERED }, signal);
  return [
    later(best, ({ answers }) => chips(run, why, answers), lines(2, "chips-to-come")),
    otherField(run, why),
    query.get("competitor") &&
      h("p", {}, h("a", { class: "quiet", href: addressOf(run, why, null) }, "Stop comparing")),
  ];
}

function addressOf(run, why, competitor) {
  return address(runPath(run.name, "explain"), { ...why.question, slot: why.slot, competitor });
}

function chips(run, why, answers) {
  const competitors = answers.filter((answer) => answer.name !== why.answer);
  return h(
    "p",
    { class: "chips" },
    competitors.map((answer) =>
      h(
        "a",
        {
          class: "chip",
          href: addressOf(run, why, answer.name),
          "aria-current": answer.name === why.competitor?.answer ? "true" : null,
        },
        h("small", {}, String(answer.rank)),
        answerName(answer.name, why.slot),
      ),
    ),
  );
}

function otherField(run, why) {
  const choose = (competitor) => competitor && go(addressOf(run, why, competitor));
  const list = why.slot === "predicate" ? "predicates" : "entities";
  const suggest = (prefix) => ask(runPath(run.name, list), { prefix, limit: 12 });
  const field =
    why.slot === "time"
      ? timeField({ label: "Or any other", name: "competitor", run })
      : combobox({ label: "Or any other", name: "competitor", placeholder: "a name", suggest, chosen: choose });
  const submit = (event) => {
    event.preventDefault();
    choose(field.value);
  };
  return h(
    "form",
    { class: "row competitor-form", onsubmit: submit },
    field.element,
    h("button", { class: "button" }, "Compare"),
  );
}
