// The three marks of an event: where it lies from the time asked about. Each has a shape, a word and a colour.

import { h, s } from "../dom.js";

export const MARKS = {
  before: "It happened before the time asked about",
  "same time": "It happened at the time asked about",
  after: "It happened after the time asked about",
};

/** Return the class of a mark, which gives it its colour. */
export const markClass = (mark) => `mark-${mark.replace(" ", "-")}`;

/** Return the shape of a mark around a point: a disc, a diamond or a hollow square. */
export function shape(mark, x, y, size = 5) {
  const props = { class: `mark ${markClass(mark)}` };
  if (mark === "same time") {
    const reach = size * 1.35;
    return s("path", { ...props, d: `M${x} ${y - reach}L${x + reach} ${y}L${x} ${y + reach}L${x - reach} ${y}Z` });
  }
  if (mark === "after") {
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
export function markLegend() {
  const items = Object.entries(MARKS).map(([mark, title]) => h("li", { title }, markIcon(mark), mark));
  return h("ul", { class: "legend" }, items);
}
