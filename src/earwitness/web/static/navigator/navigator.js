// The navigator: a recording of any length as a spectrogram, from the whole day to one second, with
// sound from any point. Pages and trials use it as `new Navigator(element, options)`.

import { make } from "../dom.js";
import { Volume } from "../volume.js";
import { Clock, lengthText, roundStep } from "./axis.js";
import { Controls } from "./controls.js";
import { listenToKeys, listenToOverview, listenToPointers } from "./input.js";
import { Playback } from "./playback.js";
import { Stage, layLabels } from "./stage.js";
import { RequestError, Tiles, request } from "./tiles.js";
import { texts } from "./wording.js";

/** @import { Display, Label, NavigatorOptions, Overlay, Range, RecordingInfo } from "../types.d.ts" */

const SHORTEST_VIEW = 1; // second
const SHORTEST_SELECTION = 0.01; // seconds
export const EXCERPT = 2; // seconds
const HOUR = 3600;
const POLL = 1000; // milliseconds between looks at an index that is being built
const LATER = 400; // milliseconds after the first picture until sound is set up: a click is then heard sooner
const PAUSE = 250; // milliseconds after the last event until it is announced
const SETTLED = 500; // milliseconds after the last change of the view until it is reported
const FOLLOW = 0.94; // part of the view after which it follows the playhead
const MIN_CHANGE = 3; // decibels by which the suggested range changes the colours
/** @type {Display} */
export const DISPLAY = { pooling: "max", view: "levels", frequency: "mel", gain_db: 0, range_db: null, palette: "magma" };

export class Navigator {
  /** @type {Range} */
  view = { start: 0, seconds: 1 };
  /** @type {[number, number] | null} */
  selection = null;
  /** @type {Label[]} */
  labels = []; // in order of time
  /** @type {Label | null} */
  current = null; // the label that was chosen
  /** @type {Overlay[]} */
  overlays = [];
  /** @type {number | null} */
  playhead = null;
  lanes = 0; // rows of labels
  zoomsAtPointer = false; // whether the last zoom was one
  pointed = ""; // text about the place under the mouse, or a hint
  /** @type {{ clientX: number, clientY: number } | null} */
  #mouse = null;
  /** @type {Display} */
  display = DISPLAY;
  /** @type {RecordingInfo} */
  info = /** @type {any} */ (null); // until it is loaded
  /** @type {Clock} */
  clock = /** @type {any} */ (null);
  /** @type {Tiles} */
  tiles = /** @type {any} */ (null);
  /** @type {Playback} */
  playback = /** @type {any} */ (null);
  /** @type {Stage} */
  stage = /** @type {any} */ (null);
  /** @type {Controls | null} */
  #controls = null;
  #cursor = 0;
  #anchor = 0; // where a selection by keys began
  #playEnd = 0;
  #isExcerpt = false;
  #pollTimer = 0;
  #viewTimer = 0;
  #displayTimer = 0;
  #openTimer = 0;
  #sayTimer = 0;
  #playFrame = 0;
  #told = ""; // name of the message that is shown
  closed = new AbortController();
  #level = new Volume("recording");

  /** @param {HTMLElement} element
   * @param {NavigatorOptions} options */
  constructor(element, { address, display = {}, controls = true, wording = {}, onEvent = () => {}, clickSeconds = () => undefined, audio }) {
    this.element = element;
    this.address = address;
    this.options = { display, controls, audio };
    this.onEvent = onEvent;
    this.clickSeconds = clickSeconds;
    this.text = texts(wording);
    this.live = make("div", { class: "nav-hidden", role: "status", "aria-live": "polite" });
    this.message = make("div", { class: "nav-message", role: "alert", hidden: true });
    this.progress = make("progress", { max: 1, value: 0, "aria-hidden": "true" });
    this.progressText = make("span");
    this.building = make("div", { class: "nav-building", hidden: true }, this.progress, this.progressText);
    this.opening = make("p", { class: "nav-opening" }, this.text("loading"));
    element.classList.add("navigator");
    element.replaceChildren(this.building, this.message, this.opening, this.live);
    /** Resolves when the recording is shown. */
    this.ready = this.#open();
  }

  /** Load the description of the recording, and show it. */
  async #open() {
    const info = await this.#described();
    if (!info || this.closed.signal.aborted) return;
    this.info = info;
    this.clock = new Clock(info, { days: this.#list("days"), months: this.#list("months") });
    this.display = { ...DISPLAY, ...this.options.display, ...info.display };
    this.view = { start: 0, seconds: info.seconds };
    this.tiles = new Tiles(this.address, info, {
      loaded: (isShown) => this.#loaded(isShown),
      failed: (error) => this.#failed(error),
    });
    this.playback = new Playback(this.address, info, {
      started: () => this.#started(),
      moved: () => this.#controls?.update(),
      ended: (start, seconds, whole) => this.#ended(start, seconds, whole),
      failed: (error) => this.#soundFailed(error),
    }, this.options.audio);
    this.volume = this.#level.get() ?? 0;
    this.stage = new Stage(this, (state) => {
      this.element.dataset.state = state;
      if (state === "drawn" && !this.#openTimer) this.#openTimer = setTimeout(() => this.playback.open(), LATER);
    });
    this.setOverlays(info.overlays);
    this.#build(this.options.controls && !info.display);
    this.#progressed();
  }

  /** @param {string} name */
  #list(name) {
    const given = this.text(name);
    return given === name ? undefined : given.split(",");
  }

  /** @param {"info" | "progress"} what
   * @returns {Promise<RecordingInfo | null>} the progress has only what may change while the index is built */
  async #described(what = "info") {
    try {
      const info = await (await request(`${this.address}/${what}`)).json();
      this.#recover();
      return info;
    } catch (error) {
      this.#failed(/** @type {any} */ (error));
      return null;
    }
  }

  /** @param {boolean} hasSettings */
  #build(hasSettings) {
    const { view, overview } = this.stage;
    this.labelsHelp = make("span", { hidden: !this.labels.length }, ` ${this.text("labels_help")}`);
    const help = make("p", { class: "nav-hidden" }, this.text("spectrogram_help"), this.labelsHelp);
    help.id = `nav-help-${Math.random().toString(36).slice(2)}`;
    const label = this.text("spectrogram");
    const attributes = { tabindex: "0", role: "application", "aria-label": label, "aria-describedby": help.id };
    for (const [name, value] of Object.entries(attributes)) view.setAttribute(name, value);
    this.#controls = new Controls(this, hasSettings);
    this.element.replaceChildren(this.building, this.message, overview, view, this.#controls.element, help, this.live);
    listenToPointers(this);
    listenToOverview(this);
    listenToKeys(this);
    this.#controls.showDisplay();
    this.#controls.showLabels();
    this.#update();
    this.stage.change("overview", "picture");
  }

  /** Stop, and remove all that the component made. */
  destroy() {
    this.closed.abort();
    for (const timer of [this.#pollTimer, this.#viewTimer, this.#displayTimer, this.#openTimer, this.#sayTimer]) clearTimeout(timer);
    cancelAnimationFrame(this.#playFrame);
    this.playback?.close();
    this.tiles?.close();
    this.stage?.close();
    this.element.replaceChildren();
    this.element.classList.remove("navigator");
  }

  // --- Index and errors ---

  /** @param {boolean} isShown whether a tile of the view or the overview was loaded, and none in advance */
  #loaded(isShown) {
    this.#recover();
    if (isShown) this.stage.add();
  }

  /** Show how far the index is, and look again while it is built. */
  #progressed() {
    const { info } = this;
    const isBuilding = info.state === "building";
    this.building.hidden = !isBuilding;
    const isChecking = info.done >= info.seconds && info.checked < info.seconds;
    const seconds = isChecking ? info.checked : info.done;
    this.progress.value = seconds / info.seconds;
    const done = lengthText(seconds < 60 ? seconds : Math.round(seconds / 60) * 60);
    this.progressText.textContent = this.text(isChecking ? "checked" : "indexed", { done, all: lengthText(info.seconds) });
    if (info.state === "failed") this.#tell("failed", { message: info.message });
    clearTimeout(this.#pollTimer);
    if (isBuilding && !this.closed.signal.aborted) this.#pollTimer = setTimeout(() => this.#poll(), POLL);
  }

  async #poll() {
    const { range_db: before, done, checked } = this.info;
    let info = await this.#described("progress");
    if (info && info.state !== "building") info = await this.#described(); // damaged passages are known now
    if (this.closed.signal.aborted) return;
    if (info) {
      const isNear = info.range_db.every((level, n) => Math.abs(level - before[n]) < MIN_CHANGE);
      Object.assign(this.info, info, info.state === "building" && isNear ? { range_db: before } : {});
      if (this.#told === "sound_not_yet" && info.checked !== checked) this.#tell("");
      if (info.done !== done || info.checked !== checked || info.state !== "building") this.tiles.refresh();
      this.stage.change("overview", "picture");
      this.#controls?.showDisplay();
      this.#controls?.showNotes();
    }
    this.#progressed();
  }

  /** Remove a message about a failure that is over; that of the index stays. */
  #recover() {
    const isOver = this.#told === "failed" && this.info?.state !== "failed";
    if (this.#told === "unreachable" || isOver) this.#tell("");
  }

  /** @param {RequestError} error */
  #failed(error) {
    if (this.closed.signal.aborted || error.code === "not_yet") return;
    if (error.code === "changed" || error.code === "unreachable") this.#tell(error.code);
    else this.#tell("failed", { message: error.message });
  }

  /** @param {RequestError} error */
  #soundFailed(error) {
    this.#update();
    if (error.code === "not_yet") this.#tell("sound_not_yet");
    else if (error.code === "changed" || error.code === "unreachable") this.#failed(error);
    else this.#tell("no_sound", { message: error.message });
  }

  /** Show a message in place; an empty name removes it.
   * @param {string} name
   * @param {Record<string, string>} values */
  #tell(name, values = {}) {
    const text = name && this.text(name, values);
    if (text === (this.message.firstChild?.textContent ?? "")) return;
    this.#told = name;
    this.message.hidden = !name;
    this.message.replaceChildren(make("p", {}, text));
    if (name !== "unreachable" && name !== "failed") return;
    const again = () => this.#retry();
    this.message.append(make("button", { type: "button", class: "nav-button", click: again }, this.text("try_again")));
  }

  async #retry() {
    this.#tell("");
    if (!this.info) {
      this.ready = this.#open();
      return;
    }
    await this.#poll();
  }

  /** Say a text to screen readers, once nothing else follows.
   * @param {string} text */
  announce(text) {
    clearTimeout(this.#sayTimer);
    this.#sayTimer = setTimeout(() => {
      this.live.textContent = this.live.textContent === text ? `${text}\u00a0` : text; // a repeated text is read again
    }, PAUSE);
  }

  // --- View ---

  /** Seconds within what a view can show.
   * @param {number} seconds */
  limited(seconds) {
    return Math.min(this.info.seconds, Math.max(Math.min(SHORTEST_VIEW, this.info.seconds), seconds));
  }

  /** The view that is nearest to a range.
   * @param {number} start
   * @param {number} seconds
   * @returns {Range} */
  #within(start, seconds) {
    const length = this.limited(seconds);
    return { start: Math.min(this.info.seconds - length, Math.max(0, start)), seconds: length };
  }

  /** Show a part of the recording.
   * @param {number} start
   * @param {number} seconds */
  zoomTo(start, seconds) {
    if (!this.info) return void this.ready.then(() => this.info && this.zoomTo(start, seconds));
    const view = this.#within(start, seconds);
    if (view.start === this.view.start && view.seconds === this.view.seconds) return undefined;
    this.view = view;
    this.#point();
    this.element.dataset.state = "drawing";
    this.stage.change("picture");
    this.#update();
    clearTimeout(this.#viewTimer);
    this.#viewTimer = setTimeout(() => this.#viewed(), SETTLED);
    return undefined;
  }

  #viewed() {
    this.onEvent({ name: "viewed", ...this.view });
    this.#controls?.showLabels();
    if (!this.playback.isPlaying) this.announce(this.rangeText);
  }

  /** A part in words, with its length.
   * @param {string} name
   * @param {number} start
   * @param {number} end */
  #partText(name, start, end) {
    const [from, to] = [start, end].map((time) => this.clock.stamp(time, this.view.seconds));
    return this.text(name, { start: from, end: to, length: lengthText(end - start) });
  }

  get rangeText() {
    return this.#partText("range", this.view.start, this.view.start + this.view.seconds);
  }

  get selectionText() {
    return this.selection ? this.#partText("range", ...this.selection) : "";
  }

  /** Zoom by a factor around a time, by default the cursor or the middle.
   * @param {number} factor below 1 to zoom in
   * @param {number} [around] */
  zoom(factor, around) {
    const { start, seconds } = this.zoomed(factor, around);
    this.zoomsAtPointer = around !== undefined;
    this.zoomTo(start, seconds);
  }

  /** The view after a zoom.
   * @param {number} factor
   * @param {number} [around] */
  zoomed(factor, around) {
    const { start, seconds } = this.view;
    const at = around ?? (this.#isCursorVisible ? this.#cursor : start + seconds / 2);
    const length = this.limited(seconds * factor);
    return this.#within(at - ((at - start) / seconds) * length, length);
  }

  zoomWhole() {
    this.zoomTo(0, this.info.seconds);
  }

  zoomSelection() {
    if (!this.selection) return;
    const [start, end] = this.selection;
    const seconds = this.limited((end - start) * 1.1);
    this.zoomTo((start + end - seconds) / 2, seconds);
  }

  /** Move the view so that a part is in it.
   * @param {number} start
   * @param {number} end */
  #reveal(start, end = start) {
    const { view } = this;
    if (start >= view.start && end <= view.start + view.seconds) return;
    const isLong = end - start > view.seconds;
    this.zoomTo(isLong ? start - view.seconds / 20 : (start + end - view.seconds) / 2, view.seconds);
  }

  /** Change display settings; null restores the original ones.
   * @param {Partial<Display> | null} changed */
  setDisplay(changed) {
    const before = changed ? this.display : { ...DISPLAY, ...this.options.display, ...this.info.display };
    this.display = { ...before, ...changed };
    this.stage.restyle();
    this.#controls?.showDisplay();
    this.#update();
    clearTimeout(this.#displayTimer);
    this.#displayTimer = setTimeout(() => this.onEvent({ name: "displayed", ...this.view }), SETTLED);
  }

  /** Show other labels and picks.
   * @param {Overlay[]} overlays */
  setOverlays(overlays) {
    const { current } = this;
    const name = current && this.overlays[current.overlay].name;
    this.overlays = overlays;
    this.current = null;
    this.lay();
    this.current = this.labels.find((one) => one.start === current?.start && one.text === current.text &&
      overlays[one.overlay].name === name) ?? null;
    this.stage?.change("picture");
  }

  /** Arrange the labels in as many rows as the window has room for. */
  lay() {
    const place = this.current ? this.labels.indexOf(this.current) : -1;
    Object.assign(this, layLabels(this.overlays));
    this.current = this.labels[place] ?? null;
    this.labelsHelp?.toggleAttribute("hidden", !this.labels.length);
    this.#controls?.showLabels();
  }

  // --- Cursor, selection and labels ---

  get cursor() {
    return this.#cursor;
  }

  get #isCursorVisible() {
    return this.#cursor >= this.view.start && this.#cursor <= this.view.start + this.view.seconds;
  }

  /** Move a cursor that is out of sight to the start of the view, where keys and buttons then work. */
  #fetchCursor() {
    if (!this.#isCursorVisible && !this.selection) this.#cursor = this.view.start;
  }

  set cursor(time) {
    this.#cursor = Math.min(this.info.seconds, Math.max(0, time));
    this.#update();
  }

  #update() {
    this.stage.change("marks");
    if (this.display.view === "colour" && this.pointer === null) {
      this.pointed = this.stage.isColour || this.selection ? "" : this.text("colour_far");
    }
    this.#controls?.update();
  }

  /** Select a part.
   * @param {number} first
   * @param {number} second */
  select(first, second) {
    const times = [first, second].map((time) => Math.min(this.info.seconds, Math.max(0, time)));
    const [start, end] = times.sort((a, b) => a - b);
    this.selection = end - start >= SHORTEST_SELECTION ? [start, end] : null;
    this.current = null;
    this.#cursor = start;
    this.#update();
    this.#sayView();
  }

  #sayView() {
    const { selection, view } = this;
    if (!selection) return this.announce(this.text("cursor", { time: this.clock.stamp(this.#cursor, view.seconds) }));
    return this.announce(this.#partText("selected", ...selection));
  }

  /** Remove the selection. */
  clear() {
    this.selection = null;
    this.current = null;
    this.#update();
  }

  /** Move the cursor by steps that fit the zoom.
   * @param {number} steps
   * @param {boolean} extends_ */
  move(steps, extends_) {
    this.#fetchCursor();
    const edge = extends_ && this.selection ? this.#edge : this.#cursor;
    this.moveTo(edge + steps * roundStep(this.view.seconds / 50), extends_);
  }

  /** The end of the selection that keys move. */
  get #edge() {
    const [start, end] = this.selection ?? [this.#cursor, this.#cursor];
    return Math.abs(this.#anchor - start) < Math.abs(this.#anchor - end) ? end : start;
  }

  /** @param {number} time
   * @param {boolean} extends_ */
  moveTo(time, extends_ = false) {
    const to = Math.min(this.info.seconds, Math.max(0, time));
    if (extends_) {
      if (!this.selection) this.#anchor = this.#cursor;
      else if (!this.selection.includes(this.#anchor)) this.#anchor = this.selection[0];
      this.select(this.#anchor, to);
    } else {
      this.selection = null;
      this.current = null;
      this.#cursor = to;
      this.#update();
      this.#sayView();
    }
    this.#reveal(to);
  }

  /** Go to the previous or next full hour.
   * @param {-1 | 1} direction */
  hour(direction) {
    this.#fetchCursor();
    const { seconds } = this.info;
    const hours = [0, ...this.clock.multiples(0, seconds, HOUR), seconds].filter((time) => time >= 0 && time <= seconds);
    const to = direction < 0
      ? hours.findLast((time) => time < this.#cursor - 0.01) ?? 0
      : hours.find((time) => time > this.#cursor + 0.01) ?? seconds;
    this.moveTo(to);
    if (this.view.seconds <= HOUR) this.zoomTo(to, this.view.seconds);
  }

  /** Go to a time that a person typed; whether it is one.
   * @param {string} typed */
  goTo(typed) {
    if (!typed.trim()) return false;
    const time = this.clock.parse(typed, this.#cursor);
    if (time === null) {
      this.#tell("no_time", { text: typed.trim(), example: this.clock.text(this.info.seconds / 2) });
      return false;
    }
    this.#tell("");
    if (this.playback.isPlaying) this.playFrom(time);
    else this.moveTo(time);
    this.zoomTo(time - this.view.seconds / 2, this.view.seconds);
    return true;
  }

  /** Choose the next or previous label; whether there is one.
   * @param {-1 | 1} direction */
  step(direction) {
    this.#fetchCursor();
    const { labels, current } = this;
    const at = current ? labels.indexOf(current) + direction
      : direction > 0 ? labels.findIndex((one) => one.start > this.#cursor - 1e-6)
        : labels.findLastIndex((one) => one.start < this.#cursor - 1e-6);
    const label = labels[at];
    if (label) this.choose(label, false);
    else if (labels.length) this.announce(this.text("no_label"));
    return Boolean(label);
  }

  /** Select a label, and play it.
   * @param {Label | null} label
   * @param {boolean} plays */
  choose(label, plays) {
    if (!label) return;
    const { start, seconds, text, overlay } = label;
    const isPlaying = this.playback.isPlaying;
    this.playback.stop();
    this.selection = seconds >= SHORTEST_SELECTION ? [start, start + seconds] : null;
    this.#anchor = start;
    this.#cursor = start;
    this.current = label;
    this.#reveal(start, start + seconds);
    this.#update();
    this.#controls?.showLabels();
    const own = this.labels.filter((one) => one.overlay === overlay);
    const { name } = this.overlays[overlay];
    this.announce(this.text("label", { text: text || name, time: this.clock.stamp(start, 60), length: lengthText(seconds),
      number: own.indexOf(label) + 1, count: own.length, overlay: name }));
    if (plays || isPlaying) this.#play(start, seconds ? start + seconds : this.info.seconds);
  }

  /** Time under the mouse, also after the view has moved under it. */
  get pointer() {
    const time = this.#mouse && this.stage.timeAt(this.#mouse.clientX);
    return time !== null && time >= this.view.start && time <= this.view.start + this.view.seconds ? time : null;
  }

  /** Show what is under the mouse.
   * @param {PointerEvent | null} event null if it has left */
  hover(event) {
    this.#mouse = event;
    this.#point();
    this.#update();
  }

  #point() {
    const { stage } = this;
    const { clientX = 0, clientY = 0 } = this.#mouse ?? {};
    const label = this.#mouse && stage.partAt(clientY) === "labels" ? stage.labelAt(clientX, clientY) : null;
    stage.view.classList.toggle("nav-points", Boolean(label));
    this.pointed = label ? [label.text, this.overlays[label.overlay].name, lengthText(label.seconds)].filter(Boolean).join(" · ") : "";
  }

  // --- Sound ---

  /** Volume in decibels, at most 0; the lowest value is silence. */
  get volume() {
    return this.#level.get() ?? 0;
  }

  set volume(decibels) {
    this.#level.keep(decibels);
    this.playback.setLevel(decibels <= -40 ? 0 : 10 ** (decibels / 20));
  }

  get isLooping() {
    return this.playback.isLooping;
  }

  /** Load the sound at a time that a click will probably play.
   * @param {number} time */
  prepare(time) {
    this.playback.prepare(Math.min(this.info.seconds, Math.max(0, time)));
  }

  /** Set the cursor and play from it, to the end or for the length that a click plays.
   * @param {number} time */
  playFrom(time) {
    this.selection = null;
    this.current = null;
    this.cursor = time;
    this.#play(this.#cursor, this.#cursor + (this.clickSeconds() ?? this.info.seconds));
  }

  /** Play from a time on, for a number of seconds or to the end. Another selection is cleared, so that it
   * does not repeat this part.
   * @param {number} start
   * @param {number} [seconds] */
  play(start, seconds) {
    if (!this.info) return void this.ready.then(() => this.info && this.play(start, seconds));
    const end = seconds === undefined ? this.info.seconds : start + seconds;
    if (this.selection?.[0] !== start || this.selection[1] !== end) this.selection = null;
    this.cursor = start;
    return this.#play(start, end);
  }

  stop() {
    this.playback?.stop();
  }

  /** Play 2 seconds at the cursor. */
  excerpt() {
    this.#fetchCursor();
    this.#play(this.#cursor, this.#cursor + EXCERPT, this.#cursor, true);
  }

  /** Play from the cursor, within the selection if the cursor is there; or pause. */
  toggle() {
    if (this.playback.isPlaying) return this.#pause();
    this.#fetchCursor();
    const { selection } = this;
    const isInside = selection && this.#cursor >= selection[0] && this.#cursor < selection[1] - SHORTEST_SELECTION;
    if (selection && isInside) return this.#play(...selection, this.#cursor);
    if (this.#cursor >= this.info.seconds - SHORTEST_SELECTION) this.cursor = 0;
    return this.#play(this.#cursor, this.info.seconds);
  }

  #pause() {
    const time = this.playback.position ?? this.#cursor;
    this.playback.stop();
    if (!this.#isExcerpt) this.cursor = time;
    this.announce(this.text("paused", { time: this.clock.stamp(time, this.view.seconds) }));
  }

  /** Repeat the selection, or stop repeating it. */
  loop() {
    const { playback, selection } = this;
    if (!selection && !playback.isLooping) return void this.#hint("loop_needs");
    playback.isLooping = !playback.isLooping;
    const position = playback.position;
    if (selection && (playback.isLooping || position !== null)) {
      const isInside = position !== null && position >= selection[0] && position < selection[1];
      this.#play(...selection, isInside ? position : selection[0]);
    }
    return this.#update();
  }

  /** @param {string} name */
  #hint(name) {
    this.pointed = this.text(name);
    this.announce(this.pointed);
    this.#controls?.update();
  }

  /** @param {number} start
   * @param {number} end
   * @param {number} from
   * @param {boolean} isExcerpt */
  #play(start, end, from = start, isExcerpt = false) {
    if (this.#told !== "failed") this.#tell("");
    const { isLooping } = this.playback;
    this.playback.isLooping = isLooping && Boolean(this.selection) && !isExcerpt;
    this.#isExcerpt = isExcerpt;
    this.onEvent({ name: "started", start: from, seconds: 0 });
    this.playback.play(start, Math.min(end, this.info.seconds), from);
    this.#playEnd = end;
    this.playhead = from;
    this.#update();
  }

  #started() {
    const time = this.clock.stamp(this.playback.position ?? this.#cursor, this.view.seconds);
    this.announce(this.text("playing", { time }));
    cancelAnimationFrame(this.#playFrame);
    this.#playFrame = requestAnimationFrame(() => this.#follow());
  }

  /** Move the playhead, and the view with it if it was in view. */
  #follow() {
    const { position } = this.playback;
    if (position === null) return;
    this.#playFrame = requestAnimationFrame(() => this.#follow());
    const { start, seconds } = this.view;
    const before = this.playhead ?? position;
    if (Math.abs(position - before) < (0.3 * seconds) / this.stage.area.width) return;
    this.playhead = position;
    this.stage.change("marks");
    const wasVisible = before >= start && before <= start + seconds;
    const isOver = position > start + FOLLOW * seconds && start + seconds < this.info.seconds;
    if (wasVisible && (isOver || position < start)) this.zoomTo(position - (1 - FOLLOW) * seconds, seconds);
  }

  /** @param {number} start
   * @param {number} seconds
   * @param {boolean} whole */
  #ended(start, seconds, whole) {
    cancelAnimationFrame(this.#playFrame);
    this.playhead = null;
    if (whole && this.selection) this.#cursor = this.selection[0];
    if (seconds > 0) this.onEvent({ name: "played", start, seconds, end: this.#playEnd });
    if (!this.closed.signal.aborted) this.#update();
  }
}
