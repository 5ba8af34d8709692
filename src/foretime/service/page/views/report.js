// What a run has reached: metrics, by predicate too, and its training curves.

import { address, ask, runPath } from "../api.js";
import { curve } from "../charts/curves.js";
import { h, replace } from "../dom.js";
import { keepShown, shown } from "../navigation.js";
import { chooser, heading, section } from "../parts/frame.js";
import { block, empty, later, lines } from "../parts/states.js";
import { count, number } from "../words.js";

const SPLITS = ["test", "valid"];
const GROUPS = [
  ["all", "all questions"],
  ["objects", "objects asked for"],
  ["subjects", "subjects asked for"],
  ["seen", "entities seen in train"],
  ["unseen", "entities never seen"],
];
let METRICS = []; // as the service lists them: name, label, about, digits

export function reportView({ run, path, query, signal }) {
  return [
    heading(`Report of ${run.name}`, { path, parameters: query, lead: `${run.model} on ${run.data}` }),
    later(ask(path, query, signal), (told) => report(run, told), [lines(4, "tall"), block("chart-block"), lines(8)]),
  ];
}

function report(run, { report: found, metrics, trace, config }) {
  METRICS = metrics;
  if (!found) return empty("This run has no report yet", "It is written at the end of a training.");
  const splits = SPLITS.filter((name) => found[name]?.all);
  return [
    splits.length === 0 && empty("No split was ranked", "Rank one with «foretime evaluate»."),
    splits.map((name) =>
      name === "valid" && run.valid_fitted
        ? section("On valid: the second stage was fitted on it, these are not unseen facts", fittedFigures(found[name]))
        : section(`On ${name}`, splitFigures(name, found[name])),
    ),
    trace.length > 0 && section("Training", curves(trace, found.best_epoch), trainingNote(found)),
    splits.length > 0 &&
      section(
        splits.length > 1 ? "By predicate" : `By predicate, on ${splitLabel(run, splits[0])}`,
        byPredicate(run, found, splits),
      ),
    splits.length > 0 &&
      section(
        `By the nearest evidence, on ${splitLabel(run, splits[0])}`,
        groups(Object.entries(found[splits[0]].kinds ?? {})),
      ),
    section("How it was made", settings(found, config)),
  ];
}

function splitFigures(name, split) {
  return [
    tiles([...metricTiles(split.all), ...calibrationTile(name, split)]),
    split.mrr_interval && h("p", { class: "note" }, `${interval(split)}; ${filterNote(split)}.`),
    calibrationNote(name, split),
    byKind(split),
  ];
}

/** Return the figures of facts that the second stage has seen: those of the first stage can be trusted, others not. */
function fittedFigures(split) {
  const first = split.base_model;
  return [
    first?.all && [
      h("h3", {}, "The first stage alone, which was not fitted on them"),
      tiles(metricTiles(first.all)),
      first.mrr_interval && h("p", { class: "note" }, `${interval(first)}; ${filterNote(split)}.`),
    ],
    h("h3", {}, "Both stages, of which the second was"),
    tiles([...metricTiles(split.all), ...calibrationTile("valid", split)]),
    calibrationNote("valid", split),
    byKind(split),
  ];
}

const tiles = (told) =>
  h(
    "ul",
    { class: "tiles" },
    told.map(([value, text]) => h("li", {}, h("b", {}, value), text)),
  );

const metricTiles = (all) => [
  ...METRICS.map((metric) => [figure(all, metric), metric.label]),
  [count(all.questions), "questions"],
];

function calibrationTile(name, split) {
  const error = split.calibration_error?.object;
  const text = name === "valid" ? "calibration error of objects, fitted on it" : "calibration error of objects";
  return error === undefined ? [] : [[error.toFixed(3), text]];
}

function calibrationNote(name, split) {
  if (name !== "valid" || !split.calibration_error) return null;
  return h("p", { class: "note" }, "Confidences are calibrated on valid: their error here is not one on new facts.");
}

function byKind(split) {
  return h(
    "details",
    { class: "more" },
    h("summary", {}, "By kind of question"),
    groups(GROUPS.map(([key, words]) => [words, split[key]])),
  );
}

const interval = ({ mrr_interval: ends }) =>
  `The MRR lies between ${ends.map((end) => end.toFixed(3)).join(" and ")} with 95 % confidence`;

const filterNote = (split) => `other known answers are left out (${split.filter})`;

const splitLabel = (run, name) => (name === "valid" && run.valid_fitted ? "valid (fitted on it)" : name);

function groups(rows) {
  const shownRows = rows.filter(([, one]) => one?.questions > 0);
  if (shownRows.length === 0) return empty("Nothing was counted by kind");
  return h(
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
          h("th", {}, "Kind"),
          h("th", { class: "figure" }, "Questions"),
          METRICS.map(({ label, about }) => h("th", { class: "figure", title: about }, label)),
        ),
      ),
      h(
        "tbody",
        {},
        shownRows.map(([name, one]) => h("tr", {}, h("td", {}, name), metricCells(one))),
      ),
    ),
  );
}

function metricCells(one) {
  return [
    h("td", { class: "figure" }, count(one.questions)),
    METRICS.map((metric, place) =>
      h("td", { class: "figure" }, place === 0 && meter(one[metric.name]), figure(one, metric)),
    ),
  ];
}

/** Return a metric as text; a report that was written before there was this metric has none. */
const figure = (one, { name, digits }) => one[name]?.toFixed(digits) ?? "–";

function meter(share) {
  const element = h("i", { class: "meter", "aria-hidden": "true" }, h("i"));
  element.firstChild.style.width = `${share * 100}%`;
  return element;
}

function curves(trace, best) {
  const names = [...new Set(trace.flatMap(Object.keys))].filter((name) => !["epoch", "seconds"].includes(name));
  const rank = (name) => (name === "valid_mrr" ? 0 : name.includes("loss") ? 1 : 2);
  names.sort((one, other) => rank(one) - rank(other));
  const points = (name) =>
    trace.filter((row) => typeof row[name] === "number").map((row) => ({ epoch: row.epoch, value: row[name] }));
  return h(
    "div",
    { class: "curves" },
    names
      .filter((name) => points(name).length > 0)
      .map((name) =>
        curve(name.replaceAll("_", " ").replace("mrr", "MRR"), points(name), { best, epochs: trace.at(-1).epoch }),
      ),
  );
}

function trainingNote({ epochs, best_epoch: best, training_seconds: seconds }) {
  return h(
    "p",
    { class: "note" },
    `By epoch. The dashed line is the one whose weights were taken: ${best} of ${epochs}, after ${duration(seconds)}.`,
  );
}

function duration(seconds) {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

function byPredicate(run, found, splits) {
  const box = h("div", {});
  const given = shown().get("split");
  const state = { split: splits.includes(given) ? given : splits[0], by: shown().get("by") ?? "questions" };
  const draw = () =>
    replace(box, predicateTable(run, Object.entries(found[state.split].predicates ?? {}), state.by, sort));
  const sort = (by) => change("by", by);
  const change = (name, value) => {
    state[name] = value;
    keepShown(name, value);
    draw();
  };
  draw();
  return [
    splits.length > 1 &&
      h(
        "div",
        { class: "choices" },
        chooser(
          "Split",
          splits.map((name) => [name, splitLabel(run, name)]),
          state.split,
          (name) => change("split", name),
        ),
      ),
    box,
  ];
}

function predicateTable(run, rows, by, sort) {
  const columns = [["name", "Predicate"], ["questions", "Questions"], ...METRICS.map(({ name, label }) => [name, label])];
  const value = ([name, one]) => (by === "name" ? name : (one[by] ?? 0));
  const sorted = [...rows].sort((one, other) =>
    by === "name" ? value(one).localeCompare(value(other)) : value(other) - value(one),
  );
  const header = ([key, text]) =>
    h(
      "th",
      {
        class: key === "name" ? "" : "figure",
        "aria-sort": key === by ? (key === "name" ? "ascending" : "descending") : null,
      },
      h("button", { type: "button", onclick: () => sort(key) }, text),
    );
  return h(
    "div",
    { class: "scroll tall-scroll", tabindex: "0", role: "region", "aria-label": "Metrics by predicate" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, columns.map(header))),
      h(
        "tbody",
        {},
        sorted.map(([name, one]) =>
          h(
            "tr",
            {},
            h(
              "td",
              {},
              h(
                "a",
                { href: address(runPath(run.name, "rules"), { head: name }), title: "The rules that end in it" },
                name,
              ),
            ),
            metricCells(one),
          ),
        ),
      ),
    ),
  );
}

function settings(found, config) {
  const told = [
    ["Parameters", count(found.parameters)],
    ["Chosen by", found.choice],
    ["Test", found.test_note],
    [
      "Temperatures",
      Object.entries(found.temperatures ?? {})
        .map(([slot, value]) => `${slot} ${number(value)}`)
        .join(", "),
    ],
  ].filter(([, value]) => value);
  return [
    h(
      "dl",
      { class: "told" },
      told.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    ),
    (found.data_warnings ?? []).map((warning) => h("p", { class: "note" }, warning)),
    h(
      "details",
      { class: "more" },
      h("summary", {}, "All settings"),
      Object.entries(config).map(([part, values]) => [
        h("h3", {}, part),
        h(
          "dl",
          { class: "told" },
          Object.entries(values ?? {}).map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]),
        ),
      ]),
    ),
  ];
}
