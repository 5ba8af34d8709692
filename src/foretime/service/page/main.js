// The page: which view belongs to an address, and the bar above all views.

import { ask, runPath } from "./api.js";
import { h, replace } from "./dom.js";
import { go, start } from "./navigation.js";
import { chooser } from "./parts/frame.js";
import { lines, trouble } from "./parts/states.js";
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
  const place = {
    ...placeOf(location.pathname),
    path: location.pathname,
    query: new URLSearchParams(location.search),
    signal,
  };
  const waiting = setTimeout(() => replace(main, lines(8)), 250);
  try {
    const { runs, problems } = await ask("/runs");
    if (signal.aborted) return;
    const run = runs.find((one) => one.name === place.run);
    drawBar(place, runs);
    clearTimeout(waiting);
    replace(main, viewOf({ ...place, run, runName: place.run, runs, problems }));
  } catch (problem) {
    clearTimeout(waiting);
    if (problem.name === "AbortError") return;
    replace(main, trouble(problem));
  }
  document.title = [main.querySelector("h1")?.textContent, "foretime"].filter(Boolean).join(" · ");
  if (moved) {
    scrollTo(0, 0);
    main.querySelector("h1")?.focus({ preventScroll: true });
  }
}

function placeOf(path) {
  const found = /^\/runs\/([^/]+)(?:\/([a-z]+))?$/.exec(path);
  return found ? { run: decodeURIComponent(found[1]), view: found[2] ?? "" } : { run: null, view: null };
}

function viewOf(place) {
  if (place.path === "/") return homeView(place);
  if (place.path === "/compare") return compareView(place);
  if (!place.runName || !VIEWS[place.view])
    return trouble({ status: 404, code: "not_found", message: "There is no such view.", fields: [] });
  if (!place.run)
    return trouble({ status: 404, code: "not_found", message: `There is no run «${place.runName}» here.`, fields: [] });
  return VIEWS[place.view](place);
}

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
        runs.map((one) => [one.name, one.name]),
        place.run,
        change,
      ),
    place.run && runs.length === 1 && h("span", { class: "run-name", title: `${run.model} on ${run.data}` }, run.name),
  );
}
