// Free switching between the sounds of a page, on one clock. All sounds run from the same position,
// each through its own gain; listeners hear one of them.
//
// A cross-fade is a signal in the graph itself: a source that rises from 0 to 1 as a raised cosine
// and stays there. It is added to the gain of the new sound and subtracted from that of the old one,
// so the gains always add up to 1, fades may overlap, and no time has to be scheduled ahead: a fade
// starts with the next block of samples that the browser renders. The fades to all other sounds are
// connected in advance. A switch only starts one of them: while a graph is being changed, the browser
// may render a whole output buffer, by which the switch would be late.

import { covered, isWhole, joined } from "./heard_spans.js";
import { FALL, STUCK, Watch, interruptions } from "./sound.js";

/** @import { Play, Span } from "./types.d.ts" */
/** @import { Sounds } from "./sound.js" */

export const FADE = 0.005; // seconds of a cross-fade
const LEAD = 0.02; // seconds ahead at which several sounds are started together
const QUANTUM = 128; // samples that a browser renders at once
const SHORTEST = 0.25; // seconds of the shortest loop
const TAIL = 0.1; // seconds that a sound may still last when it counts as heard
const LOOK = 50; // milliseconds between updates

/** Sounds that started together: `from` is the position at the time `when` in a part of the sounds
 * that begins at `start` and is `length` seconds long.
 * @typedef {{ when: number, from: number, start: number, length: number, looped: boolean,
 *   gains: Map<number, GainNode>, sources: AudioBufferSourceNode[] }} Run */
/** One sound of a run while it is heard; `level` is added to its gain.
 * @typedef {{ run: Run, index: number, level: GainNode, control: AudioBufferSourceNode | null }} Turn */
/** A connected cross-fade to a turn, or to silence; `inverse` subtracts it from the turn before.
 * @typedef {{ turn: Turn | null, control: AudioBufferSourceNode, inverse: GainNode | null }} Cross */
/** A turn that fades out until `over`, on the clock.
 * @typedef {{ turn: Turn, inverse: GainNode, over: number }} Fading */
/** @typedef {{ began?(play: Play): void, moved?(play: Play, before: number): void, ended?(play: Play): void,
 *   paused?(underruns: number, cut: boolean): void }} SwitchingListener */
/** @typedef {{ restart?: boolean, limit?: number, onchange?: () => void, hears?: SwitchingListener,
 *   plays?: Play[], spans?: Span[][] }} SwitchingOptions */

/** @param {number} part from 0 to 1 */
const raisedCosine = (part) => 0.5 - 0.5 * Math.cos(Math.PI * part);

/** The signal of a fade: a raised cosine, then ones, which are repeated.
 * @param {BaseAudioContext} context */
function fadeBuffer(context) {
  const count = fadeSamples(context);
  const buffer = context.createBuffer(1, count + QUANTUM, context.sampleRate);
  buffer.getChannelData(0).fill(1).set(Float32Array.from({ length: count }, (_, n) => raisedCosine(n / count)));
  return buffer;
}

/** @param {BaseAudioContext} context */
const fadeSamples = (context) => Math.round(FADE * context.sampleRate);

/** A part of a sound that can be repeated without a click: its last milliseconds are cross-faded with
 * what precedes its start. A sound that is too short is followed by silence.
 * @param {BaseAudioContext} context
 * @param {AudioBuffer} buffer
 * @param {number} start in samples
 * @param {number} count */
function loopBuffer(context, buffer, start, count) {
  const found = context.createBuffer(buffer.numberOfChannels, count, context.sampleRate);
  const fade = fadeSamples(context);
  for (let channel = 0; channel < buffer.numberOfChannels; channel += 1) {
    const from = buffer.getChannelData(channel);
    const to = found.getChannelData(channel);
    to.set(from.subarray(start, start + count));
    for (let n = 0; n < fade; n += 1) {
      const rise = raisedCosine(n / fade);
      const at = count - fade + n;
      to[at] = (1 - rise) * to[at] + rise * (from[start - fade + n] ?? 0);
      if (start < fade) to[n] *= rise; // nothing precedes the start
    }
  }
  return found;
}

export class Switching {
  /** @type {AudioBuffer[]} */
  #buffers = [];
  /** @type {Run | null} */
  #run = null;
  /** @type {Turn | null} */
  #turn = null;
  /** @type {Fading[]} */
  #fading = [];
  /** @type {Map<number, Cross>} */
  #ready = new Map(); // cross-fades from the current turn to the other sounds
  /** @type {{ start: number, end: number, buffers: Map<number, AudioBuffer> } | null} */
  #region = null;
  /** @type {AudioBuffer | null} */
  #fade = null;
  /** @type {Watch | null} */
  #watch = null;
  #position = 0; // while nothing plays
  #since = 0; // clock time up to which the current turn was counted
  #timer = 0;
  /** @type {(Play | null)[]} */
  #open; // the unfinished play of each sound
  /** @type {boolean[]} */
  #complete; // whether the current turn of a sound has completed a play

  /** `restart` starts from the beginning after each switch. `limit` is the number of complete plays
   * per sound (0: unlimited). `plays` and `spans` continue what was heard before a reload; plays are
   * added to the array itself. `hears` holds callbacks: a play of a sound began, moved or was complete;
   * playback paused.
   * @param {Pick<Sounds, "context" | "output" | "load" | "wake">} sounds
   * @param {string[]} addresses
   * @param {AbortSignal} left
   * @param {SwitchingOptions} options */
  constructor(sounds, addresses, left,
    { restart = false, limit = 0, onchange = () => {}, hears = {}, plays = [], spans = [] } = {}) {
    this.sounds = sounds;
    this.addresses = addresses;
    this.left = left;
    this.restart = restart;
    this.limit = limit;
    this.onchange = onchange;
    this.hears = hears;
    this.plays = plays;
    this.spans = addresses.map((_, n) => spans[n] ?? []);
    this.current = 0;
    this.playing = false;
    this.#complete = addresses.map(() => false);
    this.#open = addresses.map((_, n) => (this.spans[n].length
      ? (plays.findLast((play) => play.sound === n && !play.ended) ?? null) : null));
    left.addEventListener("abort", () => this.pause());
    interruptions.addEventListener("interrupt", () => this.pause(), { signal: left });
  }

  // --- State ---

  /** Length of the longest sound in seconds; 0 until loaded. */
  get duration() {
    return Math.max(0, ...this.#buffers.map((one) => one.duration));
  }

  /** Position in seconds. */
  get position() {
    const run = this.#run;
    if (!run) return this.#position;
    const passed = run.from + Math.max(0, this.sounds.context.currentTime - run.when);
    return run.start + (run.looped ? passed % run.length : Math.min(passed, run.length));
  }

  /** The repeated part as start and end in seconds, or null. */
  get region() {
    return this.#region && [this.#region.start, this.#region.end];
  }

  /** Number of complete plays of a sound.
   * @param {number} index */
  playsOf(index) {
    return this.plays.filter((play) => play.sound === index && play.ended).length;
  }

  /** Whether all of a sound was heard.
   * @param {number} index */
  heardWhole(index) {
    return this.playsOf(index) > 0;
  }

  /** Whether a sound may not be played again.
   * @param {number} index */
  isSpent(index) {
    return this.limit > 0 && this.playsOf(index) >= this.limit;
  }

  // --- Control ---

  /** Load all sounds. */
  async load() {
    this.#buffers = await Promise.all(this.addresses.map((one) => this.sounds.load(one)));
    this.onchange();
  }

  /** Play a sound from the current position; switch to it if another one is playing.
   * @param {number} index */
  async play(index = this.current) {
    if (this.playing) return this.switchTo(index);
    if (this.left.aborted || this.isSpent(index)) return undefined;
    if (index !== this.current && this.restart) this.#position = this.#region?.start ?? 0;
    this.current = index;
    this.playing = true;
    this.onchange();
    try {
      if (!this.#buffers.length) await this.load();
      await this.sounds.wake();
    } catch (error) {
      this.playing = false;
      this.onchange();
      throw error;
    }
    if (this.playing && !this.#run && !this.left.aborted) this.#launch(this.#position);
    return undefined;
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.#count();
    this.#position = this.position;
    this.#stop(false);
  }

  /** Let another sound be heard, at the same position or, with `restart`, from the beginning.
   * @param {number} index */
  switchTo(index) {
    if (index === this.current || this.isSpent(index)) return;
    const ready = this.#ready.get(index);
    if (ready) this.#start(ready, 0); // before anything that takes time
    this.#count();
    this.current = index;
    this.#complete[index] = false;
    if (this.restart) this.#position = this.#region?.start ?? 0;
    if (this.#run && this.restart) this.#launch(this.#position);
    this.onchange();
  }

  /** @param {number} seconds */
  seek(seconds) {
    const { start = 0, end = this.duration } = this.#region ?? {};
    this.#count();
    this.#position = Math.min(Math.max(seconds, start), end);
    if (this.#run) this.#launch(this.#position);
    this.onchange();
  }

  /** Repeat a part of the sounds; null plays to the end again.
   * @param {number | null} start
   * @param {number} end */
  loop(start, end = this.duration) {
    const { position } = this;
    this.#count();
    this.#region = null;
    if (start !== null) {
      const from = Math.max(0, Math.min(start, this.duration - SHORTEST));
      const to = Math.min(this.duration, Math.max(end, from + SHORTEST));
      this.#region = { start: from, end: to, buffers: new Map() };
      this.#position = position < from || position >= to ? from : position;
    } else this.#position = position;
    if (this.#run) this.#launch(this.#position);
    this.onchange();
  }

  // --- The graph ---

  /** Start the sounds at a position, cross-fading with what is heard.
   * @param {number} position */
  #launch(position) {
    const { context } = this.sounds;
    if (!this.#region && position >= this.duration - FADE) position = 0;
    const indices = this.restart ? [this.current] : this.#buffers.map((_, n) => n);
    let lead = indices.length > 1 ? LEAD : 0;
    let run = this.#startAll(indices, position, lead);
    while (lead && context.currentTime + QUANTUM / context.sampleRate > run.when) {
      end(run); // the clock has passed the start, so they may not be together
      run = this.#startAll(indices, position, (lead *= 2));
    }
    this.#run = run;
    this.#start(this.#connect(this.#newTurn(run, this.current)), run.when);
    this.#complete[this.current] = false;
    this.#since = context.currentTime;
    this.#watch ??= new Watch(context);
    this.#timer ||= setInterval(() => this.#look(), LOOK);
  }

  /** @param {number[]} indices
   * @param {number} position
   * @param {number} lead
   * @returns {Run} */
  #startAll(indices, position, lead) {
    const { context, output } = this.sounds;
    const rate = context.sampleRate;
    const region = this.#region;
    const when = Math.ceil((context.currentTime + lead) * rate) / rate;
    const start = region ? Math.round(region.start * rate) : 0;
    const count = region ? Math.round(region.end * rate) - start : Math.round(this.duration * rate);
    const first = Math.min(Math.max(0, Math.round(position * rate) - start), count - 1); // whole samples: nothing is interpolated
    /** @type {Run} */
    const run = { when, from: first / rate, start: start / rate, length: count / rate, looped: Boolean(region),
      gains: new Map(), sources: [] };
    for (const index of indices) {
      const buffer = region ? this.#loopBuffer(index, start, count) : this.#buffers[index];
      const source = new AudioBufferSourceNode(context, { buffer, loop: run.looped });
      const gain = new GainNode(context, { gain: 0 });
      const edge = new GainNode(context);
      const rest = buffer.duration - run.from;
      if (!region && rest > FADE) edge.gain.setValueCurveAtTime(FALL, when + rest - FADE, FADE);
      source.connect(edge).connect(gain).connect(output);
      run.gains.set(index, gain);
      run.sources.push(source);
      source.start(when, run.from);
    }
    const longest = run.sources.reduce((one, other) => (length(other) > length(one) ? other : one));
    longest.onended = () => this.#look();
    return run;
  }

  /** @param {number} index
   * @param {number} start
   * @param {number} count */
  #loopBuffer(index, start, count) {
    const known = this.#region?.buffers.get(index);
    if (known) return known;
    const made = loopBuffer(this.sounds.context, this.#buffers[index], start, count);
    this.#region?.buffers.set(index, made);
    return made;
  }

  /** @param {Run} run
   * @param {number} index
   * @returns {Turn} */
  #newTurn(run, index) {
    const level = new GainNode(this.sounds.context);
    const gain = /** @type {GainNode} */ (run.gains.get(index));
    level.connect(gain.gain);
    return { run, index, level, control: null };
  }

  /** Connect a cross-fade from the current turn to another one, or to silence.
   * @param {Turn | null} turn
   * @returns {Cross} */
  #connect(turn) {
    const { context } = this.sounds;
    this.#fade ??= fadeBuffer(context);
    const loopStart = fadeSamples(context) / context.sampleRate;
    const control = new AudioBufferSourceNode(context, { buffer: this.#fade, loop: true, loopStart,
      loopEnd: this.#fade.duration });
    const inverse = this.#turn && new GainNode(context, { gain: -1 });
    if (turn) {
      control.connect(turn.level);
      turn.control = control;
    }
    if (this.#turn && inverse) control.connect(inverse).connect(this.#turn.level);
    return { turn, control, inverse };
  }

  /** Start a cross-fade, and connect those that may follow.
   * @param {Cross} cross
   * @param {number} when */
  #start(cross, when) {
    cross.control.start(when);
    const { context } = this.sounds;
    if (this.#turn && cross.inverse) {
      const slack = FADE + (context.baseLatency ?? 0) + LEAD; // the fade may start some blocks late
      const over = Math.max(when, context.currentTime) + slack;
      const last = this.#fading.at(-1)?.over ?? 0; // a later fade still needs the control of an earlier one
      this.#fading.push({ turn: this.#turn, inverse: cross.inverse, over: Math.max(over, last) });
    }
    this.#turn = cross.turn;
    for (const one of this.#ready.values()) {
      if (one === cross) continue;
      one.control.disconnect();
      one.turn?.level.disconnect();
      one.inverse?.disconnect();
    }
    this.#ready.clear();
    this.#tidy();
    if (!cross.turn || this.restart) return;
    const { run, index } = cross.turn;
    for (const other of run.gains.keys()) if (other !== index) this.#ready.set(other, this.#connect(this.#newTurn(run, other)));
  }

  /** Remove turns that have faded out; both controls cancel out exactly by then. */
  #tidy() {
    const now = this.sounds.context.currentTime;
    const [over, rest] = [this.#fading.filter((one) => one.over < now), this.#fading.filter((one) => one.over >= now)];
    this.#fading = rest;
    for (const { turn, inverse } of over) {
      turn.level.disconnect();
      turn.control?.stop();
      inverse.disconnect();
      if (turn.run !== this.#run && !rest.some((one) => one.turn.run === turn.run)) end(turn.run);
    }
  }

  /** End playback with a fade.
   * @param {boolean} cut whether the clock has stopped */
  #stop(cut) {
    this.#run = null;
    if (this.#turn) this.#start(this.#connect(null), 0);
    const underruns = this.#watch?.underruns ?? 0;
    this.#watch = null;
    this.hears.paused?.(underruns, cut);
    this.onchange();
  }

  // --- What was heard ---

  /** Update the counts, and stop at the end. */
  #look() {
    this.#tidy();
    const run = this.#run;
    if (!run) {
      if (this.#fading.length) return;
      clearInterval(this.#timer);
      this.#timer = 0;
      return;
    }
    this.#watch?.look();
    this.#count();
    if (!this.playing) return; // the limit of plays was reached
    if (this.#watch && this.#watch.still > STUCK) {
      this.playing = false;
      this.#position = this.position;
      this.#stop(true);
    } else if (!run.looped && run.from + this.sounds.context.currentTime - run.when >= run.length) {
      this.playing = false;
      this.#position = 0;
      this.#stop(false);
    } else this.onchange();
  }

  /** Add what was heard since the last count to the spans of the current sound. */
  #count() {
    const run = this.#run;
    if (!run) return;
    const now = this.sounds.context.currentTime;
    const from = run.from + Math.max(0, this.#since - run.when);
    const to = run.from + Math.max(0, now - run.when);
    this.#since = now;
    if (!run.looped) return this.#hear(Math.min(from, run.length), Math.min(to, run.length));
    const [first, last] = [Math.floor(from / run.length), Math.floor(to / run.length)];
    const [start, end] = [run.start + (from % run.length), run.start + (to % run.length)];
    if (first === last) return this.#hear(start, end);
    this.#hear(last > first + 1 ? run.start : start, run.start + run.length);
    this.#complete[this.current] = false;
    return this.#hear(run.start, end);
  }

  /** @param {number} from
   * @param {number} to */
  #hear(from, to) {
    const index = this.current;
    const length = this.#buffers[index].duration;
    to = Math.min(to, length);
    if (to <= from || this.#complete[index]) return;
    const play = this.#open[index] ?? this.#begin(index);
    const before = play.seconds;
    this.spans[index] = joined(this.spans[index], from, to);
    play.seconds = covered(this.spans[index]);
    if (!isWhole(this.spans[index], length)) return this.hears.moved?.(play, before);
    play.ended = true;
    this.spans[index] = [];
    this.#open[index] = null;
    this.#complete[index] = true;
    this.hears.ended?.(play);
    if (this.isSpent(index)) this.#finish();
    return undefined;
  }

  /** Stop a sound that may not be played again, unless it ends by itself. */
  #finish() {
    const run = this.#run;
    if (run && (run.looped || run.length - (this.position - run.start) > TAIL)) this.pause();
  }

  /** @param {number} index */
  #begin(index) {
    const play = { sound: index, question: "", started: new Date().toISOString(), seconds: 0, ended: false };
    this.plays.push(play);
    this.#open[index] = play;
    this.hears.began?.(play);
    return play;
  }
}

/** @param {AudioBufferSourceNode} source */
const length = (source) => source.buffer?.duration ?? 0;

/** Stop the sounds of a run and take them out of the graph.
 * @param {Run} run */
function end(run) {
  for (const source of run.sources) {
    source.onended = null;
    source.stop();
    source.disconnect();
  }
  for (const gain of run.gains.values()) gain.disconnect();
}
