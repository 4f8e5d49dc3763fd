// The device page: volume, left and right, and two headphone checks.

import { huggins, levelNoise, sideNoise, tone } from "./device_stimuli.js";
import { announce, button, heading, make, show } from "./dom.js";
import { say } from "./messages.js";
import { problemOf } from "./sound.js";

/** @typedef {{ level?: number, chosen: Partial<Record<DeviceStep, number[]>> }} DeviceDraft */
/** @typedef {{ name: DeviceStep, at: PageContext, top: (round: string) => HTMLElement[], done: DeviceDraft,
 *   targets: number[] }} Step */
/** @typedef {(target: number, lit: (n: number) => void) => Promise<unknown>} Played */
/** @import { DeviceStep, DeviceView, PageContext } from "./types.d.ts" */

const NOISE = -30; // dB of full scale, RMS
const [LOWEST, FIRST] = [-40, -10]; // dB of the level
const PAUSE = 300; // milliseconds between sounds

/** @param {number} time */
const later = (time) => new Promise((done) => setTimeout(done, time));

/** Ask for the volume only, on a device where it was not set yet; start from `first`, set on another device.
 * @param {number} first
 * @param {PageContext} at */
export async function askLevel(first, at) {
  const found = await level(at, [heading(say("device_level")), make("p", { class: "notice" }, say("level_again"))], first);
  at.events.tell("level", { level: found });
}

/** Go through the steps that the server requests, then send the results. Steps completed before a
 * reload are not repeated, except for the volume if this device no longer stores it.
 * @param {DeviceView} view
 * @param {PageContext} at */
export async function showDevice(view, at) {
  if (at.refused) await at.draft.write({});
  const done = { chosen: {}, ...(await at.draft.read()) };
  if (at.volume.get() === null) delete done.level;
  if (!at.left.aborted) allSteps(view, at, done);
}

/** @param {DeviceView} view
 * @param {PageContext} at
 * @param {DeviceDraft} done */
async function allSteps(view, at, done) {
  /** @type {Record<DeviceStep, (step: Step) => Promise<unknown>>} */
  const steps = { level: firstLevel, sides, huggins: hugginsCheck, antiphase };
  /** @type {Record<string, unknown>} */
  const found = {};
  for (const [n, name] of view.steps.entries()) {
    const step = say("step", { number: n + 1, count: view.steps.length });
    /** @param {string} round */
    const top = (round) => [heading(say(`device_${name}`)), make("p", { class: "steps" }, step + round)];
    found[name] = await steps[name]({ name, at, top, done, targets: view.trials[name] ?? [] });
  }
  const { latency, rate } = at.sounds.facts;
  at.answer(found, { latency, rate, channels: at.sounds.context.destination.maxChannelCount });
}

/** Play a sound; show a message and return false if that fails.
 * @param {PageContext} at
 * @param {HTMLElement} said
 * @param {() => unknown} act */
async function trying(at, said, act) {
  said.textContent = "";
  try {
    await at.sounds.wake();
    await act();
    return true;
  } catch (/** @type {any} */ error) {
    said.textContent = problemOf(error);
    at.events.tell("sound", { told: error.name });
    announce(said.textContent);
    return false;
  }
}

/** @param {Step} step */
async function firstLevel({ at, top, done }) {
  done.level ??= await level(at, top(""));
  at.sounds.setLevel(done.level);
  await at.draft.write(done);
  return done.level;
}

/** @param {PageContext} at
 * @param {HTMLElement[]} top
 * @param {number} first
 * @returns {Promise<number>} */
function level(at, top, first = FIRST) {
  const { sounds } = at;
  const said = make("p", { class: "said bad", role: "status" });
  /** @type {HTMLInputElement} */
  const slider = make("input", { type: "range", min: String(LOWEST), max: "0", step: "1", id: "level",
    input: () => sounds.setLevel(Number(slider.value)) });
  slider.value = String(first);
  /** @type {(() => void) | null} */
  let silence = null;
  /** @type {(level: number) => void} */
  let finish = () => {};
  const done = () => {
    stop();
    at.volume.keep(Number(slider.value));
    finish(Number(slider.value));
  };
  const going = button(say("go_on"), done, { main: true, disabled: true });
  const stop = () => {
    silence?.();
    silence = null;
    playing.textContent = say("noise_play");
  };
  const start = () => trying(at, said, async () => {
    sounds.setLevel(Number(slider.value));
    silence ??= sounds.loop(levelNoise(sounds.context, NOISE), at.left);
    playing.textContent = say("noise_stop");
    going.disabled = false;
    playing.removeAttribute("data-main");
  });
  const playing = button(say("noise_play"), () => (silence ? stop() : start()), { "data-main": true, class: "play plain" });
  show(top, make("section", { class: "card" }, make("p", { class: "told" }, say("level_told")), playing, said,
    make("label", { for: "level", class: "name" }, say("level_name")), slider), going);
  return new Promise((resolve) => (finish = resolve));
}

/** Play a sound and ask for a choice; returns the number of the choice. The play button keeps the
 * focus while the sound plays; after that, the choices get it.
 * @param {PageContext} at
 * @param {HTMLElement[]} top
 * @param {string} told
 * @param {string[]} labels
 * @param {(lit: (n: number) => void) => unknown} played
 * @returns {Promise<number>} */
function asked(at, top, told, labels, played) {
  const said = make("p", { class: "said bad", role: "status" });
  let busy = false;
  return new Promise((done) => {
    /** @param {number} n */
    const choose = (n) => ((busy = true), done(n));
    const chosen = labels.map((label, n) => button(label, () => choose(n), { "data-key": String(n + 1), disabled: true }));
    const choices = make("div", { class: "row even", role: "group", "aria-label": told, tabindex: "-1" }, chosen);
    /** @type {(now: boolean, open: boolean) => void} */
    const set = (now, open) => {
      busy = now;
      playing.setAttribute("aria-disabled", String(now));
      for (const one of chosen) one.disabled = !open;
    };
    /** @type {HTMLButtonElement} */
    const playing = button(say("play"), async () => {
      if (busy) return;
      set(true, false);
      const well = await trying(at, said, () => played((n) => light(chosen, n)));
      if (at.left.aborted) return;
      set(false, well);
      if (!well) return;
      playing.textContent = say("play_again");
      choices.focus({ preventScroll: true });
      announce(say("now_choose"));
    }, { class: "play plain", "data-main": true });
    show(top, make("section", { class: "card" }, make("p", { class: "told" }, told), playing, said, choices));
  });
}

/** @param {HTMLElement[]} chosen
 * @param {number} now */
function light(chosen, now) {
  chosen.forEach((one, n) => one.classList.toggle("now", n === now));
}

/** Ask round by round, from the first open round; returns the choices, which the server counts.
 * @param {Step} step
 * @param {string} told
 * @param {string[]} labels
 * @param {Played} played */
async function rounds({ name, at, top, done, targets }, told, labels, played) {
  const chosen = (done.chosen[name] ??= []);
  while (chosen.length < targets.length) {
    const target = targets[chosen.length];
    const round = say("round", { number: chosen.length + 1, count: targets.length });
    const choice = asked(at, top(` · ${round}`), told, labels, (lit) => played(target, lit));
    announce(`${round}. ${told}`);
    chosen.push(await choice);
    await at.draft.write(done);
  }
  return chosen;
}

/** @param {Step} step */
async function sides(step) {
  const { sounds, left } = step.at;
  const labels = [say("left"), say("right"), say("neither")];
  /** @param {number} side */
  const played = (side) => sounds.play(sideNoise(sounds.context, side), left);
  return rounds(step, say("sides_told"), labels, played);
}

/** Play three sounds one after the other and highlight the button of each.
 * @param {Step} step
 * @param {string} told
 * @param {(context: BaseAudioContext, n: number, target: number) => AudioBuffer | Promise<AudioBuffer>} made */
async function three(step, told, made) {
  const { sounds, left } = step.at;
  /** @type {Played} */
  const played = async (target, lit) => {
    const buffers = [];
    for (const n of [0, 1, 2]) buffers.push(await made(sounds.context, n, target));
    for (const [n, buffer] of buffers.entries()) {
      if (left.aborted) return;
      lit(n);
      await sounds.play(buffer, left);
      lit(-1);
      await later(PAUSE);
    }
  };
  return rounds(step, told, ["1", "2", "3"], played);
}

/** @param {Step} step */
function hugginsCheck(step) {
  return three(step, say("huggins_told"), (context, n, target) => huggins(context, n === target));
}

/** @param {Step} step */
function antiphase(step) {
  /** @type {(n: number, quiet: number) => "quiet" | "opposite" | "plain"} */
  const how = (n, quiet) => (n === quiet ? "quiet" : n === (quiet + 1) % 3 ? "opposite" : "plain");
  return three(step, say("antiphase_told"), (context, n, quiet) => tone(context, how(n, quiet)));
}
