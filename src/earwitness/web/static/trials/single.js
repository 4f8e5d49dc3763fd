// One sound, question by question: play it to the end, rate it, continue. All answers of a trial are
// sent together; unfinished input is kept, so that a reload returns to the same question.

import { announce, button, heading, make, show } from "../dom.js";
import { say } from "../messages.js";
import { problemOf } from "../sound.js";
import { commentField, readDraft, Trial } from "../trial.js";

/** @import { ChoiceOption, SingleDraft, SingleView, PageContext } from "../types.d.ts" */

/** Show a trial.
 * @param {SingleView} view
 * @param {PageContext} at sounds, events, the draft and the answer callback of the page */
export async function showTrial(view, at) {
  const draft = await readDraft(at, { values: {}, comment: "" });
  if (at.refused && view.questions.every((question) => question.name in draft.values)) {
    Object.assign(draft, { values: {}, plays: [] }); // start again, but keep the comment
    await at.draft.write(draft);
  }
  const ended = new Set(draft.plays.filter((play) => play.ended).map((play) => play.question));
  draft.plays.push(...(view.played ?? []).filter((play) => !ended.has(play.question))); // from another device
  if (at.left.aborted) return;
  new Single(view, at, draft).ask();
}

/** @extends {Trial<SingleView, SingleDraft>} */
class Single extends Trial {
  busy = false;
  problem = "";
  /** @type {ChoiceOption["value"] | undefined} */
  chosen;
  question = this.view.questions[0];

  // Elements of the open question; each question gets new ones.
  bar = make("i");
  label = make("span");
  playing = make("button");
  said = make("p");
  choices = make("div");
  going = make("button");

  /** The index of the open question; -1 if all are answered. */
  get place() {
    return this.view.questions.findIndex((question) => !(question.name in this.draft.values));
  }

  /** Show the open question; if none is left, send the answers. */
  ask() {
    if (this.place < 0) return this.finish(this.draft.values, { comment: this.draft.comment });
    this.question = this.view.questions[this.place];
    this.chosen = undefined;
    show(heading(this.view.title), this.#steps(), this.#body(), this.#comment());
    this.#update();
    const announced = say("question", { number: this.place + 1, count: this.view.questions.length });
    announce(`${announced}. ${this.question.prompt}`);
    return this.at.sounds.load(this.address).then(() => this.#update(), (error) => this.#failed(error));
  }

  get address() {
    return this.view.sounds[this.question.sound ?? 0].address;
  }

  /** Number of times the sound was heard to the end for this question. */
  get heard() {
    return this.endedPlays.filter((play) => play.question === this.question.name).length;
  }

  get spent() {
    return this.view.plays > 0 && this.heard >= this.view.plays;
  }

  #steps() {
    const { questions } = this.view;
    if (questions.length < 2) return null;
    const told = say("question", { number: this.place + 1, count: questions.length });
    const dots = questions.map((_, n) =>
      make("i", { class: n < this.place ? "done" : n === this.place ? "now" : "" }));
    return make("p", { class: "steps" }, make("span", { "aria-hidden": "true" }, dots), told);
  }

  #body() {
    const number = make("p", { class: "prompt", id: "prompt" }, this.question.prompt);
    this.bar = make("i");
    this.label = make("span");
    this.playing = make("button", { type: "button", class: "play", click: () => this.#play() },
      make("b", { class: "icon", "aria-hidden": "true" }), this.label,
      make("span", { class: "bar", "aria-hidden": "true" }, this.bar));
    this.said = make("p", { class: "said", role: "status" });
    this.choices = make("div",
      { role: "radiogroup", class: "choices", "aria-labelledby": "prompt", tabindex: "-1" },
      this.question.options.map((option, n) => this.#choice(option, n)));
    this.going = button(say("next"), () => this.#next(), { main: true, class: "main wide" });
    return make("section", { class: "card" }, number, this.playing, this.said, this.choices, this.going);
  }

  /** @param {ChoiceOption} option
   * @param {number} n */
  #choice({ value, label }, n) {
    const digit = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 9 ? value : n + 1;
    /** @type {HTMLInputElement} */
    const input = make("input", { type: "radio", name: "choice", value: String(value),
      "data-key": String(digit), click: () => this.#choose(value, input) });
    return make("label", {}, input, make("kbd", { "aria-hidden": "true" }, String(digit)),
      make("span", {}, label));
  }

  #comment() {
    const { comment } = this.draft;
    const area = commentField("comment", comment, (text) => ((this.draft.comment = text), this.type()), { rows: "3" });
    const name = make("label", { for: "comment", class: "hidden" }, say("comment"));
    return make("details", { class: "comment", open: Boolean(comment) },
      make("summary", {}, say("comment_add")), name, area);
  }

  /** Update buttons and texts. */
  #update() {
    const { heard, spent, busy } = this;
    const state = busy ? "playing" : spent ? "heard" : heard ? "play_again" : "play";
    this.label.textContent = say(state);
    this.playing.dataset.state = state;
    this.playing.disabled = busy || spent;
    this.playing.toggleAttribute("data-main", !busy && !heard);
    this.said.textContent = this.problem || (heard || busy ? "" : say("listen_first"));
    this.said.classList.toggle("bad", Boolean(this.problem));
    for (const input of this.choices.querySelectorAll("input")) input.disabled = !heard || busy;
    this.choices.classList.toggle("closed", !heard || busy);
    this.going.disabled = busy || this.chosen === undefined;
    this.going.textContent = say(this.place + 1 < this.view.questions.length ? "next_question" : "next");
  }

  async #play() {
    if (this.busy || this.spent) return undefined;
    this.busy = true;
    this.problem = "";
    this.#update();
    const { name: question, sound = 0 } = this.question;
    try {
      const play = await this.play(this.address, { question, sound }, (part) => this.#move(part));
      if (play && !play.ended) this.problem = say("sound_cut");
    } catch (error) {
      return this.#failed(error);
    }
    if (this.at.left.aborted) return undefined;
    this.busy = false;
    this.#move(0);
    this.#update();
    if (!this.heard) return this.playing.focus();
    this.choices.focus({ preventScroll: true });
    return announce(say("now_rate"));
  }

  /** @param {unknown} error */
  #failed(error) {
    if (this.at.left.aborted) return;
    this.busy = false;
    this.problem = problemOf(error);
    this.tellFailure(error);
    this.#update();
    announce(this.problem);
  }

  /** @param {number} part */
  #move(part) {
    this.bar.style.setProperty("--part", String(part));
  }

  /** @param {ChoiceOption["value"]} value
   * @param {HTMLInputElement} input */
  #choose(value, input) {
    input.checked = true;
    this.chosen = value;
    this.noteKeyboard();
    this.#update();
  }

  async #next() {
    if (this.busy || this.chosen === undefined) return;
    this.busy = true;
    this.draft.values[this.question.name] = this.chosen;
    await this.keep();
    this.busy = false;
    this.ask();
  }
}
