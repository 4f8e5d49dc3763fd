// Player for long clips: play, pause and seek. Pauses and seeking belong to one play, which ends when
// every part was heard; the next play starts from zero.

import { announce, make } from "./dom.js";
import { firstGap, isWhole, joined } from "./heard_spans.js";
import { say } from "./messages.js";
import { interruptions, problemOf } from "./sound.js";

/** @import { PageContext, Span } from "./types.d.ts" */

/** @param {number} seconds */
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

/** @typedef {{ began?(): void, started?(): void, moved?(): void, whole?(): void,
 *   paused?(underruns: number, cut: boolean): void, failed?(error: unknown): void }} PlayerListener */
/** @typedef {{ hears?: PlayerListener, spans?: Span[] | null, leaps?: boolean,
 *   told?: () => { text?: string, bad?: boolean }, more?: Record<string, string> }} PlayerOptions */

export class Player {
  /** @type {AbortController | null} */
  #stop = null; // stops the current sound
  #resumes = false; // whether to resume after seeking
  #length = 0; // duration in seconds, once known
  #failure = "";

  /** `hears` holds callbacks: a play began, the sound started, moved or paused, the whole clip was
   * heard, an error occurred. `spans` are the parts heard so far in the current play. `leaps` allows
   * seeking. `told` returns the text below the player and whether it is an error.
   * @param {PageContext} at
   * @param {string} address
   * @param {PlayerOptions} options */
  constructor(at, address, { hears = {}, spans = null, leaps = true, told = () => ({}), more = {} } = {}) {
    this.at = at;
    this.address = address;
    this.hears = hears;
    this.spans = spans ?? [];
    this.open = Boolean(spans);
    this.leaps = leaps;
    this.told = told;
    this.closed = false;
    this.again = false;
    this.skipped = false;
    this.position = spans?.at(-1)?.[1] ?? 0;
    this.label = make("span");
    this.button = make("button", { type: "button", class: "play small", ...more, click: () => this.toggle() },
      make("b", { class: "icon", "aria-hidden": "true" }), this.label);
    /** @type {HTMLInputElement} */
    this.bar = make("input", { type: "range", min: 0, step: 0.1, class: "seek", "aria-label": say("position"),
      input: () => this.#leap(Number(this.bar.value)), change: () => this.#landed() });
    this.time = make("span", { class: "time", "aria-hidden": "true" });
    this.said = make("p", { class: "said" });
    this.element = make("div", { class: "player", role: "group", "aria-label": say("clip") },
      this.button, this.bar, this.time, this.said);
    this.update();
    at.sounds.load(address).then((buffer) => this.#known(buffer.duration), (error) => this.#failed(error));
  }

  get playing() {
    return Boolean(this.#stop && !this.#stop.signal.aborted);
  }

  toggle() {
    return this.playing ? this.pause() : this.play();
  }

  pause() {
    this.#stop?.abort();
    this.update();
  }

  async play() {
    if (this.playing || this.closed) return;
    const stop = new AbortController();
    const { left, sounds } = this.at;
    left.addEventListener("abort", () => stop.abort(), { signal: stop.signal });
    interruptions.addEventListener("interrupt", () => stop.abort(), { signal: stop.signal });
    this.#stop = stop;
    this.#failure = "";
    this.skipped = false;
    this.update();
    try {
      const buffer = await sounds.load(this.address);
      await sounds.wake();
      if (!stop.signal.aborted) await this.#sound(buffer, stop);
    } catch (error) {
      this.#over(stop);
      this.#failed(error);
    }
    this.#over(stop);
  }

  /** Play from the current position.
   * @param {AudioBuffer} buffer
   * @param {AbortController} stop */
  async #sound(buffer, stop) {
    this.#length = buffer.duration;
    const from = this.position < this.#length ? this.position : firstGap(this.open ? this.spans : [], this.#length);
    if (!this.open) {
      Object.assign(this, { open: true, spans: [] });
      this.hears.began?.();
    }
    this.hears.started?.();
    /** @param {number} seconds */
    const moved = (seconds) => this.#moved(from, from + seconds, stop);
    const { seconds, ended, underruns } = await this.at.sounds.play(buffer, stop.signal, moved, from);
    moved(seconds);
    if (!ended && !stop.signal.aborted) this.#failure = say("sound_cut");
    if (ended && this.#stop === stop) this.#ended();
    this.hears.paused?.(underruns, Boolean(this.#failure));
  }

  /** At the end, return to the start, or to the first part that was skipped. */
  #ended() {
    this.skipped = this.open;
    this.position = this.open ? firstGap(this.spans, this.#length) : 0;
  }

  /** @param {number} from
   * @param {number} to
   * @param {AbortController} stop */
  #moved(from, to, stop) {
    this.spans = joined(this.spans, from, to);
    if (this.#stop === stop) this.position = to;
    this.hears.moved?.();
    if (this.open && isWhole(this.spans, this.#length)) {
      this.open = false;
      this.hears.whole?.();
    }
    this.update();
  }

  /** @param {AbortController} stop */
  #over(stop) {
    if (this.#stop === stop) this.#stop = null;
    if (!this.at.left.aborted) this.update();
  }

  /** @param {number} seconds */
  #known(seconds) {
    this.#length = seconds;
    this.update();
  }

  /** @param {unknown} error */
  #failed(error) {
    if (this.at.left.aborted) return;
    this.#failure = problemOf(error);
    this.hears.failed?.(error);
    this.update();
    announce(this.#failure);
  }

  /** Seek to a position, playing or not.
   * @param {number} to */
  #leap(to) {
    this.#resumes ||= this.playing;
    this.#stop?.abort();
    this.#stop = null;
    this.position = to;
    this.update();
  }

  #landed() {
    if (this.#resumes) this.play();
    this.#resumes = false;
  }

  /** Update buttons and texts. */
  update() {
    const { playing, closed, again, position } = this;
    const length = this.#length;
    const state = playing ? "pause" : closed ? "heard" : again ? "play_again" : "play";
    this.button.dataset.state = state;
    this.button.disabled = closed && !playing;
    this.label.textContent = say(state);
    this.bar.disabled = !length || !this.leaps;
    this.bar.max = String(length || 1);
    this.bar.value = String(position);
    this.bar.style.setProperty("--part", String(length ? position / length : 0));
    this.time.textContent = length ? `${clock(position)} / ${clock(length)}` : "–";
    this.bar.setAttribute("aria-valuetext", say("of_length", { at: clock(position), length: clock(length) }));
    this.#say();
  }

  #say() {
    const { text = "", bad = false } = this.#failure ? { text: this.#failure, bad: true } : this.told();
    if (this.said.textContent !== text) this.said.textContent = text;
    this.said.classList.toggle("bad", bad);
  }
}
