// Renders the switching engine offline; what is asked of it happens at given times of the graph.
import { Switching } from "/static/switching.js";

/** Samples as base64 of 32-bit floats, and back.
 * @param {string} text */
const samplesOf = (text) => new Float32Array(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer);
/** @param {Float32Array} samples */
function textOf(samples) {
  const bytes = new Uint8Array(samples.buffer);
  const parts = Array.from({ length: Math.ceil(bytes.length / 32768) }, (_, n) =>
    String.fromCharCode(...bytes.subarray(32768 * n, 32768 * (n + 1))));
  return btoa(parts.join(""));
}

/** @param {{ rate: number, seconds: number, sounds: string[], options?: object,
 *   acts: [number, string, ...any[]][] }} given */
export async function rendered({ rate, seconds, sounds, options = {}, acts }) {
  const context = new OfflineAudioContext(1, Math.round(seconds * rate), rate);
  const buffers = sounds.map(samplesOf).map((samples) => {
    const buffer = context.createBuffer(1, samples.length, rate);
    buffer.copyToChannel(samples, 0);
    return buffer;
  });
  const fake = { context, output: context.destination, wake: async () => {},
    load: async (/** @type {string} */ address) => buffers[Number(address)] };
  const engine = new Switching(/** @type {any} */ (fake), buffers.map((_, n) => String(n)),
    new AbortController().signal, options);
  await engine.load();
  const times = [];
  for (const [at, name, ...more] of acts) {
    context.suspend(at).then(async () => {
      times.push(context.currentTime);
      await /** @type {any} */ (engine)[name](...more);
      context.resume();
    });
  }
  const output = await context.startRendering();
  return { samples: textOf(output.getChannelData(0)), times, plays: engine.plays, spans: engine.spans };
}

/** Switch between two constant sounds in real time; returns for each switch the milliseconds from the
 * request to the end of the fade, and of the fade itself, on the clock of the context.
 * @param {number} count */
export async function timed(count) {
  const context = new AudioContext({ latencyHint: "interactive" });
  await context.audioWorklet.addModule("/tests/recorder.js");
  const recorder = new AudioWorkletNode(context, "recorder");
  /** @type {number[]} */
  const frames = [];
  recorder.port.onmessage = ({ data }) => frames.push(...data);
  recorder.connect(context.destination);
  const buffers = [1, 0].map((value) => {
    const buffer = context.createBuffer(1, 60 * context.sampleRate, context.sampleRate);
    buffer.getChannelData(0).fill(value);
    return buffer;
  });
  const fake = { context, output: recorder, wake: () => context.resume(),
    load: async (/** @type {string} */ address) => buffers[Number(address)] };
  const engine = new Switching(/** @type {any} */ (fake), ["0", "1"], new AbortController().signal, {});
  const wait = (/** @type {number} */ seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
  await engine.play(0);
  await wait(0.3);
  const asked = [];
  for (let n = 0; n < count; n += 1) {
    asked.push(context.currentTime);
    engine.switchTo(1 - engine.current);
    await wait(0.04 + 0.02 * Math.random());
  }
  await wait(0.3);
  engine.pause();
  const fades = frames.filter((frame, n) => frame - frames[n - 1] > 2).map((frame) => {
    const end = frames.findIndex((one, n) => one >= frame && !(frames[n + 1] - one <= 2));
    return [frame / context.sampleRate, frames[end] / context.sampleRate];
  });
  const found = asked.flatMap((at) => {
    const fade = fades.find(([start]) => start >= at);
    return fade ? [[1000 * (fade[1] - at), 1000 * (fade[1] - fade[0])]] : [];
  });
  return { found, buffer: 1000 * context.baseLatency };
}
