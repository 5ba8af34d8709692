// A bar of what one summand adds: what supports an answer right of zero, what counts against it left.

import { s } from "../dom.js";

const HEIGHT = 14;

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
