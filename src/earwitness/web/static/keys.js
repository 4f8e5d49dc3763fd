// Keyboard control: digits choose; Space and Enter press the main button of the page, or the button that
// a page has for the key (`data-press`). Such a button for Enter also works from sliders and single-line
// fields, and with Ctrl+Enter or Cmd+Enter from anywhere.

const TEXT = "textarea, select, input:not([type=radio]):not([type=checkbox]):not([type=range])";
const PRESSED = "button, a, summary";
const OWN = `${TEXT}, ${PRESSED}, [type=range], [type=checkbox]`;
const KEEPS = { Space: `${TEXT}, ${PRESSED}, [type=radio]:enabled:not(:checked), [type=checkbox]`, Enter: `textarea, ${PRESSED}` };

let keyboard = false;

/** Whether the last input came from the keyboard. */
export const byKeyboard = () => keyboard;

/** Whether the focused element handles a key itself.
 * @param {KeyboardEvent} event
 * @param {Element} element */
function taken(event, element) {
  if (event.key === " " && element.matches("[type=radio]:not(:checked)")) return true;
  return element.matches(OWN);
}

/** The digit of a key, also on layouts where digits need Shift (French); empty if there is none.
 * @param {KeyboardEvent} event */
function digitOf({ key, code, shiftKey }) {
  if (/^\d$/.test(key)) return key;
  return shiftKey ? "" : (/^Digit(\d)$/.exec(code)?.[1] ?? "");
}

/** The button that Space or Enter presses; null if the focused element handles the key.
 * @param {KeyboardEvent} event
 * @param {Element} element
 * @param {boolean} anywhere
 * @returns {HTMLElement | null} */
function meant(event, element, anywhere) {
  const key = event.key === " " ? "Space" : "Enter";
  /** @type {HTMLElement | null} */
  const own = document.querySelector(`main [data-press="${key}"]`);
  if (own) return anywhere || !element.matches(KEEPS[key]) ? own : null;
  if (anywhere || taken(event, element)) return null;
  return document.querySelector("main [data-main]:not(:disabled)") ?? document.querySelector("main [data-main]");
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const anywhere = event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.altKey;
  const other = event.ctrlKey || event.altKey || event.metaKey || event.getModifierState("AltGraph");
  if ((other && !anywhere) || event.isComposing) return;
  keyboard = true;
  if (event.defaultPrevented) return; // the page has handled it
  const element = event.target instanceof Element ? event.target : document.body;
  if (document.querySelector("dialog[open], main[inert]")) return;
  const digit = digitOf(event);
  if (digit && !element.matches(TEXT)) {
    /** @type {HTMLElement | null} */
    const chosen = document.querySelector(`main [data-key="${digit}"]:not(:disabled)`);
    if (chosen && !event.repeat) chosen.click();
  } else if (event.key === " " || event.key === "Enter") {
    const found = meant(event, element, anywhere);
    if (!found) return;
    event.preventDefault();
    if (!event.repeat) found.click();
  }
}

/** Start listening to keys. */
export function listenToKeys() {
  document.addEventListener("keydown", pressed);
  document.addEventListener("pointerdown", () => (keyboard = false));
}
