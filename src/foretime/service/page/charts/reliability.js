// A reliability plot: how often best answers are right against the probability that they are given.

import { h, s } from "../dom.js";

const [SIZE, LEFT, BOTTOM, TOP, RIGHT] = [220, 38, 30, 8, 10];

/** Return the plot of one slot; `found` is its reliability: `bins` of `{questions, probability, right}`, `ece`. */
export function reliability(title, found) {
  return h(
    "figure",
    { class: "curve reliability" },
    h("figcaption", {}, title, h("b", {}, `ECE ${found.ece.toFixed(3)}`)),
    draw(found.bins, `${title}: expected calibration error ${found.ece.toFixed(3)}`),
  );
}

function draw(bins, label) {
  const x = (share) => LEFT + share * (SIZE - LEFT - RIGHT);
  const y = (share) => SIZE - BOTTOM - share * (SIZE - TOP - BOTTOM);
  const most = Math.max(...bins.map((bin) => bin.questions), 1);
  const path = bins
    .map((bin, index) => `${index ? "L" : "M"}${x(bin.probability).toFixed(1)} ${y(bin.right).toFixed(1)}`)
    .join("");
  return s(
    "svg",
    { class: "chart", viewBox: `0 0 ${SIZE} ${SIZE}`, width: SIZE, height: SIZE, role: "img", "aria-label": label },
    [0, 0.5, 1].map((share) =>
      s(
        "g",
        { class: "tick" },
        s("line", { x1: LEFT, x2: SIZE - RIGHT, y1: y(share), y2: y(share) }),
        s("text", { x: LEFT - 6, y: y(share) + 4, "text-anchor": "end" }, `${100 * share} %`),
        s("text", { x: x(share), y: SIZE - 12, "text-anchor": share === 1 ? "end" : "middle" }, `${100 * share} %`),
      ),
    ),
    s("line", { class: "best", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    s("path", { class: "line", d: path }),
    bins.map((bin) =>
      s(
        "circle",
        { class: "dot", cx: x(bin.probability), cy: y(bin.right), r: 2 + 5 * Math.sqrt(bin.questions / most) },
        s("title", {}, `${bin.questions} questions: ${percent(bin.probability)} said, ${percent(bin.right)} right`),
      ),
    ),
  );
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
