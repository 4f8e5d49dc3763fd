// Words that are kept, and summaries that are rated.

import assert from "node:assert/strict";
import { test } from "node:test";

import { reload, start } from "./browser/page.mjs";
import { end, view } from "./browser/views.mjs";

const kept = (page) => page.texts(".word[aria-selected=true]");
const word = (page, place) => page.find(`#word-${place}`);
const missing = (page) => page.text(".missing");

/** Press, move and release a pointer on words. */
async function drag(page, places, kind = "mouse") {
  const { document } = page;
  const list = page.find(".words");
  const at = (place) => ((document.pointed = word(page, place)), { clientX: 30 * place, clientY: 5, pointerType: kind });
  await page.tell(list, "pointerdown", at(places[0]));
  for (const place of places.slice(1)) await page.tell(list, "pointermove", at(place));
  await page.tell(list, "pointerup", at(places.at(-1)));
}

test("words are kept by keyboard, and changes are undone", async () => {
  const { server, page } = await start([view("words"), end()]);
  page.find(".words").focus();
  const shift = (key) => ({ key, shiftKey: true });
  await page.press("ArrowRight", "ArrowRight", " ", shift("ArrowRight"));
  assert.deepEqual(kept(page), ["cherry", "blossoms"]);
  await page.press(shift("ArrowRight"), shift("ArrowLeft")); // gives the last word back
  assert.deepEqual(kept(page), ["cherry", "blossoms"]);
  assert.equal(page.text(".count"), "2 of 11 words kept (18 %)");
  await page.press("Enter");
  assert.match(missing(page), /Still to keep: at least 2/);
  assert.equal(page.focused, page.find(".words"));
  assert.deepEqual(server.posts, []);
  await page.press("End", shift("ArrowLeft"), shift("ArrowLeft"));
  assert.equal(page.text(".advice"), "The length is right.");
  assert.ok(page.find(".advice").classList.contains("good"));
  await page.press({ key: "z", ctrlKey: true });
  assert.deepEqual(kept(page), ["cherry", "blossoms"]);
  await page.press({ key: "z", ctrlKey: true });
  assert.deepEqual(kept(page), []);
  assert.ok(page.button("Undo").disabled);
  await page.press({ key: "y", ctrlKey: true }, { key: "Z", ctrlKey: true, shiftKey: true });
  assert.ok(page.button("Redo").disabled);
  assert.equal(page.text(".summary"), "cherry blossoms spring this year");
  await page.press("Enter");
  assert.deepEqual(server.values, { 1.1: { positions: [3, 4, 9, 10, 11] } });
  assert.equal(server.answers[0].meta.keyboard, true);
});

test("the cursor stays within the words, and single words toggle", async () => {
  const { page } = await start([view("words"), end()]);
  page.find(".words").focus();
  await page.press("ArrowLeft", " ", "End", "ArrowRight", " ", "Home", " ");
  assert.deepEqual(kept(page), ["year"]);
  assert.equal(page.find(".words").getAttribute("aria-activedescendant"), "word-0");
});

test("too many words are told, and a length that is only advised can be saved", async () => {
  const { server, page } = await start([view("words"), end()]);
  assert.equal(page.text(".advice"), "Target: 4 to 5 words");
  await drag(page, [0, 6]);
  await page.click("Save and continue");
  assert.match(missing(page), /Too many: drop at least 2/);
  const advised = view("words", { target: { low: 4, aim: 4, high: 5, enforced: false } });
  const { server: other, page: free } = await start([advised, end()]);
  await free.click("Save and continue");
  assert.match(missing(free), /No words kept yet/);
  await drag(free, [0, 6]);
  assert.equal(free.text(".advice"), "Target: about 4 words");
  await free.click("Save and continue");
  assert.deepEqual(other.values["1.1"].positions, [1, 2, 3, 4, 5, 6, 7]);
  assert.equal(server.posts.length, 0);
});

test("a drag keeps or drops a range, a scroll changes nothing, and a reload keeps all", async () => {
  const { page } = await start([view("words"), end()]);
  await drag(page, [2, 7]);
  assert.equal(kept(page).length, 6);
  await drag(page, [5, 9, 4]); // drops, and gives back what it passed over
  assert.deepEqual(kept(page), ["cherry", "blossoms", "bloom", "in"]);
  const list = page.find(".words");
  await page.tell(list, "pointerdown", { clientX: 0, clientY: 0, pointerType: "touch" });
  await page.tell(list, "pointermove", { clientX: 0, clientY: 40, pointerType: "touch" });
  await page.tell(list, "pointercancel", {});
  assert.equal(kept(page).length, 4);
  await drag(page, [0], "touch"); // a tap
  assert.deepEqual((kept(await reload(page))), ["the", "cherry", "blossoms", "bloom", "in"]);
});

test("up and down go to the nearest word of the next line", async () => {
  const { page } = await start([view("words"), end()]);
  page.all(".word").forEach((one, n) => Object.assign(one, { offsetTop: 20 * Math.floor(n / 4), offsetLeft: 30 * (n % 4) }));
  page.find(".words").focus();
  const current = () => page.find(".words").getAttribute("aria-activedescendant");
  await page.press("ArrowRight", "ArrowDown");
  assert.equal(current(), "word-5");
  await page.press("ArrowDown", "ArrowDown");
  assert.equal(current(), "word-9");
  await page.press("ArrowUp");
  assert.equal(current(), "word-5");
});

test("a word is lit while it is heard, and the recording is heard first", async () => {
  const { server, page } = await start([view("spoken_words"), end()], { server: { sound: 4.4 } });
  await drag(page, [0, 4]);
  await page.click("Save and continue");
  assert.match(missing(page), /Recording: not heard to the end yet/);
  assert.equal(page.focused, page.find("button.play"));
  await page.press(" ");
  const seen = [];
  for (let n = 0; n < 45; n += 1) {
    await page.pass(0.1);
    seen.push(...page.all(".lit").map((one) => Number(one.dataset.place)));
  }
  assert.deepEqual([...new Set(seen)], [...Array(11).keys()]);
  assert.ok(!page.has(".lit"));
  assert.equal(missing(page), "");
  await page.click("Save and continue");
  assert.deepEqual(server.answers[0].meta.plays.map((one) => one.ended), [true]);
});

test("summaries are rated by digits, and all are needed", async () => {
  const { server, page } = await start([view("reading"), end()]);
  assert.match(page.text(".marked"), /Summary A/);
  await page.press("4");
  assert.match(page.text(".marked"), /Summary B/);
  const again = await reload(page);
  assert.deepEqual(again.all("input").filter((one) => one.checked).map((one) => one.value), ["4"]);
  assert.match(again.text(".marked"), /Summary B/);
  await again.press("Enter");
  assert.deepEqual(again.texts(".missing li"), ["Summary B"]);
  assert.deepEqual(again.texts(".summarized .said"), ["", "Please answer this question."]);
  await again.press("2");
  assert.deepEqual(again.texts(".summarized .said"), ["", ""]);
  await again.press({ key: "Enter", ctrlKey: true });
  assert.deepEqual(server.values, { 1.1: { "A.READING": 4, "B.READING": 2 } });
});

test("a summary that has the focus is the one that digits rate", async () => {
  const { server, page } = await start([view("reading"), end()]);
  await page.tell(page.all(".summarized")[1], "pointerdown");
  await page.press("1", "5");
  assert.match(page.text(".marked"), /Summary A/);
  assert.equal(server.posts.length, 0);
});

test("summaries are saved once the recording was heard", async () => {
  const { server, page } = await start([view("spoken_reading"), end()], { server: { sound: 1 } });
  await page.press("4", "2");
  await page.click("Save and continue");
  assert.deepEqual(page.texts(".missing li"), ["Recording: not heard to the end yet"]);
  assert.deepEqual(server.posts, []);
  await page.click(page.find("button.play"));
  await page.pass(1.2);
  assert.equal(page.text(".player .said"), "You have heard the whole recording.");
  await page.click("Save and continue");
  assert.deepEqual(server.values, { 1.1: { "A.READING": 4, "B.READING": 2 } });
  assert.deepEqual(server.answers[0].meta.plays.map((play) => play.ended), [true]);
});
