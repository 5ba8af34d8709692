// Times: labels of the data become positions on an axis, and dates that people read.

const DAY = 86_400_000;
const LONG = { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" };
const SHORT = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" };
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600];

/** Return a number for a label: days for dates, the number itself for years and steps. Null if it is neither. */
export function position(label) {
  if (label === null || label === undefined) return null;
  if (/^-?\d+$/.test(label)) return Number(label);
  const date = dateOf(label);
  return date === null ? null : date.getTime() / DAY;
}

/** Return a label as a date for people: `19 March 2024`, `March 2024`, `2024`. */
export function humanTime(label, short = false) {
  const date = /^-?\d+$/.test(label ?? "") ? null : dateOf(label);
  if (date === null) return label ?? "?";
  const parts = { ...(short ? SHORT : LONG) };
  if (/^\d{4,}-\d\d$/.test(label)) delete parts.day;
  if (label.includes("T")) Object.assign(parts, { hour: "2-digit", minute: "2-digit" });
  return new Intl.DateTimeFormat("en-GB", parts).format(date);
}

/** Return a fact's time for people: a time, or an interval with its known ends. */
export function humanWhen(fact, short = false) {
  if (fact.time) return humanTime(fact.time, short);
  const [start, end] = [fact.start, fact.end].map((label) => (label ? humanTime(label, short) : "?"));
  return `${start} – ${end}`;
}

/** Return a text with the dates in it written for people. */
export const withHumanTimes = (text) => text.replace(/\b\d{4}-\d\d-\d\d\b/g, (label) => humanTime(label, true));

/** Return `{at, text}` for the ticks of an axis from one position to another, about `count` of them. */
export function ticks(first, last, count, dated) {
  return dated ? dateTicks(first, last, count) : numberTicks(first, last, count);
}

/** Return whether labels of a timeline are dates, and not years or steps. */
export const isDated = (label) => !/^-?\d+$/.test(label ?? "");

function dateOf(label) {
  const found = /^(\d{4,})-(\d\d)(?:-(\d\d))?(?:T(\d\d)(?::(\d\d))?(?::(\d\d))?)?/.exec(label ?? "");
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found.slice(1).map((part) => Number(part ?? 0));
  return new Date(Date.UTC(year, month - 1, day || 1, hour, minute, second));
}

function dateTicks(first, last, count) {
  const days = last - first;
  if (days / 30 < count * 0.8) return dayTicks(first, last, count);
  const step = MONTHS.find((months) => days / (30.4 * months) <= count) ?? 1200;
  const start = new Date(first * DAY);
  let month = start.getUTCFullYear() * 12 + start.getUTCMonth();
  month = Math.ceil(month / step) * step;
  const found = [];
  for (; ; month += step) {
    const at = Date.UTC(Math.floor(month / 12), month % 12, 1) / DAY;
    if (at > last) return found;
    if (at >= first) found.push({ at, text: monthText(at, step) });
  }
}

function dayTicks(first, last, count) {
  const step = [1, 2, 5, 7, 14].find((days) => (last - first) / days <= count) ?? 30;
  const found = [];
  for (let at = Math.ceil(first / step) * step; at <= last; at += step) {
    found.push({
      at,
      text: new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" }).format(
        new Date(at * DAY),
      ),
    });
  }
  return found;
}

function monthText(at, step) {
  const date = new Date(at * DAY);
  if (step >= 12 || date.getUTCMonth() === 0) return String(date.getUTCFullYear());
  return new Intl.DateTimeFormat("en-GB", { month: "short", timeZone: "UTC" }).format(date);
}

function numberTicks(first, last, count) {
  const rough = Math.max((last - first) / count, 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough);
  const found = [];
  for (let at = Math.ceil(first / step) * step; at <= last + 1e-9; at += step) {
    found.push({ at, text: String(Number(at.toPrecision(6))) });
  }
  return found;
}
