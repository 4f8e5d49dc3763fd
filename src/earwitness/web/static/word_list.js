// Words that are kept or dropped: click, tap or drag with a pointer; arrow keys, Space and Shift with
// arrow keys on a keyboard. The last changes can be undone.

import { make } from "./dom.js";
import { say } from "./messages.js";

const SLACK = 8; // pixels that a finger may move in a tap

/** @typedef {{ anchor: number, mode: boolean, before: boolean[] }} Range */
/** @typedef {{ changed(kept: boolean[], byKey: boolean): void }} WordListener */

export class WordList {
  /** @type {boolean[][]} */
  #past = [];
  /** @type {boolean[][]} */
  #future = [];
  /** @type {Range | null} */
  #extension = null; // words that Shift with arrow keys extends
  /** @type {(Range & { last: number, x: number, y: number, pointer: number, begun: boolean }) | null} */
  #drag = null;
  #current = 0;
  #lit = -1;
  /** @type {Element | null} */
  #heard = null; // word that was last lit

  /** @param {string[]} words
   * @param {boolean[]} kept
   * @param {WordListener} hears */
  constructor(words, kept, hears) {
    this.kept = kept;
    this.hears = hears;
    this.words = words.map((word, place) => make("span", { role: "option", class: "word", id: `word-${place}`,
      "data-place": place, "aria-selected": String(kept[place]) }, word));
    this.element = make("div", { class: "words", role: "listbox", tabindex: "0", "aria-multiselectable": "true",
      "aria-label": say("words_list"), "aria-activedescendant": "word-0",
      keydown: (/** @type {KeyboardEvent} */ event) => this.#pressed(event),
      pointerdown: (/** @type {PointerEvent} */ event) => this.#down(event),
      pointermove: (/** @type {PointerEvent} */ event) => this.#move(event),
      pointerup: (/** @type {PointerEvent} */ event) => this.#up(event),
      pointercancel: () => this.#cancel() },
    this.words.flatMap((word) => [word, " "]));
    this.#go(0);
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  undo() {
    this.#step(this.#past, this.#future);
  }

  redo() {
    this.#step(this.#future, this.#past);
  }

  /** @param {boolean[][]} from
   * @param {boolean[][]} to */
  #step(from, to) {
    const state = from.pop();
    if (!state) return;
    to.push(this.kept.slice());
    this.#extension = null;
    this.#set(state);
    this.hears.changed(this.kept, true);
  }

  /** Whether a word is inside the window and the list, which may scroll.
   * @param {Element} word */
  #isVisible(word) {
    const { top, bottom } = word.getBoundingClientRect();
    const box = this.element.getBoundingClientRect();
    return top >= Math.max(0, box.top) && bottom <= Math.min(innerHeight, box.bottom);
  }

  /** Mark the word that is heard; -1 for none.
   * @param {number} place */
  light(place) {
    if (place === this.#lit) return;
    this.words[this.#lit]?.classList.remove("lit");
    this.#lit = place;
    const word = this.words[place];
    if (!word) return;
    word.classList.add("lit");
    const follows = !this.#heard || this.#isVisible(this.#heard); // unless another place was scrolled to
    this.#heard = word;
    if (follows && !this.#drag && !this.#isVisible(word)) word.scrollIntoView({ block: "center" });
  }

  /** Show a state, changing only the words that differ.
   * @param {boolean[]} state */
  #set(state) {
    state.forEach((keep, place) => {
      if (keep !== this.kept[place]) this.words[place].setAttribute("aria-selected", String(keep));
    });
    this.kept = state.slice();
  }

  /** Show a range from its anchor to a place, on top of the state before it.
   * @param {Range} range
   * @param {number} to */
  #apply({ anchor, mode, before }, to) {
    const [first, last] = anchor < to ? [anchor, to] : [to, anchor];
    this.#set(before.map((keep, place) => (place >= first && place <= last ? mode : keep)));
  }

  /** @param {boolean[]} before */
  #remember(before) {
    this.#past.push(before);
    this.#future = [];
  }

  /** @param {number} place */
  #go(place) {
    this.words[this.#current]?.classList.remove("current");
    this.#current = Math.max(0, Math.min(this.words.length - 1, place));
    const word = this.words[this.#current];
    word?.classList.add("current");
    this.element.setAttribute("aria-activedescendant", word?.id ?? "");
  }

  // --- Keyboard ---

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const to = this.#target(event.key);
    if (event.key === " ") this.#toggle();
    else if (to === null) return;
    else if (event.shiftKey) this.#extend(to);
    else {
      this.#extension = null;
      this.#go(to);
    }
    event.preventDefault();
    event.stopPropagation(); // Space plays elsewhere
    const word = this.words[this.#current];
    if (word && !this.#isVisible(word)) word.scrollIntoView({ block: "center" });
  }

  /** The word that a key moves to; null for other keys.
   * @param {string} key
   * @returns {number | null} */
  #target(key) {
    switch (key) {
      case "ArrowRight": return this.#current + 1;
      case "ArrowLeft": return this.#current - 1;
      case "ArrowDown": return this.#line(1);
      case "ArrowUp": return this.#line(-1);
      case "Home": return 0;
      case "End": return this.words.length - 1;
      default: return null;
    }
  }

  /** The nearest word on the next or previous line.
   * @param {1 | -1} step */
  #line(step) {
    const middle = (/** @type {HTMLElement} */ one) => one.offsetLeft + one.offsetWidth / 2;
    const { offsetTop } = this.words[this.#current];
    const x = middle(this.words[this.#current]);
    let best = this.#current;
    let top = offsetTop;
    for (let place = this.#current + step; this.words[place]; place += step) {
      const word = this.words[place];
      if (word.offsetTop === offsetTop) continue;
      if (top === offsetTop) [top, best] = [word.offsetTop, place];
      if (word.offsetTop !== top) break;
      if (Math.abs(middle(word) - x) < Math.abs(middle(this.words[best]) - x)) best = place;
    }
    return best;
  }

  #toggle() {
    const before = this.kept.slice();
    const range = { anchor: this.#current, mode: !this.kept[this.#current], before };
    this.#remember(before);
    this.#apply(range, this.#current);
    this.#extension = range;
    this.hears.changed(this.kept, true);
  }

  /** Shift: the words up to the new one become as the word just toggled, or the opposite of the first.
   * @param {number} to */
  #extend(to) {
    if (!this.#extension) {
      const before = this.kept.slice();
      this.#extension = { anchor: this.#current, mode: !this.kept[this.#current], before };
      this.#remember(before);
    }
    this.#go(to);
    this.#apply(this.#extension, this.#current);
    this.hears.changed(this.kept, true);
  }

  // --- Pointer ---

  /** The word under a pointer; -1 for none.
   * @param {PointerEvent} event */
  #hit(event) {
    const found = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-place]");
    return found instanceof HTMLElement && this.element.contains(found) ? Number(found.dataset.place) : -1;
  }

  /** @param {PointerEvent} event */
  #down(event) {
    const place = this.#hit(event);
    if (place < 0 || event.button || this.#drag) return;
    this.element.setPointerCapture(event.pointerId);
    this.#extension = null;
    this.#go(place);
    const begun = event.pointerType === "mouse"; // a finger may be about to scroll
    this.#drag = { anchor: place, last: place, mode: !this.kept[place], before: this.kept.slice(),
      x: event.clientX, y: event.clientY, pointer: event.pointerId, begun };
    if (begun) this.#apply(this.#drag, place);
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const drag = this.#drag;
    if (!drag || event.pointerId !== drag.pointer) return;
    drag.begun ||= Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > SLACK;
    const place = this.#hit(event);
    if (!drag.begun || place < 0) return;
    drag.last = place;
    this.#apply(drag, place);
  }

  /** @param {PointerEvent} event */
  #up(event) {
    const drag = this.#drag;
    if (!drag || event.pointerId !== drag.pointer) return;
    this.#move(event);
    this.#drag = null;
    this.#apply(drag, drag.last);
    this.#go(drag.last);
    this.#remember(drag.before);
    this.hears.changed(this.kept, false);
  }

  /** The browser scrolls instead: nothing was meant. */
  #cancel() {
    if (this.#drag) this.#set(this.#drag.before);
    this.#drag = null;
  }
}
