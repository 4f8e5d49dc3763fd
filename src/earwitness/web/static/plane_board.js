// The TC/SD plane, or one of its axes: numbered markers that are dragged, placed by a click, or moved
// with the arrow keys. Markers without a place wait below.

import { make } from "./dom.js";
import { say } from "./messages.js";
import { shown } from "./number_input.js";

/** @typedef {Record<string, number>} Place by axis */
/** @typedef {{ label: string, place: Place | null, kind?: "given" | "expected" }} Marked */
/** @typedef {{ moved?(index: number, place: Place, done: boolean): void, chosen?(index: number): void,
 *   pressed?(index: number): void }} BoardListener */

const HIGHEST = 1.1; // end of the axes
const STEP = 0.01; // of the arrow keys
const LARGE_STEP = 0.05; // with Shift
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];
const DRAGGED = 4; // pixels that a marker moves at least if it is dragged
const SVG = "http://www.w3.org/2000/svg";
/** @type {Record<string, [axis: number, direction: number]>} */
const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1] };

/** @param {number} value */
const limited = (value) => Math.round(Math.min(1, Math.max(0, value)) * 1000) / 1000;

/** @param {number} value */
const percent = (value) => `${(100 * value) / HIGHEST}%`;

/** Height of a marker above a single axis, so that equal values do not hide each other.
 * @param {string} label */
const lineHeight = (label) => 0.22 + 0.28 * ((Number.parseInt(label, 10) - 1) % 3);

/** A place in words, such as "TC 0.25, SD 0.7".
 * @param {Place} place */
export const placeText = (place) => Object.entries(place).map(([name, value]) => `${name} ${shown(value)}`).join(", ");

export class PlaneBoard {
  chosen = -1;

  /** @param {Record<string, string>} axes titles by name; the first one is horizontal
   * @param {Marked[]} marked
   * @param {BoardListener | null} hears null if markers are fixed
   * @param {AbortSignal} [left] */
  constructor(axes, marked, hears, left) {
    this.names = Object.keys(axes);
    this.hears = hears;
    this.left = left;
    this.isLine = this.names.length === 1;
    this.markers = marked.map((one, index) => this.#marker(one, index));
    this.field = make("div", { class: "plane-field", click: (event) => this.#clicked(event) }, /** @type {any} */ (this.#grid(marked)),
      this.markers.map((one) => one.element));
    const [across, up] = Object.values(axes);
    this.element = make("div", { class: `plane-board${this.isLine ? " plane-line" : ""}` },
      up === undefined ? null : make("div", { class: "plane-up" }, make("span", {}, up)), this.field,
      make("div", { class: "plane-across" }, across),
      hears ? make("div", { class: "plane-tray", "aria-hidden": "true" }, make("span", {}, say("plane_unplaced"))) : null);
    this.markers.forEach((_, index) => this.#show(index));
  }

  /** Axes, ticks and maxima, and lines from places to expected ones.
   * @param {Marked[]} marked */
  #grid(marked) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("aria-hidden", "true");
    /** @param {string} tag
     * @param {Record<string, string | number>} attributes
     * @param {string} text */
    const draw = (tag, attributes, text = "") => {
      const made = document.createElementNS(SVG, tag);
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
      made.textContent = text;
      svg.append(made);
    };
    for (const tick of TICKS) {
      const x = percent(tick);
      const y = percent(HIGHEST - tick);
      const kind = tick === 1 ? "plane-maximum" : "plane-tick";
      draw("line", { x1: x, x2: x, y1: "0", y2: "100%", class: kind });
      if (!this.isLine) draw("line", { x1: "0", x2: "100%", y1: y, y2: y, class: kind });
      draw("text", { x, y: "100%", dy: "1.1em", "text-anchor": "middle" }, shown(tick));
      if (!this.isLine && tick) draw("text", { x: 0, y, dx: "-0.4em", dy: "0.35em", "text-anchor": "end" }, shown(tick));
    }
    for (const { label, place } of marked.filter((one) => one.kind === "expected")) {
      const given = marked.find((one) => one.kind === "given" && one.label === label)?.place;
      if (!given || !place) continue;
      const [x1, x2] = [given, place].map((one) => percent(one[this.names[0]]));
      const [y1, y2] = [given, place].map((one) => `${100 * (1 - this.#height(label, one))}%`);
      draw("line", { x1, x2, y1, y2, class: "plane-offset" });
    }
    return svg;
  }

  /** @param {Marked} one
   * @param {number} index */
  #marker({ label, place, kind }, index) {
    const isFree = Boolean(this.hears);
    /** @type {HTMLElement} */
    const element = make(isFree ? "button" : "span", isFree ? { type: "button", class: "plane-marker",
      "data-key": index < 9 ? String(index + 1) : null, "aria-describedby": "plane-help",
      click: (event) => (event.stopPropagation(), this.choose(index)),
      keydown: (event) => this.#key(event, index), pointerdown: (event) => this.#grabbed(event, index) }
      : { class: `plane-marker${kind === "expected" ? " expected" : ""}`, role: "img" }, label);
    return { label: kind ? `${label}, ${say(`plane_${kind}`)}` : label, place: place && { ...place }, element };
  }

  /** Height of a marker as a share of the field.
   * @param {string} label
   * @param {Place | null} place */
  #height(label, place) {
    return this.isLine ? lineHeight(label) : (place?.[this.names[1]] ?? 0) / HIGHEST;
  }

  /** @param {number} index */
  #show(index) {
    const { element, label, place } = this.markers[index];
    element.classList.toggle("unplaced", !place);
    element.style.setProperty("--x", String(place ? place[this.names[0]] / HIGHEST : 0));
    element.style.setProperty("--y", String(this.#height(label, place)));
    element.style.setProperty("--waits", String(this.markers.slice(0, index).filter((one) => !one.place).length));
    const text = place ? placeText(place) : say("plane_unplaced");
    element.setAttribute("aria-label", `${say("plane_marker", { label })}. ${text}`);
  }

  /** Show a place without reporting it; null takes the marker off the plane.
   * @param {number} index
   * @param {Place | null} place */
  set(index, place) {
    this.markers[index].place = place && { ...place };
    this.markers.forEach((_, n) => this.#show(n));
  }

  /** @param {number} index
   * @param {number[]} values along the axes
   * @param {boolean} done */
  #move(index, values, done) {
    const place = Object.fromEntries(this.names.map((name, n) => [name, limited(values[n])]));
    this.set(index, place);
    this.hears?.moved?.(index, place, done);
  }

  /** @param {number} index */
  choose(index) {
    this.chosen = index;
    this.markers.forEach(({ element }, n) => element.classList.toggle("chosen", n === index));
    this.markers[index].element.focus();
    this.hears?.chosen?.(index);
  }

  /** Coordinates of a point of the screen.
   * @param {{ clientX: number, clientY: number }} point */
  #valuesAt({ clientX, clientY }) {
    const { left, bottom, width, height } = this.field.getBoundingClientRect();
    return [((clientX - left) / width) * HIGHEST, ((bottom - clientY) / height) * HIGHEST];
  }

  /** A click on the plane places the chosen marker.
   * @param {MouseEvent} event */
  #clicked(event) {
    if (!this.hears || this.chosen < 0) return;
    this.#move(this.chosen, this.#valuesAt(event), true);
    this.markers[this.chosen].element.focus();
  }

  /** @param {PointerEvent} event
   * @param {number} index */
  #grabbed(event, index) {
    if (event.button) return;
    const { element } = this.markers[index];
    const { clientX, clientY, pointerId } = event;
    const over = new AbortController();
    const { signal } = over;
    const box = element.getBoundingClientRect();
    const [dx, dy] = [box.left + box.width / 2 - clientX, box.top + box.height / 2 - clientY];
    let isDragged = false;
    element.setPointerCapture(pointerId);
    /** @param {PointerEvent} now */
    const values = (now) => this.#valuesAt({ clientX: now.clientX + dx, clientY: now.clientY + dy });
    element.addEventListener("pointermove", (now) => {
      isDragged ||= Math.hypot(now.clientX - clientX, now.clientY - clientY) >= DRAGGED;
      if (isDragged) this.#move(index, values(now), false);
    }, { signal });
    element.addEventListener("pointerup", (now) => {
      over.abort();
      if (isDragged) this.#move(index, values(now), true);
    }, { signal });
    element.addEventListener("pointercancel", () => over.abort(), { signal });
    this.left?.addEventListener("abort", () => over.abort(), { signal });
  }

  /** @param {KeyboardEvent} event
   * @param {number} index */
  #key(event, index) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === " ") {
      event.preventDefault();
      if (!event.repeat) this.hears?.pressed?.(index);
      return;
    }
    if (!(event.key in MOVES)) return;
    event.preventDefault();
    const [axis, direction] = MOVES[event.key];
    const { place } = this.markers[index];
    const values = this.names.map((name) => place?.[name] ?? 0.5);
    values[this.isLine ? 0 : axis] += direction * (event.shiftKey ? LARGE_STEP : STEP);
    if (this.chosen !== index) this.choose(index);
    this.#move(index, values, true);
  }
}
