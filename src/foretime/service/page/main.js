// The page: which view belongs to an address, and the bar above all views.

import { askRuns, runPath } from "./api.js";
import { h, replace } from "./dom.js";
import { go, reloadLater, start } from "./navigation.js";
import { chooser } from "./parts/frame.js";
import { lines, starting, trouble } from "./parts/states.js";
import { answersView } from "./views/answers.js";
import { compareView } from "./views/compare_runs.js";
import { entityView } from "./views/entity.js";
import { homeView } from "./views/home.js";
import { overviewView } from "./views/overview.js";
import { reportView } from "./views/report.js";
import { rulesView } from "./views/rules.js";
import { whyView } from "./views/why.js";

const VIEWS = {
  "": overviewView,
  complete: answersView,
  explain: whyView,
  timeline: entityView,
  neighbours: entityView,
  facts: entityView,
  rules: rulesView,
  report: reportView,
};
const PLACES = [
  ["Ask", "", ["", "complete", "explain"]],
  ["Browse", "timeline", ["timeline", "neighbours", "facts"]],
  ["Rules", "rules", ["rules"]],
  ["Report", "report", ["report"]],
];

let leaving = new AbortController();

start(render);

async function render(moved) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const main = document.getElementById("view");
  main.setAttribute("aria-busy", "true");
  const waiting = setTimeout(() => !main.querySelector(".starting") && replace(main, lines(8)), 250);
  try {
    const place = placeOf(location);
    const { runs, problems } = await askRuns(signal);
    if (signal.aborted) return;
    const run = runs.find((one) => one.name === place.run);
    drawBar(place, runs);
    replace(main, viewOf({ ...place, run, runName: place.run, runs, problems, signal }));
  } catch (problem) {
    if (signal.aborted) return;
    if (problem.code === "not_ready") waitForRuns(main, problem, signal);
    else replace(main, trouble(problem));
  } finally {
    clearTimeout(waiting);
    if (!signal.aborted) main.removeAttribute("aria-busy");
  }
  document.title = [main.querySelector("h1")?.textContent, "foretime"].filter(Boolean).join(" · ");
  if (moved) {
    scrollTo(0, 0);
    main.querySelector("h1")?.focus({ preventScroll: true });
  }
}

/** Say that the service is starting, once, and look again. */
function waitForRuns(main, { retryAfter }, signal) {
  if (!main.querySelector(".starting")) replace(main, starting());
  reloadLater(Math.max(Number(retryAfter), 2), signal);
}

function placeOf({ pathname: path, search }) {
  const found = /^\/runs\/([^/]+)(?:\/([a-z]+))?$/.exec(path);
  const named = found ? { run: decoded(found[1]), view: found[2] ?? "" } : { run: null, view: null };
  return { ...named, path, query: new URLSearchParams(search) };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a % that escapes nothing: no run is called so, and the view will say it
  }
}

function viewOf(place) {
  if (place.path === "/") return homeView(place);
  if (place.path === "/compare") return compareView(place);
  if (!place.runName || !VIEWS[place.view]) return missing("There is no such view.");
  if (!place.run) return missing(`There is no run «${place.runName}» here.`);
  return VIEWS[place.view](place);
}

const missing = (message) => trouble({ status: 404, code: "not_found", message, fields: [] });

function drawBar(place, runs) {
  const run = runs.find((one) => one.name === place.run) ?? runs[0];
  replace(
    document.getElementById("places"),
    run &&
      PLACES.map(([text, view, own]) =>
        h(
          "a",
          { href: runPath(run.name, view), "aria-current": place.run && own.includes(place.view) ? "page" : null },
          text,
        ),
      ),
  );
  const change = (name) =>
    go(place.run && place.view !== null ? runPath(name, place.view) + location.search : runPath(name));
  replace(
    document.getElementById("runs"),
    place.run &&
      runs.length > 1 &&
      chooser(
        "Run",
        [
          run.name !== place.run && [place.run, "choose one"],
          ...runs.map((one) => [one.name, one.name]),
        ].filter(Boolean),
        place.run,
        change,
      ),
    place.run && runs.length === 1 && h("span", { class: "run-name", title: `${run.model} on ${run.data}` }, run.name),
  );
}
