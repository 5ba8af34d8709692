// What a view shows before its data has arrived, when there is nothing, and when something went wrong.

import { forget, useToken } from "../api.js";
import { h, replace } from "../dom.js";
import { reload } from "../navigation.js";

const HINTS = {
  unanswerable: "Change the question above, or start from one of the suggestions in the fields.",
  invalid: "Check the address of this view: one of its parameters cannot be used.",
  not_found: "It may have been renamed or removed.",
  overloaded: "Many questions are being asked at the moment.",
  too_slow: "The answer took longer than the service allows.",
  not_ready: "The service is still loading its runs.",
  unreachable: 'Start it again with "foretime serve", then try again.',
};

/** Return a box that holds a skeleton until the promise is kept, and then what is drawn of its value. */
export function later(promise, draw, skeleton = lines(4)) {
  const box = h("div", { class: "later", "aria-busy": "true" }, skeleton);
  promise
    .then((value) => replace(box, draw(value)))
    .catch((problem) => {
      if (problem.name !== "AbortError") replace(box, trouble(problem));
    })
    .finally(() => box.removeAttribute("aria-busy"));
  return box;
}

/** Return a skeleton of lines of text. */
export function lines(many, className = "") {
  return h(
    "div",
    { class: `skeleton ${className}`, "aria-hidden": "true" },
    Array.from({ length: many }, () => h("i")),
  );
}

/** Return a skeleton of a chart. */
export const block = (className = "") =>
  h("div", { class: `skeleton ${className}`, "aria-hidden": "true" }, h("i", { class: "block" }));

/** Return what is said where there is nothing to show, and what can be done. */
export function empty(title, ...help) {
  return h("div", { class: "state" }, h("p", { class: "state-title" }, title), help.length > 0 && h("p", {}, help));
}

/** Return what is said while the service loads its runs. */
export const starting = () =>
  h(
    "div",
    { class: "state starting", role: "status" },
    h("p", { class: "state-title" }, "The service is starting"),
    h("p", {}, "It is loading its runs; they will appear here."),
  );

/** Return an error as a reader needs it: what is wrong, what to do, and a way to do it. */
export function trouble(problem) {
  if (problem.status === 401) return tokenForm();
  if (problem.status === undefined) console.error(problem);
  const message = problem.status === undefined ? "This view could not be shown." : problem.message;
  const wait = problem.retryAfter ? ` Try again in ${problem.retryAfter} s.` : "";
  return h(
    "div",
    { class: "state state-error", role: "alert" },
    h("p", { class: "state-title" }, message),
    problem.fields?.length > 1 &&
      h(
        "ul",
        {},
        problem.fields.map((one) => h("li", {}, h("code", {}, one.field), `: ${one.message}`)),
      ),
    h("p", {}, (HINTS[problem.code] ?? "") + wait),
    repairs(message),
    problem.status !== 422 && h("button", { type: "button", class: "button", onclick: again }, "Try again"),
  );
}

/** Return links to the same view with a misspelt name put right, where the service has suggested the nearest ones. */
function repairs(message) {
  const found = /^unknown \w+ ('[^']*'|"[^"]*"); did you mean (.+)\?/.exec(message);
  if (!found) return null;
  const [wrong, near] = [
    found[1].slice(1, -1),
    [...found[2].matchAll(/'([^']*)'|"([^"]*)"/g)].map((one) => one[1] ?? one[2]),
  ];
  const links = near.map((name) => {
    const query = new URLSearchParams(
      [...new URLSearchParams(location.search)].map(([key, value]) => [key, value === wrong ? name : value]),
    );
    return h("a", { class: "chip", href: `${location.pathname}?${query}` }, name);
  });
  return h("p", { class: "chips" }, links);
}

function again() {
  forget();
  reload();
}

function tokenForm() {
  const field = h("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const keep = (event) => {
    event.preventDefault();
    useToken(field.value);
    reload();
  };
  return h(
    "form",
    { class: "state", onsubmit: keep },
    h("p", { class: "state-title" }, "This service asks for a token"),
    h("p", {}, h("label", { for: "token" }, "Ask whoever started it. The token is kept for this tab only.")),
    h("p", { class: "row" }, field, h("button", { class: "button primary" }, "Continue")),
  );
}
