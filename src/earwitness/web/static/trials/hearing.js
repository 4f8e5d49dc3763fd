// The digit-triplet hearing test: three digits in noise, typed on a keypad or a keyboard. The ratio
// of speech to noise falls after each correct triplet and rises after each wrong one. A reload
// returns to the same triplet.

import { announce, button, heading, make, show } from "../dom.js";
import { say } from "../messages.js";
import { problemOf } from "../sound.js";

/** @typedef {{ responses: string[] }} HearingDraft */
/** @import { HearingView, PageContext } from "../types.d.ts" */

const [START, STEP, LOWEST, HIGHEST, LEADING] = [0, 2, -30, 10, 4]; // dB, and triplets not averaged
const NOISE = -26; // dB of full scale, RMS
const [BEFORE, BETWEEN, AFTER] = [0.5, 0.2, 0.4]; // seconds of noise around the digits
const COPIES = 240; // of digits, superposed at random places as noise
const SIZE = 3; // digits of a triplet
const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"];

/** @param {number} decibels */
const factor = (decibels) => 10 ** (decibels / 20);

/** The ratios of all triplets so far, and of the next one, in dB.
 * @param {number[][]} triplets
 * @param {string[]} responses */
export function trackRatios(triplets, responses) {
  const ratios = [START];
  responses.forEach((response, n) => {
    const step = response === triplets[n].join("") ? -STEP : STEP;
    ratios.push(Math.min(HIGHEST, Math.max(LOWEST, ratios[n] + step)));
  });
  return ratios;
}

/** The speech reception threshold in dB, rounded to two decimals.
 * @param {number[][]} triplets
 * @param {string[]} responses */
export function threshold(triplets, responses) {
  const used = trackRatios(triplets, responses).slice(LEADING);
  return Math.round((100 * used.reduce((sum, one) => sum + one, 0)) / used.length) / 100;
}

/** @param {Float32Array} samples */
function rms(samples) {
  return Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length) || 1;
}

/** Noise with the long-term spectrum of the digits: many of them, superposed at random places.
 * @param {Float32Array[]} digits
 * @param {number} length */
function speechNoise(digits, length) {
  const made = new Float32Array(length);
  for (let n = 0; n < COPIES; n += 1) {
    const digit = digits[n % digits.length];
    const sign = Math.random() < 0.5 ? -1 : 1;
    let place = Math.floor(Math.random() * length);
    for (const one of digit) {
      made[place] += sign * one;
      place = place + 1 === length ? 0 : place + 1;
    }
  }
  const gain = factor(NOISE) / rms(made);
  return made.map((one) => one * gain);
}

/** Three digits in noise; the noise has a fixed level, each digit the level of the ratio.
 * @param {AudioContext} context
 * @param {Float32Array[]} digits
 * @param {number[]} triplet
 * @param {number} ratio */
function stimulus(context, digits, triplet, ratio) {
  const rate = context.sampleRate;
  const spoken = triplet.map((digit) => digits[digit]);
  const seconds = BEFORE + AFTER + BETWEEN * (SIZE - 1);
  const length = Math.round(seconds * rate) + spoken.reduce((sum, one) => sum + one.length, 0);
  const made = speechNoise(digits, length);
  let place = Math.round(BEFORE * rate);
  for (const digit of spoken) {
    const gain = factor(NOISE + ratio) / rms(digit);
    for (const one of digit) made[place++] += one * gain;
    place += Math.round(BETWEEN * rate);
  }
  const peak = made.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
  const buffer = context.createBuffer(1, length, rate);
  buffer.copyToChannel(peak > 1 ? made.map((one) => one / peak) : made, 0);
  return buffer;
}

/** Show the test.
 * @param {HearingView} view
 * @param {PageContext} at */
export async function showTrial(view, at) {
  if (at.refused) await at.draft.write({});
  /** @type {HearingDraft} */
  const draft = { responses: [], ...(await at.draft.read()) };
  while (!at.left.aborted && draft.responses.length < view.triplets.length) {
    draft.responses.push(await askTriplet(view, at, draft.responses));
    await at.draft.write(draft);
  }
  const { responses } = draft;
  if (!at.left.aborted) at.answer({ responses, srt: threshold(view.triplets, responses) }, at.sounds.facts);
}

/** Play one triplet once, then wait for the digits; resolves with the digits.
 * @param {HearingView} view
 * @param {PageContext} at
 * @param {string[]} responses
 * @returns {Promise<string>} */
function askTriplet(view, at, responses) {
  const place = responses.length;
  const ratio = trackRatios(view.triplets, responses)[place];
  const over = new AbortController();
  let [typed, isOpen, isBusy] = ["", false, false];
  const said = make("p", { class: "said bad", role: "status" });
  const shown = make("output", { class: "typed", "aria-label": say("typed") });
  return new Promise((resolve) => {
    const update = () => {
      shown.textContent = typed.padEnd(SIZE, "·");
      for (const key of keys) key.disabled = !isOpen || typed.length === SIZE;
      erase.disabled = !isOpen || !typed;
      going.disabled = !isOpen || typed.length < SIZE;
    };
    /** @param {string} digit */
    const type = (digit) => {
      typed += digit;
      update();
      announce(typed.split("").join(" "));
    };
    const remove = () => {
      typed = typed.slice(0, -1);
      update();
    };
    const keys = KEYS.map((digit) => button(digit, () => type(digit), { "data-key": digit, class: "digit" }));
    const erase = button(say("digit_delete"), remove, { class: "erase" });
    const going = button(say("next"), () => (over.abort(), resolve(typed)), { main: true });
    const playing = button(say("play"), async () => {
      if (isBusy || isOpen) return;
      isBusy = true;
      playing.setAttribute("aria-disabled", "true");
      playing.textContent = say("playing");
      try {
        await at.sounds.wake();
        const buffers = await Promise.all(view.sounds.map(({ address }) => at.sounds.load(address)));
        const digits = buffers.map((buffer) => buffer.getChannelData(0));
        const { ended } = await at.sounds.play(stimulus(at.sounds.context, digits, view.triplets[place], ratio), at.left);
        if (at.left.aborted) return;
        isOpen = ended;
        said.textContent = ended ? "" : say("sound_broken");
      } catch (/** @type {any} */ error) {
        said.textContent = problemOf(error);
        at.events.tell("sound", { told: error.name });
      }
      isBusy = false;
      playing.setAttribute("aria-disabled", String(isOpen));
      playing.textContent = say(isOpen ? "heard" : "play");
      playing.toggleAttribute("data-main", !isOpen);
      update();
      if (isOpen) pad.focus({ preventScroll: true });
      announce(isOpen ? say("now_choose") : said.textContent);
    }, { class: "play plain", "data-main": true });
    const pad = make("div", { class: "keypad", role: "group", "aria-label": say("typed"), tabindex: "-1" }, keys);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Backspace" && shown.isConnected && !erase.disabled) remove();
    }, { signal: over.signal });
    at.left.addEventListener("abort", () => over.abort());
    const count = say("triplet", { number: place + 1, count: view.triplets.length });
    show(heading(view.title), make("p", { class: "steps" }, count), make("section", { class: "card hearing" },
      make("p", { class: "told" }, say("hearing_told")), playing, said, make("div", { class: "entry" }, shown, erase), pad), going);
    update();
    announce(`${count}. ${say("hearing_told")}`);
  });
}
