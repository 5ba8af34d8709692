// What a score is about: topics, each with its reasons, and the dated events behind each reason.

import { address, ask, runPath } from "../api.js";
import { groundingGraph } from "../charts/graph.js";
import { markIcon } from "../charts/marks.js";
import { signedBar } from "../charts/signed_bar.js";
import { h } from "../dom.js";
import { keepShown, shown } from "../navigation.js";
import { humanEnds } from "../times.js";
import { count, counted, eventWords, number, readRule, ruleSentence, sentence } from "../words.js";

const DRAWN = 6;
const NOUNS = { path: "paths", affinity: "neighbours", shared: "facts" };

/** Return the topics of an explanation with their reasons; one reason is open, and the address knows which. */
export function topicList(run, why, key = "reason") {
  const values = why.topics.flatMap((topic) => [topic, ...topic.reasons].map((one) => one.contribution));
  const open = Number(shown().get(key) ?? 1);
  let place = 0;
  return why.topics.map((topic) => {
    return h(
      "div",
      { class: "topic" },
      h(
        "p",
        { class: "topic-line" },
        h("span", { class: "weight" }, number(topic.contribution, true)),
        signedBar(topic.contribution, values),
        h("span", { class: "topic-title" }, topic.title),
      ),
      topic.reasons.map((reason) => {
        place += 1;
        return item(run, why, reason, { values, open: open === place, place, key });
      }),
      topic.reasons.length > 0 && others(topic.other_reasons),
    );
  });
}

function others({ count: many, contribution }) {
  return many > 0 && h("p", { class: "note" }, `${counted(many, "other reason")}: ${number(contribution, true)} together.`);
}

function item(run, why, reason, { values, open, place, key }) {
  const body = h("div", { class: "reason-body" });
  const element = h(
    "details",
    { class: "reason" },
    h(
      "summary",
      {},
      h("span", { class: "weight" }, number(reason.contribution, true)),
      signedBar(reason.contribution, values),
      h("span", { class: "sentence" }, sentence(reason.sentence)),
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
    (reason.rule || reason.counted) && rule(run, reason),
    drawnEvents.length > 0
      ? h(
          "div",
          { class: "pair" },
          h("div", {}, h("h3", {}, "Its events"), eventList(drawnEvents), more(reason, drawnEvents.length)),
          h("div", {}, h("h3", {}, "As a graph"), groundingGraph(drawnEvents, why.question, why.slot)),
        )
      : h("p", { class: "note" }, "No single event is behind it."),
  ];
}

function rule(run, reason) {
  const read = reason.rule && readRule(reason.rule);
  return h(
    "p",
    { class: "rule-line" },
    reason.rule && (read ? ruleSentence(read) : h("code", {}, reason.rule)),
    reason.counted && h("span", { class: "note" }, " ", sentence(reason.counted), "."),
    read && similarRules(run, read),
  );
}

/** Return a link to the rules with the same predicates; it has its place, but is seen only once there are some. */
function similarRules(run, { head, body }) {
  const wanted = { head: head.predicate, body: body[0].predicate };
  const link = h("a", { class: "quiet unsure", href: address(runPath(run.name, "rules"), wanted) }, "Rules like this");
  ask(runPath(run.name, "rules"), { ...wanted, limit: 1 })
    .then(({ total }) => link.classList.toggle("unsure", total === 0))
    .catch(() => {}); // the reason is complete without it
  return link;
}

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
  const all = NOUNS[reason.family] ?? "events";
  return reason.groundings > many && h("p", { class: "note" }, `The nearest of ${count(reason.groundings)} ${all}.`);
}
