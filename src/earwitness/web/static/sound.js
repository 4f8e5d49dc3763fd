// Playback: one audio context; the sounds of this and the next trial are decoded in advance, started
// on the clock of the context and monitored to the end.

import { say } from "./messages.js";

/** @import { PlayResult } from "./types.d.ts" */

const FADE = 0.004; // seconds of raised cosine at both ends
const LEAD = 0.01; // seconds between a click and the start on the clock
const GAP = 0.05; // seconds by which the clock may fall behind
export const STUCK = 3000; // milliseconds without progress of the clock
const LOOK = 100;
const LOWEST_RATE = 44100; // hertz of the context: blocks of 128 samples stay below 3 ms

/** A playback error; `name` is the key of its message. */
export class SoundError extends Error {
  /** @param {string} name
   * @param {unknown} [cause] */
  constructor(name, cause) {
    super(name, { cause });
    this.name = name;
  }
}

/** The message of a playback error.
 * @param {any} error */
export function problemOf(error) {
  return say(error.name?.startsWith("sound_") ? error.name : "sound_broken");
}

const RISE = Float32Array.from({ length: 65 }, (_, n) => 0.5 - 0.5 * Math.cos((Math.PI * n) / 64));
export const FALL = RISE.slice().reverse();

/** Fade a gain in and out around a sound.
 * @param {AudioParam} gain
 * @param {number} start
 * @param {number} seconds
 * @param {number} length */
export function fade(gain, start, seconds, length = FADE) {
  const part = Math.min(length, seconds / 2.5);
  gain.setValueCurveAtTime(RISE, start, part);
  gain.setValueCurveAtTime(FALL, start + seconds - part, part);
}

/** Fires `interrupt` when a sound starts that is not a sound of the page, such as a long recording. */
export const interruptions = new EventTarget();

/** Stop all sounds of the page. */
export function interrupt() {
  interruptions.dispatchEvent(new Event("interrupt"));
}

/** Fetch the bytes of a sound; an error reported by our server is not a network error.
 * @param {string} address */
async function fetched(address) {
  let name = "sound_network";
  try {
    const reply = await fetch(address, { cache: "no-store" });
    if (reply.ok) return await reply.arrayBuffer();
    const { error } = await reply.json();
    if (error?.code) name = reply.status < 500 ? "sound_closed" : "sound_missing";
    throw new Error(error?.code ?? String(reply.status));
  } catch (error) {
    throw new SoundError(name, error);
  }
}

export class Sounds {
  /** @type {{ context: AudioContext, level: GainNode } | null} */
  #graph = null; // created when first needed
  /** @type {Map<string, Promise<AudioBuffer>>} */
  #loaded = new Map();
  /** Common sample rate of the audio files of the study in hertz; 0 if they differ. To be set before
   * the first sound is loaded. */
  rate = 0;
  /** Called before a sound of the page starts. */
  onwake = () => {};

  get context() {
    return this.#open().context;
  }

  /** The output node, which applies the listener's volume. */
  get output() {
    return this.#open().level;
  }

  #open() {
    if (this.#graph) return this.#graph;
    const Context = globalThis.AudioContext ?? /** @type {any} */ (globalThis).webkitAudioContext;
    if (!Context) throw new SoundError("sound_none");
    const context = this.#created(Context);
    const level = context.createGain();
    level.connect(context.destination);
    this.#graph = { context, level };
    return this.#graph;
  }

  /** The context at a multiple of the rate of the files, so that the browser does not resample them or
   * only by a whole factor; at the rate of the device if they differ, or if the browser refuses.
   * @param {typeof AudioContext} Context
   * @returns {AudioContext} */
  #created(Context) {
    const sampleRate = this.rate * Math.ceil(LOWEST_RATE / (this.rate || 1));
    try {
      if (sampleRate) return new Context({ latencyHint: "interactive", sampleRate });
    } catch {
      // the rate is not supported
    }
    return new Context({ latencyHint: "interactive" });
  }

  /** Set the volume in decibels (0 or negative) for all sounds.
   * @param {number} decibels */
  setLevel(decibels) {
    this.output.gain.value = 10 ** (Math.min(0, decibels) / 20);
  }

  /** Output latency in seconds and sample rate in hertz. */
  get facts() {
    const { baseLatency = null, outputLatency = null, sampleRate } = this.context;
    return { latency: (baseLatency ?? 0) + (outputLatency ?? 0), rate: sampleRate };
  }

  /** Keep only the sounds of these addresses in memory.
   * @param {string[]} addresses */
  keep(addresses) {
    for (const one of this.#loaded.keys()) if (!addresses.includes(one)) this.#loaded.delete(one);
  }

  /** Load a decoded sound; it is requested once, and again after a failure.
   * @param {string} address
   * @returns {Promise<AudioBuffer>} */
  load(address) {
    const known = this.#loaded.get(address);
    if (known) return known;
    const loading = this.#decoded(address);
    loading.catch(() => this.#loaded.delete(address));
    this.#loaded.set(address, loading);
    return loading;
  }

  /** @param {string} address */
  async #decoded(address) {
    const bytes = await fetched(address);
    const { context } = this;
    try {
      return await context.decodeAudioData(bytes);
    } catch (error) {
      throw new SoundError("sound_broken", error);
    }
  }

  /** Start the audio context, which browsers allow only after a click or a key. */
  async wake() {
    this.onwake();
    const context = this.context;
    const isRunning = () => context.state === "running";
    if (isRunning()) return;
    const late = new Promise((done) => setTimeout(done, 1500));
    await Promise.race([context.resume().catch(() => {}), late]);
    if (!isRunning()) throw new SoundError("sound_asleep");
  }

  /** Suspend playback until woken again. */
  hush() {
    this.#graph?.context.suspend();
  }

  /** Play a sound in a loop until its page is left; returns a function that stops it.
   * @param {AudioBuffer} buffer
   * @param {AbortSignal} left */
  loop(buffer, left) {
    const source = this.context.createBufferSource();
    source.buffer = buffer;
    source.loop = true;
    source.connect(this.output);
    const stop = () => (source.stop(), source.disconnect());
    source.start();
    if (left.aborted) stop();
    left.addEventListener("abort", stop);
    return stop;
  }

  /** Play a decoded sound from `from` to its end, or until its page is left; `moved` is called with
   * the seconds heard so far.
   * @param {AudioBuffer} buffer
   * @param {AbortSignal} left
   * @param {(seconds: number) => void} moved
   * @param {number} from
   * @returns {Promise<PlayResult>} */
  async play(buffer, left, moved = () => {}, from = 0) {
    await this.wake();
    if (left.aborted) return { seconds: 0, ended: false, underruns: 0 };
    const source = this.context.createBufferSource();
    const gain = this.context.createGain();
    source.buffer = buffer;
    source.connect(gain).connect(this.output);
    const start = this.context.currentTime + LEAD;
    gain.gain.setValueAtTime(0, 0);
    const rest = buffer.duration - from;
    fade(gain.gain, start, rest);
    source.start(start, from);
    const at = new Date().toISOString();
    try {
      const { heard, underruns } = await this.#watched(source, start, rest, left, moved);
      return { started: at, seconds: heard, ended: heard >= rest - 0.01, underruns };
    } finally {
      source.disconnect();
      gain.disconnect();
    }
  }

  /** Monitor a sound to its end, comparing the audio clock with the system clock.
   * @param {AudioBufferSourceNode} source
   * @param {number} start
   * @param {number} duration
   * @param {AbortSignal} left
   * @param {(seconds: number) => void} moved
   * @returns {Promise<{ heard: number, underruns: number }>} */
  #watched(source, start, duration, left, moved) {
    const { context } = this;
    const heard = () => Math.max(0, Math.min(duration, context.currentTime - start));
    return new Promise((done) => {
      const watch = new Watch(context);
      const over = () => {
        clearInterval(timer);
        left.removeEventListener("abort", cut);
        interruptions.removeEventListener("interrupt", cut);
        watch.look();
        done({ heard: heard(), underruns: watch.underruns });
      };
      const cut = () => (source.stop(), over());
      const timer = setInterval(() => {
        watch.look();
        moved(heard());
        if (watch.still > STUCK) cut();
      }, LOOK);
      left.addEventListener("abort", cut);
      interruptions.addEventListener("interrupt", cut);
      source.onended = over;
    });
  }
}

/** Counts how often the audio clock falls behind. */
export class Watch {
  underruns = 0;
  still = 0;

  /** @param {AudioContext} context */
  constructor(context) {
    this.context = context;
    this.last = context.currentTime;
    this.moved = performance.now();
    this.clock = this.last;
    this.wall = this.moved;
  }

  #mark() {
    this.clock = this.context.currentTime;
    this.wall = performance.now();
  }

  look() {
    const wall = performance.now() - this.wall;
    const clock = this.context.currentTime - this.clock;
    if (this.context.currentTime > this.last) this.moved = performance.now();
    this.last = this.context.currentTime;
    this.still = performance.now() - this.moved;
    if (this.still > 0) return; // counted once, when it moves again
    if (wall / 1000 - clock > GAP) this.underruns += 1;
    if (wall / 1000 - clock > GAP || clock - wall / 1000 > GAP) this.#mark();
  }
}
