// Elements are made here, and nowhere from text: whatever a name in the data holds, it is shown as it is.

const SVG = "http://www.w3.org/2000/svg";

/** Return an element: `h("a", {href, class, onclick}, "text", child, [children], null)`. */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** Return an SVG element. */
export function s(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/** Put children in place of what an element holds. */
export function replace(element, ...children) {
  element.replaceChildren(...flat(children));
  return element;
}

/** Return a function that runs the given one once calls have stopped for a moment. */
export function afterPause(milliseconds, run) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), milliseconds);
  };
}

/** Return a box that draws itself for its width, and once more whenever that changes. */
export function drawn(className, draw) {
  const box = h("div", { class: className });
  let width = 0;
  new ResizeObserver(() => {
    const now = Math.floor(box.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    replace(box, draw(width));
  }).observe(box);
  return box;
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...flat(children));
  return element;
}

function flat(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}
