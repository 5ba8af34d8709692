// The three marks of an event: where it lies from the time asked about. Each has a shape, a word and a colour.

import { h, s } from "../dom.js";

export const MARKS = {
  cause: { word: "before", title: "Cause: it came before the time asked about" },
  companion: { word: "same time", title: "Companion: it came at the same time" },
  effect: { word: "after", title: "Effect: it came after the time asked about" },
};

/** Return the shape of a mark around a point: a disc, a diamond or a hollow square. */
export function shape(mark, x, y, size = 5) {
  const props = { class: `mark mark-${mark}` };
  if (mark === "companion") {
    const reach = size * 1.35;
    return s("path", { ...props, d: `M${x} ${y - reach}L${x + reach} ${y}L${x} ${y + reach}L${x - reach} ${y}Z` });
  }
  if (mark === "effect") {
    const half = size * 0.88;
    return s("rect", { ...props, x: x - half, y: y - half, width: 2 * half, height: 2 * half });
  }
  return s("circle", { ...props, cx: x, cy: y, r: size });
}

/** Return a mark as a small picture in a line of text. */
export function markIcon(mark) {
  return s("svg", { class: "mark-icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, shape(mark, 8, 8));
}

/** Return the legend of the marks. */
export function markLegend(marks = Object.keys(MARKS)) {
  return h(
    "ul",
    { class: "legend" },
    marks.map((mark) =>
      h("li", { title: MARKS[mark]?.title }, markIcon(mark), mark, h("small", {}, MARKS[mark]?.word)),
    ),
  );
}
