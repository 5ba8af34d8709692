// A field for a time, limited to what the data covers.

import { h } from "../dom.js";
import { endsOf, humanSpan } from "../times.js";

/** Which picker names a time as the data does; what none can name is written. */
const PICKERS = [
  ["number", /^-?\d+$/],
  ["date", /^\d{4}-\d\d-\d\d$/],
  ["month", /^\d{4}-\d\d$/],
  ["week", /^\d{4}-W\d\d$/],
  ["datetime-local", /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/],
];
const STEPS = { hour: 3600, second: 1 };
let made = 0;

/** Return `{element, input, value, set}` of a field for a time of a run. */
export function timeField({ label, name, value = "", run, changed = () => {} }) {
  const id = `time-${++made}`;
  const [first, last] = [endsOf(run.first)[0], endsOf(run.last)[1]];
  const [type] = PICKERS.find(([, pattern]) => pattern.test(first) && pattern.test(last)) ?? ["text"];
  const input = h("input", {
    id,
    name,
    type,
    min: first,
    max: run.forecasts ? null : last,
    step: STEPS[run.granularity],
    value: endsOf(value)[0], // any time in a bin names it
    placeholder: "?",
    autocomplete: "off",
  });
  const hint = `${humanSpan(first, last)}${run.forecasts ? " and later" : ""}`;
  const clear = h(
    "button",
    { type: "button", class: "clear", "aria-label": `Clear ${label}`, onclick: () => set("") },
    "×",
  );
  const element = h(
    "div",
    { class: "field time-field" },
    h("label", { for: id }, label, h("small", {}, hint)),
    h("div", { class: "box" }, input, clear),
  );
  input.addEventListener("input", note);
  note();

  function note() {
    element.classList.toggle("is-open", input.value === "");
    changed(input.value);
  }

  function set(given) {
    input.value = given;
    note();
  }

  return {
    element,
    input,
    set,
    get value() {
      const written = input.value.trim();
      return run.granularity === "second" && /T\d\d:\d\d$/.test(written) ? `${written}:00` : written;
    },
  };
}
