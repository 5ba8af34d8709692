// Numbers, facts and rules in words.

import { h } from "./dom.js";
import { beforeTime, humanTime, humanWhen, withHumanTimes } from "./times.js";

export const SLOTS = ["subject", "predicate", "object", "time"];
const ASKED = {
  subject: "Who?",
  predicate: "What?",
  object: "To whom?",
  time: "When?",
  "predicate and object": "What, and to whom?",
  "subject and predicate": "Who, and what?",
  "subject and object": "Who, and to whom?",
};
const AND = " and ";
const ANY = { subject: "anyone", predicate: "anything", object: "anyone" };
const LETTERS = { x: "A", y: "B", z: "C" };
export const PATTERNS = {
  follows: "one event follows another",
  accompanies: "two events at the same time",
  chain_then: "a chain of two, then a third",
  joint_then: "two at the same time, then a third",
  joint_now: "three at the same time",
  static: "without time",
};

/** Return an event as children of an element: when, who, what and to whom. */
export function eventWords(event, when) {
  const name = (text) => h("bdi", {}, text);
  return [h("b", {}, when), " ", name(event.subject), " ", h("em", {}, name(event.predicate)), " ", name(event.object)];
}

/** Return a sentence of the service as children: dates for people, and names that were isolated as elements. */
export function sentence(text) {
  return text.split(/\u2068([^\u2069]*)\u2069/).map((part, index) => (index % 2 ? h("bdi", {}, part) : withHumanTimes(part)));
}

/** Return a number with as many decimals as a reader can use. */
export function number(value, sign = false) {
  const text = Math.abs(value) >= 100 ? value.toFixed(1) : value.toFixed(Math.abs(value) >= 10 ? 2 : 3);
  const plain = /^-0\.?0*$/.test(text) ? text.slice(1) : text;
  return (sign && value > 0 && !/^0\.?0*$/.test(plain) ? "+" : "") + plain.replace("-", "−");
}

/** Return `[split, MRR]` of the splits whose facts the run was not fitted on, test last. */
export function unseenFigures(run) {
  return [
    ["valid", run.valid_fitted ? null : run.valid_mrr],
    ["test", run.test_mrr],
  ].filter(([, mrr]) => mrr !== null);
}

/** Return a count with separators. */
export const count = (value) => value.toLocaleString("en-GB");

/** Return `1 fact`, `1,024 facts`. */
export const counted = (value, word) => `${count(value)} ${word}${value === 1 ? "" : "s"}`;

/** Return a share as a percentage, never as the certainty that it is not. */
export function percent(share) {
  const hundredths = share * 100;
  if (share === 0) return "0 %";
  if (hundredths > 99.9 && share < 1) return "> 99.9 %";
  if (hundredths < 0.1 && share > 0) return "< 0.1 %";
  return `${hundredths.toFixed(hundredths < 10 || hundredths > 99 ? 1 : 0)} %`;
}

/** Return `1st`, `2nd`, `11th`. */
export function ordinal(rank) {
  const ending = rank % 100 > 10 && rank % 100 < 14 ? "th" : ({ 1: "st", 2: "nd", 3: "rd" }[rank % 10] ?? "th");
  return `${count(rank)}${ending}`;
}

/** Return what is asked for in a few words: `Who?`, `What, and to whom?` */
export const asked = (open) => ASKED[open.join(AND)] ?? "?";

/** Return whether a question can be answered that leaves these slots open: one, or any two but the time. */
export const canBeAsked = (open) => open.length === 1 || (open.length === 2 && !open.includes("time"));

/** Return the slots of an answer, which the API joins where there are two. */
export const slotsOf = (slot) => slot.split(AND);

/** Return what an answer says in each slot: `{ predicate: "Make a visit", object: "Iraq" }` */
export const slotNames = (answer, slot) => answer.names ?? { [slot]: answer.name };

/** Return an answer as people read it: a name, or a date. */
export const answerName = (name, slot) => (slot === "time" ? humanTime(name) : name);

/** Return a fact or a question as a sentence of elements; open slots are marked: what they are, or what is missing. */
export function factSentence(fact, open = []) {
  const missing = (name) => (open.length > 1 ? ANY[name] : "?");
  const part = (name, className, text) =>
    open.includes(name)
      ? h("mark", { class: "answer-slot" }, text ?? missing(name))
      : h("bdi", { class: className }, text ?? "?");
  return h(
    "span",
    { class: "fact" },
    part("subject", "who", fact.subject),
    " ",
    part("predicate", "what", fact.predicate),
    " ",
    part("object", "who", fact.object),
    h("span", { class: "when" }, before(fact), part("time", "", hasTime(fact) ? humanWhen(fact) : null)),
  );
}

/** Return the slots of a question among parameters, without the empty ones. */
export function questionOf(query) {
  const question = {};
  for (const name of [...SLOTS, "start", "end"]) {
    const value = query.get(name);
    if (value && value !== "?") question[name] = value;
  }
  return question;
}

/** Return which slots a question leaves open. */
export function openSlots(question) {
  return SLOTS.filter((name) => (name === "time" ? !hasTime(question) : !question[name]));
}

export const hasTime = (fact) => Boolean(fact.time || fact.start || fact.end);

function before(fact) {
  if (!fact.time) return fact.start || fact.end ? ", " : " on ";
  return beforeTime(fact.time);
}

/** Return a rule as a sentence: `If A Make a visit B, then at the same time B Host a visit A.` */
export function ruleSentence(rule) {
  const body = [...rule.body].sort((one, other) => lateness(one) - lateness(other));
  const words = body.flatMap((atom, index) => [index > 0 ? between(body[index - 1], atom) : "If ", atomWords(atom)]);
  return h("span", { class: "rule-sentence" }, words, conclusion(body.at(-1), rule.head), atomWords(rule.head), ".");
}

/** Return `{head, body}` of a rule that is written as text, null if it cannot be read. */
export function readRule(text) {
  const atoms = [];
  const pattern = /\s*(?:<=|∧)?\s*("(?:[^"\\]|\\.)*"|.+?)\((\w+), (\w+)(?:, ([\w+]+))?\)(?=\s*(?:<=|∧|$))/gy;
  for (const [, name, subject, object, time] of text.matchAll(pattern)) {
    atoms.push({ predicate: name.startsWith('"') ? JSON.parse(name) : name, subject, object, time: time ?? null });
  }
  return atoms.length > 1 ? { head: atoms[0], body: atoms.slice(1) } : null;
}

const lateness = (atom) => (atom.time ? atom.time.split("+").length : 0);

function between(before, atom) {
  if (!atom.time) return " and ";
  return lateness(atom) > lateness(before) ? ", and later " : " and at the same time ";
}

function conclusion(last, head) {
  if (!head.time) return ", then ";
  const steps = lateness(head) - lateness(last);
  return steps > 0 ? ", then later " : steps < 0 ? ", then earlier " : ", then at the same time ";
}

function atomWords(atom) {
  return [variable(atom.subject), " ", h("em", {}, atom.predicate), " ", variable(atom.object)];
}

const variable = (name) => h("b", { class: "variable" }, LETTERS[name] ?? name);
