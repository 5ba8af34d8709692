// How well a run does: metrics, also by predicate, and its training curves.

import { address, ask, runPath } from "../api.js";
import { curve } from "../charts/curves.js";
import { reliability } from "../charts/reliability.js";
import { h, replace } from "../dom.js";
import { keepShown, shown } from "../navigation.js";
import { chooser, heading, section } from "../parts/frame.js";
import { block, empty, later, lines } from "../parts/states.js";
import { count } from "../words.js";

const SPLITS = ["test", "valid"];
const GROUPS = [
  ["all", "all questions"],
  ["objects", "object asked for"],
  ["subjects", "subject asked for"],
  ["seen", "entities seen in train"],
  ["unseen", "entities not seen in train"],
];
let METRICS = []; // as the service lists them: name, label, about, digits

export function view({ run, path, query, signal }) {
  return [
    heading(`Report of ${run.name}`, { path, parameters: query, lead: `${run.model} on ${run.data}` }),
    later(ask(path, query, signal), (found) => report(run, found), [lines(4, "tall"), block("chart-block"), lines(8)]),
  ];
}

function report(run, { report: found, metrics, trace, config }) {
  METRICS = metrics;
  if (!found) return empty("This run has no report yet", "It is written at the end of training.");
  const splits = SPLITS.filter((name) => found[name]?.all);
  return [
    splits.length === 0 && empty("No split has been evaluated", 'Evaluate one with "foretime evaluate".'),
    splits.map((name) =>
      name === "valid" && run.valid_fitted
        ? section("On valid, which the re-ranker was fitted on: these are not unseen facts", fittedFigures(found[name]))
        : section(`On ${name}`, splitFigures(name, found[name])),
    ),
    splits.length > 0 &&
      found[splits[0]].slots && [
        section(`Who, what, to whom and when, on ${splitLabel(run, splits[0])}`, bySlot(found[splits[0]].slots)),
        section(`How far to believe a probability, on ${splitLabel(run, splits[0])}`, believed(found[splits[0]].slots)),
      ],
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
    section("How it was trained", settings(found, config)),
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

/** Return the figures of facts that the re-ranker was fitted on: only those of the base model can be trusted. */
function fittedFigures(split) {
  const base = split.base_model;
  return [
    base?.all && [
      h("h3", {}, "The base model alone, which was not fitted on it"),
      tiles(metricTiles(base.all)),
      base.mrr_interval && h("p", { class: "note" }, `${interval(base)}; ${filterNote(split)}.`),
    ],
    h("h3", {}, "With the re-ranker, which was"),
    tiles([...metricTiles(split.all), ...calibrationTile("valid", split)]),
    calibrationNote("valid", split),
    byKind(split),
  ];
}

const tiles = (figures) =>
  h(
    "ul",
    { class: "tiles" },
    figures.map(([value, text]) => h("li", {}, h("b", {}, value), text)),
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
  return h("p", { class: "note" }, "Probabilities are calibrated on valid, so this is not its error on new facts.");
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
  `With 95 % confidence the MRR is between ${ends.map((end) => end.toFixed(3)).join(" and ")}`;

const filterNote = (split) => `other known answers are filtered (${split.filter})`;

const splitLabel = (run, name) => (name === "valid" && run.valid_fitted ? "valid (fitted on it)" : name);

function groups(rows) {
  const shownRows = rows.filter(([, one]) => one?.questions > 0);
  if (shownRows.length === 0) return empty("No questions to count");
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

function bySlot(slots) {
  const rows = Object.entries(slots).flatMap(([slot, one]) => [
    [slot, "this run", one],
    ...(one.counting ? [[slot, "counting", one.counting]] : []),
  ]);
  const steps = [...new Set(rows.flatMap(([, , one]) => Object.keys(one.within ?? {})))];
  const spans = rows.some(([, , one]) => one.overlap) ? ["giou", "aeiou"] : [];
  const more = [
    ...steps.map((step) => [`±${step}`, (one) => one.within?.[step]]),
    ...spans.map((name) => [name.replace("iou", "IoU"), (one) => one.overlap?.[name]]),
  ];
  return [
    plainTable(
      ["Asked for", "By", "Questions", ...METRICS.map(({ label }) => label), ...more.map(([label]) => label)],
      rows.map(([slot, by, one]) => [
        slot,
        by,
        count(one.questions),
        ...METRICS.map((metric) => figure(one, metric)),
        ...more.map(([, value]) => value(one)?.toFixed(3) ?? ""),
      ]),
      2,
    ),
    steps.length > 0 && h("p", { class: "note" }, "±k: the best time is off by k steps at the most."),
  ];
}

function believed(slots) {
  const measured = Object.entries(slots).filter(([, one]) => one.reliability);
  const rows = measured.flatMap(([slot, { reliability: all }]) => [
    [slot, "all", all],
    ...Object.entries(all.kinds ?? {}).map(([kind, one]) => [slot, kind, one]),
  ]);
  return [
    h(
      "div",
      { class: "curves" },
      measured.map(([slot, one]) => reliability(`${slot}, ${count(one.reliability.questions)} questions`, one.reliability)),
    ),
    h("p", { class: "note" }, "How often the best answer is right, against its probability; on the dashed line both agree."),
    h(
      "details",
      { class: "more" },
      h("summary", {}, "By kind of question"),
      plainTable(
        ["Asked for", "Nearest event in train", "Questions", "ECE", "By chance", "Brier", "Log loss"],
        rows.map(([slot, kind, one]) => [
          slot,
          kind,
          count(one.questions),
          ...["ece", "ece_by_chance", "brier", "log_loss"].map((name) => one[name].toFixed(3)),
        ]),
        2,
      ),
      h("p", { class: "note" }, "By chance: what the ECE would be if every probability were exact."),
    ),
  ];
}

/** Return a table of texts; the first `words` columns are words, the others figures. */
function plainTable(heads, rows, words) {
  const kind = (place) => (place < words ? "" : "figure");
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, heads.map((text, place) => h("th", { class: kind(place) }, text)))),
      h(
        "tbody",
        {},
        rows.map((row) => h("tr", {}, row.map((text, place) => h("td", { class: kind(place) }, text)))),
      ),
    ),
  );
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
    `By epoch. The dashed line marks the one that was kept: ${best} of ${epochs}, after ${duration(seconds)}.`,
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
                { href: address(runPath(run.name, "rules"), { head: name }), title: "The rules with this head" },
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
  const shown = [
    ["Parameters", count(found.parameters)],
    ["Chosen by", found.choice],
    ["Test", found.test_note],
  ].filter(([, value]) => value);
  return [
    h(
      "dl",
      { class: "details" },
      shown.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
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
          { class: "details" },
          Object.entries(values ?? {}).map(([name, value]) => [h("dt", {}, name), h("dd", {}, settingText(value))]),
        ),
      ]),
    ),
  ];
}

const settingText = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
