// Elements without markup in strings: whatever is shown can only be text.

/** An element: properties that are functions listen, all others are attributes. */
export function make(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((one) => one !== null && one !== undefined));
  return made;
}

/** A button; the main one of a page is also pressed by Space and Enter. */
export function button(label, act, { main = false, ...more } = {}) {
  const kind = main ? { class: "main", "data-main": "" } : {};
  return make("button", { type: "button", ...kind, ...more, click: act }, label);
}

/** Paragraphs of a text, which are parted by empty lines; other line ends are kept. */
export function paragraphs(text) {
  const parts = (text ?? "").split(/\n\s*\n/).filter((part) => part.trim());
  return parts.map((part) => make("p", { class: "told" }, part.trim()));
}

/** A text with whole characters: halves, which a limit may leave, become a mark of their place. */
export function wholeText(text) {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

/** The heading of a page, which takes the focus when the page comes. */
export function heading(text) {
  return make("h1", { tabindex: "-1" }, text);
}

/** Show something as the whole page; what was told on another is told no more. */
export function show(...children) {
  const main = document.querySelector("main");
  main.inert = false;
  announce("");
  main.replaceChildren(...children.flat().filter(Boolean));
  main.querySelector("h1")?.focus({ preventScroll: true });
  scrollTo(0, 0);
  return main;
}

let turn = 0;

/** Tell whoever does not see the page; the same words twice are told twice. */
export function announce(text) {
  turn = 1 - turn;
  const places = document.querySelectorAll(".announced");
  places[1 - turn].textContent = "";
  places[turn].textContent = text;
}
