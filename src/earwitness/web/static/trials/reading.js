// An original text and its summaries on one page, each rated. Ratings survive a reload and a refusal.

import { announce, button, heading, make, show } from "../dom.js";
import { say } from "../messages.js";
import { readRecordingDraft, Recording } from "../recording.js";
import { Trial } from "../trial.js";

/** @import { CaptionView, ChoiceOption, PageContext, ReadingDraft, ReadingQuestion, ReadingView } from "../types.d.ts" */

/** Show a trial.
 * @param {ReadingView} view
 * @param {PageContext} at sounds, events, the draft and the answer callback of the page */
export async function showTrial(view, at) {
  /** @type {ReadingDraft} */
  const draft = await readRecordingDraft(view, at, { values: {} });
  if (at.left.aborted) return;
  new Reading(view, at, draft).show();
}

/** @extends {Trial<ReadingView, ReadingDraft>} */
class Reading extends Trial {
  asked = false; // whether to show what is missing
  marked = 0; // the summary that digits rate
  missing = make("div", { class: "missing", tabindex: "0" });
  /** @type {HTMLElement[]} */
  wrong = []; // a message per summary, shown if its rating is missing

  /** @param {ReadingView} view
   * @param {PageContext} at
   * @param {ReadingDraft} draft */
  constructor(view, at, draft) {
    super(view, at, draft);
    this.recording = new Recording(this, () => this.#list());
    this.cards = view.questions.map((question, place) => this.#card(question, view.captions[place], place));
  }

  show() {
    const { view } = this;
    const original = make("section", { class: "card original", "aria-labelledby": "original" },
      make("h2", { id: "original" }, say("original")), this.recording.element,
      make("p", { class: "original-text", tabindex: "0" }, view.text));
    const rating = make("div", { class: "rating" }, make("p", { class: "prompt" }, view.prompt),
      make("p", { class: "how keys" }, say("reading_how")), make("div", { class: "summaries" }, this.cards), this.missing,
      button(say("save"), () => this.#save(), { class: "main save", "data-press": "Enter" }));
    show(heading(view.title), make("div", { class: "reading" }, original, rating));
    this.#mark(Math.max(0, this.#open));
    announce(say("reading_told", { count: view.captions.length }));
  }

  /** The index of the first summary without a rating; -1 if all are rated. */
  get #open() {
    return this.view.questions.findIndex((question) => !(question.name in this.draft.values));
  }

  /** @param {ReadingQuestion} question
   * @param {CaptionView} caption
   * @param {number} place */
  #card(question, { label, text }, place) {
    const id = `summary-${place}`;
    const wrong = make("p", { class: "said bad", id: `${id}-wrong` });
    this.wrong.push(wrong);
    return make("section", { class: "card summarized", "aria-labelledby": id, focusin: () => this.#mark(place),
      pointerdown: () => this.#mark(place) },
    make("h2", { id }, say("summary", { label })), make("blockquote", { class: "caption" }, text), wrong,
    make("div", { class: "choices five", role: "radiogroup", "aria-label": question.prompt, "aria-describedby": wrong.id },
      question.options.map((option) => this.#choice(question.name, option, place))));
  }

  /** @param {string} name
   * @param {ChoiceOption} option
   * @param {number} place */
  #choice(name, { value, label }, place) {
    /** @type {HTMLInputElement} */
    const input = make("input", { type: "radio", name, value: String(value), "data-digit": String(value),
      checked: this.draft.values[name] === value,
      click: () => this.#choose(name, value, input, place) });
    return make("label", {}, input, make("kbd", { "aria-hidden": "true" }, String(value)), make("span", {}, label));
  }

  /** @param {string} name
   * @param {ChoiceOption["value"]} value
   * @param {HTMLInputElement} input
   * @param {number} place */
  #choose(name, value, input, place) {
    input.checked = true;
    this.draft.values[name] = value;
    this.noteKeyboard();
    this.type();
    this.#list();
    const next = this.#open;
    const within = this.cards[place].contains(document.activeElement); // arrow keys stay in the group
    if (next >= 0 && !within) {
      this.#mark(next);
      this.cards[next].scrollIntoView({ block: "nearest" });
    }
  }

  /** Let digits rate a summary.
   * @param {number} place */
  #mark(place) {
    this.marked = place;
    this.cards.forEach((card, n) => {
      card.classList.toggle("marked", n === place);
      for (const input of card.querySelectorAll("input")) {
        if (n === place) input.setAttribute("data-key", input.dataset.digit ?? "");
        else input.removeAttribute("data-key");
      }
    });
  }

  /** List what is missing, and say so at each summary, once the listener has tried to save. */
  #list() {
    this.view.questions.forEach((question, place) => {
      const text = this.asked && !(question.name in this.draft.values) ? say("needed") : "";
      if (this.wrong[place].textContent !== text) this.wrong[place].textContent = text;
    });
    const { questions, captions } = this.view;
    const unrated = captions.filter((_, place) => !(questions[place].name in this.draft.values));
    const names = [...(this.recording.heard ? [] : [say("recording_unheard")]),
      ...unrated.map(({ label }) => say("summary", { label }))];
    this.missing.replaceChildren(...(this.asked && names.length
      ? [make("p", {}, say("missing")), make("ul", {}, names.map((one) => make("li", {}, one)))] : []));
    return names;
  }

  /** Send if nothing is missing; otherwise list what is missing and go to the first. */
  #save() {
    this.asked = true;
    const heard = this.recording.check();
    const names = this.#list();
    if (!names.length) {
      this.recording.pause();
      this.finish(this.draft.values);
      return;
    }
    const open = this.#open;
    if (open >= 0 && heard) {
      this.cards[open].querySelector("input")?.focus({ preventScroll: true });
      this.cards[open].scrollIntoView({ block: "nearest" });
    } else if (!heard) this.recording.focus();
    announce(`${say("missing")} ${names.join("; ")}`);
  }
}
