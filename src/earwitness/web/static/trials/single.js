// One sound, question by question: play it, hear it to its end, rate it, go on. All answers of a
// trial are sent together; what is half done is kept, so a reload comes back to the very question.

import { announce, button, heading, make, show, wholeText } from "../dom.js";
import { byKeyboard } from "../keys.js";
import { say } from "../messages.js";

const MOST = 2000; // characters of a comment

/** Show a trial; `at` is what the flow gives: sounds, events, a draft, and where answers go. */
export async function showTrial(view, at) {
  const kept = await at.draft.read();
  const trial = { values: {}, plays: [], underruns: 0, lost: 0, comment: "", keyboard: false, ...kept };
  trial.shown ??= new Date().toISOString();
  if (at.refused && view.questions.every((one) => one.name in trial.values)) {
    Object.assign(trial, { values: {}, plays: [] }); // from the start, but for the comment
    await at.draft.write(trial);
  }
  const here = new Set(trial.plays.filter((one) => one.ended).map((one) => one.question));
  trial.plays.push(...(view.played ?? []).filter((one) => !here.has(one.question))); // on another device
  if (at.left.aborted) return;
  new Single(view, at, trial).ask();
}

class Single {
  constructor(view, at, trial) {
    Object.assign(this, { view, at, trial, busy: false, problem: "" });
    at.events.lost = trial.lost;
  }

  get place() {
    return this.view.questions.findIndex((one) => !(one.name in this.trial.values));
  }

  /** Show the question that is open; with none left, send. */
  ask() {
    if (this.place < 0) return this.#finish();
    this.question = this.view.questions[this.place];
    this.chosen = undefined;
    show(heading(this.view.title), this.#steps(), this.#body(), this.#comment());
    this.#update();
    const announced = say("question", { number: this.place + 1, count: this.view.questions.length });
    announce(`${announced}. ${this.question.prompt}`);
    this.at.sounds.load(this.address).then(() => this.#update(), (error) => this.#failed(error));
  }

  get address() {
    return this.view.sounds[this.question.sound ?? 0].address;
  }

  /** Times that this question's sound was heard to its end. */
  get heard() {
    return this.trial.plays.filter((one) => one.question === this.question.name && one.ended).length;
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

  #choice({ value, label }, n) {
    const digit = Number.isInteger(value) && value >= 0 && value <= 9 ? value : n + 1;
    const input = make("input", { type: "radio", name: "choice", value: String(value),
      "data-key": String(digit), click: () => this.#choose(value, input) });
    return make("label", {}, input, make("kbd", { "aria-hidden": "true" }, String(digit)),
      make("span", {}, label));
  }

  #comment() {
    const area = make("textarea", { maxlength: String(MOST), rows: "3", id: "comment",
      input: () => ((this.trial.comment = wholeText(area.value)), this.at.draft.type(this.trial)) });
    area.value = this.trial.comment;
    const name = make("label", { for: "comment", class: "hidden" }, say("comment"));
    return make("details", { class: "comment", open: Boolean(this.trial.comment) },
      make("summary", {}, say("comment_add")), name, area);
  }

  /** Bring buttons and words in line with what was heard and chosen. */
  #update() {
    const { heard, spent, busy } = this;
    const state = busy ? "playing" : spent ? "heard" : heard ? "play_again" : "play";
    this.label.textContent = say(state);
    this.playing.dataset.state = state;
    this.playing.disabled = busy || spent;
    this.playing.toggleAttribute("data-main", !busy && !heard);
    this.said.textContent = this.problem || (heard || busy ? "" : say("listen_first"));
    this.said.classList.toggle("bad", Boolean(this.problem));
    for (const one of this.choices.querySelectorAll("input")) one.disabled = !heard || busy;
    this.choices.classList.toggle("closed", !heard || busy);
    this.going.disabled = busy || this.chosen === undefined;
    this.going.textContent = say(this.place + 1 < this.view.questions.length ? "next_question" : "next");
  }

  async #play() {
    if (this.busy || this.spent) return undefined;
    this.busy = true;
    this.problem = "";
    this.#update();
    const play = { sound: this.question.sound ?? 0, question: this.question.name,
      started: new Date().toISOString(), seconds: 0, ended: false };
    const { left, sounds } = this.at;
    try {
      const buffer = await sounds.load(this.address);
      await sounds.wake();
      if (left.aborted) return undefined;
      this.#begin(play);
      const moved = (seconds) => this.#moved(play, seconds, buffer.duration);
      await this.#heardOf(play, await sounds.play(buffer, left, moved));
    } catch (error) {
      return this.#failed(error);
    }
    if (left.aborted) return undefined;
    this.busy = false;
    this.#move(0);
    this.#update();
    if (!this.heard) return this.playing.focus();
    this.choices.focus({ preventScroll: true });
    return announce(say("now_rate"));
  }

  /** A play is on record from its start, here and at the server: one that a reload cuts off, or
   * that is gone on from on another device, is not forgotten. */
  #begin(play) {
    this.trial.plays.push(play);
    this.#keep();
    this.#tell("play_started", play);
    this.at.events.flush();
  }

  #tell(kind, { question, sound, started, seconds, ended }) {
    this.at.events.tell(kind, { page: this.view.name, question, sound, started, seconds, ended });
  }

  /** How far a play is, kept about every second. */
  #moved(play, seconds, all) {
    if (Math.floor(seconds) > Math.floor(play.seconds)) this.at.draft.type(this.trial);
    play.seconds = seconds;
    this.#move(seconds / all);
  }

  async #heardOf(play, { underruns, ...found }) {
    Object.assign(play, found);
    this.#tell("play_ended", play);
    this.at.events.flush();
    this.trial.underruns += underruns;
    if (underruns) this.at.events.tell("underrun", { count: underruns });
    if (!play.ended) this.problem = say("sound_cut");
    await this.#keep();
  }

  #failed(error) {
    if (this.at.left.aborted) return;
    this.busy = false;
    this.problem = say(error.name?.startsWith("sound_") ? error.name : "sound_broken");
    this.at.events.tell("sound", { told: error.name, why: String(error.cause?.message ?? error.message) });
    this.#update();
    announce(this.problem);
  }

  #move(part) {
    this.bar.style.setProperty("--part", part);
  }

  #choose(value, input) {
    input.checked = true;
    this.chosen = value;
    this.trial.keyboard ||= byKeyboard();
    this.#update();
  }

  async #next() {
    if (this.busy || this.chosen === undefined) return;
    this.busy = true;
    this.trial.values[this.question.name] = this.chosen;
    await this.#keep();
    this.busy = false;
    this.ask();
  }

  #keep() {
    this.trial.lost = this.at.events.lost;
    return this.at.draft.write(this.trial);
  }

  #finish() {
    const { values, plays, shown, underruns, comment, keyboard } = this.trial;
    const { latency, rate } = this.at.sounds.facts;
    const meta = { plays, shown, latency, rate, focus_lost: this.at.events.lost, underruns, comment, keyboard };
    this.at.answer(values, meta);
  }
}
