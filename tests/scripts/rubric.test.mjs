// Captions rated with sliders and numbers while a clip is heard.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Page, reload, start, visit } from "./browser/page.mjs";
import { end, trial, view } from "./browser/views.mjs";

const NAMES = ["precision", "recall", "fluency", "conciseness", "irrelevance"];
const name = (place) => `${"AB"[Math.floor(place / 5)]}.${NAMES[place % 5]}`;
const slider = (page, place) => page.all(".track input")[place];
const number = (page, place) => page.all("input.number")[place];
const range = (page, place) => page.all(".range")[place].textContent;
const unset = (page) => page.all(".track input.unset").length;
const missing = (page) => page.texts(".missing li");
const said = (page) => page.text(".player .said");
const all = [...Array(10).keys()];
const works = () => undefined;

const captions = (more = {}, seconds = 0.4) => start([trial("rubric", "1.1", more), end()], { server: { sound: seconds } });

async function hear(page, seconds = 0.6) {
  await page.click(page.find("button.play"));
  await page.pass(seconds);
  assert.equal(said(page), "You have heard the whole clip.");
}

async function give(page, places = all) {
  for (const place of places) {
    slider(page, place).focus();
    await page.press(...(place % 5 < 2 ? ["4"] : ["-", "1"]));
  }
}

const save = (page) => page.click("Save and continue");

// --- Numbers ------------------------------------------------------------------------------------

test("numbers are read as people write them", async () => {
  const { read, begun } = await new Page().import("number_input.js");
  for (const sign of ["", "+", "-", "−", "–"]) {
    for (const mark of [".", ","]) assert.equal(read(` ${sign}1${mark}5 `), ["", "+"].includes(sign) ? 1.5 : -1.5);
  }
  for (const text of ["", "-", ".", "1 2", "1.2.3", "0x1", "Infinity", "1e3", "--1", "four"]) assert.ok(Number.isNaN(read(text)), text);
  assert.deepEqual([read(".5"), read("5."), read("− 1")], [0.5, 5, -1]);
  assert.deepEqual(["", "-", "−.", " ,", "0", "-1"].map(begun), [true, true, true, true, false, false]);
});

test("values of a scale are exact, and have no minus zero", async () => {
  const { stepped, around, within, shown, shownTo } = await new Page().import("number_input.js");
  const scale = { low: -2, high: 0, step: 0.1 };
  for (let n = 0; n <= 20; n += 1) assert.equal(stepped(-2 + n / 10 + 0.04, scale), Math.round(10 * (-2 + n / 10)) / 10 + 0);
  assert.ok(Object.is(stepped(-0.01, scale), 0));
  assert.deepEqual([...around(-0.05, scale)], [-0.1, 0]);
  assert.deepEqual([...around(-0.3, scale)], [-0.3, -0.3]);
  assert.deepEqual([-2.01, -2, 0, 0.01].map((value) => within(value, scale)), [false, true, true, false]);
  assert.deepEqual([shown(-1.5), shownTo(2, 1)], ["−1.5", "2.0"]);
  const french = await new Page({ language: "fr" }).import("number_input.js");
  assert.deepEqual([french.shown(-1.5), french.shownTo(2, 1)], ["−1,5", "2,0"]);
});

// --- Sliders ------------------------------------------------------------------------------------

test("all sliders start unset and say so", async () => {
  const { page } = await captions();
  assert.equal(unset(page), 10);
  assert.ok(page.all(".track input").every((one) => one.getAttribute("aria-valuetext") === "not rated yet"));
  assert.ok(page.all("input.number").every((one) => one.value === ""));
  slider(page, 0).focus();
  await page.press("ArrowRight");
  assert.equal(slider(page, 0).getAttribute("aria-valuetext"), "1");
  assert.equal(unset(page), 9);
});

test("numbers may be typed in any way", async () => {
  const typed = { 0: ["4,5", 4.5, "4.5"], 1: [" 4.50 ", 4.5, "4.5"], 2: ["−0.1", -0.1, "−0.1"], 3: ["–,1", -0.1, "−0.1"],
    4: ["-2", -2, "−2"], 7: ["0", 0, "0"], 8: ["-0", 0, "0"] };
  const { server, page } = await captions();
  await hear(page);
  await give(page, [5, 6, 9]);
  for (const [place, [text, , shown]] of Object.entries(typed)) {
    await page.fill(number(page, place), text);
    assert.equal(number(page, place).value, shown);
    assert.equal(slider(page, place).getAttribute("aria-valuetext"), shown);
  }
  await save(page);
  for (const [place, [, value]] of Object.entries(typed)) assert.ok(Object.is(server.values["1.1"][name(place)], value));
});

test("what is off the scale is told at once and not sent", async () => {
  const refused = { "0.5": [2, "Enter −2 to 0."], "-2.1": [2, "Enter −2 to 0."], 6: [0, "Enter 1 to 5."], 4.25: [0, "Enter 4.2 or 4.3."],
    "-0.05": [2, "Enter −0.1 or 0."], four: [0, "Please enter a number."], "1e9": [0, "Please enter a number."] };
  const { server, page } = await captions();
  await hear(page);
  await give(page);
  for (const [text, [place, told]] of Object.entries(refused)) {
    await page.fill(number(page, place), text);
    assert.equal(range(page, place), told);
    assert.equal(number(page, place).getAttribute("aria-invalid"), "true");
    assert.equal(unset(page), 1);
    await save(page);
    assert.equal(page.focused, number(page, place));
    assert.equal(number(page, place).value, text);
    assert.equal(missing(page).length, 1);
    await page.fill(number(page, place), place ? "-1" : "4");
    assert.equal(unset(page), 0);
  }
  assert.deepEqual(server.posts, []);
});

test("a number that is not finished is not scolded until the field is left", async () => {
  const { page } = await captions();
  slider(page, 2).focus();
  for (const key of ["-", "0", ".", "5"]) {
    await page.press(key);
    assert.equal(range(page, 2), "−2 to 0");
  }
  await page.tell(number(page, 2), "change");
  assert.equal(number(page, 2).value, "−0.5");
  slider(page, 3).focus();
  await page.press("-");
  await page.tell(number(page, 3), "change");
  assert.equal(range(page, 3), "Please enter a number.");
  assert.equal(page.announced, "Please enter a number.");
});

test("a number can be taken back", async () => {
  const { page } = await captions();
  await give(page, [0, 1, 5]);
  assert.equal(unset(page), 7);
  await page.fill(number(page, 0), "");
  slider(page, 1).focus();
  await page.press("Backspace");
  slider(page, 5).focus();
  await page.press("Delete");
  assert.equal(unset(page), 10);
  assert.equal(number(page, 1).value, "");
});

test("keys come in at the end that they leave, and go on in steps", async () => {
  const entered = { ArrowRight: "1", ArrowUp: "1", PageUp: "1", Home: "1", ArrowLeft: "5", ArrowDown: "5", PageDown: "5", End: "5" };
  for (const [key, first] of Object.entries(entered)) {
    const { page } = await captions();
    slider(page, 0).focus();
    await page.press(key);
    assert.equal(number(page, 0).value, first, key);
  }
  const { page } = await captions();
  slider(page, 0).focus();
  await page.press("ArrowRight", "ArrowRight", "ArrowRight");
  assert.equal(number(page, 0).value, "1.2");
  slider(page, 4).focus();
  await page.press("ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft");
  assert.equal(number(page, 4).value, "−0.3");
});

test("a press on the hidden thumb is a rating, and a touch that scrolls is none", async () => {
  const { page } = await captions();
  const found = slider(page, 0);
  found.box = { left: 100, top: 0, right: 528, bottom: 40, width: 428, height: 40 };
  await page.tell(found, "pointerdown");
  await page.tell(found, "pointerup", { clientX: 314 }); // the middle, where its thumb is
  assert.equal(number(page, 0).value, "3");
  for (const [scrolled, left] of [[200, "3"], [5, "4"]]) {
    await page.tell(found, "pointerdown");
    page.enter(found, 4);
    page.context.scrollY += scrolled;
    await page.tell(found, "touchend");
    assert.equal(number(page, 0).value, left);
  }
});

// --- The page -----------------------------------------------------------------------------------

test("nothing is saved while a number is missing, and the page goes there", async () => {
  const { server, page } = await captions();
  await hear(page);
  await give(page, [0, 2, 3, 4, 5, 7, 8]);
  await save(page);
  const names = ["Caption A: Recall", "Caption B: Recall", "Caption B: Irrelevance"];
  assert.deepEqual(missing(page), names);
  assert.equal(page.focused, slider(page, 1));
  assert.equal(range(page, 1), "Please enter a number.");
  assert.match(page.announced, /Caption B: Recall/);
  assert.deepEqual(server.posts, []);
  await page.press("3", ".", "5");
  assert.deepEqual(missing(page), names.slice(1));
  await page.press("Enter");
  assert.equal(page.focused, slider(page, 6));
  await page.press("End", "Enter");
  assert.equal(page.focused, slider(page, 9));
  await page.press("ArrowLeft", "Enter");
  const { "A.recall": first, "B.recall": second, "B.irrelevance": third, ...rest } = server.values["1.1"];
  assert.deepEqual([first, second, third, Object.keys(rest).length], [3.5, 5, 0, 7]);
  assert.equal(server.answers[0].meta.keyboard, true);
});

test("Enter in a comment is a new line, and other keys are letters", async () => {
  const { server, page } = await captions();
  await hear(page);
  await give(page);
  const area = page.all(".remark textarea")[0];
  area.focus();
  await page.press("4", " ", "?", "Enter", "-", " ", "5");
  assert.equal(area.value, "4 ?\n- 5");
  assert.equal(page.find("button.play").dataset.state, "play_again");
  assert.deepEqual(server.posts, []);
  await page.press({ key: "Enter", ctrlKey: true });
  assert.equal(server.values["1.1"]["A.comment"], "4 ?\n- 5");
  assert.equal("B.comment" in server.values["1.1"], false);
});

test("whether a clip is synthesised can be said and taken back", async () => {
  const { server, page } = await start([trial("rubric"), trial("rubric", "1.2"), end()]);
  for (const [presses, wanted] of [[["yes", "no", "no"], []], [["yes", "no"], ["no"]]]) {
    await hear(page);
    await give(page);
    for (const text of presses) await page.click(text);
    assert.deepEqual(page.texts("[aria-pressed=true]"), wanted);
    await save(page);
  }
  assert.deepEqual(server.answers.map((one) => one.values.synthesised), [undefined, "no"]);
});

test("everything given is there after a reload, and the finished numbers count", async () => {
  const { server, page } = await captions();
  await hear(page);
  await give(page, [0, 4]);
  page.enter(number(page, 2), "0.5");
  page.enter(number(page, 3), "-");
  page.enter(page.all(".remark textarea")[1], "half a tho");
  await page.click("yes");
  const again = await reload(page);
  assert.deepEqual(again.all("input.number").map((one) => one.value), ["4", "", "0.5", "-", "-1", "", "", "", "", ""]);
  assert.equal(unset(again), 8);
  assert.equal(again.all(".remark textarea")[1].value, "half a tho");
  assert.deepEqual(again.texts("[aria-pressed=true]"), ["yes"]);
  assert.equal(said(again), "You have heard the whole clip.");
  await give(again);
  await save(again);
  assert.equal(server.values["1.1"]["B.comment"], "half a tho");
});

test("a refused answer leaves all in place, and the clip is heard again", async () => {
  const { server, page } = await captions();
  await hear(page);
  await give(page);
  page.enter(page.all(".remark textarea")[0], "stays");
  server.fault = (path) => (path.endsWith("/answers") ? { status: 422, body: { error: { code: "wrong", wrong: ["Please hear every sound."] } } } : undefined);
  await save(page);
  assert.match(page.text(".notice"), /Please hear every sound\./);
  assert.equal(page.text("#saving"), "Not saved");
  server.fault = works;
  let now = page;
  for (let n = 0; n < 2; n += 1) {
    assert.equal(unset(now), 0);
    assert.equal(now.all(".remark textarea")[0].value, "stays");
    assert.match(said(now), /^Please listen to the whole clip\./);
    now = await reload(now);
  }
  await hear(now);
  await save(now);
  assert.equal(server.answers[0].meta.plays.length, 1);
});

test("what numbers mean can be read at any time without losing anything", async () => {
  const { server, page } = await captions();
  await give(page, [0]);
  await page.click("What do the numbers mean?");
  assert.match(page.text("dialog"), /a small mistake that a text editing tool can correct/);
  assert.match(page.text("dialog"), /−0\.1/);
  await page.press({ key: "Enter", ctrlKey: true });
  assert.deepEqual([missing(page), server.posts], [[], []]);
  await page.click("Close");
  assert.ok(!page.has("dialog"));
  assert.equal(number(page, 0).value, "4");
  slider(page, 2).focus();
  await page.press("?");
  const shown = () => page.all(".help").filter((one) => !one.hidden).length;
  assert.equal(shown(), 1);
  assert.match(page.all(".help")[2].textContent, /A penalty for bad language/);
  await page.click("What Fluency means");
  assert.equal(shown(), 0);
});

test("as many captions as there can be are all asked for", async () => {
  const { captions: known, questions } = trial("rubric");
  const letters = "ABCDEFGH".split("");
  const own = questions.filter((one) => one.answer === "slider" && one.caption === 0);
  const many = letters.flatMap((letter, caption) => own.map((one) => ({ ...one, name: one.name.replace("A.", `${letter}.`), caption })));
  const { page } = await captions({ captions: letters.map((label) => ({ ...known[0], label })), questions: many });
  await save(page);
  assert.equal(missing(page).length, 5 * letters.length + 1);
});

// --- The clip -----------------------------------------------------------------------------------

const plays = (server) => server.events.filter(({ kind }) => kind.startsWith("play"));
const at = (page) => Number(page.find(".seek").value);

test("a clip that was not heard is told, and nothing is saved", async () => {
  const { server, page } = await captions();
  assert.match(said(page), /You can read and rate the captions/);
  await give(page);
  await save(page);
  assert.deepEqual(missing(page), ["Clip: not heard to the end yet"]);
  assert.match(said(page), /before you save/);
  assert.equal(page.focused, page.find("button.play"));
  assert.deepEqual(server.posts, []);
  await page.press(" ");
  await page.pass(0.6);
  assert.deepEqual(missing(page), []);
  await save(page);
  assert.equal(server.answers.length, 1);
});

test("a play with a pause is one play", async () => {
  const { server, page } = await captions({}, 2);
  await page.press(" ");
  await page.pass(0.6);
  await page.press(" ");
  const stood = at(page);
  assert.ok(Math.abs(stood - 0.6) < 0.05);
  await give(page);
  await page.pass(1);
  assert.equal(at(page), stood);
  await hear(page, 1.6);
  await save(page);
  const [one] = server.answers[0].meta.plays;
  assert.ok(one.ended && Math.abs(one.seconds - 2) < 0.04);
  const told = plays(server);
  assert.deepEqual(told.map(({ kind, ended }) => [kind, ended]), [["play_started", false], ["play_paused", false], ["play_ended", true]]);
  assert.ok(Math.abs(told[1].seconds - 0.6) < 0.05);
  assert.equal(new Set(told.map(({ started }) => started)).size, 1);
});

test("a part that was leapt over is to be heard, and the clip goes back there", async () => {
  const { server, page } = await captions({}, 2);
  await page.click(page.find("button.play"));
  await page.pass(0.3);
  await page.fill(".seek", 1.6);
  await page.pass(0.6);
  assert.equal(said(page), "You skipped a part of the clip. Press Play to hear that part.");
  assert.ok(Math.abs(at(page) - 0.3) < 0.05);
  await give(page);
  await save(page);
  assert.equal(missing(page).length, 1);
  await hear(page, 1.6);
  await save(page);
  const [one] = server.answers[0].meta.plays;
  assert.ok(one.ended && Math.abs(one.seconds - 2) < 0.04);
});

test("a play goes on after a reload where it was", async () => {
  const { server, page } = await captions({}, 4);
  await page.click(page.find("button.play"));
  await page.pass(2.5);
  const again = await reload(page);
  assert.ok(at(again) >= 1.9 && at(again) <= 2.5, String(at(again)));
  await hear(again, 2.5);
  await give(again);
  await save(again);
  const [one] = server.answers[0].meta.plays;
  assert.ok(one.ended && Math.abs(one.seconds - 4) < 0.04);
});

test("a clip may be heard again, and each play is on record", async () => {
  const { server, page } = await captions();
  await hear(page);
  assert.equal(page.find("button.play").dataset.state, "play_again");
  await hear(page);
  assert.deepEqual(plays(server).map(({ kind }) => kind), ["play_started", "play_ended", "play_started", "play_ended"]);
  await give(page);
  await save(page);
  assert.deepEqual(server.answers[0].meta.plays.map((one) => one.ended), [true, true]);
});

test("a clip that may be heard once has no bar to move and closes, also after a reload", async () => {
  const { server, page } = await captions({ plays: 1 });
  assert.ok(page.find(".seek").disabled);
  await hear(page);
  assert.ok(page.button("Played").disabled);
  const again = await reload(page);
  assert.ok(again.button("Played").disabled);
  await give(again);
  await save(again);
  assert.equal(server.answers[0].meta.plays.length, 1);
});

test("what was heard on another device counts", async () => {
  const play = { sound: 0, question: "", started: "2026", seconds: 0.4, ended: true };
  const { server, page } = await captions({ plays: 1, played: [play] });
  assert.ok(page.button("Played").disabled);
  await give(page);
  await save(page);
  assert.deepEqual(server.answers[0].meta.plays, [play]);
});

test("a clip that cannot be loaded is told and can be tried again", async () => {
  const { server, page } = await captions({}, 0);
  assert.match(said(page), /its file cannot be read/);
  await give(page, [0]);
  server.sound = 0.4;
  await hear(page);
  assert.equal(unset(page), 9);
});

test("saving ends the sound", async () => {
  const { server, page } = await captions({}, 2);
  await hear(page, 2.2);
  await give(page);
  await page.click(page.find("button.play"));
  await page.pass(0.5);
  server.fault = (path) => (path.endsWith("/answers") ? "silent" : undefined);
  await page.press({ key: "Enter", ctrlKey: true });
  await page.pass(1);
  assert.equal(page.document.body.dataset.page, "sending");
  assert.equal(page.live.size, 0);
  assert.deepEqual(plays(server).map(({ kind }) => kind), ["play_started", "play_ended", "play_started", "play_paused"]);
});

test("parts that were heard are joined as a plain count of seconds joins them", async () => {
  const { covered, firstGap, isWhole, joined } = await new Page().import("heard_spans.js");
  let seed = 4;
  const random = (count) => (seed = (seed * 48271) % 2147483647) % count;
  let whole = 0;
  for (let n = 0; n < 400; n += 1) {
    const heard = Array.from({ length: 1 + random(12) }, () => [random(21), random(21)].sort((a, b) => a - b)).filter(([a, b]) => a < b);
    const known = Array.from({ length: 20 }, (_, second) => heard.some(([from, to]) => from <= second && second < to));
    const spans = heard.reduce((found, [from, to]) => joined(found, from, to), []);
    const plain = known.flatMap((is, second) => (is && !known[second - 1] ? [[second, (known.concat(false).indexOf(false, second))]] : []));
    assert.deepEqual(structuredClone(spans), plain);
    assert.equal(covered(spans), known.filter(Boolean).length);
    assert.equal(firstGap(spans, 20), Math.max(0, known.indexOf(false)));
    assert.equal(isWhole(spans, 20), known.every(Boolean));
    whole += known.every(Boolean);
  }
  assert.ok(whole > 20 && whole < 380, String(whole));
  assert.deepEqual([isWhole([[0, 1.98]], 2), isWhole([[0, 1.96]], 2), isWhole([], 0)], [true, false, false]);
});

// --- Examples -----------------------------------------------------------------------------------

test("examples explain the total, are heard one at a time, and Space does not leave them", async () => {
  const examples = view("examples");
  const twice = { ...examples, examples: [examples.examples[0], { ...examples.examples[0], sound: 1 }],
    sounds: [0, 1].map((n) => ({ address: `/l/tok/sound/examples/${n}`, label: "" })) };
  const { server, page } = await start([twice, end()], { server: { sound: 20 } });
  assert.equal(page.text(".formula"), "Total = (Precision + Recall)/2 + Fluency + Conciseness + Irrelevance");
  assert.equal(page.texts(".sum dd")[0], "4.25");
  const [first, second] = page.all("button.play");
  for (const [button, other] of [[first, second], [second, first], [first, second]]) {
    await page.click(button);
    await page.pass(0.5);
    assert.deepEqual([button.dataset.state, other.dataset.state], ["pause", "play"]);
    assert.equal(page.live.size, 1);
  }
  page.find("h1").focus();
  await page.press(" ");
  assert.deepEqual(server.posts, []);
  await page.press("Enter");
  assert.deepEqual(server.values, { examples: {} });
  assert.equal(page.live.size, 0);
  await visit(server);
});
