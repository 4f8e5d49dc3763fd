// The device page: the level, left and right, and two checks that only headphones pass.

import { announce, button, heading, make, show } from "./dom.js";
import { huggins, levelNoise, sideNoise, tone } from "./stimuli.js";
import { say } from "./words.js";

const NOISE = -30; // dB of full scale, RMS
const [LOWEST, FIRST] = [-40, -10]; // dB of the level
const PAUSE = 300; // milliseconds between sounds

const later = (time) => new Promise((done) => setTimeout(done, time));

/** Show the first step; the others follow as the listener goes on. */
export function showDevice(view, at) {
  allSteps(view, at);
}

/** Ask for the level alone, on a device where none is known; `first` was set on another. */
export async function askLevel(first, at) {
  const found = await level({}, at, [heading(say("device_level")), make("p", { class: "notice" }, say("level_again"))], first);
  at.events.tell("level", { level: found });
}

/** Go through the steps that the server names, then answer with what came out. */
async function allSteps(view, at) {
  const steps = { level, sides, huggins: hugginsCheck, antiphase };
  const found = {};
  for (const [n, name] of view.steps.entries()) {
    const told = make("p", { class: "steps" }, say("step", { number: n + 1, count: view.steps.length }));
    found[name] = await steps[name](view, at, [heading(say(`device_${name}`)), told]);
  }
  const { latency, rate } = at.sounds.facts;
  at.answer(found, { latency, rate, channels: at.sounds.context.destination.maxChannelCount });
}

/** Say what is wrong where a sound cannot be played. */
async function trying(at, said, act) {
  said.textContent = "";
  try {
    await at.sounds.wake();
    await act();
    return true;
  } catch (error) {
    said.textContent = say(error.name?.startsWith("sound_") ? error.name : "sound_broken");
    at.events.tell("sound", { told: error.name });
    announce(said.textContent);
    return false;
  }
}

function level(view, at, top, first = FIRST) {
  const { sounds } = at;
  const said = make("p", { class: "said bad", role: "status" });
  const slider = make("input", { type: "range", min: String(LOWEST), max: "0", step: "1", id: "level",
    input: () => sounds.setLevel(Number(slider.value)) });
  slider.value = String(first);
  let silence = null;
  let finish = null;
  const done = () => {
    stop();
    at.level.keep(Number(slider.value));
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
    silence ??= sounds.loop(levelNoise(sounds.context, view.level ?? NOISE), at.left);
    playing.textContent = say("noise_stop");
    going.disabled = false;
    playing.removeAttribute("data-main");
  });
  const playing = button(say("noise_play"), () => (silence ? stop() : start()), { "data-main": true, class: "play plain" });
  show(top, make("section", { class: "card" }, make("p", { class: "told" }, say("level_told")), playing, said,
    make("label", { for: "level", class: "name" }, say("level_name")), slider), going);
  return new Promise((resolve) => (finish = resolve));
}

/** Ask after a sound: play it, choose; the number that was chosen. */
function asked(at, top, told, labels, played) {
  const said = make("p", { class: "said bad", role: "status" });
  return new Promise((done) => {
    const chosen = labels.map((label, n) => button(label, () => done(n), { "data-key": String(n + 1), disabled: true }));
    const playing = button(say("play"), async () => {
      playing.disabled = true;
      for (const one of chosen) one.disabled = true;
      const well = await trying(at, said, () => played((n) => light(chosen, n)));
      for (const one of chosen) one.disabled = !well;
      playing.disabled = false;
      if (well) playing.textContent = say("play_again");
      if (well) announce(say("now_choose"));
    }, { class: "play plain", "data-main": true });
    show(top, make("section", { class: "card" }, make("p", { class: "told" }, told), playing, said,
      make("div", { class: "row even" }, chosen)));
  });
}

function light(chosen, now) {
  chosen.forEach((one, n) => one.classList.toggle("now", n === now));
}

/** Three sounds one after the other, each lighting its button. */
async function three(at, buffers, lit) {
  for (const [n, buffer] of buffers.entries()) {
    if (at.left.aborted) return;
    lit(n);
    await at.sounds.play(buffer, at.left);
    lit(-1);
    await later(PAUSE);
  }
}

async function sides(view, at, top) {
  const order = view.trials?.sides ?? (Math.random() < 0.5 ? [0, 1] : [1, 0]);
  const labels = [say("left"), say("right"), say("neither")];
  let right = true;
  for (const side of order) {
    const played = () => at.sounds.play(sideNoise(at.sounds.context, side), at.left);
    right = (await asked(at, top, say("sides_told"), labels, played)) === side && right;
  }
  return right;
}

async function counted(at, top, told, targets, made) {
  let hits = 0;
  for (const target of targets) {
    const played = async (lit) => {
      const buffers = [];
      for (const n of [0, 1, 2]) buffers.push(await made(n, target));
      await three(at, buffers, lit);
    };
    hits += Number((await asked(at, top, told, ["1", "2", "3"], played)) === target);
  }
  return [hits, targets.length];
}

function hugginsCheck(view, at, top) {
  const made = (n, target) => huggins(at.sounds.context, n === target);
  return counted(at, top, say("huggins_told"), view.trials.huggins, made);
}

function antiphase(view, at, top) {
  const how = (n, quiet) => (n === quiet ? "quiet" : n === (quiet + 1) % 3 ? "opposite" : "plain");
  const made = (n, quiet) => tone(at.sounds.context, how(n, quiet));
  return counted(at, top, say("antiphase_told"), view.trials.antiphase, made);
}
