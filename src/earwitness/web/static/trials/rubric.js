// Captions of a clip, rated with a rubric. Captions can be read and rated while the clip plays; the
// answer can be sent after the whole clip was heard. All input is kept over a reload and a refusal.
//
// Totals are not shown, since raters would adjust their numbers to them.

import { announce, button, heading, make, show } from "../dom.js";
import { covered } from "../heard_spans.js";
import { say } from "../messages.js";
import { Player } from "../player.js";
import { direction, explainAll, grouped } from "../rubric_help.js";
import { Slider } from "../rubric_slider.js";
import { addPlayed, commentField, newPlay, readDraft, Trial } from "../trial.js";

/** @import { PlayerListener } from "../player.js" */
/** @import { CaptionView, PageContext, RubricDraft, RubricView, SliderQuestion, TextQuestion, Values } from "../types.d.ts" */

/** Show a trial.
 * @param {RubricView} view
 * @param {PageContext} at sounds, events, the draft and the answer callback of the page */
export async function showTrial(view, at) {
  const draft = await readDraft(at, { given: {}, spans: null });
  if (at.refused) {
    Object.assign(draft, { plays: [], spans: null }); // the server may have rejected the plays
    await at.draft.write(draft);
  } else addPlayed(view, draft);
  if (at.left.aborted) return;
  new Rubric(view, at, draft).show();
}

/** @extends {Trial<RubricView, RubricDraft>} */
class Rubric extends Trial {
  asked = false; // whether to show what is missing
  missing = make("div", { class: "missing" });

  /** @param {RubricView} view
   * @param {PageContext} at
   * @param {RubricDraft} draft */
  constructor(view, at, draft) {
    super(view, at, draft);
    const questions = view.questions.filter((question) => question.answer === "slider");
    this.sliders = questions.map((question) => this.#slider(question));
    this.player = this.#player();
  }

  show() {
    const { view } = this;
    const explain = button(say("meaning"), () => explainAll(view, this.at.left), { class: "quiet" });
    show(heading(view.title), this.player.element,
      make("div", { class: "hints" }, make("p", { class: "keys" }, say("keys")), explain),
      make("div", { class: "captions" }, view.captions.map((one, place) => this.#caption(one, place))),
      this.#choices(), this.missing,
      button(say("save"), () => this.#save(), { class: "main save", "data-press": "Enter" }));
    this.#limit();
    announce(say("trial_told", { count: view.captions.length }));
  }

  /** Number of times the whole clip was heard. */
  get heard() {
    return this.endedPlays.length;
  }

  #player() {
    /** @type {PlayerListener} */
    const hears = { moved: () => this.#moved(), whole: () => this.#whole(),
      began: () => this.beginPlay(newPlay({ sound: 0, question: "" })),
      paused: (underruns, cut) => this.#paused(underruns, cut),
      failed: (error) => this.tellFailure(error) };
    const told = () => ({ text: say(this.#hearing()), bad: this.asked && !this.heard });
    return new Player(this.at, this.view.sounds[0].address, { hears, told, spans: this.draft.spans,
      leaps: !this.view.plays, more: { "data-press": "Space" } });
  }

  /** The key of the text below the player. */
  #hearing() {
    if (this.heard) return "clip_heard";
    if (this.player?.skipped) return "skipped";
    return this.asked ? "hear_before" : "hear_while";
  }

  /** @param {SliderQuestion} question */
  #slider(question) {
    const dimension = this.view.dimensions.find((one) => one.name === question.dimension);
    if (!dimension) throw new Error(`no dimension ${question.dimension}`);
    const text = this.draft.given[question.name] ?? "";
    return new Slider(question, dimension, text, (now) => this.#give(question.name, now));
  }

  /** @param {CaptionView} caption
   * @param {number} place */
  #caption({ label, text }, place) {
    const own = this.sliders.filter((one) => one.question.caption === place);
    const groups = grouped(own.map((slider) => ({ slider, role: slider.dimension.role })));
    const comments = this.view.questions.filter((one) => one.answer === "text").filter((one) => one.caption === place);
    const id = `caption-${place}`;
    const card = make("section", { class: "card judged", "aria-labelledby": id },
      make("div", {}, make("h2", { id }, say("caption", { label })), make("blockquote", { class: "caption" }, text)),
      groups.map((group) => make("div", { class: "group" },
        make("p", { class: "direction" }, direction(group[0].role)), group.map((one) => one.slider.element))),
      comments.map((one) => this.#comment(one)));
    card.style.setProperty("--rows", String(card.children.length)); // aligned with the rows of the next caption
    return card;
  }

  /** @param {TextQuestion} question */
  #comment(question) {
    const id = `of-${question.name}`;
    const area = commentField(id, this.draft.given[question.name] ?? "", (text) => this.#give(question.name, text),
      { rows: "2", "aria-label": question.prompt });
    return make("div", { class: "remark" }, make("label", { for: id }, `${say("comment")} (${say("optional")})`), area);
  }

  /** Questions about the clip; pressing the chosen answer again clears it. */
  #choices() {
    return this.view.questions.filter((one) => one.answer === "choice").map((question) => {
      /** @param {string} value */
      const press = (value) => {
        this.#give(question.name, this.draft.given[question.name] === value ? "" : value);
        mark();
      };
      const buttons = question.options.map(({ value, label }) =>
        ({ value: String(value), element: button(label, () => press(String(value))) }));
      const mark = () => buttons.forEach(({ value, element }) =>
        element.setAttribute("aria-pressed", String(this.draft.given[question.name] === value)));
      mark();
      const id = `of-${question.name}`;
      return make("section", { class: "card about" }, make("p", { id }, `${question.prompt} (${say("optional")})`),
        make("div", { class: "either", role: "group", "aria-labelledby": id }, buttons.map(({ element }) => element)));
    });
  }

  /** @param {string} name
   * @param {string} text */
  #give(name, text) {
    this.draft.given[name] = text;
    this.noteKeyboard();
    this.type();
    if (this.asked) this.#list();
  }

  /** The current or last play. */
  get #last() {
    return this.draft.plays[this.draft.plays.length - 1];
  }

  #moved() {
    if (!this.player.open) return;
    this.draft.spans = this.player.spans;
    this.movePlay(this.#last, covered(this.player.spans));
  }

  #whole() {
    this.#last.ended = true;
    this.draft.spans = null;
    this.#record("play_ended");
    this.#limit();
    this.#list();
    announce(say("clip_heard"));
  }

  /** @param {number} underruns
   * @param {boolean} cut */
  #paused(underruns, cut) {
    this.countUnderruns(underruns);
    if (this.player.open) this.#record(cut ? "play_ended" : "play_paused");
  }

  /** Report the last play to the server and save the draft.
   * @param {"play_paused" | "play_ended"} kind */
  #record(kind) {
    this.tellPlay(kind, this.#last);
    this.keep();
  }

  #limit() {
    this.player.again = this.heard > 0;
    this.player.closed = this.view.plays > 0 && this.heard >= this.view.plays;
    this.player.update();
  }

  /** List what is missing, once the rater has tried to save. */
  #list() {
    const wanting = this.asked ? this.sliders.filter((one) => Number.isNaN(one.value)) : [];
    const names = [...(this.asked && !this.heard ? [say("unheard")] : []), ...wanting.map((one) => one.question.prompt)];
    this.missing.replaceChildren(...(names.length
      ? [make("p", {}, say("missing")), make("ul", {}, names.map((one) => make("li", {}, one)))] : []));
    return names;
  }

  /** Send if nothing is missing; otherwise list what is missing and focus the first item. */
  #save() {
    this.asked = true;
    const wrong = this.sliders.filter((one) => one.check());
    const names = this.#list();
    this.player.update();
    if (!names.length) return this.#send();
    if (wrong.length) wrong[0].focus();
    else this.player.button.focus();
    return announce(`${say("missing")} ${names.join("; ")}`);
  }

  #send() {
    this.player.pause();
    const { given } = this.draft;
    /** @type {Values} */
    const values = Object.fromEntries(this.sliders.map((slider) => [slider.question.name, slider.value]));
    for (const { name, answer } of this.view.questions) {
      if (answer !== "slider" && given[name]?.trim()) values[name] = given[name];
    }
    this.finish(values);
  }
}
