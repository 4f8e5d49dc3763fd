// Generated sounds for the device check: noise, noise on one side, Huggins pitch, and tones, one of
// them with opposite phase at the two ears. All are buffers at the sample rate of the context.

const PITCH = 600; // hertz of the Huggins pitch
const SHARP = 12; // quality of the all-pass, so its phase turns once within about a tenth of the pitch
const TONE = 200; // hertz
const RAMP = 0.05; // seconds
const QUIET = 0.5; // the quieter tone, 6 dB down

/** @param {number} decibels */
const factor = (decibels) => 10 ** (decibels / 20);

/** White noise or speech-shaped noise, at a level in dB of full scale (RMS).
 * @param {number} length
 * @param {number} level
 * @param {boolean} shaped */
function noise(length, level, shaped) {
  const made = Float32Array.from({ length }, () => Math.random() * 2 - 1);
  if (shaped) for (let n = 1; n < length; n += 1) made[n] = 0.9 * made[n - 1] + 0.1 * made[n];
  const power = made.reduce((sum, one) => sum + one * one, 0) / length;
  const gain = factor(level) / Math.sqrt(power);
  return made.map((one) => Math.max(-1, Math.min(1, one * gain)));
}

/** @param {Float32Array<ArrayBuffer>} samples
 * @param {number} rate */
function ramped(samples, rate) {
  const part = Math.round(RAMP * rate);
  return samples.map((one, n) => {
    const edge = Math.min(n, samples.length - 1 - n);
    return edge >= part ? one : one * (0.5 - 0.5 * Math.cos((Math.PI * edge) / part));
  });
}

/** @param {BaseAudioContext} context
 * @param {Float32Array<ArrayBuffer>} left
 * @param {Float32Array<ArrayBuffer>} right */
function stereo(context, left, right) {
  const made = context.createBuffer(2, left.length, context.sampleRate);
  made.copyToChannel(left, 0);
  made.copyToChannel(right, 1);
  return made;
}

/** Speech-shaped noise on both sides, to set the volume.
 * @param {BaseAudioContext} context
 * @param {number} level
 * @param {number} seconds */
export function levelNoise(context, level, seconds = 4) {
  const made = noise(Math.round(seconds * context.sampleRate), level, true);
  return stereo(context, made, made);
}

/** Noise on one side: 0 is left, 1 is right.
 * @param {BaseAudioContext} context
 * @param {number} side
 * @param {number} level */
export function sideNoise(context, side, level = -32) {
  const made = ramped(noise(Math.round(0.8 * context.sampleRate), level, true), context.sampleRate);
  const none = new Float32Array(made.length);
  return side === 0 ? stereo(context, made, none) : stereo(context, none, made);
}

/** Noise that is identical in both ears; the target has a phase shift around the pitch.
 * @param {BaseAudioContext} context
 * @param {boolean} target
 * @param {number} level */
export async function huggins(context, target, level = -32) {
  const { sampleRate } = context;
  const made = ramped(noise(sampleRate, level, false), sampleRate);
  if (!target) return stereo(context, made, made);
  const offline = new OfflineAudioContext(2, made.length, sampleRate);
  const source = offline.createBufferSource();
  source.buffer = offline.createBuffer(1, made.length, sampleRate);
  source.buffer.copyToChannel(made, 0);
  const turned = new BiquadFilterNode(offline, { type: "allpass", frequency: PITCH, Q: SHARP });
  const both = offline.createChannelMerger(2);
  source.connect(both, 0, 0);
  source.connect(turned).connect(both, 0, 1);
  both.connect(offline.destination);
  source.start();
  return offline.startRendering();
}

/** A tone: plain, quieter, or with the right ear in opposite phase.
 * @param {BaseAudioContext} context
 * @param {"plain" | "quiet" | "opposite"} how
 * @param {number} level */
export function tone(context, how, level = -26) {
  const { sampleRate } = context;
  const high = factor(level) * Math.SQRT2 * (how === "quiet" ? QUIET : 1);
  const wave = Float32Array.from({ length: sampleRate }, (_, n) =>
    high * Math.sin((2 * Math.PI * TONE * n) / sampleRate));
  const made = ramped(wave, sampleRate);
  return stereo(context, made, how === "opposite" ? made.map((one) => -one) : made);
}
