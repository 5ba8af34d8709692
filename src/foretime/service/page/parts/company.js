// The company that speaks for an answer: who is to a third what the subject is.

import { h } from "../dom.js";
import { counted, number } from "../words.js";
import { eventList } from "./reasons.js";

/** Return who speaks for an answer, the heaviest first, with the facts; nothing where nobody does. */
export function companyList(company) {
  if (!company?.count) return null;
  const shown = company.paths.length;
  const told = `${counted(company.count, "path")} of weight ${number(company.weight)} in all`;
  return h(
    "details",
    { class: "more" },
    h("summary", {}, "The company that speaks for it"),
    h(
      "p",
      { class: "note" },
      `Who is to a third what the subject is, and has this answer: ${told}`,
      shown < company.count ? `, the heaviest ${shown} of them:` : ":",
    ),
    company.paths.map((path) =>
      h(
        "div",
        { class: "companion" },
        h("p", {}, h("b", {}, path.companion), ` over ${path.third}, ${number(path.weight)}`),
        eventList(path.events),
      ),
    ),
  );
}
