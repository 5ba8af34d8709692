// Training curves: one small chart for each figure of the trace.

import { drawn, h, s } from "../dom.js";
import { ticks } from "../times.js";
import { number } from "../words.js";

const HEIGHT = 150;

/** Return the curve of `points` `{epoch, value}` over all `epochs`; `best` is the epoch that was taken. */
export function curve(title, points, { best, epochs }) {
  const values = points.map((point) => point.value);
  const ends = `from ${figure(values[0])} to ${figure(values.at(-1))}`;
  return h(
    "figure",
    { class: "curve" },
    h("figcaption", {}, title, h("b", {}, figure(values.at(-1)))),
    drawn("chart curve-chart", (width) => draw(width, points, { best, epochs }, `${title}, ${ends}`)),
  );
}

function draw(width, points, { best, epochs }, label) {
  const [left, right, top, bottom] = [52, 10, 8, HEIGHT - 22];
  const [first, last] = [Math.min(1, points[0].epoch), epochs];
  const values = points.map((point) => point.value);
  const [low, high] = padded(Math.min(...values), Math.max(...values));
  const x = (epoch) => left + (last > first ? (epoch - first) / (last - first) : 0.5) * (width - left - right);
  const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
  const path = points
    .map((point, index) => `${index ? "L" : "M"}${x(point.epoch).toFixed(1)} ${y(point.value).toFixed(1)}`)
    .join("");
  const whole = ticks(first, last, Math.min(6, width / 60, Math.max(last - first, 1)), false).filter(({ at }) =>
    Number.isInteger(at),
  );
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": label },
    ticks(low, high, 4, false).map(({ at, text }) =>
      s(
        "g",
        { class: "tick" },
        s("line", { x1: left, x2: width - right, y1: y(at), y2: y(at) }),
        s("text", { x: left - 6, y: y(at) + 4, "text-anchor": "end" }, text),
      ),
    ),
    whole.map(({ at, text }) =>
      s("g", { class: "tick" }, s("text", { x: x(at), y: HEIGHT - 6, "text-anchor": "middle" }, text)),
    ),
    best >= first && best <= last && s("line", { class: "best", x1: x(best), x2: x(best), y1: top, y2: bottom }),
    s("path", { class: "line", d: path }),
    points.length <= 30 &&
      points.map((point) => s("circle", { class: "dot", cx: x(point.epoch), cy: y(point.value), r: 2.5 })),
  );
}

function figure(value) {
  return value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(1).replace("-", "−") : number(value);
}

function padded(low, high) {
  const room = (high - low || Math.abs(high) || 1) * 0.08;
  return [low - room, high + room];
}
