// Reasons: each a rule in words, with its contribution and the events that ground it.

import { address, runPath } from "../api.js";
import { groundingGraph } from "../charts/graph.js";
import { markIcon } from "../charts/marks.js";
import { signedBar } from "../charts/split_bar.js";
import { h } from "../dom.js";
import { keepShown, shown } from "../navigation.js";
import { humanEnds, withHumanTimes } from "../times.js";
import { count, counted, eventWords, number, percent, readRule, ruleSentence } from "../words.js";

const DRAWN = 6;

/** Return the reasons of an explanation, the largest first; one of them is open, and the address knows which. */
export function reasonList(run, why, key = "reason") {
  const weights = why.reasons.map((reason) => reason.contribution);
  const open = Number(shown().get(key) ?? 1);
  const items = why.reasons.map((reason, index) =>
    item(run, why, reason, { weights, open: open === index + 1, number: index + 1, key }),
  );
  const others = why.other_reasons;
  return [
    h("div", { class: "reasons" }, items),
    others.count > 0 &&
      h(
        "p",
        { class: "note" },
        `${counted(others.count, "other reason")}: ${number(others.contribution, true)} together.`,
      ),
  ];
}

function item(run, why, reason, { weights, open, number: place, key }) {
  const body = h("div", { class: "reason-body" });
  const element = h(
    "details",
    { class: "reason" },
    h(
      "summary",
      {},
      h("span", { class: "weight" }, number(reason.contribution, true)),
      signedBar(reason.contribution, weights),
      h("span", { class: "sentence" }, withHumanTimes(reason.sentence)),
    ),
    body,
  );
  element.addEventListener("toggle", () => {
    if (element.open && !body.hasChildNodes()) body.append(...details(run, why, reason).filter(Boolean));
    if (element.open) keepShown(key, place === 1 ? "" : String(place));
  });
  element.open = open;
  return element;
}

function details(run, why, reason) {
  const drawnEvents = reason.events.slice(0, DRAWN);
  return [
    rule(run, reason),
    h(
      "div",
      { class: "pair" },
      h("div", {}, h("h3", {}, "Its events"), eventList(drawnEvents), more(reason, drawnEvents.length)),
      h("div", {}, h("h3", {}, "As a graph"), groundingGraph(drawnEvents, why.question, why.slot)),
    ),
    learned(reason),
  ];
}

function rule(run, reason) {
  if (!reason.rule) return null;
  const read = readRule(reason.rule);
  const counts = reason.parts.find((part) => part.confidence !== null && part.confidence !== undefined);
  const link = read && address(runPath(run.name, "rules"), { head: read.head.predicate, body: read.body[0].predicate });
  return h(
    "p",
    { class: "rule-line" },
    read ? ruleSentence(read) : h("code", {}, reason.rule),
    counts &&
      h(
        "span",
        { class: "note" },
        ` At this distance it held ${percent(counts.confidence)} of the time (${timesOf(counts)}).`,
      ),
    link && h("a", { class: "quiet", href: link }, "Rules like this"),
  );
}

const timesOf = (counts) => `${count(counts.support)} of ${count(counts.body_count)}`;

/** Return events one under the other, each with its mark. */
export function eventList(events) {
  return h(
    "ol",
    { class: "events" },
    events.map((event, index) =>
      h(
        "li",
        {},
        h("span", { class: "number" }, String(index + 1)),
        markIcon(event.mark),
        h(
          "span",
          {},
          eventWords(event, humanEnds(event.time)),
          h("small", {}, ` ${event.mark}${event.end ? `, of the ${event.end}` : ""}`),
        ),
      ),
    ),
  );
}

function more(reason, many) {
  const all = { path: "paths", affinity: "neighbours" }[reason.kind] ?? "events";
  return reason.groundings > many && h("p", { class: "note" }, `The nearest of ${count(reason.groundings)} ${all}.`);
}

function learned(reason) {
  const rows = reason.parts.map((part) =>
    h(
      "tr",
      {},
      h("td", {}, part.end ? `${part.says} (${part.end})` : part.says),
      [part.shared, part.predicate, part.rule].map((value) =>
        h("td", { class: "figure" }, value === 0 ? "–" : number(value, true)),
      ),
      h("td", { class: "figure" }, h("b", {}, number(part.contribution, true))),
    ),
  );
  const heads = ["Feature", "shared", "predicate", "rule", "adds"];
  return h(
    "details",
    { class: "more" },
    h("summary", {}, "The learned weights"),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            heads.map((text, index) => h("th", { class: index ? "figure" : "" }, text)),
          ),
        ),
        h("tbody", {}, rows),
      ),
    ),
  );
}
