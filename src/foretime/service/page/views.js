// The table of views, from which routing and navigation follow: views.json has one line for each.

const found = await (await fetch("/static/views.json")).json();
const TABLE = found.map((view) => ({ ...view, pattern: new RegExp(`^${view.path.replace("{run}", "([^/]+)")}$`) }));

/** The entries of the navigation: `{title, path, needs}` of the first view with each title; what a run needs for it. */
export const MENU = TABLE.filter((view) => view.title && view === TABLE.find((one) => one.title === view.title));

/** Return the view at a path and the run that it names; null if there is none. */
export function findView(path) {
  const view = TABLE.find((one) => one.pattern.test(path));
  if (!view) return null;
  const [, run] = view.pattern.exec(path);
  return { ...view, runName: run === undefined ? null : decoded(run) };
}

/** Return the path of a view for a run. */
export const pathFor = (view, run) => view.path.replace("{run}", encodeURIComponent(run));

/** Promise what a view shows. */
export async function draw(view, place) {
  return (await import(`./views/${view.module}.js`)).view(place);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a % that escapes nothing: no run has this name, and the view will say so
  }
}
