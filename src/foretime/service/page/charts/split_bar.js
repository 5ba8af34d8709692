// A bar that splits a score into its terms: what supports an answer right of zero, what counts against it left.

import { h, s } from "../dom.js";
import { number } from "../words.js";

const KNOWN = ["event", "commonsense", "evidence"];
const HEIGHT = 14;

/** Return the class of a term, which gives it its colour. */
export const termClass = (name) => (KNOWN.includes(name) ? `term-${name}` : "term-other");

/**
 * Return the terms that a bar is split into.
 *
 * A re-ranker scores on a scale of its own. The term `reranker` is only the step from one scale to the other, whose
 * size means nothing; the bar is that of the base model then.
 */
export const split = ({ reranker, ...terms }) => terms;

/** Return how far left and right of zero the terms of all answers reach. */
export function reach(all) {
  const low = Math.max(0, ...all.map((terms) => -total(terms, -1)));
  const high = Math.max(0, ...all.map((terms) => total(terms, 1)));
  return low + high > 0 ? { low, high } : { low: 0, high: 1 };
}

/** Return the bar of one answer, on a scale that all answers of a list share. */
export function splitBar(terms, scale = reach([terms])) {
  const width = 1000;
  const unit = width / (scale.low + scale.high);
  const zero = scale.low * unit;
  let [left, right] = [zero, zero];
  const parts = Object.entries(terms).map(([name, value]) => {
    const size = Math.abs(value) * unit;
    const x = value < 0 ? (left -= size) : right;
    if (value >= 0) right += size;
    return s("rect", { class: `term ${termClass(name)}`, x, y: 0, width: Math.max(size, 0), height: HEIGHT });
  });
  const label = `score ${number(sum(terms))}: ${inWords(terms)}`;
  return s(
    "svg",
    {
      class: "split-bar",
      viewBox: `0 0 ${width} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": label,
    },
    parts,
    s("rect", { class: "zero", x: Math.min(Math.max(zero - 1, 0), width - 2), y: -2, width: 2, height: HEIGHT + 4 }),
  );
}

/** Return the legend of terms: their swatches and names. */
export function termLegend(names) {
  return h(
    "ul",
    { class: "legend" },
    names.map((name) => h("li", {}, swatch(name), name)),
  );
}

/** Return the terms as numbers, each beside its swatch, and the score of the re-ranker if there is one. */
export function termNumbers(terms, reranked = null) {
  return h(
    "ul",
    { class: "term-numbers" },
    Object.entries(terms).map(([name, value]) =>
      h("li", {}, swatch(name), h("span", {}, name), h("b", {}, number(value, true))),
    ),
    reranked !== null &&
      h(
        "li",
        { title: "The score of the re-ranker, which orders the answers" },
        h("span", {}, "re-ranker"),
        h("b", {}, number(reranked)),
      ),
  );
}

/** Return a small bar from zero to the left or right, on the scale of all `values` that it stands among. */
export function signedBar(value, values) {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const unit = 996 / (high - low || 1);
  const zero = 2 - low * unit;
  const size = Math.abs(value) * unit;
  return s(
    "svg",
    { class: "signed-bar", viewBox: `0 0 1000 ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", {
      class: value < 0 ? "against" : "for",
      x: value < 0 ? zero - size : zero,
      y: 1,
      width: size,
      height: HEIGHT - 2,
    }),
    s("rect", { class: "zero", x: zero - 1, y: 0, width: 2, height: HEIGHT }),
  );
}

function swatch(name) {
  return h("i", { class: `swatch ${termClass(name)}`, "aria-hidden": "true" });
}

function total(terms, sign) {
  return Object.values(terms).reduce((all, value) => (value * sign > 0 ? all + value : all), 0);
}

function sum(terms) {
  return Object.values(terms).reduce((all, value) => all + value, 0);
}

function inWords(terms) {
  return Object.entries(terms)
    .map(([name, value]) => `${name} ${number(value)}`)
    .join(", ");
}
