// The keyboard: digits choose, Space and Enter press the main button of the page.

const TEXT = "textarea, select, input:not([type=radio]):not([type=checkbox]):not([type=range])";
const OWN = `${TEXT}, button, a, summary, [type=range], [type=checkbox]`;

let keyboard = false;

/** Whether the last thing done was done by keyboard. */
export const byKeyboard = () => keyboard;

/** Whether a key means something to the element that has the focus. */
function taken(event, element) {
  if (event.key === " " && element.matches("[type=radio]:not(:checked)")) return true;
  return element.matches(OWN);
}

/** The digit of a key, also where digits need Shift, as in France; without one, nothing. */
function digitOf({ key, code, shiftKey }) {
  if (/^\d$/.test(key)) return key;
  return shiftKey ? "" : (/^Digit(\d)$/.exec(code)?.[1] ?? "");
}

function pressed(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.getModifierState("AltGraph")) return;
  keyboard = true;
  const element = event.target instanceof Element ? event.target : document.body;
  if (document.querySelector("dialog[open], main[inert]")) return;
  const digit = digitOf(event);
  if (digit && !element.matches(TEXT)) {
    const chosen = document.querySelector(`main [data-key="${digit}"]:not(:disabled)`);
    if (chosen && !event.repeat) chosen.click();
  } else if ((event.key === " " || event.key === "Enter") && !taken(event, element)) {
    event.preventDefault();
    const main = document.querySelector("main [data-main]:not(:disabled)");
    if (main && !event.repeat) main.click();
  }
}

/** Listen to keys from now on. */
export function listenToKeys() {
  document.addEventListener("keydown", pressed);
  document.addEventListener("pointerdown", () => (keyboard = false));
}
