// The question: four slots, one or two of which are left open.

import { address, ask, runPath } from "../api.js";
import { h, replace } from "../dom.js";
import { go } from "../navigation.js";
import { SLOTS, canBeAsked, factSentence, openSlots } from "../words.js";
import { combobox } from "./combobox.js";
import { timeField } from "./time_field.js";

const LABELS = { subject: "Subject", predicate: "Predicate", object: "Object", time: "Date", start: "From", end: "To" };
const SUGGESTIONS = 12;

/** Return the form of a run, filled with a question; `to` makes the address that an asked one leads to. */
export function questionForm(run, question = {}, to = (asked) => whereTo(run, asked)) {
  const hint = h("p", { class: "hint", "aria-live": "polite" });
  const button = h("button", { class: "button primary" }, "Ask");
  const fields = {};
  const ends = run.intervals && (!question.time || question.start || question.end) ? ["start", "end"] : ["time"];
  for (const name of ["subject", "predicate", "object"]) {
    const list = name === "predicate" ? "predicates" : "entities";
    const suggest = (prefix) => ask(runPath(run.name, list), { prefix, limit: SUGGESTIONS });
    fields[name] = combobox({
      label: LABELS[name],
      name,
      value: question[name] ?? "",
      placeholder: "?",
      suggest,
      changed: note,
    });
  }
  for (const name of ends) {
    fields[name] = timeField({ label: LABELS[name], name, value: question[name] ?? "", run, changed: note });
  }
  note();

  function current() {
    return Object.fromEntries(
      Object.entries(fields)
        .map(([name, field]) => [name, field.value])
        .filter(([, value]) => value),
    );
  }

  function note() {
    if (ends.some((name) => !fields[name])) return;
    const asked = current();
    const open = openSlots(asked);
    button.textContent = open.length === 0 ? "Explain" : "Ask";
    hint.classList.remove("wrong");
    replace(hint, hintFor(asked, open));
  }

  function submit(event) {
    event.preventDefault();
    const asked = current();
    const open = openSlots(asked);
    if (open.length === 0 || canBeAsked(open)) return go(to(asked));
    hint.classList.add("wrong");
    replace(hint, `Fill in all but one, or the date and one more: ${listed(open)} are empty.`);
    fields[open[0] === "time" ? ends[0] : open[0]].input.focus();
  }

  return h(
    "form",
    {
      class: `question ${ends.length > 1 ? "with-ends" : ""}`,
      role: "search",
      "aria-label": "Ask a question",
      onsubmit: submit,
      novalidate: true,
    },
    h(
      "div",
      { class: "fields" },
      Object.values(fields).map((field) => field.element),
      button,
    ),
    hint,
  );
}

/** Return where a question leads: to its answers, or to the reasons if nothing is left open. */
export function whereTo(run, question) {
  const open = openSlots(question);
  return address(runPath(run.name, open.length === 0 ? "explain" : "complete"), question);
}

function hintFor(asked, open) {
  if (open.length === SLOTS.length)
    return "Fill in three of the four, or the date and one more; what you leave open is the question.";
  if (open.length === 0) return ["Nothing is left open: ", factSentence(asked), " will be explained."];
  if (canBeAsked(open)) return ["You are asking: ", factSentence(asked, open)];
  return `Leave one slot open, or two beside the date: ${listed(open)} are still empty.`;
}

function listed(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names[0];
}
