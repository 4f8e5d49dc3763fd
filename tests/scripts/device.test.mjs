// The device page, the volume, the hearing test, and what is told where sounds fail.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Page, reload, start, visit } from "./browser/page.mjs";
import { Buffer } from "./browser/sound.mjs";
import { Profile } from "./browser/storage.mjs";
import { end, trial, view } from "./browser/views.mjs";

const works = () => undefined;
const steps = (page) => page.text(".steps");
const device = (more = {}, language = "en") => start([view("device", more), end()], { language });

async function level(page, decibels = -12) {
  await page.click(page.find("button.play"));
  await page.fill("#level", decibels);
  await page.click("Continue");
}

/** Play and wait for the end. */
async function hear(page, seconds = 5) {
  await page.click(page.find("button.play"));
  await page.pass(seconds);
}

// --- Steps --------------------------------------------------------------------------------------

test("rounds are counted, told, and kept over a reload", async () => {
  const { server, page } = await device();
  assert.equal(page.title, "Set a comfortable volume");
  assert.ok(page.button("Continue").disabled);
  await level(page, -20);
  let now = page;
  const expected = [["Left and right", 2, 1, 2, "2"], ["Left and right", 2, 2, 2, "1"], ["Find the faint tone", 3, 1, 2, "3"],
    ["Find the faint tone", 3, 2, 2, "1"], ["Find the quietest tone", 4, 1, 1, "2"]];
  for (const [title, step, round, of, key] of expected) {
    assert.deepEqual([now.title, steps(now)], [title, `Step ${step} of 4 · Round ${round} of ${of}`]);
    assert.match(now.announced, new RegExp(`^Round ${round} of ${of}\\. `));
    if (round === of) now = await reload(now);
    assert.equal(now.title, title);
    assert.ok(now.all(".even button").every((one) => one.disabled));
    await now.press(key); // too early
    await hear(now);
    await now.press(key);
  }
  assert.deepEqual(server.values, { device: { level: -20, sides: [1, 0], huggins: [2, 0], antiphase: [1] } });
});

test("rounds are counted in French", async () => {
  const { page } = await device({}, "fr");
  await page.click(page.find("button.play"));
  await page.click("Continuer");
  assert.equal(steps(page), "Étape 2 sur 4 · Tour 1 sur 2");
});

test("the focus stays on the button while it plays, then goes to the choices", async () => {
  const { page } = await device({ trials: { sides: [1], huggins: [2], antiphase: [1] } });
  await level(page);
  assert.equal(page.focused, page.find("h1"));
  const play = page.find("button.play");
  await page.click(play);
  assert.equal(play.getAttribute("aria-disabled"), "true");
  await page.press("Enter");
  assert.equal(page.focused, play);
  assert.equal(page.live.size, 1);
  await page.pass(1);
  assert.equal(page.focused, page.find(".even"));
  assert.equal(play.textContent, "Play again");
  assert.equal(page.announced, "Please choose now.");
});

test("three sounds light their buttons one after the other, and stop when the page is left", async () => {
  const { page } = await device({ steps: ["antiphase"], trials: { antiphase: [1] } });
  const lit = () => page.all(".even button").map((one) => one.classList.contains("now"));
  await page.click("Play");
  for (const n of [0, 1, 2]) {
    await page.pass(0.5);
    assert.deepEqual(lit(), [0, 1, 2].map((one) => one === n));
    await page.pass(0.51 + 0.3);
  }
  await page.click("Play again");
  await page.pass(0.5);
  await page.click("Withdraw");
  await page.click("Delete my answers");
  assert.equal(page.live.size, 0);
  await page.pass(3);
  assert.equal(page.live.size, 0);
});

test("the noise stops when its page is left, by whatever road", async () => {
  const roads = {
    async another(page, server) {
      const other = await visit(server, { profile: page.profile });
      await other.click("Use this tab");
    },
    async withdrawing(page) {
      await page.click("Withdraw");
      await page.click("Delete my answers");
    },
    goingOn: (page) => page.click("Continue"),
    stopping: (page) => page.click("Stop the noise"),
  };
  for (const [name, road] of Object.entries(roads)) {
    const { server, page } = await device();
    await page.click("Play the noise");
    assert.equal(page.live.size, 1, name);
    await road(page, server);
    await page.pass(0.5);
    assert.equal(page.live.size, 0, name);
  }
});

test("a page that was refused starts again, also after a reload", async () => {
  const { server, page } = await device({ steps: ["level"] });
  server.fault = (path) => (path.endsWith("/answers") ? { status: 422, body: { error: { code: "bad_answer", wrong: [] } } } : undefined);
  await level(page);
  assert.match(page.text(".notice"), /was not accepted/);
  server.fault = works;
  const again = await reload(page);
  assert.equal(steps(again), "Step 1 of 1");
  assert.deepEqual(server.answers, []);
  await level(again, -7);
  assert.deepEqual(server.values, { device: { level: -7 } });
});

test("a failed check is asked again", async () => {
  const { server, page } = await device({ steps: ["level", "sides"], trials: { sides: [1] } });
  const again = { code: "again", wrong: ["Please put on headphones."] };
  server.fault = (path) => (path.endsWith("/answers") ? { status: 422, body: { error: again } } : undefined);
  await level(page);
  await hear(page);
  await page.press("1");
  assert.equal(page.text(".notice"), "Please put on headphones.");
  assert.equal(steps(page), "Step 1 of 2");
});

// --- Level --------------------------------------------------------------------------------------

/** The gain before the ears. */
const gain = async (page) => {
  const [source] = page.live;
  let node = [...source.to][0];
  while (!node.to.has(source.context.destination)) node = [...node.to][0];
  return node.gain.value;
};

test("the level makes sounds quieter, and holds over a reload", async () => {
  const { page } = await start([view("device", { steps: ["level"] }), trial("acr"), end()]);
  assert.equal(page.find("#level").value, "-10");
  await level(page, -20);
  const again = await reload(page);
  await again.click("Play");
  assert.ok(Math.abs(await gain(again) - 0.1) < 1e-9);
});

test("another device asks for its own level and starts from the known one", async () => {
  const { server, page } = await start([view("device", { steps: ["level"] }), trial("acr"), end()]);
  await level(page, -30);
  const other = await visit(server, { profile: new Profile() });
  assert.match(other.text(".notice"), /not been set on this device/);
  assert.equal(other.find("#level").value, "-30");
  await level(other, -20);
  await other.click("Play");
  assert.ok(Math.abs(await gain(other) - 0.1) < 1e-9);
  await other.pass(1);
  await other.press("3", "Enter");
  assert.deepEqual(Object.keys(server.values), ["device", "1.1"]);
});

test("where a browser keeps nothing, the level holds until the page is closed", async () => {
  const profile = new Profile();
  profile.isBlocked = true;
  const { server, page } = await start([view("device", { steps: ["level"] }), trial("acr", "1.1"), trial("acr", "1.2"), end()], { profile });
  await level(page, -20);
  for (const value of ["2", "3"]) {
    await page.click("Play");
    assert.ok(Math.abs(await gain(page) - 0.1) < 1e-9);
    await page.pass(1);
    await page.press(value, "Enter");
  }
  assert.deepEqual(server.values["1.2"], { QUALITY: 3 });
});

test("a level is asked for again where it is known no more", async () => {
  const { page } = await device();
  await level(page);
  page.profile.local.clear();
  const again = await reload(page);
  assert.equal(again.title, "Set a comfortable volume");
  await level(again);
  assert.equal(again.title, "Left and right");
});

// --- Made sounds --------------------------------------------------------------------------------

const context = { sampleRate: 16000, createBuffer: (...given) => new Buffer(...given) };
const rms = (samples) => Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length);
const decibels = (samples) => 20 * Math.log10(rms(samples));

test("tones are plain, quiet or opposite at the two ears", async () => {
  const { tone } = await new Page().import("device_stimuli.js");
  const plain = tone(context, "plain").channels;
  assert.deepEqual(plain[0], plain[1]);
  assert.ok(Math.abs(decibels(plain[0].slice(1600, 14400)) + 26) < 0.01);
  const quiet = tone(context, "quiet").channels;
  assert.ok(quiet.every((samples) => Math.abs(rms(samples) / rms(plain[0]) - 0.5) < 1e-4));
  const [left, right] = tone(context, "opposite").channels;
  assert.deepEqual(left, plain[0]);
  assert.ok(right.every((one, n) => one === -left[n]));
  assert.ok(Math.abs(plain[0][0]) < 1e-3 && Math.abs(plain[0][15999]) < 1e-3); // both ends are faded
  const crossings = plain[0].filter((one, n) => n && plain[0][n - 1] < 0 && one >= 0).length;
  assert.ok(Math.abs(crossings - 200) <= 1);
});

test("noise has its level, its side and its length", async () => {
  const { huggins, levelNoise, sideNoise } = await new Page().import("device_stimuli.js");
  const whole = levelNoise(context, -30, 2);
  assert.equal(whole.length, 32000);
  assert.ok(whole.channels.every((samples) => Math.abs(decibels(samples) + 30) < 0.1));
  for (const side of [0, 1]) {
    const { channels } = sideNoise(context, side);
    assert.equal(rms(channels[1 - side]), 0);
    assert.ok(Math.abs(decibels(channels[side]) + 32) < 1);
    assert.equal(channels[side].length, 12800);
  }
  const [left, right] = (await huggins(context, false)).channels;
  assert.deepEqual(left, right);
});

// --- Hearing ------------------------------------------------------------------------------------

test("the ratio falls after each correct triplet and rises after each wrong one, within bounds", async () => {
  const { threshold, trackRatios } = await new Page().import("trials/hearing.js");
  const triplets = Array(6).fill([1, 2, 3]);
  assert.deepEqual([...trackRatios(triplets, ["123", "123", "321", "123"])], [0, -2, -4, -2, -4]);
  assert.equal(trackRatios(Array(9).fill([1, 2, 3]), Array(9).fill("0")).at(-1), 10);
  assert.equal(trackRatios(Array(20).fill([1, 2, 3]), Array(20).fill("123")).at(-1), -30);
  assert.equal(threshold(triplets, Array(6).fill("123")), -10); // of −8, −10 and −12
  assert.equal(threshold(triplets, ["123", "123", "123", "123", "123", "0"]), -8.67);
});

test("digits are typed after the sound, erased, and kept over a reload", async () => {
  const hearing = { kind: "hearing", name: "hearing", title: "Hearing test", renderer: "hearing",
    sounds: Array.from({ length: 10 }, (_, n) => ({ address: `/l/tok/sound/hearing/${n}`, label: String(n) })),
    triplets: [[1, 2, 3], [4, 5, 6]] };
  const { server, page } = await start([hearing, end()]);
  let now = page;
  for (const [n, digits] of [["1", "2", "3"], ["4", "5", "7"]].entries()) {
    assert.equal(steps(now), `Digits ${n + 1} of 2`);
    await now.press("1");
    assert.equal(now.text(".typed"), "···");
    await now.press("Enter");
    await now.pass(4);
    assert.equal(now.focused, now.find(".keypad"));
    await now.press("9", "Backspace", ...digits, "8");
    assert.equal(now.text(".typed"), digits.join(""));
    await now.press("Enter");
    if (!n) now = await reload(now);
  }
  assert.deepEqual(server.values.hearing.responses, ["123", "457"]);
});

// --- Sounds that fail ---------------------------------------------------------------------------

test("why a sound cannot be played is told", async () => {
  const cases = [
    [{ sound: 0 }, /its file cannot be read/],
    [{ fault: (path) => (path.includes("/sound/") ? "cut" : undefined) }, /could not be loaded/],
    [{ fault: (path) => (path.includes("/sound/") ? { status: 503, body: { error: { code: "no_sound" } } } : undefined) },
      /contact the organizer of this test/],
    [{ fault: (path) => (path.includes("/sound/") ? { status: 403, body: { error: { code: "not_now" } } } : undefined) },
      /already answered, or the test is closed/],
  ];
  for (const [server, told] of cases) {
    const { page, server: now } = await start([trial("acr"), end()], { server });
    assert.match(page.text(".said"), told);
    assert.equal(/connection/.test(page.text(".said")), told.source.includes("loaded"));
    assert.equal(page.announced, page.text(".said"));
    Object.assign(now, { sound: 0.4, fault: works });
    await page.click("Play");
    await page.pass(1);
    await page.press("4", "Enter");
    assert.deepEqual(now.values, { 1.1: { QUALITY: 4 } });
    assert.ok(now.events.some(({ kind }) => kind === "sound"));
  }
});

test("a browser without sound is told", async () => {
  const { page } = await start([trial("acr"), end()], { without: ["AudioContext"] });
  assert.match(page.text(".said"), /cannot play sound here/);
});

test("a browser that does not start the sound is told, and asked again by a key", async () => {
  const { server, page } = await start([trial("acr"), end()], { isAsleep: true });
  await page.press(" ");
  await page.pass(2);
  assert.equal(page.text(".said"), "The browser did not start the sound. Please press Play again.");
  page.context.AudioContext.isAsleep = false;
  await page.press(" ");
  await page.pass(1);
  await page.press("4", "Enter");
  assert.deepEqual(server.values, { 1.1: { QUALITY: 4 } });
});

test("a sound that is cut is told and does not count", async () => {
  const { server, page } = await start([trial("acr"), end()], { server: { sound: 3 } });
  await page.click("Play");
  await page.pass(1);
  const [source] = page.live;
  source.context.held = Infinity; // its clock stands still
  await page.pass(4);
  assert.equal(page.text(".said"), "The sound stopped before the end. Please play it again.");
  assert.ok(page.all("input[type=radio]").every((one) => one.disabled));
  assert.equal(server.answers.length, 0);
});

test("a clock that falls behind is an underrun, once", async () => {
  const { server, page } = await start([trial("acr"), end()], { server: { sound: 3 } });
  await page.click("Play");
  await page.pass(1);
  [...page.live][0].context.held = 0.5;
  await page.pass(3);
  await page.press("4", "Enter");
  assert.equal(server.answers[0].meta.underruns, 1);
  await page.pass(4);
  assert.deepEqual(server.events.filter(({ kind }) => kind === "underrun").map(({ count }) => count), [1]);
});

test("the context runs at a multiple of the rate of the files", async () => {
  for (const [rate, expected] of [[16000, 48000], [44100, 44100], [0, 48000], [48000, 48000], [22050, 44100]]) {
    const { server, page } = await start([trial("acr"), end()], { server: { more: { rate } } });
    await page.click("Play");
    await page.pass(1);
    await page.press("4", "Enter");
    assert.equal(server.answers[0].meta.rate, expected);
  }
});

test("lost focus is counted", async () => {
  const { server, page } = await start([trial("acr"), end()]);
  await page.tell(page.window, "blur");
  await page.click("Play");
  await page.pass(1);
  await page.press("4", "Enter");
  assert.equal(server.answers[0].meta.focus_lost, 1);
  await page.pass(4);
  assert.deepEqual(server.events.filter(({ kind }) => kind === "focus_lost").map(({ how, page: name }) => [how, name]), [["blur", "1.1"]]);
});
