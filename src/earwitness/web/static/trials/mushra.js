// Several sounds of one item, rated with sliders on one page (MUSHRA, BS.1116). Listeners switch
// between the sounds; only the sound that was chosen last can be rated. All input is kept over a
// reload.

import { announce, button, heading, make, show } from "../dom.js";
import { byKeyboard } from "../keys.js";
import { say } from "../messages.js";
import { shownTo, stepped } from "../number_input.js";
import { problemOf } from "../sound.js";
import { Switching } from "../switching.js";
import { addPlayed, readDraft, Trial } from "../trial.js";

/** @import { SwitchingListener } from "../switching.js" */
/** @import { MushraDraft, MushraView, PageContext, Play, SliderQuestion } from "../types.d.ts" */

// Keys on a slider without a value: those that increase start at the low end, the others at the high end.
/** @type {Record<string, "low" | "high">} */
const ENTERED = { ArrowRight: "low", ArrowUp: "low", PageUp: "low", Home: "low",
  ArrowLeft: "high", ArrowDown: "high", PageDown: "high", End: "high" };
const TEN_PERCENT = 0.1; // of the scale, by Page Up and Page Down
const HANDLE_STEP = 0.1; // seconds
const BS1116 = "bs1116"; // one of its sounds must have the highest rating
const COLUMNS = matchMedia("(min-width: 48rem)"); // as in mushra.css

/** Show a trial.
 * @param {MushraView} view
 * @param {PageContext} at sounds, events, the draft and the answer callback of the page */
export async function showTrial(view, at) {
  const draft = await readDraft(at, { values: {}, spans: [], sorted: false });
  if (at.refused) {
    Object.assign(draft, { plays: [], spans: [] }); // the server may have rejected the plays
    await at.draft.write(draft);
  } else addPlayed(view, draft);
  if (at.left.aborted) return;
  new Mushra(view, at, draft).show();
}

/** A value of a scale, with as many decimals as its step.
 * @param {number} value
 * @param {number} step */
const numberOf = (value, step) => shownTo(value, String(step).split(".")[1]?.length ?? 0);

/** @param {number} seconds */
const tenths = (seconds) => shownTo(seconds, 1);

/** A sound that is rated: a button that plays it, a slider and its value. */
class Item {
  /** @type {number | undefined} */
  #pressedAt = undefined; // the value when the slider was pressed

  /** @param {SliderQuestion} question
   * @param {number} place among the rated sounds
   * @param {{ choose(): void, rate(value: number | undefined): void, refuse(): void }} does */
  constructor(question, place, does) {
    this.question = question;
    this.does = does;
    this.sound = question.sound ?? 0;
    /** @type {number | undefined} */
    this.value = undefined;
    const { name, prompt, low, high, step } = question;
    this.pick = make("button", { type: "button", class: "pick", "data-key": place < 9 ? String(place + 1) : null,
      click: () => does.choose() }, make("b", {}, name), ...marks());
    /** @type {HTMLInputElement} */
    this.slider = make("input", { type: "range", min: low, max: high, step, disabled: true,
      "aria-label": `${name}. ${prompt}`, input: () => this.#slid(), keydown: (event) => this.key(event),
      pointerdown: (event) => event.isPrimary && (this.#pressedAt = this.value), // not for a second finger
      pointerup: (event) => event.isPrimary && this.#released(event),
      pointercancel: (event) => event.isPrimary && this.#restore() });
    this.number = make("span", { class: "value", "aria-hidden": "true" });
    const slot = make("div", { class: "slot", pointerdown: () => this.slider.disabled && does.refuse() },
      make("span", { class: "ticks", "aria-hidden": "true" }), this.slider);
    this.element = make("div", { class: "item", role: "group", "aria-label": name }, this.pick, slot, this.number);
    this.turn();
  }

  /** Follow the layout: vertical in columns, horizontal in rows. */
  turn() {
    this.slider.setAttribute("aria-orientation", COLUMNS.matches ? "vertical" : "horizontal");
  }

  /** Show a value without reporting it.
   * @param {number | undefined} value */
  set(value) {
    const { low, high, step, labels = [] } = this.question;
    this.value = value;
    this.slider.value = String(value ?? (low + high) / 2);
    this.slider.classList.toggle("unset", value === undefined);
    const text = value === undefined ? say("not_set") : `${numberOf(value, step)}, ${labelOf(value, low, high, labels)}`;
    this.slider.setAttribute("aria-valuetext", text);
    this.number.textContent = value === undefined ? "–" : numberOf(value, step);
  }

  /** @param {number} value */
  #rate(value) {
    const { low, high } = this.question;
    const found = stepped(Math.min(high, Math.max(low, value)), this.question);
    this.set(found);
    this.does.rate(found);
  }

  #slid() {
    this.#rate(Number(this.slider.value));
  }

  /** A finger that scrolls rates nothing, although the slider moves when it is touched. */
  #restore() {
    if (this.value === this.#pressedAt) return;
    this.set(this.#pressedAt);
    this.does.rate(this.#pressedAt);
  }

  /** A press on the hidden thumb of a slider without a value does not move it, but is a rating.
   * @param {PointerEvent} event */
  #released({ clientX, clientY }) {
    if (this.value !== undefined || this.slider.disabled) return;
    const { left, bottom, width, height } = this.slider.getBoundingClientRect();
    const share = COLUMNS.matches ? (bottom - clientY) / height : (clientX - left) / width;
    const { low, high } = this.question;
    this.#rate(low + share * (high - low));
  }

  /** Change the value by a key, also while another element has the focus.
   * @param {KeyboardEvent} event */
  key(event) {
    const { low, high, step } = this.question;
    if (!(event.key in ENTERED) || this.slider.disabled || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const page = TEN_PERCENT * (high - low);
    /** @type {Record<string, number>} */
    const moves = { ArrowRight: step, ArrowUp: step, PageUp: page, Home: low - high,
      ArrowLeft: -step, ArrowDown: -step, PageDown: -page, End: high - low };
    this.#rate(this.value === undefined ? this.question[ENTERED[event.key]] : this.value + moves[event.key]);
  }
}

/** The label of a value: of its part of the scale, or of the nearest labelled number.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 * @param {string[]} labels from the upper end down */
function labelOf(value, low, high, labels) {
  const share = (high - value) / (high - low);
  const place = isPointed(low, high, labels) ? Math.round(share * (labels.length - 1)) : Math.floor(share * labels.length);
  return labels[Math.min(place, labels.length - 1)] ?? "";
}

/** Whether labels belong to numbers, as on a scale from 5 to 1, rather than to parts of the scale.
 * @param {number} low
 * @param {number} high
 * @param {string[]} labels */
const isPointed = (low, high, labels) => high - low === labels.length - 1;

/** @extends {Trial<MushraView, MushraDraft>} */
class Mushra extends Trial {
  chosen = false; // whether a sound was played since the page was opened
  asked = false; // whether to show what is missing
  problem = "";
  looping = false;
  stale = false; // whether a rating changed since the sounds were sorted
  page = make("div", { class: "sliders" });
  missing = make("div", { class: "missing", tabindex: "0" });
  said = make("p", { class: "said" });

  label = make("span");
  toggle = make("button", { type: "button", class: "play small", "data-press": "Space",
    click: () => this.#choose(this.engine.current) }, make("b", { class: "icon", "aria-hidden": "true" }), this.label);
  /** @type {HTMLInputElement} */
  bar = make("input", { type: "range", class: "seek", min: 0, step: 0.1, value: 0, disabled: true,
    "aria-label": say("position"), input: () => this.engine.seek(Number(this.bar.value)) });
  start = this.#handle("loop_start");
  end = this.#handle("loop_end");
  region = make("div", { class: "region", hidden: true }, make("i", { "aria-hidden": "true" }), this.start, this.end);
  time = make("span", { class: "time", "aria-hidden": "true" });
  repeat = button(say("repeat"), () => this.#loop(!this.looping),
    { class: "repeat", "aria-pressed": "false", hidden: this.view.plays > 0 });
  sorting = button(say("sort"), () => this.#sort(), { class: "sorting" });

  /** @param {MushraView} view
   * @param {PageContext} at
   * @param {MushraDraft} draft */
  constructor(view, at, draft) {
    super(view, at, draft);
    this.items = view.questions.map((question, place) => new Item(question, place, {
      choose: () => this.#choose(question.sound ?? 0),
      rate: (value) => this.#rate(question.name, value),
      refuse: () => this.#tell(say("rate_playing", { label: question.name })),
    }));
    this.items.forEach((item) => item.set(draft.values[item.question.name]));
    this.reference = this.#reference();
    this.engine = this.#engine();
    this.list = make("div", { class: "items" }, this.items.map((one) => one.element));
    this.list.style.setProperty("--count", String(this.items.length));
  }

  show() {
    const { view } = this;
    const first = view.questions[0];
    document.addEventListener("keydown", (event) => this.#key(event), { signal: this.at.left });
    COLUMNS.addEventListener("change", () => this.items.forEach((one) => one.turn()), { signal: this.at.left });
    const labels = first.labels ?? [];
    const pointed = isPointed(first.low, first.high, labels);
    /** @param {number} place */
    const number = (place) => (pointed ? make("b", {}, numberOf(first.high - place, first.step)) : null);
    const board = make("section", { class: `card board${pointed ? " pointed" : ""}` }, this.reference,
      make("div", { class: "axis", "aria-hidden": "true" }, labels.map((one, n) => make("span", {}, number(n), one))),
      this.list);
    this.page.append(make("p", { class: "prompt" }, first.prompt), this.#transport(), this.said, this.missing, board,
      make("div", { class: "tools" }, this.items.length > 2 ? this.sorting : null, make("p", { class: "keys" }, this.#keys()),
        button(say("save"), () => this.#save(), { class: "main save", "data-press": "Enter" })));
    show(heading(view.title), this.page);
    this.#order();
    this.#update();
    announce(say("items_told", { count: this.items.length }));
    this.engine.load().catch((error) => this.#failed(error));
  }

  // --- Elements ---

  /** Index of the labelled reference; -1 if the page has none. */
  get open() {
    const rated = this.items.map((one) => one.sound);
    return this.view.sounds.findIndex((_, n) => !rated.includes(n));
  }

  /** The letter that plays the reference: A if no rated sound is A, as in BS.1116; otherwise R. */
  get referenceKey() {
    const names = this.items.map((one) => one.question.name);
    return ["A", "R"].find((letter) => !names.includes(letter)) ?? "0";
  }

  #reference() {
    if (this.open < 0) return null;
    const { label } = this.view.sounds[this.open];
    return make("button", { type: "button", class: "pick reference", "data-key": "0",
      click: () => this.#choose(this.open) }, make("b", {}, label), make("kbd", { "aria-hidden": "true" }, this.referenceKey), ...marks());
  }

  #engine() {
    const { view, draft } = this;
    /** @type {SwitchingListener} */
    const hears = { began: (play) => (this.keep(), this.tellPlay("play_started", play)),
      moved: (play, before) => void (Math.floor(play.seconds) > Math.floor(before) && this.type()),
      ended: (play) => this.#whole(play),
      paused: (underruns, cut) => this.#paused(underruns, cut) };
    const engine = new Switching(this.at.sounds, view.sounds.map((one) => one.address), this.at.left,
      { restart: view.restart, limit: view.plays, plays: draft.plays, spans: draft.spans, hears, onchange: () => this.#update() });
    draft.spans = engine.spans;
    return engine;
  }

  #transport() {
    return make("div", { class: "transport", role: "group", "aria-label": say("playback") }, this.toggle,
      make("div", { class: "line" }, this.bar, this.region), this.time, this.repeat);
  }

  /** A handle of the repeated part.
   * @param {"loop_start" | "loop_end"} name
   * @returns {HTMLInputElement} */
  #handle(name) {
    return make("input", { type: "range", class: "handle", min: 0, step: HANDLE_STEP, "aria-label": say(name),
      input: () => this.#showRegion(), change: () => this.#loop(true) });
  }

  #keys() {
    const names = this.items.map((one) => one.question.name);
    const [from, to] = [names[0], names[names.length - 1]];
    const reference = this.open < 0 ? "" : say("keys_reference", { key: this.referenceKey });
    return say("keys_switch", { from, to, reference });
  }

  // --- Playback ---

  /** Play a sound; if it is already playing, pause it.
   * @param {number} sound */
  async #choose(sound) {
    const { engine } = this;
    this.problem = "";
    this.chosen = true;
    if (engine.isSpent(sound)) {
      engine.pause();
      engine.current = sound; // it can still be rated
    } else if (engine.playing && engine.current === sound) engine.pause();
    else {
      try {
        await engine.play(sound);
      } catch (error) {
        this.#failed(error);
      }
    }
    if (this.at.left.aborted) return;
    this.#update();
    if (byKeyboard()) (this.items.find((one) => one.sound === sound)?.slider ?? this.reference)?.focus();
  }

  /** @param {Play} play */
  #whole(play) {
    this.tellPlay("play_ended", play);
    this.keep();
    if (this.asked) this.#list();
    announce(say("item_heard", { label: this.#labelOf(play.sound) }));
  }

  /** @param {number} underruns
   * @param {boolean} cut */
  #paused(underruns, cut) {
    this.countUnderruns(underruns);
    if (cut) this.#tell(say("sound_cut"));
    const open = this.draft.plays.findLast((play) => play.sound === this.engine.current && !play.ended);
    if (open) this.tellPlay("play_paused", open);
    this.keep();
  }

  /** @param {unknown} error */
  #failed(error) {
    if (this.at.left.aborted) return;
    this.tellFailure(error);
    this.#tell(problemOf(error));
  }

  /** Show a problem below the player, and announce it.
   * @param {string} text */
  #tell(text) {
    this.problem = text;
    this.#update();
    announce(text);
  }

  /** Repeat the chosen part, or play to the end.
   * @param {boolean} now */
  #loop(now) {
    const { duration } = this.engine;
    if (!duration) return;
    this.looping = now;
    this.repeat.setAttribute("aria-pressed", String(now));
    this.region.hidden = !now;
    if (now) {
      const last = Number(this.end.value) + HANDLE_STEP > duration; // the handle cannot be between steps
      this.engine.loop(Number(this.start.value), last ? duration : Number(this.end.value));
      const [start, end] = this.engine.region ?? [0, duration];
      this.start.value = String(start);
      this.end.value = String(end);
      this.#showRegion();
    } else this.engine.loop(null);
  }

  /** The handles of the repeated part cannot pass each other. */
  #showRegion() {
    const { duration } = this.engine;
    const [start, end] = [Number(this.start.value), Number(this.end.value)];
    if (start > end) [this.start.value, this.end.value] = [String(end), String(start)];
    this.region.style.setProperty("--start", String(Math.min(start, end) / duration));
    this.region.style.setProperty("--end", String(Math.max(start, end) / duration));
    for (const one of [this.start, this.end]) one.setAttribute("aria-valuetext", say("seconds", { seconds: tenths(Number(one.value)) }));
  }

  // --- Ratings ---

  /** @param {string} name
   * @param {number | undefined} value */
  #rate(name, value) {
    if (value === undefined) delete this.draft.values[name];
    else this.draft.values[name] = value;
    this.problem = "";
    this.noteKeyboard();
    this.type();
    this.#update();
    if (this.asked) this.#list();
    this.stale = this.draft.sorted;
    this.#nameSorting();
  }

  #sort() {
    this.draft.sorted = this.stale || !this.draft.sorted;
    this.#order();
    this.type();
    announce(say(this.draft.sorted ? "sorted" : "unsorted"));
  }

  /** Put the items into the order of their ratings, or of their letters. */
  #order() {
    const { sorted } = this.draft;
    /** @param {Item} one */
    const value = (one) => one.value ?? -Infinity;
    const order = sorted ? [...this.items].sort((one, other) => value(other) - value(one) || 0) : this.items;
    this.list.append(...order.map((one) => one.element));
    this.stale = false;
    this.#nameSorting();
  }

  /** Say what the button does: sort, also again after a change, or go back to the original order. */
  #nameSorting() {
    const text = say(this.draft.sorted && !this.stale ? "unsort" : "sort");
    if (this.sorting.textContent !== text) this.sorting.textContent = text;
  }

  // --- Keys ---

  /** Letters play sounds; arrows rate the current sound, unless another field has the focus.
   * @param {KeyboardEvent} event */
  #key(event) {
    const { target, key } = event;
    const other = event.ctrlKey || event.altKey || event.metaKey || event.isComposing;
    if (other || document.querySelector("dialog[open], main[inert]")) return;
    const letter = key.length === 1 ? key.toUpperCase() : "";
    const found = this.items.find((one) => one.question.name === letter);
    if (found && !event.repeat) found.pick.click();
    else if (letter && letter === this.referenceKey && !event.repeat) this.reference?.click();
    else if (key.startsWith("Arrow") && !(target instanceof HTMLInputElement)) this.items.find((one) => !one.slider.disabled)?.key(event);
  }

  // --- Updates ---

  /** @param {number} sound */
  #labelOf(sound) {
    return this.items.find((one) => one.sound === sound)?.question.name ?? this.view.sounds[sound].label;
  }

  #update() {
    const { engine, toggle, label, bar, time } = this;
    const { playing, duration, position, current } = engine;
    const state = playing ? "pause" : "play";
    if (toggle.dataset.state !== state) {
      toggle.dataset.state = state;
      label.textContent = say(state);
    }
    if (duration && bar.max !== String(duration)) this.#known(duration);
    bar.value = String(position);
    bar.style.setProperty("--part", String(duration ? position / duration : 0));
    bar.setAttribute("aria-valuetext", say("of_length", { at: tenths(position), length: tenths(duration) }));
    time.textContent = duration ? `${tenths(position)} / ${tenths(duration)} s` : "–";
    for (const { sound, pick, slider, element, value } of this.items) {
      slider.disabled = !this.chosen || sound !== current;
      element.classList.toggle("now", this.chosen && sound === current);
      mark(pick, engine, sound, playing, value !== undefined);
    }
    if (this.reference) mark(this.reference, engine, this.open, playing, true);
    const text = this.problem || (this.chosen || this.asked ? "" : say("choose_sound"));
    if (this.said.textContent !== text) this.said.textContent = text;
    this.said.classList.toggle("bad", Boolean(this.problem));
  }

  /** @param {number} duration */
  #known(duration) {
    for (const one of [this.bar, this.start, this.end]) one.max = String(duration);
    this.bar.disabled = this.view.plays > 0;
    this.start.value = "0";
    this.end.value = String(duration);
  }

  /** List what is missing, once the listener has tried to save. */
  #list() {
    const { engine } = this;
    const names = this.view.sounds.flatMap((_, n) => {
      const label = this.#labelOf(n);
      const item = this.items.find((one) => one.sound === n);
      return [...(engine.heardWhole(n) ? [] : [say("item_unheard", { label })]),
        ...(item && item.value === undefined ? [say("item_unrated", { label })] : [])];
    });
    const highest = this.items.some((one) => one.value === one.question.high);
    const all = names.length || this.view.kind !== BS1116 || highest ? names : [say("misfit_bs1116")];
    this.missing.replaceChildren(...(all.length
      ? [make("p", {}, say("missing")), make("ul", {}, all.map((one) => make("li", {}, one)))] : []));
    return all;
  }

  /** Send if nothing is missing; otherwise list what is missing. */
  #save() {
    this.asked = true;
    this.page.classList.add("asked");
    const names = this.#list();
    if (names.length) {
      this.problem = "";
      this.#update();
      this.missing.scrollIntoView({ block: "nearest" });
      return announce(`${say("missing")} ${names.join("; ")}`);
    }
    this.engine.pause();
    return this.finish({ ...this.draft.values }, { sorted: this.draft.sorted });
  }
}

/** The parts of a button that show and tell whether its sound was heard. */
const marks = () => [make("span", { class: "mark", "aria-hidden": "true" }), make("span", { class: "hidden state" })];

/** Show on the button of a sound whether it plays and was heard.
 * @param {HTMLElement} pick
 * @param {Switching} engine
 * @param {number} sound
 * @param {boolean} playing
 * @param {boolean} rated */
function mark(pick, engine, sound, playing, rated) {
  const now = playing && engine.current === sound;
  const heard = engine.heardWhole(sound);
  const state = now ? "playing" : engine.isSpent(sound) ? "spent" : heard && rated ? "done" : heard ? "heard" : "";
  if (pick.dataset.state === state) return;
  pick.dataset.state = state;
  pick.setAttribute("aria-pressed", String(now));
  if (pick.lastElementChild) pick.lastElementChild.textContent = say(heard ? "heard" : "not_heard");
}
