// A field for a time, limited to what the data covers.

import { h } from "../dom.js";
import { humanTime } from "../times.js";

const TYPES = { day: "date", month: "month" };
let made = 0;

/** Return `{element, input, value, set}` of a field for a time of a run. */
export function timeField({ label, name, value = "", run, changed = () => {} }) {
  const id = `time-${++made}`;
  const whole = /^-?\d+$/.test(run.first);
  const type = whole ? "number" : (TYPES[run.granularity] ?? "text");
  const last = run.forecasts ? null : run.last;
  const input = h("input", { id, name, type, value, min: run.first, max: last, placeholder: "?", autocomplete: "off" });
  const hint = `${humanTime(run.first, true)} – ${humanTime(run.last, true)}${run.forecasts ? " and later" : ""}`;
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
      return input.value.trim();
    },
  };
}
