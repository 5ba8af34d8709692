// Charts by keyboard: the tab key reaches a chart once, the arrow keys move through what it shows.

/** Let the arrow keys move through elements, of which one is reached by the tab key. */
export function walk(elements) {
  elements[0]?.setAttribute("tabindex", "0");
  elements.forEach((element, index) =>
    element.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = step && elements[index + step];
      if (!next) return;
      event.preventDefault();
      element.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    }),
  );
}
