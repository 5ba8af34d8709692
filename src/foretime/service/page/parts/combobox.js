// A field for a name that suggests those of the data while one types (the ARIA combobox with a list).

import { afterPause, h, replace } from "../dom.js";
import { count, counted } from "../words.js";

const PAUSE = 120;
let made = 0;

/**
 * Return `{element, input, value, set}` of a field.
 *
 * `suggest(prefix)` promises `{total, names: [{name, facts, alias?}]}`. `changed(value)` is called with every change, `chosen`
 * with a name that was taken from the list.
 */
export function combobox({
  label,
  name,
  value = "",
  placeholder = "",
  suggest,
  changed = () => {},
  chosen = () => {},
}) {
  const id = `combobox-${++made}`;
  const list = h("ul", { id: `${id}-list`, role: "listbox", "aria-label": `Suggestions for ${label}`, hidden: true });
  const input = h("input", {
    id,
    name,
    placeholder,
    value,
    type: "text",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": `${id}-list`,
  });
  const status = h("span", { class: "unseen", role: "status" });
  const clear = h(
    "button",
    { type: "button", class: "clear", "aria-label": `Clear ${label}`, onclick: () => set("", true) },
    "×",
  );
  const element = h(
    "div",
    { class: "field combobox" },
    h("label", { for: id }, label),
    h("div", { class: "box" }, input, clear, list),
    status,
  );
  let active = -1;
  let asked = 0;

  const look = afterPause(PAUSE, fetchNames);
  input.addEventListener("input", () => {
    note();
    look();
  });
  input.addEventListener("focus", () => input.select());
  input.addEventListener("click", () => list.hidden && fetchNames(true));
  input.addEventListener("blur", () => close());
  input.addEventListener("keydown", press);
  list.addEventListener("mousedown", (event) => event.preventDefault());
  note();

  function note() {
    element.classList.toggle("is-open", input.value.trim() === "");
    changed(input.value.trim());
  }

  async function fetchNames(all = false) {
    const turn = ++asked;
    try {
      const found = await suggest(all === true ? "" : input.value.trim());
      if (turn === asked && document.activeElement === input) open(found);
    } catch {
      close();
    }
  }

  function open({ total, names }) {
    active = -1;
    input.removeAttribute("aria-activedescendant");
    const rest = total - names.length;
    replace(
      list,
      names.map((one, index) => option(one, index)),
      names.length === 0 && h("li", { class: "note", role: "presentation" }, "No name has this in it"),
      rest > 0 && h("li", { class: "note", role: "presentation" }, `${count(rest)} more: type on`),
    );
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    status.textContent = names.length
      ? `${counted(total, "suggestion")}; choose with the arrow keys`
      : "No suggestions";
  }

  function option(one, index) {
    return h(
      "li",
      { id: `${id}-${index}`, role: "option", "aria-selected": "false", onclick: () => take(one.name) },
      h("span", {}, one.name),
      h("small", {}, one.alias && `also ${one.alias} · `, counted(one.facts, "fact")),
    );
  }

  function close() {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function take(taken) {
    set(taken);
    close();
    chosen(taken);
  }

  function set(given, focus = false) {
    input.value = given;
    note();
    if (focus) input.focus();
  }

  function move(to) {
    const options = [...list.querySelectorAll("[role=option]")];
    if (options.length === 0) return;
    options[active]?.setAttribute("aria-selected", "false");
    active = (to + options.length) % options.length;
    options[active].setAttribute("aria-selected", "true");
    options[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", options[active].id);
  }

  function press(event) {
    const opened = !list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (opened) move(active < 0 && event.key === "ArrowUp" ? -1 : active + (event.key === "ArrowDown" ? 1 : -1));
      else fetchNames(input.value === "");
    } else if (event.key === "Enter" && opened && active >= 0) {
      event.preventDefault();
      take(list.querySelector("[aria-selected=true] span").textContent);
    } else if (event.key === "Escape" && opened) {
      event.preventDefault();
      close();
    } else if (event.key === "Enter") close();
  }

  return {
    element,
    input,
    set,
    get value() {
      return input.value.trim();
    },
  };
}
