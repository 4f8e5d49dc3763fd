// DOM helpers that never parse HTML: all content is inserted as text.

/** @typedef {string | number | boolean | null | undefined} Attribute */
/** @typedef {Node | string | null | undefined} Child */
/** @typedef {Record<string, Attribute | ((event: any) => unknown)>} Properties */

/** Create an element; functions become event listeners, all other properties attributes.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} properties
 * @param {(Child | Child[])[]} children
 * @returns {HTMLElementTagNameMap[Tag]} */
export function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** Create a button; Space and Enter also press the main button of a page.
 * @param {string} label
 * @param {(event: Event) => unknown} act
 * @param {Properties & { main?: boolean }} options */
export function button(label, act, { main = false, ...more } = {}) {
  const kind = main ? { class: "main", "data-main": "" } : {};
  return make("button", { type: "button", ...kind, ...more, click: act }, label);
}

/** Split a text at empty lines into paragraphs; other line breaks are kept.
 * @param {string | null | undefined} text */
export function paragraphs(text) {
  const parts = (text ?? "").split(/\n\s*\n/).filter((part) => part.trim());
  return parts.map((part) => make("p", { class: "told" }, part.trim()));
}

/** Replace unpaired surrogates, which a length limit may leave, with U+FFFD.
 * @param {string} text */
export function wholeText(text) {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

/** The heading of a page, which gets the focus when the page is shown.
 * @param {string} text */
export function heading(text) {
  return make("h1", { tabindex: "-1" }, text);
}

/** The element of the shell that matches a tag; it exists on every page.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} selector
 * @returns {HTMLElementTagNameMap[Tag]} */
export function find(selector) {
  const element = document.querySelector(selector);
  if (!element) throw new Error(`no ${selector}`);
  return element;
}

/** The element with an id.
 * @param {string} id */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no #${id}`);
  return element;
}

/** Replace the content of the page, and clear the last announcement. The scroll position is kept from
 * one question of a trial (`.trial`) to the next; other pages start at the top.
 * @param {(Child | Child[])[]} children */
export function show(...children) {
  const main = find("main");
  main.inert = false;
  announce("");
  const before = main.querySelector(".trial");
  main.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  main.querySelector("h1")?.focus({ preventScroll: true });
  if (!before || !main.querySelector(".trial")) scrollTo(0, 0);
  return main;
}

let turn = 0;

/** Announce a text to screen readers; a repeated text is announced again.
 * @param {string} text */
export function announce(text) {
  turn = 1 - turn;
  const places = document.querySelectorAll(".announced");
  places[1 - turn].textContent = "";
  places[turn].textContent = text;
}
