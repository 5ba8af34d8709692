// Times: labels of the data become positions on an axis, and dates that people read.

const DAY = 86_400_000;
const BETWEEN = " … ";
const LONG = { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" };
const SHORT = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" };
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000];
const DAYS = [1, 2, 5, 7, 14];
const HOURS = [1, 2, 3, 6, 12].map((hours) => hours / 24);
const WHOLE = /^-?\d+$/;
const WEEK = /^(-?\d{4,})-W(\d\d)$/;
const CALENDAR = /^(-?\d{4,})-(\d\d)(?:-(\d\d))?(?:T(\d\d)(?::(\d\d))?(?::(\d\d))?)?/;
const IN_TEXT = /\b\d{4}-(?:W\d\d|\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?)\b/g;
const MOST_TICKS = 100;
const MOST_DAYS = 1e8; // from 1970, in which a Date can be

/** Return the first and the last time of a label: those of a bin, `a … b`, or the same one twice. */
export function endsOf(label) {
  const [first, last = first] = (label ?? "").split(BETWEEN);
  return [first, last];
}

/** Return a number for a label: days for dates, the number itself for years and steps. Null if it is neither. */
export const position = (label) => positionOf(endsOf(label)[0]);

/** Return a number for the last time of a label. */
export const lastPosition = (label) => positionOf(endsOf(label)[1]);

/** Return a label as a date for people: `19 March 2024`, `March 2024`, `2024`, `week 7 of 2024`, `a … b`. */
export function humanTime(label, short = false) {
  const [first, last] = endsOf(label);
  return first === last ? humanMoment(first, short) : humanMoment(first, short) + BETWEEN + humanMoment(last, short);
}

/** Return what lies from one label to another for people, from the first time of the one to the last of the other. */
export function humanSpan(start, end, { short = true, join = " – " } = {}) {
  const [first, last] = [endsOf(start)[0], endsOf(end)[1]].map((label) => humanMoment(label, short));
  return first === last ? first : first + join + last;
}

/** Return a fact's time for people: a time, or an interval with its known ends. */
export function humanWhen(fact, short = false) {
  if (fact.time) return humanTime(fact.time, short);
  const [start, end] = [fact.start, fact.end].map((label) => (label ? humanTime(label, short) : "?"));
  return `${start} – ${end}`;
}

/** Return an event's time for people: that of a step, or both ends of an interval as they are written. */
export const humanEnds = (time) =>
  time
    .split(" – ")
    .map((label) => humanTime(label, true))
    .join(" – ");

/** Return what stands between a fact and its time: `on` a day, `in` what is longer, a comma before a bin. */
export function beforeTime(label) {
  if (label.includes(BETWEEN)) return ", ";
  return /^-?\d{4,}-\d\d-\d\d/.test(label) ? " on " : " in ";
}

/** Return a text with the dates in it written for people. */
export const withHumanTimes = (text) => text.replace(IN_TEXT, (label) => humanTime(label, true));

/** Return `{at, text}` for the ticks of an axis from one position to another, about `count` of them. */
export function ticks(first, last, count, dated) {
  const reach = dated ? MOST_DAYS : Number.MAX_VALUE;
  if (!(first >= -reach && first <= last && last <= reach)) return []; // neither for what is no number
  return dated ? dateTicks(first, last, count) : numberTicks(first, last, count);
}

/** Return whether labels of a timeline are dates, and not years or steps. */
export const isDated = (label) => !WHOLE.test(endsOf(label)[0]);

function positionOf(label) {
  if (WHOLE.test(label)) return Number(label);
  const date = dateOf(label);
  return date === null ? null : date.getTime() / DAY;
}

function humanMoment(label, short) {
  const week = WEEK.exec(label);
  if (week) return `week ${Number(week[2])}${short ? "," : " of"} ${Number(week[1])}`;
  const date = WHOLE.test(label) ? null : dateOf(label);
  if (date === null) return label || "?";
  const parts = { ...(short ? SHORT : LONG) };
  if (/^-?\d{4,}-\d\d$/.test(label)) delete parts.day;
  if (label.includes("T")) Object.assign(parts, { hour: "2-digit", minute: "2-digit" });
  return new Intl.DateTimeFormat("en-GB", parts).format(date);
}

function dateOf(label) {
  const week = WEEK.exec(label);
  if (week) return mondayOf(Number(week[1]), Number(week[2]));
  const found = CALENDAR.exec(label);
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found.slice(1).map((part) => Number(part ?? 0));
  return dateFrom(year, month - 1, day || 1, hour, minute, second);
}

/** Return the Monday of an ISO week; the first week of a year is the one that 4 January lies in. */
function mondayOf(year, week) {
  const fourth = dateFrom(year, 0, 4);
  const weekday = (fourth.getUTCDay() + 6) % 7;
  return new Date(fourth.getTime() + ((week - 1) * 7 - weekday) * DAY);
}

function dateFrom(year, month, day, ...clock) {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day); // Date.UTC takes the years 0 to 99 for 1900 to 1999
  if (clock.length > 0) date.setUTCHours(...clock);
  return date;
}

function dateTicks(first, last, count) {
  const days = last - first;
  if (days / DAYS.at(-1) <= count) return dayTicks(first, last, count);
  const step = MONTHS.find((months) => days / (30.4 * months) <= count) ?? 12_000;
  const start = new Date(first * DAY);
  const month = Math.ceil((start.getUTCFullYear() * 12 + start.getUTCMonth()) / step) * step;
  const at = (index) => dateFrom(0, month + index * step, 1).getTime() / DAY;
  return between(first, last, at, (day) => monthText(day, step));
}

function dayTicks(first, last, count) {
  const steps = last > first && last - first < 2 ? [...HOURS, ...DAYS] : DAYS;
  const step = steps.find((days) => (last - first) / days <= count) ?? DAYS.at(-1);
  const start = Math.ceil(first / step);
  const parts = step < 1 ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" };
  const format = new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: "UTC" });
  return between(first, last, (index) => (start + index) * step, (at) => format.format(new Date(at * DAY)));
}

function monthText(at, step) {
  const date = new Date(at * DAY);
  if (step >= 12 || date.getUTCMonth() === 0) return String(date.getUTCFullYear());
  return new Intl.DateTimeFormat("en-GB", { month: "short", timeZone: "UTC" }).format(date);
}

function numberTicks(first, last, count) {
  const rough = Math.max((last - first) / count, Math.abs(last) * 1e-12, 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough) ?? rough;
  const start = Math.ceil(first / step);
  const text = (at) => String(Number(at.toPrecision(6)));
  return between(first, last + step * 1e-6, (index) => (start + index) * step, text);
}

/** Return the ticks between two positions; `at` tells the place of each by its number. It ends, whatever `at` tells. */
function between(first, last, at, text) {
  const places = Array.from({ length: MOST_TICKS }, (_, index) => at(index));
  return places.filter((place) => place >= first && place <= last).map((place) => ({ at: place, text: text(place) }));
}
