// How many facts there are when.

import { drawn, s } from "../dom.js";
import { humanSpan, isDated, lastPosition, position, ticks } from "../times.js";
import { count, counted } from "../words.js";
import { walk } from "./walking.js";

const HEIGHT = 150;
const APART = 56; // pixels from one tick to the next, where bins are not equally long

/** Return bars of bins `{start, end, facts}`; `href(bin)` is where a bar leads. */
export function histogram(bins, href) {
  return drawn("chart histogram", (width) => draw(width, bins, href));
}

function draw(width, bins, href) {
  const [left, right, top, bottom] = [8, 8, 18, HEIGHT - 24];
  const most = Math.max(1, ...bins.map((bin) => bin.facts));
  const size = (width - left - right) / bins.length;
  const starts = bins.map((bin) => position(bin.start));
  const x = (at) => left + placeAmong(starts, at) * size;
  const found = ticks(starts[0], lastPosition(bins.at(-1).end), Math.max(2, width / 80), isDated(bins[0].start));
  const bars = bins.map((bin, index) => bar(bin, left + index * size, size, top, bottom, most, href));
  walk(bars.filter((one) => one.tagName === "a"));
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "group", "aria-label": "Facts over time" },
    s("line", { class: "guide", x1: left, x2: width - right, y1: top, y2: top }),
    s("text", { class: "guide-text", x: left, y: top - 5 }, `${counted(most, "fact")}`),
    bars,
    s("line", { class: "base", x1: left, x2: width - right, y1: bottom, y2: bottom }),
    apart(found, x).map(({ at, text }) =>
      s(
        "text",
        {
          class: "tick-text",
          x: x(at),
          y: bottom + 17,
          "text-anchor": x(at) < 30 ? "start" : x(at) > width - 30 ? "end" : "middle",
        },
        text,
      ),
    ),
  );
}

/** Return where a time lies among bins, as a number of bins: 2.5 is the middle of the third. */
function placeAmong(starts, at) {
  const index = Math.max(starts.findLastIndex((start) => start <= at), 0);
  const end = starts[index + 1] ?? starts[index] + (starts[index] - starts[index - 1] || 1);
  return index + Math.min((at - starts[index]) / (end - starts[index]), 1);
}

function apart(found, x) {
  let last = -Infinity;
  return found.filter(({ at }) => {
    if (x(at) - last < APART) return false;
    last = x(at);
    return true;
  });
}

function bar(bin, x, size, top, bottom, most, href) {
  const height = (bin.facts / most) * (bottom - top);
  const label = `${humanSpan(bin.start, bin.end)}: ${counted(bin.facts, "fact")}`;
  const drawnBar = [
    s("title", {}, label),
    s("rect", { class: "target", x, y: top, width: size, height: bottom - top }),
    s("rect", {
      class: "bin",
      x: x + Math.min(1, size * 0.1),
      y: bottom - height,
      width: Math.max(size - 2 * Math.min(1, size * 0.1), 0.5),
      height,
    }),
  ];
  if (bin.facts === 0) return s("g", {}, drawnBar);
  return s("a", { href: href(bin), "aria-label": label, tabindex: "-1" }, drawnBar);
}

/** Return a horizontal bar for a count among others. */
export function countBar(value, most) {
  return s(
    "svg",
    { class: "count-bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img", "aria-label": count(value) },
    s("rect", { class: "rest", width: 100, height: 8, rx: 0 }),
    s("rect", { class: "bin", width: most > 0 ? (value / most) * 100 : 0, height: 8 }),
  );
}
