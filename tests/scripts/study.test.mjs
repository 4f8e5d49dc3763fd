// Pages of a study: texts, forms, rests and trials of one or two sounds, by keyboard and by mouse.

import assert from "node:assert/strict";
import { test } from "node:test";

import { reload, start, visit } from "./browser/page.mjs";
import { Profile } from "./browser/storage.mjs";
import { end, trial, view } from "./browser/views.mjs";

const ODD = '& + % " < 😀 é\u2028 </script>';

async function hear(page, button = "Play") {
  await page.click(button);
  await page.pass(1);
}

async function rate(page, value) {
  await hear(page);
  await page.press(String(value), "Enter");
}

const chosen = (page) => page.all("input").filter((one) => one.checked).map((one) => one.value);
const radios = (page) => page.all("input[type=radio]");
const isOpen = (page) => radios(page).every((one) => !one.disabled);

// --- The page of a plug-in -----------------------------------------------------------------------

test("a plug-in's page plays the sound to its end before it takes an answer", async () => {
  const { server, page } = await start([trial("acr", "1.1", { renderer: "plugin/annoyance" }), end()]);
  const answers = page.all(".answers button");
  assert.deepEqual(answers.map((one) => [one.textContent, one.disabled]).at(1), ["Good", true]);
  await hear(page);
  assert.ok(answers.every((one) => !one.disabled));
  await page.click("Good");
  assert.deepEqual(server.values, { 1.1: { QUALITY: 4 } });
  assert.deepEqual(server.answers[0].meta.plays.map(({ sound, ended }) => [sound, ended]), [[0, true]]);
});

// --- Texts, forms and rests ---------------------------------------------------------------------

test("the header has the progress, the minutes left and on the first page the title", async () => {
  const { page } = await start([view("consent"), view("text"), trial("acr"), end()]);
  const bar = page.find("progress");
  assert.equal(page.text("#where"), "Page 1 of 3 · about 4 min left");
  assert.ok(!page.find("#study").hidden);
  await page.click(page.find("label.check"));
  await page.press("Enter");
  assert.equal(page.text("#where"), "Page 2 of 3 · about 3 min left");
  assert.deepEqual([bar.value, bar.max], [1, "3"]);
  assert.ok(page.find("#study").hidden);
  await page.click("Continue");
  await rate(page, 3);
  assert.equal(page.text("#where"), "");
  assert.equal(bar.value, 3);
});

test("each page takes the focus and announces nothing of the page before", async () => {
  const { server, page } = await start([view("form"), view("text"), trial("p835"), end()]);
  assert.equal(page.focused, page.find("h1"));
  await page.click("Continue");
  assert.equal(page.announced, "Please answer this question.");
  await page.click(radios(page)[1]);
  await page.fill("#field-1", "31");
  await page.click("Continue");
  assert.equal(page.announced, "");
  assert.equal(page.focused, page.find("h1"));
  await page.click("Continue");
  assert.equal(page.announced, "Question 1 of 3. Attend only to the background. The background is:");
  await hear(page);
  assert.equal(page.announced, "Please choose your answer now.");
  assert.equal(page.focused, page.find("[role=radiogroup]"));
  assert.equal(server.place, 2);
});

test("a form says what is missing or wrong and keeps what is typed", async () => {
  const { server, page } = await start([view("form"), end()]);
  await page.fill("#field-1", "old");
  await page.click("Continue");
  assert.equal(page.text("#field-0-wrong"), "Please answer this question.");
  assert.equal(page.text("#field-1-wrong"), "Please enter a number.");
  assert.equal(page.find("#field-1").getAttribute("aria-invalid"), "true");
  assert.equal(page.focused, radios(page)[0]);
  await page.click(radios(page)[1]);
  await page.fill("#field-1", "47,5");
  assert.equal(page.text("#field-1-wrong"), "");
  assert.equal(page.find("#field-1").getAttribute("aria-invalid"), null);
  const again = await reload(page);
  assert.equal(again.find("#field-1").value, "47.5");
  assert.deepEqual(radios(again).map((one) => one.checked), [false, true, false]);
  await again.click("Continue");
  assert.deepEqual(server.values, { before: { device: "In-ear", age: 47.5 } });
});

test("an answer that is taken out of a form is not sent", async () => {
  const { server, page } = await start([view("form"), end()]);
  await page.click(radios(page)[0]);
  await page.fill("#field-1", "31");
  await page.fill("#field-2", "more");
  await page.fill("#field-2", "  ");
  await page.fill("#field-1", "");
  await page.click("Continue");
  assert.equal(page.text("#field-1-wrong"), "Please answer this question.");
  await page.fill("#field-1", "30");
  await page.press("Enter"); // in the field
  assert.deepEqual(server.values, { before: { device: "Headphones", age: 30 } });
});

test("a form that is too long as a whole is told before it is sent", async () => {
  const question = (n) => ({ name: `more${n}`, prompt: `More ${n}`, answer: "text", needed: false });
  const { server, page } = await start([view("form", { questions: Array.from({ length: 11 }, (_, n) => question(n)) }), end()]);
  for (const area of page.all("textarea")) await page.fill(area, "é".repeat(10_000));
  await page.click("Continue");
  assert.match(page.text("[role=alert]"), /too long to be sent/);
  assert.deepEqual(server.posts, []);
  for (const n of [9, 10]) await page.fill(`#field-${n}`, "");
  await page.click("Continue");
  assert.equal(Object.keys(server.values.before).length, 9);
});

test("half characters are not sent", async () => {
  const { server, page } = await start([view("form"), trial("acr"), end()]);
  await page.click(radios(page)[1]);
  await page.fill("#field-1", "31");
  await page.fill("#field-2", "a\ud83d");
  await page.click("Continue");
  await page.click("Add a comment");
  await page.fill("#comment", "a\ud83d");
  await hear(page);
  await page.press("2", "Enter");
  assert.equal(server.values.before.more, "a\ufffd");
  assert.equal(server.answers[1].meta.comment, "a\ufffd");
});

test("a rest counts down, and ends also where its page was left", async () => {
  const { server, page } = await start([view("text"), view("rest", { seconds: 65 }), view("text", { name: "after" }), end()]);
  await page.click("Continue");
  assert.equal(page.text(".clock"), "1:05");
  assert.ok(page.button("Continue").disabled);
  await page.press("Enter");
  await page.pass(6);
  assert.equal(page.text(".clock"), "0:59");
  const again = await reload(page);
  assert.equal(again.text(".clock"), "0:59");
  await again.pass(59);
  assert.equal(again.text(".clock"), "0:00");
  await again.press("Enter");
  assert.equal(again.name, "after");
  assert.deepEqual(server.answers.map((one) => one.page), ["instructions", "rest.2"]);
});

test("feedback shows the own and the expected answers", async () => {
  const { page } = await start([view("feedback"), end()]);
  assert.deepEqual(page.all("dl div").map((row) => row.querySelectorAll("dd").map((one) => one.className)),
    [["", "other"], ["", "good"], [""]]);
});

test("the last page has the code, copies it, and shows own results", async () => {
  const { page } = await start([end()]);
  assert.match(page.text("main"), /Your answers are saved\./);
  assert.match(page.text("main"), /paste this code/);
  await page.click("Copy the code");
  assert.equal(page.copied, "C0DE-77");
  assert.equal(page.text(".completion [role=status]"), "The code is copied.");
  const results = [{ title: "Quality", rows: [{ label: "5 Excellent", count: 0 }, { label: "4 Good", count: 2 }] }];
  const { page: other } = await start([end()], { server: { more: { service: false, results } } });
  assert.match(other.text("main"), /If you were not asked for a code/);
  assert.deepEqual(other.all(".own li").map((one) => one.getAttribute("aria-label")), ["5 Excellent: 0", "4 Good: 2"]);
  assert.equal(other.find("main").lastElementChild.textContent, "You can close this page.");
});

test("the id of a recruitment service goes with the first answer and leaves the address", async () => {
  const { server, page } = await start([view("consent"), view("text"), end()], { search: "?claim=5f8a%26b" });
  await page.click(page.find("label.check"));
  await page.click("Continue");
  assert.equal(server.answers[0].claim, "5f8a&b");
  assert.equal(page.context.location.search, "");
  await page.click("Continue");
  assert.equal("claim" in server.answers[1], false);
});

// --- Keys ---------------------------------------------------------------------------------------

test("digits choose on every keyboard", async () => {
  const keys = [
    [{ key: "&", code: "Digit1" }, true], // French
    [{ key: "!", code: "Digit1", shiftKey: true }, false],
    [{ key: "1", code: "Digit1", shiftKey: true }, true], // French
    [{ key: "1", code: "Numpad1" }, true],
    [{ key: "End", code: "Numpad1" }, false],
    [{ key: "¹", code: "Digit1", modifierAltGraph: true }, false],
    [{ key: "1", code: "Digit1", ctrlKey: true }, false],
    [{ key: "1", code: "Digit1", repeat: true }, false],
  ];
  for (const [key, isChosen] of keys) {
    const { page } = await start([trial("acr"), end()]);
    await hear(page);
    await page.press(key);
    assert.deepEqual(chosen(page), isChosen ? ["1"] : [], JSON.stringify(key));
  }
});

test("keys press nothing while a dialog is open or an answer is on its way", async () => {
  const { server, page } = await start([view("text", { name: "a" }), view("text", { name: "b" }), end()]);
  await page.click("Withdraw");
  page.find("h1").focus();
  await page.press("Enter");
  assert.deepEqual(server.posts, []);
  await page.click("Stay");
  server.fault = () => "silent";
  page.find("h1").focus();
  await page.press("Enter", "Enter");
  await page.pass(1);
  assert.equal(page.title, "Please wait…");
});

// --- One sound ----------------------------------------------------------------------------------

test("nothing can be chosen before the sound was heard, and it is heard once", async () => {
  const { server, page } = await start([trial("p835"), end()]);
  await page.press("4", "Enter");
  assert.ok(radios(page).every((one) => one.disabled));
  await page.press(" ");
  assert.ok(page.button("Playing").disabled);
  await page.press("4");
  await page.pass(1);
  assert.ok(page.button("Played").disabled);
  assert.deepEqual(chosen(page), []);
  assert.ok(page.find("button.wide").disabled);
  await page.press("4", "2", "Enter");
  assert.match(page.text(".steps"), /Question 2 of 3/);
  assert.deepEqual(chosen(page), []);
  await rate(page, 5);
  await rate(page, 5);
  assert.deepEqual(server.values, { 1.1: { BAK: 2, SIG: 5, OVRL: 5 } });
  const { plays, keyboard, rate: hertz } = server.answers[0].meta;
  assert.deepEqual(plays.map(({ question, ended }) => [question, ended]), [["BAK", true], ["SIG", true], ["OVRL", true]]);
  assert.ok(plays.every(({ seconds }) => Math.abs(seconds - 0.4) < 0.01));
  assert.deepEqual([keyboard, hertz], [true, 48000]);
});

test("a sound may be heard again where plays are free, and Space never sends the answer", async () => {
  const { server, page } = await start([trial("acr"), end()]);
  await hear(page);
  await page.click("Play again");
  assert.ok(!isOpen(page));
  await page.pass(1);
  await page.press("3");
  for (let n = 0; n < 2; n += 1) { // after a key, and with the focus on the chosen answer
    await page.press(" ");
    assert.ok(!isOpen(page));
    await page.pass(1);
    await page.click(radios(page)[2]);
  }
  const again = await reload(page);
  assert.deepEqual(chosen(again), ["3"]);
  await again.press(" ");
  assert.ok(again.button("Playing").disabled);
  await again.pass(1);
  await again.press("Enter");
  assert.deepEqual(server.values, { 1.1: { QUALITY: 3 } });
  assert.equal(server.answers[0].meta.plays.length, 5);
});

test("the keyboard is noted, and the mouse is", async () => {
  const { server, page } = await start([trial("acr"), end()]);
  await hear(page);
  await page.click(radios(page)[1]);
  await page.click("Next");
  assert.deepEqual([server.values["1.1"], server.answers[0].meta.keyboard], [{ QUALITY: 4 }, false]);
});

test("comments keep every character, and digits in them choose nothing", async () => {
  const { server, page } = await start([trial("acr"), end()]);
  await page.click("Add a comment");
  assert.equal(page.focused, page.find("#comment"));
  page.enter(page.find("#comment"), ODD);
  await page.press("1", "Enter", " ");
  assert.deepEqual(chosen(page), []);
  const again = await reload(page);
  assert.equal(again.find("#comment").value, `${ODD}1\n `);
  await rate(again, 1);
  assert.equal(server.answers[0].meta.comment, `${ODD}1\n `);
});

test("a reload comes back to the very question, and a sound that it cut is heard again", async () => {
  const { server, page } = await start([trial("p835"), end()]);
  await rate(page, 2);
  await page.click("Play");
  await page.pass(0.2);
  const second = await reload(page);
  assert.match(second.text(".steps"), /Question 2 of 3/);
  await rate(second, 3);
  await hear(second);
  const third = await reload(second);
  assert.ok(third.button("Played").disabled);
  await third.press("4", "Enter");
  assert.deepEqual(server.values, { 1.1: { BAK: 2, SIG: 3, OVRL: 4 } });
  const { plays } = server.answers[0].meta;
  assert.deepEqual(plays.map((one) => [one.question, one.ended]), [["BAK", true], ["SIG", false], ["SIG", true], ["OVRL", true]]);
});

test("a play that a reload cuts off says about how far it was", async () => {
  const { server, page } = await start([trial("acr"), end()], { server: { sound: 20 } });
  await page.click("Play");
  await page.pass(7.3);
  server.sound = 0.4;
  const again = await reload(page);
  await rate(again, 4);
  const [cut, whole] = server.answers[0].meta.plays;
  assert.deepEqual([cut.ended, whole.ended], [false, true]);
  assert.ok(cut.seconds >= 7 && cut.seconds < 7.3, String(cut.seconds));
});

test("a play is told when it starts and when it ends, and counts on another device", async () => {
  const { server, page } = await start([trial("p835"), end()]);
  await hear(page);
  const told = server.events.filter(({ kind }) => kind.startsWith("play"));
  assert.deepEqual(told.map(({ kind, page: name, question, sound, ended }) => [kind, name, question, sound, ended]),
    [["play_started", "1.1", "BAK", 0, false], ["play_ended", "1.1", "BAK", 0, true]]);
  assert.equal(told[0].seconds, 0);
  assert.ok(Math.abs(told[1].seconds - 0.4) < 0.01);
  const { question, sound, started, seconds, ended } = told[1];
  server.pages[0].played = [{ question, sound, started, seconds, ended }];
  const other = await visit(server, { profile: new Profile() });
  assert.ok(other.button("Played").disabled);
  await other.press("2", "Enter");
  await rate(other, 3);
  await rate(other, 4);
  assert.deepEqual(server.answers[0].meta.plays.map((one) => one.question), ["BAK", "SIG", "OVRL"]);
});

test("a choice is kept over a reload for its own question only", async () => {
  const { page } = await start([trial("p835"), end()]);
  await hear(page);
  await page.press("4");
  const again = await reload(page);
  assert.deepEqual(chosen(again), ["4"]);
  await again.press("Enter");
  assert.match(again.text(".steps"), /Question 2 of 3/);
  assert.deepEqual(chosen(again), []);
});

test("a key after Enter chooses nothing for the next question, and a second click answers once", async () => {
  const { server, page } = await start([trial("p835"), end()]);
  await hear(page);
  const key = (name) => page.press(name);
  await Promise.all([key("4"), key("Enter"), key("3")]);
  assert.match(page.text(".steps"), /Question 2 of 3/);
  assert.deepEqual(chosen(page), []);
  await rate(page, 1);
  await hear(page);
  await page.press("5");
  const next = page.find("button.wide");
  next.click();
  next.click();
  await page.pass(1);
  assert.equal(server.posts.length, 1);
});

test("the sounds of this trial and the next are there before, and no others", async () => {
  const { server, page } = await start([trial("acr", "1.1"), trial("acr", "1.2"), trial("acr", "1.3"), end()]);
  const asked = () => server.asked.filter((path) => path.includes("/sound/"));
  assert.deepEqual(asked(), ["/l/tok/sound/1.1/0", "/l/tok/sound/1.2/0"]);
  await rate(page, 3);
  assert.deepEqual(asked(), ["/l/tok/sound/1.1/0", "/l/tok/sound/1.2/0", "/l/tok/sound/1.3/0"]);
});

// --- Two sounds one after the other -------------------------------------------------------------

const playing = (page) => page.all(".sequence [aria-current=true]").map((one) => one.textContent);

test("a sequence shows which sound is playing", async () => {
  for (const [kind, first] of [["dcr", "Reference"], ["ccr", "First sound"]]) {
    const { server, page } = await start([trial(kind), end()], { server: { sound: 2 } });
    assert.deepEqual(playing(page), []);
    await page.click("Play both sounds");
    await page.pass(0.5);
    assert.deepEqual(playing(page), [first]);
    await page.pass(2.4);
    assert.deepEqual(playing(page), ["Second sound"]);
    assert.ok(!isOpen(page));
    await page.pass(2);
    assert.ok(isOpen(page));
    assert.ok(page.button("Played").disabled);
    await page.press("2", "Enter");
    assert.deepEqual(server.answers[0].meta.plays.map((one) => [one.sound, one.ended]), [[0, true], [1, true]]);
  }
});

test("after an interruption only the sound that was not heard is played", async () => {
  const { server, page } = await start([trial("dcr"), end()], { server: { sound: 2 } });
  await page.click("Play both sounds");
  await page.pass(3);
  const again = await reload(page);
  assert.deepEqual(again.texts(".sequence [data-state=heard]"), ["Reference"]);
  await again.click("Play");
  await again.pass(2.2);
  await again.press("3", "Enter");
  assert.deepEqual(server.values, { 1.1: { DEGRADATION: 3 } });
  assert.deepEqual(server.answers[0].meta.plays.filter((one) => one.ended).map((one) => one.sound), [0, 1]);
});

// --- Free switching between sounds --------------------------------------------------------------

const tile = (page, letter) => page.all(".tile").find((one) => one.querySelector(".letter").textContent === letter);
const part = (page, letter) => Number(tile(page, letter).querySelector(".bar i").style.getPropertyValue("--part"));

test("switching by keys opens the answers when every sound was heard", async () => {
  const { server, page } = await start([trial("preference"), end()], { server: { sound: 2.5 } });
  await page.press("a");
  await page.pass(0.5);
  assert.equal(page.text(".said"), "Playing: A");
  assert.equal(tile(page, "A").getAttribute("aria-pressed"), "true");
  await page.press("b");
  await page.pass(0.5);
  assert.equal(page.text(".said"), "Playing: B");
  assert.equal(tile(page, "A").getAttribute("aria-pressed"), "false");
  assert.equal(page.announced, "B");
  assert.ok(Math.abs(part(page, "A") - 0.2) < 0.05 && Math.abs(part(page, "B") - 0.2) < 0.05);
  await page.press("1");
  assert.deepEqual(chosen(page), []);
  await page.press(" ");
  assert.equal(page.button("Play").dataset.state, "play");
  await page.press("l");
  for (const letter of ["A", "B"]) {
    await page.press(letter);
    await page.pass(2.7);
    assert.equal(tile(page, letter).dataset.state, "playing");
    assert.equal(part(page, letter), 1);
  }
  assert.ok(isOpen(page));
  await page.press("2", " "); // Space pauses, and does not send the answer
  assert.deepEqual(server.posts, []);
  const again = await reload(page);
  assert.deepEqual(chosen(again), ["0"]);
  await again.press("Enter");
  assert.deepEqual(server.values, { 1.1: { PREFERENCE: 0 } });
  const { plays } = server.answers[0].meta;
  assert.deepEqual([...new Set(plays.filter((one) => one.ended).map((one) => one.sound))], [0, 1]);
  assert.deepEqual([...new Set(plays.map((one) => one.question))], [""]);
});

test("switches keep the position, or start from the beginning where the study says so", async () => {
  for (const restart of [false, true]) {
    const { page } = await start([trial("ab", "1.1", { restart }), end()], { server: { sound: 2 } });
    await page.press("a");
    await page.pass(0.5);
    await page.press("b");
    await page.pass(0.5);
    const bar = Number(page.find(".seek").value);
    assert.ok(Math.abs(bar - (restart ? 0.5 : 1)) < 0.06, String(bar));
    await page.pass(2);
    assert.equal(page.button("Play").dataset.state, "play");
    assert.ok(Math.abs(part(page, "A") - 0.25) < 0.05);
    assert.ok(Math.abs(part(page, "B") - (restart ? 1 : 0.75)) < 0.05);
  }
});

test("a pair is repeated, sought and limited", async () => {
  const { server, page } = await start([trial("abx", "1.1", { plays: 1 }), end()], { server: { sound: 2 } });
  for (const letter of ["a", "b", "x"]) {
    await page.press(letter);
    await page.pass(2.2);
    assert.ok(tile(page, letter.toUpperCase()).disabled);
  }
  assert.ok(page.find("button.play").disabled);
  await page.press("1");
  page.find("h1").focus();
  await page.press("Enter");
  assert.deepEqual(server.values, { 1.1: { SAME: 1 } });
  const { page: other } = await start([trial("ab"), end()], { server: { sound: 2 } });
  other.enter(other.find(".seek"), "1.5");
  await other.press("a");
  await other.pass(1);
  assert.ok(Math.abs(part(other, "A") - 0.25) < 0.03);
  assert.equal(other.button("Play").dataset.state, "play");
});
