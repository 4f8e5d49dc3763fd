// Playback of a recording from any point: chunks of sound that the server cuts at whole samples, joined
// on the clock of one audio context without gaps.

import { request } from "./tiles.js";

/** @import { RecordingInfo } from "../types.d.ts" */
/** @typedef {{ frame: number, count: number }} Chunk */
/** @typedef {{ when: number, frame: number, count: number, source: AudioBufferSourceNode }} Scheduled */
/** @typedef {{ stop: AbortController, gain: GainNode, scheduled: Scheduled[], heard: number, from: number,
 *   last: number, isDone: boolean }} Run */

const FIRST = 1; // seconds of the first chunk: it comes soonest
const NEXT = 8; // seconds of all others
const AHEAD = 6; // seconds that are scheduled in advance
const LEAD = 0.01; // seconds between scheduling and start
const OVERLAP = 0.004; // seconds in which a chunk fades into the next one
const LOOK = 40; // milliseconds
const SHORTEST_LOOP = 0.05; // seconds
const MAX_KEPT = 12; // chunks
const RATES = [8000, 192000]; // hertz of a context that browsers support

/** The samples of a WAV file with 16-bit PCM, by channel.
 * @param {ArrayBuffer} file
 * @returns {Float32Array<ArrayBuffer>[]} */
export function samplesOf(file) {
  const view = new DataView(file);
  /** @param {number} at */
  const name = (at) => String.fromCharCode(...new Uint8Array(file, at, 4));
  let channels = 1;
  for (let at = 12; at + 8 <= file.byteLength; ) {
    const length = view.getUint32(at + 4, true);
    if (name(at) === "fmt ") channels = view.getUint16(at + 10, true);
    if (name(at) === "data") {
      const count = Math.floor(Math.min(length, file.byteLength - at - 8) / (2 * channels));
      const found = Array.from({ length: channels }, () => new Float32Array(count));
      for (const [channel, samples] of found.entries()) {
        const first = at + 8 + 2 * channel;
        for (let n = 0; n < count; n += 1) samples[n] = view.getInt16(first + 2 * n * channels, true) / 32768;
      }
      return found;
    }
    at += 8 + length + (length % 2);
  }
  throw new Error("no samples in the reply");
}

export class Playback {
  /** @type {{ context: BaseAudioContext, output: AudioNode, level: GainNode } | null} */
  #graph = null;
  /** @type {Map<string, Promise<Float32Array<ArrayBuffer>[]>>} */
  #kept = new Map();
  /** @type {Run | null} */
  #run = null;
  #level = 1;
  #timer = 0;
  /** Whether a selection is repeated. */
  isLooping = false;

  /** `hears` holds callbacks: playback started, moved, ended (with what was heard, and whether at the end of
   * what was to be played), or failed.
   * @param {string} address
   * @param {RecordingInfo} info
   * @param {{ started(): void, moved(): void, ended(start: number, seconds: number, whole: boolean): void,
   *   failed(error: any): void }} hears
   * @param {{ context: BaseAudioContext, output: AudioNode }} [audio] */
  constructor(address, info, hears, audio) {
    this.address = address;
    this.info = info;
    this.hears = hears;
    this.audio = audio;
    this.frames = Math.floor(info.seconds * info.rate + 1e-6);
  }

  get isPlaying() {
    return Boolean(this.#run);
  }

  /** Volume as a factor from 0 to 1.
   * @param {number} factor */
  setLevel(factor) {
    this.#level = factor;
    if (this.#graph) this.#graph.level.gain.value = factor;
  }

  /** Open the audio context, at the rate of the recording if the browser allows it: nothing is resampled
   * before chunks are joined. */
  open() {
    if (this.#graph) return this.#graph;
    const { context, output } = this.audio ?? this.#opened();
    const level = context.createGain();
    level.gain.value = this.#level;
    level.connect(output);
    this.#graph = { context, output, level };
    return this.#graph;
  }

  #opened() {
    const { rate } = this.info;
    let context;
    try {
      const wanted = rate * Math.max(1, Math.ceil(RATES[0] / rate));
      const sampleRate = wanted <= RATES[1] ? wanted : undefined;
      context = new AudioContext({ latencyHint: "interactive", sampleRate });
    } catch {
      context = new AudioContext({ latencyHint: "interactive" });
    }
    return { context, output: context.destination };
  }

  /** Start the audio context and load what a click at a time would play.
   * @param {number} start */
  prepare(start) {
    const { context } = this.open();
    if (context instanceof AudioContext && context.state !== "running") context.resume().catch(() => {});
    this.#chunk(this.#chunks(start, start + FIRST, false).next().value ?? { frame: 0, count: 0 }).catch(() => {});
  }

  /** Play a part, to its end or in a loop.
   * @param {number} start
   * @param {number} end
   * @param {number} [from] where to begin within the part */
  async play(start, end, from = start) {
    this.stop();
    const { context, level } = this.open();
    const stop = new AbortController();
    const gain = context.createGain();
    gain.connect(level);
    /** @type {Run} */
    const run = { stop, gain, scheduled: [], heard: 0, from, last: from, isDone: false };
    this.#run = run;
    try {
      if (context instanceof AudioContext && context.state !== "running") await context.resume();
      for (const chunk of this.#chunks(start, end, true, from)) {
        const samples = await this.#chunk(chunk);
        if (stop.signal.aborted) return;
        this.#schedule(run, chunk, samples);
        await this.#untilNeeded(run);
        if (stop.signal.aborted) return;
      }
      run.isDone = true;
      if (!run.scheduled.length) this.#end(run, true);
    } catch (error) {
      if (stop.signal.aborted) return;
      this.stop();
      this.hears.failed(error);
    }
  }

  /** Chunks of a part, in order; endless if the part is repeated.
   * @param {number} start
   * @param {number} end
   * @param {boolean} loops
   * @param {number} from
   * @returns {Generator<Chunk, void>} */
  *#chunks(start, end, loops, from = start) {
    const { rate } = this.info;
    const first = Math.max(0, Math.round(start * rate));
    const last = Math.min(this.frames, Math.round(end * rate));
    let frame = Math.min(last, Math.max(first, Math.round(from * rate)));
    let most = Math.round(FIRST * rate);
    for (;;) {
      while (frame < last) {
        const count = Math.min(most, last - frame);
        yield { frame, count };
        frame += count;
        most = Math.round(NEXT * rate);
      }
      if (!loops || !this.isLooping || last - first < SHORTEST_LOOP * rate) return;
      frame = first;
    }
  }

  /** The samples of a chunk and of its overlap with the next one.
   * @param {Chunk} chunk */
  #chunk({ frame, count }) {
    const { rate } = this.info;
    const all = Math.min(this.frames - frame, count + Math.round(OVERLAP * rate));
    const address = `${this.address}/sound?start=${frame / rate}&seconds=${all / rate}`;
    const known = this.#kept.get(address);
    if (known) return known;
    const loading = request(address).then((reply) => reply.arrayBuffer()).then(samplesOf);
    loading.catch(() => this.#kept.delete(address));
    this.#kept.set(address, loading);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break;
      this.#kept.delete(oldest);
    }
    return loading;
  }

  /** Schedule a chunk after the one before it; after a delay of the network, as soon as possible. Both ends
   * fade over the overlap, where neighbours have the same samples: their sum is the recording.
   * @param {Run} run
   * @param {Chunk} chunk
   * @param {Float32Array<ArrayBuffer>[]} samples */
  #schedule(run, { frame, count }, samples) {
    const { context } = this.open();
    const { rate } = this.info;
    const soonest = context.currentTime + LEAD;
    const before = run.scheduled.at(-1);
    const next = before ? before.when + before.count / rate : 0;
    const when = before && next >= context.currentTime ? next : this.#onSample(soonest);
    const length = samples[0].length;
    const fade = Math.min(Math.round(OVERLAP * rate), count);
    const buffer = context.createBuffer(samples.length, Math.max(1, length), rate);
    for (const [channel, from] of samples.entries()) {
      const to = buffer.getChannelData(channel);
      to.set(from);
      for (let n = 0; n < Math.min(fade, length); n += 1) {
        to[n] *= (n + 0.5) / fade;
        if (count + n < length) to[count + n] *= 1 - (n + 0.5) / fade;
      }
    }
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(run.gain);
    source.start(when);
    run.scheduled.push({ when, frame, count, source });
    if (!before) this.#started(run);
  }

  /** @param {number} time */
  #onSample(time) {
    const { sampleRate } = this.open().context;
    return Math.ceil(time * sampleRate) / sampleRate;
  }

  /** @param {Run} run */
  #started(run) {
    this.hears.started();
    this.#timer = setInterval(() => this.#look(run), LOOK);
  }

  /** Wait until the next chunk has to be loaded.
   * @param {Run} run */
  async #untilNeeded(run) {
    const { context } = this.open();
    const end = () => {
      const { when, count } = run.scheduled[run.scheduled.length - 1];
      return when + count / this.info.rate;
    };
    while (!run.stop.signal.aborted && end() - context.currentTime > AHEAD) {
      await new Promise((done) => setTimeout(done, 200));
    }
  }

  /** @param {Run} run */
  #look(run) {
    if (this.#run !== run) return;
    const { context } = this.open();
    this.#count(run);
    const last = run.scheduled[run.scheduled.length - 1];
    if (run.isDone && context.currentTime >= last.when + last.count / this.info.rate) this.#end(run, true);
    else this.hears.moved();
  }

  /** Count what was heard; chunks that are over are not needed any more.
   * @param {Run} run */
  #count(run) {
    const { currentTime } = this.open().context;
    const { rate } = this.info;
    while (run.scheduled.length > 1 && run.scheduled[1].when <= currentTime) {
      run.heard += (run.scheduled.shift()?.count ?? 0) / rate;
    }
  }

  /** Where it plays, in seconds; null if nothing plays. */
  get position() {
    const run = this.#run;
    if (!run) return null;
    this.#count(run);
    const now = run.scheduled[0];
    if (!now) return run.from;
    return now.frame / this.info.rate + this.#passed(now);
  }

  /** @param {Scheduled} scheduled */
  #passed({ when, count }) {
    return Math.min(count / this.info.rate, Math.max(0, this.open().context.currentTime - when));
  }

  stop() {
    if (this.#run) this.#end(this.#run, false);
  }

  /** @param {Run} run
   * @param {boolean} whole */
  #end(run, whole) {
    this.#count(run);
    const seconds = run.heard + (run.scheduled[0] ? this.#passed(run.scheduled[0]) : 0);
    run.stop.abort();
    clearInterval(this.#timer);
    this.#run = null;
    const { currentTime } = this.open().context;
    run.gain.gain.setTargetAtTime(0, currentTime, 0.003);
    for (const { source } of run.scheduled) source.stop(currentTime + 0.03);
    setTimeout(() => run.gain.disconnect(), 200);
    this.hears.ended(run.from, seconds, whole);
  }

  close() {
    this.stop();
    const context = this.#graph?.context;
    if (!this.audio && context instanceof AudioContext) setTimeout(() => context.close(), 100);
  }
}
