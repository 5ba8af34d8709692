// Moving between views: every state is an address, and links between views do not reload the page.

import { findView } from "./views.js";

let show = () => {};

/** Begin: `render` is called with each address that is gone to. */
export function start(render) {
  show = render;
  addEventListener("popstate", () => show(false));
  document.addEventListener("click", follow);
  show(false);
}

/** Go to a view. */
export function go(to) {
  history.pushState(null, "", to);
  show(true);
}

/** Go to a view in place of this one. */
export function goInstead(to) {
  history.replaceState(null, "", to);
  show(false);
}

/** Show this view once more. */
export const reload = () => show(false);

/** Show this view once more in some seconds, unless it has been left by then. */
export function reloadLater(seconds, signal) {
  const timer = setTimeout(reload, seconds * 1000);
  signal.addEventListener("abort", () => clearTimeout(timer));
}

/** Return what the part after # says: how a view is shown, which the API need not know. */
export const shown = () => new URLSearchParams(location.hash.slice(1));

/** Keep how a view is shown in its address. */
export function keepShown(name, value) {
  const all = shown();
  if (value === null || value === "") all.delete(name);
  else all.set(name, value);
  history.replaceState(null, "", `${location.pathname}${location.search}${all.size ? `#${all}` : ""}`);
}

function follow(event) {
  const link = event.target.closest?.("a[href]");
  if (
    !link ||
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  const written = link.getAttribute("href"); // links in charts have no other properties in common with those in text
  const to = new URL(written, location.href);
  if (written.startsWith("#") || to.origin !== location.origin || !findView(to.pathname)) return;
  event.preventDefault();
  go(to.href);
}
