// Browsing: the timeline, the neighbours and the facts of an entity, or of the whole graph.

import { address, ask, runPath } from "../api.js";
import { countBar, histogram } from "../charts/histogram.js";
import { h } from "../dom.js";
import { go } from "../navigation.js";
import { combobox } from "../parts/combobox.js";
import { heading, pages, section, tabs } from "../parts/frame.js";
import { block, empty, later, lines } from "../parts/states.js";
import { endsOf, humanSpan, humanTime, humanWhen } from "../times.js";
import { count, counted } from "../words.js";

const BINS = 60;
const PAGE = 50;
const SELECTION = ["entity", "other", "role", "predicate", "from", "to", "split"];
/** What each part can be asked; a name that it does not know would be an error. */
const NAMES = {
  timeline: [...SELECTION, "bins"],
  neighbours: ["entity", "predicate", "from", "to", "split"],
  facts: [...SELECTION, "order"],
};

export function view({ run, view, path, query, signal }) {
  const entity = query.get("entity");
  const other = query.get("other");
  const title = entity ? (other ? `${entity} and ${other}` : entity) : "Browse the graph";
  const to = (name, changes = {}) => address(runPath(run.name, name), { ...kept(query, name), ...changes });
  const links = [
    ["Timeline", to("timeline")],
    ["Neighbours", to("neighbours")],
    ["Facts", to("facts")],
  ];
  const current = { timeline: "Timeline", neighbours: "Neighbours", facts: "Facts" }[view];
  return [
    heading(title, {
      path,
      parameters: query,
      lead: !entity && `${run.data}, ${humanSpan(run.first, run.last, { short: false, join: " to " })}`,
    }),
    finder(run, view, entity),
    tabs(
      "Browse",
      links.filter(([text]) => text !== "Neighbours" || (entity && !other)),
      current,
    ),
    filters(path, query, view),
    VIEWS[view]({ run, path, query, entity, to, signal }),
  ];
}

const VIEWS = { timeline: timelinePart, neighbours: neighboursPart, facts: factsPart };

const kept = (query, view) => Object.fromEntries([...query].filter(([name]) => NAMES[view].includes(name)));

function finder(run, view, entity) {
  const chosen = (name) => go(address(runPath(run.name, entity ? view : "timeline"), { entity: name }));
  const suggest = (prefix) => ask(runPath(run.name, "entities"), { prefix, limit: 12 });
  const field = combobox({ label: "Find an entity", name: "entity", placeholder: "a name", suggest, chosen });
  const submit = (event) => {
    event.preventDefault();
    if (field.value) chosen(field.value);
  };
  return h(
    "form",
    { class: "row finder", role: "search", onsubmit: submit },
    field.element,
    h("button", { class: "button" }, "Show"),
  );
}

function filters(path, query, view) {
  const labels = [
    ["predicate", ""],
    ["other", "with "],
    ["from", "from "],
    ["to", "to "],
    ["split", "in "],
    ["role", "as "],
  ];
  const found = labels.filter(([name]) => query.get(name));
  if (found.length === 0) return null;
  return h(
    "p",
    { class: "chips filters" },
    "Only ",
    found.map(([name, words]) => {
      const rest = kept(query, view);
      delete rest[name];
      const value = query.get(name);
      const end = { from: 0, to: 1 }[name];
      const text = end === undefined ? value : humanTime(endsOf(value)[end], true);
      return h(
        "a",
        { class: "chip", href: address(path, rest), title: "Remove this filter" },
        words + text,
        h("span", { "aria-hidden": "true" }, " ×"),
        h("span", { class: "unseen" }, " (remove this filter)"),
      );
    }),
  );
}

function timelinePart({ run, query, entity, to, signal }) {
  const path = runPath(run.name, "timeline");
  const found = ask(path, { bins: BINS, ...Object.fromEntries(query) }, signal);
  const draw = (shown) =>
    shown.total === 0
      ? empty("No facts found", "Remove a filter, or choose another entity.")
      : [
          known(shown.attributes),
          h("p", { class: "note" }, `${counted(shown.total, "fact")}. Choose a bar to see its facts.`),
          histogram(shown.bins, (bin) => to("facts", { from: bin.start, to: bin.end })),
        ];
  const predicates = (shown) =>
    h(
      "ol",
      { class: "bars" },
      shown.predicates.map((one) => barLine(one, shown.predicates[0].facts, to("facts", { predicate: one.name }))),
    );
  return [
    section("When", later(found, draw, block("histogram-block"))),
    h(
      "div",
      { class: "pair" },
      section("What", later(found, predicates, lines(8))),
      entity
        ? section("With whom", nearest({ run, query, entity, to, signal }))
        : section("Who", entities(run, signal)),
    ),
  ];
}

/** Return what is known of an entity beside its facts, such as its type; nothing if nothing is. */
function known(attributes) {
  const each = Object.entries(attributes);
  if (each.length === 0) return null;
  return h(
    "dl",
    { class: "attributes" },
    each.map(([name, values]) => [h("dt", {}, name), h("dd", {}, h("bdi", {}, values.join(", ")))]),
  );
}

function barLine(one, most, href) {
  return h(
    "li",
    {},
    h("a", { href }, one.name),
    countBar(one.facts, most),
    h("span", { class: "figure" }, count(one.facts)),
  );
}

function nearest({ run, query, entity, to, signal }) {
  const { predicate, from, to: until, split } = Object.fromEntries(query);
  const found = ask(runPath(run.name, "neighbours"), { entity, predicate, from, to: until, split, limit: 12 }, signal);
  const draw = ({ total, neighbours }) => [
    h(
      "ol",
      { class: "bars" },
      neighbours.map((one) => barLine(one, neighbours[0].facts, to("timeline", { entity, other: one.name }))),
    ),
    total > neighbours.length &&
      h("p", {}, h("a", { class: "quiet", href: to("neighbours") }, `All ${count(total)} neighbours`)),
  ];
  return later(found, draw, lines(8));
}

function entities(run, signal) {
  const found = ask(runPath(run.name, "entities"), { limit: 12 }, signal);
  const draw = ({ names }) =>
    h(
      "ol",
      { class: "bars" },
      names.map((one) => barLine(one, names[0].facts, address(runPath(run.name, "timeline"), { entity: one.name }))),
    );
  return later(found, draw, lines(8));
}

function neighboursPart({ run, path, query, entity, signal }) {
  if (!entity) return section(null, empty("Whose neighbours?", "Find an entity above."));
  const draw = ({ total, neighbours, attributes }) => [
    known(attributes),
    neighbours.length === 0 && empty("No neighbours", "Remove a filter, or choose another entity."),
    h(
      "ol",
      { class: "neighbours" },
      neighbours.map((one) => neighbour(run, entity, one)),
    ),
    pages(path, query, { total, limit: Number(query.get("limit") ?? 20) }),
  ];
  return section(null, later(ask(path, query, signal), draw, lines(12, "tall")));
}

function neighbour(run, entity, one) {
  const to = (view, names) => address(runPath(run.name, view), names);
  const when = humanSpan(one.first, one.last);
  return h(
    "li",
    {},
    h("a", { class: "name", href: to("timeline", { entity: one.name }) }, one.name),
    h("a", { class: "figure", href: to("facts", { entity, other: one.name }) }, counted(one.facts, "fact")),
    h("span", { class: "note" }, `${count(one.as_subject)} from ${entity}, ${count(one.as_object)} to it; ${when}`),
    h(
      "span",
      { class: "chips" },
      one.predicates
        .slice(0, 3)
        .map((predicate) =>
          h(
            "a",
            { class: "chip", href: to("facts", { entity, other: one.name, predicate: predicate.name }) },
            predicate.name,
            h("small", {}, count(predicate.facts)),
          ),
        ),
    ),
  );
}

function factsPart({ run, path, query, signal }) {
  const limit = Number(query.get("limit") ?? PAGE);
  const order = query.get("order") ?? "earliest";
  const reversed = address(path, { ...kept(query, "facts"), order: order === "earliest" ? "latest" : "earliest" });
  const draw = ({ total, facts }) =>
    facts.length === 0
      ? empty("No facts found", "Remove a filter, or choose another entity.")
      : [
          h(
            "p",
            { class: "note" },
            `${counted(total, "fact")}, the ${order} first. `,
            h("a", { class: "quiet", href: reversed }, "Reverse the order"),
          ),
          h(
            "ul",
            { class: "facts" },
            facts.map((fact) => factLine(run, fact)),
          ),
          pages(path, query, { total, limit }),
        ];
  return section(null, later(ask(path, query, signal), draw, lines(12)));
}

function factLine(run, fact) {
  const entity = (name) => h("a", { href: address(runPath(run.name, "timeline"), { entity: name }) }, name);
  const { subject, predicate, object, time, start, end } = fact;
  return h(
    "li",
    {},
    h("time", {}, humanWhen(fact, true)),
    h("span", {}, entity(subject), " ", h("em", {}, predicate), " ", entity(object)),
    h("span", { class: `badge in-${fact.split}` }, fact.split),
    h(
      "a",
      { class: "quiet", href: address(runPath(run.name, "explain"), { subject, predicate, object, time, start, end }) },
      "why",
    ),
  );
}
