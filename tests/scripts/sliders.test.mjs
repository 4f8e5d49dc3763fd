// Pages with several sounds and a slider for each: MUSHRA and BS.1116.

import assert from "node:assert/strict";
import { test } from "node:test";

import { reload, start } from "./browser/page.mjs";
import { end, trial } from "./browser/views.mjs";

const pick = (page, name) => page.all(".pick").find((one) => one.querySelector("b").textContent === name);
const item = (page, name) => page.all(".item").find((one) => one.getAttribute("aria-label") === name);
const slider = (page, name) => item(page, name).querySelector("input");
const value = (page, name) => item(page, name).querySelector(".value").textContent;
const isHeard = (page, name) => pick(page, name).querySelector(".state").textContent === "Played";
const sounding = (page) => [...page.live].filter(({ buffer }) => buffer.duration > 0.1).length; // without fades
const missing = (page) => page.texts(".missing li");
const close = (found, wanted, slack = 0.06) => assert.ok(Math.abs(found - wanted) < slack, `${found} is not ${wanted}`);

async function hear(page, key, name) {
  await page.press(key);
  await page.pass(0.6);
  assert.ok(isHeard(page, name));
}

const mushra = (more = {}, seconds = 0.4) => start([trial("mushra", "1.1", more), end()], { server: { sound: seconds } });

/** A page without an open reference. */
const closed = (more = {}) => {
  const { sounds, questions } = trial("mushra");
  return mushra({ sounds: sounds.slice(1), questions: questions.map((one, n) => ({ ...one, sound: n })), ...more });
};

test("MUSHRA by keyboard: letters play, arrows and pages rate the sound that was chosen last", async () => {
  const { server, page } = await mushra();
  assert.equal(page.text(".said"), "Play a sound, then rate it.");
  await hear(page, "r", "Reference");
  for (const [n, letter] of ["A", "B", "C"].entries()) {
    await hear(page, letter.toLowerCase(), letter);
    await page.press("ArrowUp", ...Array(n + 1).fill("PageUp"));
    assert.equal(value(page, letter), String(10 * (n + 1)));
    assert.deepEqual(page.all(".item.now"), [item(page, letter)]);
  }
  assert.equal(slider(page, "C").getAttribute("aria-valuetext"), "30, Poor");
  await page.press("Enter");
  assert.deepEqual(server.values, { 1.1: { A: 10, B: 20, C: 30 } });
  const { plays, keyboard, sorted } = server.answers[0].meta;
  assert.deepEqual([[...new Set(plays.map((one) => one.sound))], keyboard, sorted], [[0, 1, 2, 3], true, false]);
});

test("BS.1116 is sent only if one of its sounds has the highest grade", async () => {
  const { server, page } = await start([trial("bs1116"), end()]);
  await hear(page, "a", "Reference");
  await hear(page, "b", "B");
  await page.press("ArrowUp");
  await hear(page, "c", "C");
  await page.press("ArrowDown", "ArrowDown", "Enter");
  assert.deepEqual(missing(page), ["One of the two sounds is the reference: rate it 5.0."]);
  assert.equal(value(page, "C"), "4.9");
  await page.press("ArrowUp");
  assert.equal(value(page, "C"), "5.0");
  await page.press("Enter");
  assert.deepEqual(server.values, { 1.1: { B: 1, C: 5 } });
});

test("keys of every slider: a first one enters at an end, others move, and nothing leaves the scale", async () => {
  const entered = { ArrowRight: 0, ArrowUp: 0, PageUp: 0, Home: 0, ArrowLeft: 100, ArrowDown: 100, PageDown: 100, End: 100 };
  for (const [key, first] of Object.entries(entered)) {
    const { page } = await mushra();
    await page.press("a", key);
    assert.equal(value(page, "A"), String(first), key);
    const moved = { ArrowRight: 1, ArrowUp: 1, PageUp: 10, Home: 0, ArrowLeft: 99, ArrowDown: 99, PageDown: 90, End: 100 }[key];
    await page.press(key);
    assert.equal(value(page, "A"), String(moved), key);
    await page.press("End", "ArrowUp", "PageUp");
    assert.equal(value(page, "A"), "100");
    await page.press("Home", "ArrowDown", "PageDown", { key: "ArrowUp", ctrlKey: true });
    assert.equal(value(page, "A"), "0");
  }
});

test("only the chosen sound can be rated, and nothing may be left out", async () => {
  const { server, page } = await mushra();
  assert.ok(page.all(".item input").every((one) => one.disabled));
  await page.tell(page.all(".slot")[1], "pointerdown");
  assert.equal(page.text(".said"), "Play sound B to rate it.");
  assert.equal(page.announced, "Play sound B to rate it.");
  await page.click(pick(page, "B"));
  assert.deepEqual(page.all(".item input").map((one) => one.disabled), [true, false, true]);
  await page.fill(slider(page, "B"), 70);
  await page.click("Save and continue");
  assert.deepEqual(missing(page), ["Reference: not heard to the end yet", "A: not heard to the end yet", "A: not rated yet",
    "B: not heard to the end yet", "C: not heard to the end yet", "C: not rated yet"]);
  assert.deepEqual(server.posts, []);
  await page.pass(0.6);
  for (const [key, name] of [["0", "Reference"], ["1", "A"], ["3", "C"], ["2", "B"]]) await hear(page, key, name);
  assert.deepEqual(missing(page), ["A: not rated yet", "C: not rated yet"]);
  await hear(page, "a", "A");
  await page.press("ArrowDown");
  await hear(page, "c", "C");
  await page.press("ArrowUp", "ArrowUp");
  assert.deepEqual(missing(page), []);
  await page.press("Enter");
  assert.deepEqual(server.values, { 1.1: { A: 100, B: 70, C: 1 } });
});

test("a press on the hidden thumb of a slider without a value is a rating", async () => {
  const { page } = await mushra();
  await page.click(pick(page, "A"));
  Object.assign(slider(page, "A"), { box: { left: 10, top: 20, right: 30, bottom: 220, width: 20, height: 200 } });
  await page.tell(slider(page, "A"), "pointerdown");
  await page.tell(slider(page, "A"), "pointerup", { clientX: 20, clientY: 70 });
  assert.equal(value(page, "A"), "75");
  await page.tell(slider(page, "A"), "pointerup", { clientX: 20, clientY: 170 }); // it has a value now
  assert.equal(value(page, "A"), "75");
  page.isWide = false;
  await page.click(pick(page, "B"));
  Object.assign(slider(page, "B"), { box: { left: 10, top: 20, right: 210, bottom: 40, width: 200, height: 20 } });
  await page.tell(slider(page, "B"), "pointerdown");
  await page.tell(slider(page, "B"), "pointerup", { clientX: 60, clientY: 30 });
  assert.equal(value(page, "B"), "25");
});

test("a finger that scrolls rates nothing, also with a second finger", async () => {
  const { server, page } = await mushra();
  await page.click(pick(page, "C"));
  const rate = (now) => page.enter(slider(page, "C"), now);
  await page.tell(slider(page, "C"), "pointerdown");
  rate(20);
  await page.tell(slider(page, "C"), "pointerdown", { isPrimary: false });
  await page.tell(slider(page, "C"), "pointercancel");
  assert.equal(value(page, "C"), "–");
  await page.tell(slider(page, "C"), "pointerdown");
  rate(30);
  await page.tell(slider(page, "C"), "pointerup");
  await page.tell(slider(page, "C"), "pointerdown");
  rate(50);
  await page.tell(slider(page, "C"), "pointercancel");
  assert.equal(value(page, "C"), "30");
  assert.deepEqual((await reload(page)).all(".value").map((one) => one.textContent), ["–", "–", "30"]);
  assert.equal(server.posts.length, 0);
});

test("ratings and sounds heard are kept over a reload", async () => {
  const { server, page } = await closed();
  await hear(page, "b", "B");
  await page.press("End");
  const again = await reload(page);
  assert.deepEqual(again.texts(".value"), ["–", "100", "–"]);
  assert.ok(isHeard(again, "B"));
  assert.ok(!isHeard(again, "A"));
  for (const [key, name, act] of [["a", "A", "Home"], ["c", "C", "End"]]) {
    await hear(again, key, name);
    await again.press(act);
  }
  await again.press("Enter");
  assert.deepEqual(server.values, { 1.1: { A: 0, B: 100, C: 100 } });
});

test("a sound that may not be played again can still be rated", async () => {
  const { server, page } = await closed({ plays: 1 });
  assert.ok(page.find(".repeat").hidden);
  for (const letter of "ABC") await hear(page, letter.toLowerCase(), letter);
  await page.click(pick(page, "A"));
  assert.equal(pick(page, "A").dataset.state, "spent");
  assert.equal(sounding(page), 0);
  await page.fill(slider(page, "A"), 40);
  await page.press("b", "ArrowDown", "c", "ArrowUp", "Enter");
  assert.deepEqual(server.values, { 1.1: { A: 40, B: 100, C: 0 } });
  assert.deepEqual(server.answers[0].meta.plays.map((one) => [one.sound, one.ended]), [[0, true], [1, true], [2, true]]);
});

test("sounds are sorted on request, and back", async () => {
  const { server, page } = await mushra();
  const names = () => page.texts(".item .pick b");
  for (const [letter, now] of [["A", 10], ["B", 90], ["C", 50]]) {
    await page.click(pick(page, letter));
    await page.fill(slider(page, letter), now);
  }
  await page.click("Sort by rating");
  assert.deepEqual(names(), ["B", "C", "A"]);
  await page.fill(slider(page, "C"), 95);
  assert.deepEqual(names(), ["B", "C", "A"]); // nothing moves until it is sorted again
  await page.click("Sort by rating");
  assert.deepEqual(names(), ["C", "B", "A"]);
  assert.equal((await reload(page)).texts(".item .pick b").join(""), "CBA");
  assert.equal(server.posts.length, 0);
});

test("sounds are switched at the same position, or from the start where the study says so", async () => {
  for (const [restart, next] of [[false, 1], [true, 0.5]]) {
    const { page } = await mushra({ restart }, 2);
    await page.press("a");
    await page.pass(0.5);
    await page.press("b");
    await page.pass(0.5);
    close(Number(page.find(".seek").value), next);
    assert.equal(page.text(".time"), `${next.toFixed(1)} / 2.0 s`);
    await page.pass(2);
    assert.equal(isHeard(page, "B"), restart);
    assert.ok(!isHeard(page, "A"));
  }
});

test("Space and the button pause, and a play goes on where it was", async () => {
  const { page } = await mushra({}, 2);
  await page.press("a");
  await page.pass(0.7);
  await page.press(" ");
  const at = Number(page.find(".seek").value);
  close(at, 0.7);
  await page.pass(1);
  assert.equal(Number(page.find(".seek").value), at);
  assert.equal(sounding(page), 0);
  await page.press("a"); // plays it again
  await page.pass(1.5);
  assert.ok(isHeard(page, "A"));
});

test("a part is repeated between two handles that cannot pass each other", async () => {
  const { page } = await mushra({}, 2);
  await page.click(pick(page, "A"));
  await page.click("Repeat");
  const [first, last] = page.all(".handle");
  await page.fill(last, 0.5);
  assert.equal(last.getAttribute("aria-valuetext"), "0.5 s");
  for (let n = 0; n < 20; n += 1) {
    await page.pass(0.1);
    assert.ok(Number(page.find(".seek").value) <= 0.5);
  }
  assert.equal(pick(page, "A").dataset.state, "playing");
  assert.ok(!isHeard(page, "A"));
  await page.fill(first, 1.5); // beyond the other one
  assert.deepEqual([first.value, last.value], ["0.5", "1.5"]);
  await page.pass(0.3);
  const at = Number(page.find(".seek").value);
  assert.ok(at >= 0.5 && at <= 1.5);
  await page.click("Repeat");
  await page.pass(1.9);
  assert.equal(sounding(page), 0);
});

test("a repeated sound is heard to its end, also between two places of the handle", async () => {
  const { page } = await mushra({}, 0.57);
  await page.click("Repeat");
  await page.press("a");
  await page.pass(1.5);
  assert.equal(pick(page, "A").dataset.state, "playing");
  await page.press(" ");
  assert.ok(isHeard(page, "A"));
});
