// One dimension of one caption: a slider that starts unset, next to a number field. The field holds
// the value; the slider only writes to it. Nothing is rounded: a number that is not on the scale is
// reported at once and stays as typed.

import { announce, make } from "./dom.js";
import { say } from "./messages.js";
import { around, begun, read, shown, stepped, within } from "./number_input.js";
import { meaning } from "./rubric_help.js";

/** @import { Dimension, SliderQuestion } from "./types.d.ts" */

// Keys on an unset slider: those that increase start at the low end, the others at the high end.
/** @type {Record<string, "low" | "high">} */
const ENTERED = { ArrowRight: "low", ArrowUp: "low", PageUp: "low", Home: "low",
  ArrowLeft: "high", ArrowDown: "high", PageDown: "high", End: "high" };
const THUMB = 1.75; // rem, as in rubric.css
const SCROLLED = 10; // pixels of movement that count as scrolling
const TYPED = /^[\d.,+−-]$/; // keys that are typed into the field

export class Slider {
  #late = false; // whether to report a missing number
  /** @type {{ text: string, top: number, moved: boolean } | null} */
  #held = null; // while the slider is pressed: the text before, and whether the slider moved

  /** `text` is the initial text of the field; `changed` is called with each new text.
   * @param {SliderQuestion} question
   * @param {Dimension} dimension
   * @param {string} text
   * @param {(text: string) => void} changed */
  constructor(question, dimension, text, changed) {
    this.question = question;
    this.dimension = dimension;
    this.text = text;
    this.changed = changed;
    this.id = `of-${question.name}`;
    this.said = make("span", { class: "range", id: `${this.id}-said` });
    this.asking = this.#asking();
    this.field = this.#number();
    this.slider = this.#slider();
    this.help = make("div", { class: "help", id: `${this.id}-help`, hidden: true }, meaning(dimension));
    const name = make("span", { class: "title" }, make("b", {}, dimension.title), this.said);
    this.element = make("div", { class: "rated" }, name, this.asking, this.#track(), this.field, this.#ends(), this.help);
    this.field.value = text;
    this.#update();
  }

  /** The number if it is on the scale, otherwise NaN. */
  get value() {
    const value = read(this.text);
    return this.#onScale(value) ? stepped(value, this.dimension) : NaN;
  }

  /** Show from now on what is invalid or missing; returns whether something is. */
  check() {
    this.#late = true;
    this.#update();
    return Number.isNaN(this.value);
  }

  /** Focus the slider if it is unset, or the field if its number is invalid. */
  focus() {
    this.element.scrollIntoView({ block: "center" });
    (this.text.trim() ? this.field : this.slider).focus({ preventScroll: true });
  }

  /** @param {number} value */
  #onScale(value) {
    const [below, above] = around(value, this.dimension);
    return within(value, this.dimension) && below === above;
  }

  /** The help button; like the field, it is skipped by Tab, since both have keys on the slider. */
  #asking() {
    return make("button", { type: "button", class: "ask", tabindex: "-1", "aria-expanded": "false",
      "aria-controls": `${this.id}-help`, "aria-label": say("about", { title: this.dimension.title }),
      click: () => this.#explain() }, "?");
  }

  /** @returns {HTMLInputElement} */
  #number() {
    const inputmode = this.dimension.low < 0 ? "text" : "decimal"; // decimal keyboards may lack a minus
    return make("input", { type: "text", inputmode, autocomplete: "off", class: "number", placeholder: "–",
      tabindex: "-1", "aria-label": say("as_number", { prompt: this.question.prompt }), "aria-describedby": `${this.id}-said`,
      focus: () => this.field.select(), input: () => this.#set(this.field.value), change: () => this.#settle() });
  }

  #slider() {
    const { low, high, step } = this.dimension;
    return make("input", { type: "range", min: low, max: high, step, "aria-label": this.question.prompt,
      "aria-describedby": `${this.id}-help`, input: () => this.#slid(), keydown: (event) => this.#key(event),
      pointerdown: () => this.#pressed(), pointerup: (event) => this.#released(event),
      touchend: () => this.#lifted(), touchcancel: () => this.#lifted() });
  }

  #track() {
    const { low, high, anchors } = this.dimension;
    const ticks = anchors.map(({ value }) => {
      const tick = make("i");
      tick.style.setProperty("--at", String((value - low) / (high - low)));
      return tick;
    });
    return make("div", { class: "track" }, make("span", { "aria-hidden": "true" }, ticks), this.slider);
  }

  /** Labels of both ends; the right end is better, for scores and penalties alike. */
  #ends() {
    const { low, high, anchors } = this.dimension;
    /** @param {number} value */
    const end = (value) => make("span", {}, make("b", {}, shown(value)),
      ` ${anchors.find((one) => one.value === value)?.text ?? ""}`);
    return make("p", { class: "ends", "aria-hidden": "true" }, end(low), end(high));
  }

  #explain() {
    this.help.hidden = !this.help.hidden;
    this.asking.setAttribute("aria-expanded", String(!this.help.hidden));
  }

  #slid() {
    if (this.#held) this.#held.moved = true;
    this.#write(Number(this.slider.value));
  }

  /** @param {number} value */
  #write(value) {
    this.#set(shown(stepped(value, this.dimension)), true);
  }

  #pressed() {
    this.#held = { text: this.text, top: scrollY, moved: false };
  }

  /** A press on the hidden thumb of an unset slider does not move it, but is a rating; some browsers
   * allow presses only there.
   * @param {PointerEvent} event */
  #released({ clientX }) {
    if (!this.#held || this.#held.moved) return;
    const { left, width } = this.slider.getBoundingClientRect();
    const thumb = THUMB * parseFloat(getComputedStyle(document.documentElement).fontSize);
    const share = Math.max(0, Math.min(1, (clientX - left - thumb / 2) / (width - thumb)));
    this.#write(this.dimension.low + share * (this.dimension.high - this.dimension.low));
  }

  /** Undo the change if the touch scrolled the page. */
  #lifted() {
    if (this.#held && Math.abs(scrollY - this.#held.top) > SCROLLED) this.#set(this.#held.text, true);
    this.#held = null;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { key } = event;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const entered = Number.isNaN(this.value) && this.dimension[ENTERED[key]];
    if (TYPED.test(key)) {
      this.field.value = "";
      this.field.focus(); // the key itself is typed there
    } else if (key === "?") this.#explain();
    else if (key === "Backspace" || key === "Delete") this.#set("", true);
    else if (entered !== false && entered !== undefined) {
      event.preventDefault();
      this.#set(shown(entered), true);
    }
  }

  /** @param {string} text
   * @param {boolean} written */
  #set(text, written = false) {
    this.text = text;
    if (written) this.field.value = text;
    this.#update();
    this.changed(text);
  }

  /** After typing, format the number or show what is invalid. */
  #settle() {
    this.#late ||= Boolean(this.text.trim());
    if (!Number.isNaN(this.value)) return this.#set(shown(this.value), true);
    this.#update();
    return announce(this.problem);
  }

  #update() {
    const { value, problem } = this;
    const unset = Number.isNaN(value);
    this.slider.value = String(unset ? (this.dimension.low + this.dimension.high) / 2 : value);
    this.slider.classList.toggle("unset", unset);
    this.slider.setAttribute("aria-valuetext", unset ? say("not_set") : shown(value));
    this.said.textContent = problem || this.#range("from_to");
    this.said.classList.toggle("bad", Boolean(problem));
    this.field.setAttribute("aria-invalid", String(Boolean(problem)));
  }

  /** @param {"from_to" | "out_of_range"} name */
  #range(name) {
    const { low, high } = this.dimension;
    return say(name, { low: shown(low), high: shown(high) });
  }

  /** What is invalid about the typed text; a missing number is reported only after a check. */
  get problem() {
    const value = read(this.text);
    if (begun(this.text)) return this.#late ? say("give_number") : "";
    if (Number.isNaN(value)) return say("number");
    if (!within(value, this.dimension)) return this.#range("out_of_range");
    const [below, above] = around(value, this.dimension).map(shown);
    return below === above ? "" : say("off_step", { below, above });
  }
}
