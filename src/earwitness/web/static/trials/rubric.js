// Captions of a clip, judged by a rubric: hear the clip, read, give numbers, go on. Captions can be
// read and judged while the clip plays; nothing is sent before it was heard to its end. Everything
// that is typed or set is kept as it is, over a reload and over a refusal.
//
// Totals are not shown: whoever sees one bends the numbers until it looks right.

import { announce, button, heading, make, show, wholeText } from "../dom.js";
import { covered } from "../heard_spans.js";
import { byKeyboard } from "../keys.js";
import { say } from "../messages.js";
import { Player } from "../player.js";
import { direction, explainAll, grouped } from "../rubric_help.js";
import { Slider } from "../rubric_slider.js";

const MOST = 2000; // characters of a comment

/** Show a trial; `at` is what the flow gives: sounds, events, a draft, and where answers go. */
export async function showTrial(view, at) {
  const kept = await at.draft.read();
  const trial = { given: {}, plays: [], spans: null, underruns: 0, lost: 0, keyboard: false, ...kept };
  trial.shown ??= new Date().toISOString();
  if (at.refused) {
    Object.assign(trial, { plays: [], spans: null }); // it may be that these were not believed
    await at.draft.write(trial);
  } else if (!trial.plays.some((one) => one.ended)) trial.plays.unshift(...(view.played ?? [])); // on another device
  if (at.left.aborted) return;
  new Rubric(view, at, trial).show();
}

class Rubric {
  constructor(view, at, trial) {
    Object.assign(this, { view, at, trial, asked: false });
    at.events.lost = trial.lost;
    this.sliders = view.questions.filter((one) => one.answer === "slider").map((one) => this.#slider(one));
  }

  show() {
    const { view } = this;
    this.player = this.#player();
    this.missing = make("div", { class: "missing" });
    const explain = button(say("meaning"), () => explainAll(view, this.at.left), { class: "quiet" });
    show(heading(view.title), this.player.element,
      make("div", { class: "hints" }, make("p", { class: "keys" }, say("keys")), explain),
      make("div", { class: "captions" }, view.captions.map((one, place) => this.#caption(one, place))),
      this.#choices(), this.missing,
      button(say("save"), () => this.#save(), { class: "main save", "data-press": "Enter" }));
    this.#limit();
    announce(say("trial_told", { count: view.captions.length }));
  }

  /** Times that the clip was heard to its end. */
  get heard() {
    return this.trial.plays.filter((one) => one.ended).length;
  }

  #player() {
    const hears = { began: () => this.#began(), moved: () => this.#moved(), whole: () => this.#whole(),
      paused: (...told) => this.#paused(...told),
      failed: (error) => this.at.events.tell("sound", { told: error.name, why: String(error.cause?.message ?? error.message) }) };
    const told = () => ({ text: say(this.#hearing()), bad: this.asked && !this.heard });
    return new Player(this.at, this.view.sounds[0].address, { hears, told, spans: this.trial.spans,
      leaps: !this.view.plays, more: { "data-press": "Space" } });
  }

  /** The name of what is said below the player. */
  #hearing() {
    if (this.heard) return "clip_heard";
    if (this.player?.skipped) return "skipped";
    return this.asked ? "hear_before" : "hear_while";
  }

  #slider(question) {
    const dimension = this.view.dimensions.find((one) => one.name === question.dimension);
    const text = this.trial.given[question.name] ?? "";
    return new Slider(question, dimension, text, (now) => this.#give(question.name, now));
  }

  #caption({ label, text }, place) {
    const own = this.sliders.filter((one) => one.question.caption === place);
    const groups = grouped(own.map((slider) => ({ slider, role: slider.dimension.role })));
    const comments = this.view.questions.filter((one) => one.answer === "text" && one.caption === place);
    const id = `caption-${place}`;
    const card = make("section", { class: "card judged", "aria-labelledby": id },
      make("div", {}, make("h2", { id }, say("caption", { label })), make("blockquote", { class: "caption" }, text)),
      groups.map((group) => make("div", { class: "group" },
        make("p", { class: "direction" }, direction(group[0].role)), group.map((one) => one.slider.element))),
      comments.map((one) => this.#comment(one)));
    card.style.setProperty("--rows", card.children.length); // which stand beside those of the next caption
    return card;
  }

  #comment(question) {
    const id = `of-${question.name}`;
    const area = make("textarea", { id, rows: "2", maxlength: String(MOST), "aria-label": question.prompt,
      input: () => this.#give(question.name, wholeText(area.value)) });
    area.value = this.trial.given[question.name] ?? "";
    return make("div", { class: "remark" }, make("label", { for: id }, `${say("comment")} (${say("optional")})`), area);
  }

  /** Questions about the clip; what is chosen can be pressed again, and is taken back. */
  #choices() {
    return this.view.questions.filter((one) => one.answer === "choice").map((question) => {
      const press = (value) => {
        this.#give(question.name, this.trial.given[question.name] === value ? "" : value);
        mark();
      };
      const buttons = question.options.map(({ value, label }) => [value, button(label, () => press(value))]);
      const mark = () => buttons.forEach(([value, one]) =>
        one.setAttribute("aria-pressed", String(this.trial.given[question.name] === value)));
      mark();
      const id = `of-${question.name}`;
      return make("section", { class: "card about" }, make("p", { id }, `${question.prompt} (${say("optional")})`),
        make("div", { class: "either", role: "group", "aria-labelledby": id }, buttons.map(([, one]) => one)));
    });
  }

  #give(name, text) {
    this.trial.given[name] = text;
    this.trial.keyboard ||= byKeyboard();
    this.at.draft.type(this.trial);
    if (this.asked) this.#list();
  }

  /** A play is on record from its start, here and at the server. */
  #began() {
    this.trial.plays.push({ sound: 0, question: "", started: new Date().toISOString(), seconds: 0, ended: false });
    this.#tell("play_started");
  }

  /** How far a play is, kept about every second. */
  #moved() {
    if (!this.player.open) return;
    const play = this.trial.plays.at(-1);
    const seconds = covered(this.player.spans);
    const turned = Math.floor(seconds) > Math.floor(play.seconds);
    play.seconds = seconds;
    this.trial.spans = this.player.spans;
    if (turned) this.at.draft.type(this.trial);
  }

  #whole() {
    this.trial.plays.at(-1).ended = true;
    this.trial.spans = null;
    this.#tell("play_ended");
    this.#limit();
    this.#list();
    announce(say("clip_heard"));
  }

  #paused(underruns, cut) {
    this.trial.underruns += underruns;
    if (underruns) this.at.events.tell("underrun", { count: underruns });
    if (this.player.open) this.#tell(cut ? "play_ended" : "play_paused");
  }

  /** Tell the server of the last play, and keep all that is here. */
  #tell(kind) {
    const { question, sound, started, seconds, ended } = this.trial.plays.at(-1);
    this.at.events.tell(kind, { page: this.view.name, question, sound, started, seconds, ended });
    this.at.events.flush();
    this.trial.lost = this.at.events.lost;
    this.at.draft.write(this.trial);
  }

  #limit() {
    this.player.again = this.heard > 0;
    this.player.closed = this.view.plays > 0 && this.heard >= this.view.plays;
    this.player.update();
  }

  /** List what is missing, once that was asked for. */
  #list() {
    const wanting = this.asked ? this.sliders.filter((one) => Number.isNaN(one.value)) : [];
    const names = [...(this.asked && !this.heard ? [say("unheard")] : []), ...wanting.map((one) => one.question.prompt)];
    this.missing.replaceChildren(...(names.length
      ? [make("p", {}, say("missing")), make("ul", {}, names.map((one) => make("li", {}, one)))] : []));
    return names;
  }

  /** Send if all is there; else say what is missing, and go there. */
  #save() {
    this.asked = true;
    const wrong = this.sliders.filter((one) => one.check());
    const names = this.#list();
    this.player.update();
    if (!names.length) return this.#finish();
    if (wrong.length) wrong[0].focus();
    else this.player.button.focus();
    return announce(`${say("missing")} ${names.join("; ")}`);
  }

  #finish() {
    this.player.pause();
    const { given, plays, shown, underruns, keyboard } = this.trial;
    const { latency, rate } = this.at.sounds.facts;
    const values = Object.fromEntries(this.sliders.map((one) => [one.question.name, one.value]));
    for (const { name, answer } of this.view.questions) if (answer !== "slider" && given[name]?.trim()) values[name] = given[name];
    this.at.answer(values, { plays, shown, latency, rate, focus_lost: this.at.events.lost, underruns, keyboard });
  }
}
