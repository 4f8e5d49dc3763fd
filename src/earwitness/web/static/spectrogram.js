// A small spectrogram of a decoded sound, computed in the page.

import { colourAt } from "./navigator/draw.js";

const WINDOW = 1024; // samples, a power of 2
const LOWEST = 60; // hertz
const HIGHEST = 14000; // hertz
const RANGE = 65; // decibels below the loudest level

/** Power spectrum of WINDOW samples, in place: `re` holds the samples, then the power of each bin.
 * @param {Float64Array} re
 * @param {Float64Array} im */
function transform(re, im) {
  const count = re.length;
  for (let n = 1, other = 0; n < count; n += 1) {
    let bit = count >> 1;
    for (; other & bit; bit >>= 1) other ^= bit;
    other ^= bit;
    if (n < other) [re[n], re[other]] = [re[other], re[n]];
  }
  for (let size = 2; size <= count; size *= 2) {
    const half = size / 2;
    for (let k = 0; k < half; k += 1) {
      const [cos, sin] = [Math.cos((2 * Math.PI * k) / size), -Math.sin((2 * Math.PI * k) / size)];
      for (let at = k; at < count; at += size) {
        const [x, y] = [re[at + half] * cos - im[at + half] * sin, re[at + half] * sin + im[at + half] * cos];
        [re[at + half], im[at + half]] = [re[at] - x, im[at] - y];
        [re[at], im[at]] = [re[at] + x, im[at] + y];
      }
    }
  }
  for (let bin = 0; bin <= count / 2; bin += 1) re[bin] = re[bin] ** 2 + im[bin] ** 2;
}

/** The levels of a sound in decibels, by column and row; rows are on a logarithmic frequency axis, low
 * frequencies first.
 * @param {AudioBuffer} buffer
 * @param {number} columns
 * @param {number} rows */
export function levelsOf(buffer, columns, rows) {
  const { length, sampleRate } = buffer;
  const samples = buffer.getChannelData(0);
  const hann = Float64Array.from({ length: WINDOW }, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / WINDOW));
  const top = Math.min(HIGHEST, sampleRate / 2.1);
  const bins = Array.from({ length: rows + 1 }, (_, n) => (LOWEST * (top / LOWEST) ** (n / rows) * WINDOW) / sampleRate);
  const levels = new Float32Array(columns * rows);
  const [re, im] = [new Float64Array(WINDOW), new Float64Array(WINDOW)];
  for (let column = 0; column < columns; column += 1) {
    const start = Math.round(((column + 0.5) / columns) * length - WINDOW / 2);
    for (let n = 0; n < WINDOW; n += 1) re[n] = (samples[start + n] ?? 0) * hann[n];
    im.fill(0);
    transform(re, im);
    for (let row = 0; row < rows; row += 1) {
      const first = Math.round(bins[row]);
      let most = 0;
      for (let bin = first; bin <= Math.max(first, Math.round(bins[row + 1]) - 1); bin += 1) most = Math.max(most, re[bin]);
      levels[column * rows + row] = 10 * Math.log10(most + 1e-12);
    }
  }
  return levels;
}

/** Draw the spectrogram of a sound on a canvas of its size.
 * @param {HTMLCanvasElement} canvas
 * @param {AudioBuffer} buffer
 * @param {Parameters<typeof colourAt>[0]} palette */
export function drawSpectrogram(canvas, buffer, palette = "magma") {
  const { width, height } = canvas;
  const context = canvas.getContext("2d");
  if (!context) return;
  const levels = levelsOf(buffer, width, height);
  const high = levels.reduce((most, level) => Math.max(most, level), -Infinity);
  const image = context.createImageData(width, height);
  const colours = Array.from({ length: 256 }, (_, n) => colourAt(palette, n / 255));
  levels.forEach((level, place) => {
    const [x, y] = [Math.floor(place / height), height - 1 - (place % height)];
    const colour = colours[Math.round(255 * Math.min(1, Math.max(0, 1 + (level - high) / RANGE)))];
    image.data.set([...colour, 255], 4 * (y * width + x));
  });
  context.putImageData(image, 0, 0);
}
