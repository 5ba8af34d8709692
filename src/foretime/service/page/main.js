// The page: draws the view of an address, and the bar above all views.

import { askRuns } from "./api.js";
import { h, replace } from "./dom.js";
import { go, reloadLater, start } from "./navigation.js";
import { chooser } from "./parts/frame.js";
import { lines, starting, trouble } from "./parts/states.js";
import { MENU, draw, findView, pathFor } from "./views.js";

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
    const view = findView(location.pathname);
    const { runs, problems } = await askRuns(signal);
    if (signal.aborted) return;
    drawBar(view, runs);
    const shown = await show(view, { runs, problems, signal });
    if (signal.aborted) return;
    replace(main, shown);
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

/** Promise what the view of this address shows. */
async function show(view, { runs, problems, signal }) {
  if (!view) return missing("There is no such view.");
  const run = runs.find((one) => one.name === view.runName);
  if (view.runName !== null && !run) {
    const known = problems.find((one) => one.run === view.runName);
    return missing(known ? `The run "${known.run}" ${known.message}.` : `There is no run "${view.runName}" here.`);
  }
  const { pathname: path, search } = location;
  const name = view.path.split("/")[3] ?? "";
  return draw(view, { run, runs, problems, view: name, path, query: new URLSearchParams(search), signal });
}

const missing = (message) => trouble({ status: 404, code: "not_found", message, fields: [] });

function drawBar(view, runs) {
  const named = view?.runName ?? null;
  const run = runs.find((one) => one.name === named) ?? runs[0];
  replace(
    document.getElementById("places"),
    run &&
      MENU.filter((entry) => !entry.needs || run[entry.needs]).map((entry) =>
        h(
          "a",
          { href: pathFor(entry, run.name), "aria-current": named && view.title === entry.title ? "page" : null },
          entry.title,
        ),
      ),
  );
  const names = runs.map((one) => [one.name, one.name]);
  if (named && run?.name !== named) names.unshift([named, "choose one"]);
  replace(
    document.getElementById("runs"),
    named &&
      runs.length > 1 &&
      chooser("Run", names, named, (name) => go(pathFor(view, name) + location.search)),
    named && runs.length === 1 && h("span", { class: "run-name", title: `${run.model} on ${run.data}` }, run.name),
  );
}
