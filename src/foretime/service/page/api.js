// The API: one way to ask it, one shape of errors, and the token where the service demands one.

export const ROOT = "/api/v1";
const KEPT = 200;
const SECONDS_KEPT = 60;
const UNREACHABLE = "The service does not answer. Is it still running?";
const kept = new Map();
let loaded = null;
let token = sessionStorage.getItem("foretime-token");

/** What went wrong, in the words of the service. */
export class ApiError extends Error {
  constructor(status, { code = "unknown", message = "", fields = [] } = {}, retryAfter = null) {
    super(message);
    Object.assign(this, { status, code, fields, retryAfter });
  }
}

/** Return the address of a path with its parameters, those that have a value. */
export function address(path, parameters = {}) {
  const given = parameters instanceof URLSearchParams ? [...parameters] : Object.entries(parameters);
  const query = new URLSearchParams(given.filter(([, value]) => value !== null && value !== undefined && value !== ""));
  return query.size ? `${path}?${query}` : path;
}

/** Return the path of a view of a run. */
export const runPath = (run, view = "") => `/runs/${encodeURIComponent(run)}${view && `/${view}`}`;

/** Return what the API says under the path of a view. */
export async function ask(path, parameters = {}, signal = null) {
  const url = ROOT + address(path, parameters);
  if (kept.has(url)) return kept.get(url);
  const found = await request(url, signal);
  kept.set(url, found);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return found;
}

/** Return the runs as they are now; what was answered by runs that have been reloaded since is forgotten. */
export async function askRuns(signal = null) {
  const found = await request(`${ROOT}/runs`, signal);
  const now = JSON.stringify(found.runs.map((run) => [run.name, run.loaded]));
  if (loaded !== now) forget();
  loaded = now;
  return found;
}

/** Forget what was answered, so that it is asked again. */
export const forget = () => kept.clear();

/** Keep a token for this tab. */
export function useToken(given) {
  token = given;
  sessionStorage.setItem("foretime-token", given);
  forget();
}

/** Follow a link to JSON; with a token it is fetched, since a plain link cannot bring one. */
export async function openJson(event) {
  if (!token) return;
  event.preventDefault();
  const url = event.currentTarget.href;
  const tab = window.open("", "_blank"); // at once: after a pause it would be taken for a pop-up
  try {
    const response = await fetch(url, { headers: headers() });
    const found = URL.createObjectURL(await response.blob());
    if (tab) tab.location.replace(found);
    else location.assign(found);
    setTimeout(() => URL.revokeObjectURL(found), SECONDS_KEPT * 1000);
  } catch {
    if (tab) tab.document.body.textContent = UNREACHABLE;
  }
}

const headers = () => ({ Accept: "application/json", ...(token && { Authorization: `Bearer ${token}` }) });

async function request(url, signal) {
  let response;
  try {
    response = await fetch(url, { headers: headers(), signal });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new ApiError(0, { code: "unreachable", message: UNREACHABLE });
  }
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  const error = body.error ?? { message: `The service answered with status ${response.status}.` };
  throw new ApiError(response.status, error, response.headers.get("Retry-After"));
}
