// A probability: a number, and a meter of the same length.

import { h } from "../dom.js";
import { percent } from "../words.js";

const AMONG = "Calibrated probability among the answers not yet known";

/** Return a probability with its meter; a dash for an answer that is already known. */
export function probabilityMeter(probability, title = AMONG) {
  if (probability === null)
    return h("span", { class: "probability none", title: "Already known: there is nothing to predict" }, "–");
  const meter = h("i", { class: "meter", "aria-hidden": "true" }, h("i"));
  meter.firstChild.style.width = `${(probability * 100).toFixed(1)}%`;
  return h(
    "span",
    { class: "probability", title },
    percent(probability),
    meter,
  );
}
