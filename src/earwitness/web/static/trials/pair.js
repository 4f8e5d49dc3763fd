// Two sounds, or two and X, with free switching between them: AB, ABX and preference. An answer can be
// chosen once every sound was heard in full, in any number of parts. Unfinished input is kept over a
// reload.
//
// Keys: the letter of a sound plays it or switches to it, Space plays or pauses, L repeats, digits
// choose an answer, Enter sends it.

import { announce, button, heading, make, show } from "../dom.js";
import { covered } from "../heard_spans.js";
import { say } from "../messages.js";
import { problemOf } from "../sound.js";
import { Switching } from "../switching.js";
import { addPlayed, commentButton, readDraft, Trial } from "../trial.js";

/** @import { ChoiceOption, PageContext, PairDraft, PairView, Play } from "../types.d.ts" */

const OWN_SPACE = "textarea, input:not([type=radio]):not([type=range]), [type=radio]:enabled:not(:checked), a";

/** Show a trial.
 * @param {PairView} view
 * @param {PageContext} at sounds, events, the draft and the answer callback of the page */
export async function showTrial(view, at) {
  const draft = await readDraft(at, { chosen: null, comment: "", spans: [] });
  if (at.refused) {
    Object.assign(draft, { plays: [], spans: [], chosen: null }); // the server may have rejected the plays
    await at.draft.write(draft);
  } else addPlayed(view, draft);
  if (!at.left.aborted) new Pair(view, at, draft).show();
}

/** @param {number} seconds */
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

/** @extends {Trial<PairView, PairDraft>} */
class Pair extends Trial {
  question = this.view.questions[0];
  problem = "";
  repeats = false;
  open = false; // whether an answer can be chosen

  bars = this.view.sounds.map(() => make("i"));
  tiles = this.view.sounds.map(({ label }, n) => this.#tile(label, n));
  label = make("span");
  playing = make("button", { type: "button", class: "play", click: () => this.#toggle() },
    make("b", { class: "icon", "aria-hidden": "true" }), this.label);
  /** @type {HTMLInputElement} */
  bar = make("input", { type: "range", min: 0, step: 0.1, class: "seek", "aria-label": say("position"),
    input: () => this.engine.seek(Number(this.bar.value)) });
  time = make("span", { class: "time", "aria-hidden": "true" });
  repeating = button(say("repeat"), () => this.#repeat(), { class: "repeat", "aria-keyshortcuts": "L" });
  said = make("p", { class: "said" });
  choices = make("div", { role: "radiogroup", class: "choices pair", "aria-labelledby": "prompt" },
    this.question.options.map((option, n) => this.#choice(option, n)));
  going = button(say("next"), () => this.#send(), { main: true, class: "main wide" });
  engine = new Switching(this.at.sounds, this.view.sounds.map(({ address }) => address), this.at.left, {
    restart: this.view.restart, limit: this.view.plays, plays: this.draft.plays, spans: this.draft.spans, onchange: () => this.#update(),
    hears: { began: (play) => this.#record("play_started", play), ended: (play) => this.#ended(play),
      moved: (play, before) => this.#moved(play, before), paused: (underruns, cut) => this.#paused(underruns, cut) } });

  show() {
    const { toggle, area } = commentButton(this.draft.comment, (text) => ((this.draft.comment = text), this.type()));
    show(heading(this.view.title), make("section", { class: "card trial pair" },
      make("p", { class: "prompt", id: "prompt" }, this.question.prompt),
      make("div", { class: "tiles", role: "group", "aria-label": say("sounds") }, this.tiles),
      make("div", { class: "transport" }, this.playing, this.bar, this.time, this.repeating),
      this.said, this.choices, make("div", { class: "actions" }, toggle, this.going), area,
      make("p", { class: "keys" }, say("pair_keys", { letters: this.view.sounds.map(({ label }) => label).join(", ") }))));
    document.addEventListener("keydown", (event) => this.#pressed(event), { capture: true, signal: this.at.left });
    this.#update();
    announce(this.question.prompt);
    this.engine.load().catch((error) => this.#failed(error));
  }

  /** @param {string} label
   * @param {number} n */
  #tile(label, n) {
    return make("button", { type: "button", class: "tile", "aria-keyshortcuts": label, click: () => this.#switch(n) },
      make("b", { class: "letter" }, label), make("span", { class: "state" }),
      make("span", { class: "bar", "aria-hidden": "true" }, this.bars[n]));
  }

  /** @param {ChoiceOption} option
   * @param {number} n */
  #choice({ value, label }, n) {
    /** @type {HTMLInputElement} */
    const input = make("input", { type: "radio", name: "choice", value: String(value), "data-key": String(n + 1),
      click: () => this.#choose(value, input) });
    input.checked = value === this.draft.chosen;
    return make("label", {}, input, make("kbd", { "aria-hidden": "true" }, String(n + 1)), make("span", {}, label));
  }

  /** Whether every sound was heard in full. */
  get heard() {
    return this.view.sounds.every((_, n) => this.engine.heardWhole(n));
  }

  // --- Control ---

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    const { key, target, ctrlKey, altKey, metaKey, isComposing } = event;
    if (ctrlKey || altKey || metaKey || isComposing || document.querySelector("dialog[open], main[inert]")) return;
    const element = target instanceof Element ? target : document.body;
    if (element.closest(".recording")) return; // it has its own keys
    const act = this.#actionOf(key, element);
    if (!act) return;
    event.preventDefault();
    if (event.repeat) return;
    this.draft.keyboard = true;
    act();
  }

  /** What a key does on this page; undefined if the focused element or the page handles it.
   * @param {string} key
   * @param {Element} element */
  #actionOf(key, element) {
    const own = element.matches(".tile, .play, .repeat, .seek");
    if (element.matches(OWN_SPACE) && (key === " " || element.matches("textarea"))) return undefined;
    if (key === " ") return own || !element.matches("button") ? () => this.#toggle() : undefined;
    if (key === "Enter") return own && !this.going.disabled ? () => this.#send() : undefined;
    if (key.toUpperCase() === "L") return () => this.#repeat();
    const sound = this.view.sounds.findIndex(({ label }) => label === key.toUpperCase());
    return sound < 0 ? undefined : () => this.#switch(sound);
  }

  /** Play a sound, or switch to it.
   * @param {number} n */
  async #switch(n) {
    if (this.engine.isSpent(n)) return;
    const playing = this.#play(n); // before anything that takes time
    this.noteKeyboard();
    announce(this.view.sounds[n].label);
    await playing;
  }

  #toggle() {
    if (this.engine.playing) return this.engine.pause();
    const { current } = this.engine;
    const next = this.engine.isSpent(current) ? this.view.sounds.findIndex((_, n) => !this.engine.isSpent(n)) : current;
    return next < 0 ? undefined : this.#play(next);
  }

  /** @param {number} n */
  async #play(n) {
    this.problem = "";
    try {
      await this.engine.play(n);
    } catch (error) {
      this.#failed(error);
    }
  }

  #repeat() {
    if (!this.engine.duration) return; // not loaded yet
    this.repeats = !this.repeats;
    this.engine.loop(this.repeats ? 0 : null);
    this.#update();
  }

  // --- What was heard ---

  /** @param {"play_started" | "play_paused" | "play_ended"} kind
   * @param {Play} play */
  #record(kind, play) {
    this.draft.spans = this.engine.spans;
    this.tellPlay(kind, play);
    return this.keep();
  }

  /** @param {Play} play
   * @param {number} before */
  #moved(play, before) {
    if (Math.floor(play.seconds) === Math.floor(before)) return;
    this.draft.spans = this.engine.spans;
    this.type();
  }

  /** @param {Play} play */
  #ended(play) {
    this.#record("play_ended", play);
    if (this.heard && !this.open) announce(say("now_rate"));
  }

  /** @param {number} underruns
   * @param {boolean} cut */
  #paused(underruns, cut) {
    this.countUnderruns(underruns);
    if (cut) announce((this.problem = say("sound_cut")));
    const play = this.draft.plays.findLast((one) => one.sound === this.engine.current);
    if (play && !play.ended && !this.at.left.aborted) this.#record("play_paused", play);
  }

  /** @param {unknown} error */
  #failed(error) {
    if (this.at.left.aborted) return;
    this.problem = problemOf(error);
    this.tellFailure(error);
    this.#update();
    announce(this.problem);
  }

  // --- The page ---

  /** Update buttons, texts and progress. */
  #update() {
    const { playing, current, position, duration } = this.engine;
    this.open = this.heard;
    this.tiles.forEach((tile, n) => this.#updateTile(tile, n));
    const spent = this.view.sounds.every((_, n) => this.engine.isSpent(n));
    const state = playing ? "pause" : "play";
    this.label.textContent = say(state);
    this.playing.dataset.state = state;
    this.playing.disabled = spent && !playing;
    this.bar.disabled = !duration || this.view.plays > 0;
    this.bar.max = String(duration || 1);
    this.bar.value = String(position);
    this.bar.style.setProperty("--part", String(duration ? position / duration : 0));
    this.bar.setAttribute("aria-valuetext", say("of_length", { at: clock(position), length: clock(duration) }));
    this.time.textContent = duration ? `${clock(position)} / ${clock(duration)}` : "–";
    this.repeating.setAttribute("aria-pressed", String(this.repeats));
    this.repeating.disabled = !duration;
    const told = playing ? say("playing_sound", { label: this.view.sounds[current].label })
      : say(this.open ? "all_heard" : "hear_all");
    if (this.said.textContent !== (this.problem || told)) this.said.textContent = this.problem || told;
    this.said.classList.toggle("bad", Boolean(this.problem));
    for (const input of this.choices.querySelectorAll("input")) input.disabled = !this.open;
    this.choices.classList.toggle("closed", !this.open);
    this.going.disabled = !this.open || this.draft.chosen === null;
  }

  /** @param {HTMLButtonElement} tile
   * @param {number} n */
  #updateTile(tile, n) {
    const sounds = this.engine.playing && this.engine.current === n;
    const whole = this.engine.heardWhole(n);
    tile.dataset.state = sounds ? "playing" : whole ? "heard" : "";
    tile.setAttribute("aria-pressed", String(this.engine.current === n && this.engine.playing));
    tile.disabled = this.engine.isSpent(n) && !sounds;
    const state = /** @type {HTMLElement} */ (tile.querySelector(".state"));
    const text = sounds ? say("playing") : whole ? say("heard") : say("not_heard");
    if (state.textContent !== text) state.textContent = text;
    const part = whole ? 1 : covered(this.engine.spans[n]) / (this.engine.duration || 1);
    this.bars[n].style.setProperty("--part", String(Math.min(1, part)));
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

  #send() {
    if (!this.open || this.draft.chosen === null) return;
    this.engine.pause();
    this.finish({ [this.question.name]: this.draft.chosen }, { comment: this.draft.comment });
  }
}
