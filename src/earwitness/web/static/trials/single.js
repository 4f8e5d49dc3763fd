// One sound, or two in sequence (a reference and a clip, or a pair), question by question: play to the
// end, rate, continue. All answers of a trial are sent together; unfinished input is kept, so that a
// reload returns to the same question.

import { announce, button, heading, make, show } from "../dom.js";
import { say } from "../messages.js";
import { problemOf } from "../sound.js";
import { addPlayed, commentButton, readDraft, Trial } from "../trial.js";

/** @import { ChoiceOption, SingleDraft, SingleView, PageContext } from "../types.d.ts" */

const GAP = 500; // milliseconds between two sounds
const FEW = 5; // options that fit a low window in one column with everything else

/** Show a trial.
 * @param {SingleView} view
 * @param {PageContext} at sounds, events, the draft and the answer callback of the page */
export async function showTrial(view, at) {
  const draft = await readDraft(at, { values: {}, chosen: null, comment: "" });
  if (at.refused && view.questions.every((question) => question.name in draft.values)) {
    Object.assign(draft, { values: {}, chosen: null, plays: [] }); // start again, but keep the comment
    await at.draft.write(draft);
  }
  addPlayed(view, draft);
  if (at.left.aborted) return;
  new Single(view, at, draft).ask();
}

/** @extends {Trial<SingleView, SingleDraft>} */
class Single extends Trial {
  busy = false;
  sounding = -1; // the sound that is playing
  problem = "";
  question = this.view.questions[0];

  // Elements of the open question; each question gets new ones.
  /** @type {HTMLElement[]} */
  bars = []; // one per sound
  /** @type {HTMLElement[]} */
  parts = []; // the labelled sounds, if there are several
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
    show(heading(this.view.title), this.#steps(), this.#body());
    this.#update();
    const announced = say("question", { number: this.place + 1, count: this.view.questions.length });
    announce(`${announced}. ${this.question.prompt}`);
    const loading = this.view.sounds.map(({ address }) => this.at.sounds.load(address));
    return Promise.all(loading).then(() => this.#update(), (error) => this.#failed(error));
  }

  /** Number of times a sound was heard to the end for this question.
   * @param {number} sound */
  #heardOf(sound) {
    const { name } = this.question;
    return this.endedPlays.filter((play) => play.question === name && play.sound === sound).length;
  }

  /** Number of times all sounds were heard to the end for this question. */
  get heard() {
    return Math.min(...this.view.sounds.map((_, n) => this.#heardOf(n)));
  }

  get spent() {
    return this.view.plays > 0 && this.heard >= this.view.plays;
  }

  /** The sounds that Play plays: all, less those that may not be played again after an interruption. */
  get #next() {
    const { sounds, plays } = this.view;
    return sounds.map((_, n) => n).filter((n) => !plays || this.#heardOf(n) < plays);
  }

  /** The name of a sound; letters are not used, since the prompts speak of the first and the second.
   * @param {number} n */
  #name(n) {
    const { label } = this.view.sounds[n];
    return label.length > 1 ? label : say(n ? "second_sound" : "first_sound");
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
    const several = this.view.sounds.length > 1;
    this.bars = this.view.sounds.map(() => make("i"));
    this.parts = several ? this.bars.map((bar, n) => this.#part(bar, n)) : [];
    this.label = make("span");
    this.playing = make("button", { type: "button", class: "play", "data-press": "Space", click: () => this.#play() },
      make("b", { class: "icon", "aria-hidden": "true" }), this.label,
      several ? null : make("span", { class: "bar", "aria-hidden": "true" }, this.bars));
    const sequence = several ? make("ol", { class: "sequence" }, this.parts) : null;
    this.said = make("p", { class: "said" });
    this.choices = make("div",
      { role: "radiogroup", class: "choices", "aria-labelledby": "prompt", tabindex: "-1" },
      this.question.options.map((option, n) => this.#choice(option, n)));
    this.going = button(say("next"), () => this.#take(), { main: true, class: "main wide" });
    const { toggle, area } = commentButton(this.draft.comment, (text) => ((this.draft.comment = text), this.type()));
    const kind = [several ? "several" : "", this.question.options.length > FEW ? "long" : ""].join(" ");
    return make("section", { class: `card trial ${kind}` }, number, this.playing, sequence,
      this.said, this.choices, make("div", { class: "actions" }, toggle, this.going), area,
      make("p", { class: "keys" }, say("single_keys")));
  }

  /** A sound of a sequence, with its progress.
   * @param {HTMLElement} bar
   * @param {number} n */
  #part(bar, n) {
    return make("li", {}, make("b", { class: "icon", "aria-hidden": "true" }), make("span", {}, this.#name(n)),
      make("span", { class: "bar", "aria-hidden": "true" }, bar));
  }

  /** An option; its key is its value, or its place if a value of the scale is not a digit.
   * @param {ChoiceOption} option
   * @param {number} n */
  #choice({ value, label }, n) {
    const digits = this.question.options.every((option) => /^\d$/.test(String(option.value)));
    const digit = digits ? value : n + 1;
    /** @type {HTMLInputElement} */
    const input = make("input", { type: "radio", name: "choice", value: String(value),
      "data-key": String(digit), click: () => this.#choose(value, input) });
    input.checked = value === this.draft.chosen;
    return make("label", {}, input, make("kbd", { "aria-hidden": "true" }, String(digit)),
      make("span", {}, label));
  }

  /** Update buttons and texts. */
  #update() {
    const { heard, spent, busy } = this;
    const state = busy ? "playing" : spent ? "heard" : heard ? "play_again" : "play";
    const both = this.parts.length > 1 && this.#next.length > 1 && !busy;
    this.label.textContent = say(both ? (heard ? "play_both_again" : "play_both") : state);
    this.parts.forEach((part, n) => {
      part.dataset.state = n === this.sounding ? "playing" : this.#heardOf(n) ? "heard" : "";
      part.setAttribute("aria-current", String(n === this.sounding));
    });
    this.playing.dataset.state = state;
    this.playing.disabled = busy || spent;
    this.playing.toggleAttribute("data-main", !busy && !heard);
    this.said.textContent = this.problem || (heard || busy ? "" : say(this.parts.length ? "listen_both" : "listen_first"));
    this.said.classList.toggle("bad", Boolean(this.problem));
    for (const input of this.choices.querySelectorAll("input")) input.disabled = !heard || busy;
    this.choices.classList.toggle("closed", !heard || busy);
    this.going.disabled = busy || !heard || this.draft.chosen === null;
    this.going.textContent = say(this.place + 1 < this.view.questions.length ? "next_question" : "next");
  }

  async #play() {
    if (this.busy || this.spent) return undefined;
    this.busy = true;
    this.problem = "";
    this.#update();
    try {
      await this.#sequence(this.#next);
    } catch (error) {
      return this.#failed(error);
    }
    if (this.at.left.aborted) return undefined;
    this.#still();
    this.#update();
    if (this.problem) announce(this.problem);
    const isElsewhere = document.activeElement?.closest(".recording"); // the focus stays in the long recording
    if (!this.heard) return isElsewhere ? undefined : this.playing.focus();
    if (!isElsewhere) this.choices.focus({ preventScroll: true });
    return this.problem ? undefined : announce(say("now_rate"));
  }

  /** Play sounds one after the other, each to its end.
   * @param {number[]} numbers */
  async #sequence(numbers) {
    for (const sound of numbers) {
      if (sound !== numbers[0]) await new Promise((done) => setTimeout(done, GAP));
      if (this.at.left.aborted) return;
      this.sounding = sound;
      this.#update();
      if (this.parts.length) announce(this.#name(sound));
      const about = { question: this.question.name, sound };
      const play = await this.play(this.view.sounds[sound].address, about, (part) => this.#move(sound, part));
      if (play && !play.ended) this.problem = say("sound_cut");
      if (!play?.ended || this.at.left.aborted) return;
      this.sounding = -1;
      this.#update();
    }
  }

  #still() {
    this.busy = false;
    this.sounding = -1;
    this.bars.forEach((_, n) => this.#move(n, 0));
  }

  /** @param {unknown} error */
  #failed(error) {
    if (this.at.left.aborted) return;
    this.#still();
    this.problem = problemOf(error);
    this.tellFailure(error);
    this.#update();
    announce(this.problem);
  }

  /** @param {number} sound
   * @param {number} part */
  #move(sound, part) {
    this.bars[sound].style.setProperty("--part", String(part));
  }

  /** @param {ChoiceOption["value"]} value
   * @param {HTMLInputElement} input */
  #choose(value, input) {
    input.checked = true;
    this.draft.chosen = value;
    this.noteKeyboard();
    this.type();
    this.#update();
  }

  async #take() {
    if (this.busy || !this.heard || this.draft.chosen === null) return;
    this.busy = true;
    this.going.disabled = true;
    for (const input of this.choices.querySelectorAll("input")) input.disabled = true; // the next question has its own
    this.draft.values[this.question.name] = this.draft.chosen;
    this.draft.chosen = null;
    await this.keep();
    this.busy = false;
    this.ask();
  }
}
