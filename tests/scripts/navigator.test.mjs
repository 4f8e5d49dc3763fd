// The navigator of recordings: its clock, its axes, its rows of labels, its gaps, its tiles and its keys.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Page } from "./browser/page.mjs";

const plain = (value) => structuredClone(value);
const load = (name) => new Page().import(`navigator/${name}.js`);

// --- Axes ---------------------------------------------------------------------------------------

const DAY = 86400;
const SPRING = { began: "2026-03-29T01:00:00+01:00", offsets: [[0, 3600], [3600, 7200]], seconds: 14400 };
const clockOf = async (given) => new (await load("axis")).Clock({ began: null, offsets: [], ...given });

test("ticks are round times of the clock", async () => {
  const cases = [
    [{ seconds: DAY }, [0, DAY, 10000], ["00:00", "03:00", "06:00"]],
    [{ seconds: 5 }, [1, 1.5, 0.09], ["00:00:01.0", "00:00:01.1", "00:00:01.2"]],
    [SPRING, [0, 14400, 3000], ["01:00", "03:00", "04:00"]],
    [{ began: "2026-06-01T22:00:00", seconds: DAY }, [0, 20000, 3600], ["22:00", "23:00", "Tue 2 Jun"]],
  ];
  for (const [recording, ticks, texts] of cases) {
    const found = (await clockOf(recording)).ticks(...ticks);
    assert.deepEqual(plain(found.map(({ text }) => text)).slice(0, 3), texts);
  }
});

test("times are read as people write them", async () => {
  const typed = { "01:30": 1800, "2:30": null, "3:15:00.5": 4500.5, "2026-03-29 04:00": 7200, "90 s": 90, "07:00": null, soon: null,
    "1:75": null, "1:15:75": null, "29.3.2026 04:00": 7200, "1,5 s": 1.5, "01:30:30,5": 1830.5 }; // no 02:30 that day
  const clock = await clockOf(SPRING);
  for (const [text, time] of Object.entries(typed)) assert.equal(clock.parse(text), time, text);
  const elapsed = await clockOf({ seconds: 100 * 3600 });
  assert.deepEqual(["30:00", "99:59:59", "101:00", "2026-03-29 04:00"].map((text) => elapsed.parse(text)), [108000, 359999, null, null]);
  const days = await clockOf({ began: "2026-06-01T22:00:00", seconds: 2 * DAY });
  assert.deepEqual([days.parse("23:00"), days.parse("23:00", DAY)], [3600, 3600 + DAY]);
});

test("a time has as many decimals as a range needs, and its date if there are several", async () => {
  const clock = await clockOf({ began: "2026-06-01T05:30:00", seconds: 4200 });
  assert.deepEqual([3600, 60, 5, 1].map((range) => clock.stamp(1.2345, range)), ["05:30:01", "05:30:01.2", "05:30:01.23", "05:30:01.235"]);
  const days = await clockOf({ began: "2026-06-01T22:00:00", seconds: DAY });
  assert.equal(days.stamp(7200, 3600), "Tue 2 Jun 00:00:00");
  assert.equal(days.date(0, true), "Mon 1 Jun 2026");
});

test("lengths are told in two units at most", async () => {
  const { lengthText, roundStep } = await load("axis");
  assert.deepEqual([0.125, 2.5, 59.9, 60, 90, 3600, 5400, 4200, DAY].map(lengthText),
    ["0.13 s", "2.5 s", "59.9 s", "1 min", "1 min 30 s", "1 h", "1 h 30 min", "1 h 10 min", "24 h"]);
  assert.deepEqual([0.011, 3, 60, 61, 50000, 8 * DAY].map(roundStep), [0.02, 5, 60, 120, DAY, 14 * DAY]);
});

test("frequencies have places, rows and round ticks on every scale", async () => {
  const { Frequencies } = await load("axis");
  const info = { bands: Array.from({ length: 80 }, (_, n) => 100 * (n + 1)), fine_bands: [8000] };
  for (const [scale, ticks, middle] of [["linear", [0, 2000, 4000, 6000, 8000], 0.5], ["mel", [0, 500, 1000, 2000, 4000, 8000], 0.756],
    ["log", [50, 100, 200, 500, 1000, 2000, 4000, 8000], 0.863]]) {
    const axis = new Frequencies(info, scale);
    assert.deepEqual(plain(axis.ticks(0.13)), ticks);
    assert.ok(Math.abs(axis.place(4000) - middle) < 0.001, String(axis.place(4000)));
    assert.deepEqual([axis.place(scale === "log" ? 50 : 0), axis.place(8000)], [0, 1]);
    const { band, mix } = axis.rows(info.bands, 40);
    for (let y = 0; y < 40; y += 1) {
      const found = info.bands.map((hertz) => axis.place(hertz));
      const wanted = 1 - (y + 0.5) / 40;
      const shown = found[band[y]] + (mix[y] / 256) * (found[band[y] + 1] - found[band[y]]);
      assert.ok(Math.abs(shown - Math.max(wanted, found[0])) < 0.01, `${scale} ${y}`);
    }
  }
});

// --- Labels and gaps ----------------------------------------------------------------------------

test("overlapping labels have rows of their own", async () => {
  const { layLabels } = await load("stage");
  const cases = [
    [[[[0, 2], [1, 2], [2, 2], [3, 2]]], [0, 1, 0, 1]],
    [[[[0, 9], [1, 9]], [[0, 1]], [[5, 0]]], [0, 1, 2, 3]],
    [[Array.from({ length: 8 }, (_, n) => [n, 99])], [0, 1, 2, 3, 4, 5, 0, 1]], // too many to be apart
    [[Array.from({ length: 6 }, (_, n) => [n, 99]), [[0, 1], [0.5, 1]]], [0, 1, 2, 3, 0, 1, 4, 5]],
  ];
  for (const [overlays, lanes] of cases) {
    const { labels } = layLabels(overlays.map((spans) => ({ spans })));
    labels.sort((a, b) => a.overlay - b.overlay || a.start - b.start);
    assert.deepEqual(plain(labels.map(({ lane }) => lane)), lanes);
  }
  const spans = Array.from({ length: 6 }, (_, n) => [n, 99, "owl"]);
  assert.deepEqual([6, 4].map((most) => layLabels([{ spans }], most).lanes), [6, 4]);
});

test("gaps are named by their reason", async () => {
  const { findGaps } = await load("stage");
  const info = { stretches: [[5, 5, "a"], [12, 3, "b"], [16, 1, "c"]], damages: [10.02, 17], seconds: 20 };
  assert.deepEqual(plain(findGaps(info)), [{ start: 0, end: 5, name: "not_recorded" }, { start: 10, end: 12, name: "unreadable" },
    { start: 15, end: 16, name: "not_recorded" }, { start: 17, end: 20, name: "unreadable" }]);
});

test("texts of a study replace those of the navigator, with values filled in", async () => {
  const { texts } = await load("wording");
  const text = texts({ play: "Écouter" });
  assert.deepEqual([text("play"), text("labels", { count: 4 }), text("key_play"), text("key_play_keys"), text("unknown")],
    ["Écouter", "Labels (4)", "Play or pause", "Space", "unknown"]);
});

// --- Tiles --------------------------------------------------------------------------------------

const INFO = { tile_columns: 100, frame_seconds: 0.1, seconds: 95, levels: 4, digest: "d" };

async function tilesOf(reply) {
  const asked = [];
  const running = { most: 0, now: 0 };
  const server = { fault: () => undefined, fetch: async (address, { signal }) => {
    asked.push(address.slice("/r/tile/d/".length));
    running.now += 1;
    running.most = Math.max(running.most, running.now);
    await new Promise((done, failed) => {
      page.clock.set(done, 10);
      signal.addEventListener("abort", () => failed(new Error("aborted")));
    }).finally(() => (running.now -= 1));
    return reply(asked.at(-1));
  } };
  const page = new Page({ server });
  const { Tiles } = await page.import("navigator/tiles.js");
  const heard = [];
  const tiles = new Tiles("/r", INFO, { loaded: (isShown) => heard.push(isShown), failed: (error) => heard.push(error.code) });
  return { page, tiles, asked, heard, running };
}

const good = () => ({ ok: true, arrayBuffer: async () => new Uint8Array([0, 1, 255, 3]).buffer, headers: new Map([["X-Columns", "2"], ["X-Complete", "1"]]) });

test("tiles of a range are named, and none beyond the recording", async () => {
  const { tiles } = await tilesOf(good);
  const numbers = (level, start, end) => plain(tiles.names("max", level, start, end).map(({ number }) => number));
  assert.deepEqual(numbers(0, 0, 95), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(numbers(0, 10, 20), [1]);
  assert.deepEqual(numbers(0, 19.9, 20.1), [1, 2]);
  assert.deepEqual(numbers(3, 0, 200), [0, 1]);
  assert.deepEqual(numbers(-1, -5, 6), [0, 1]);
});

test("tiles are loaded in order, at most a few at once, then those that may come next", async () => {
  const { page, tiles, asked, heard, running } = await tilesOf(good);
  const names = tiles.names("max", 0, 0, 70);
  tiles.want(names, tiles.names("max", 1, 0, 95));
  await page.pass(0.005);
  assert.equal(asked.length, 5);
  await page.pass(1);
  assert.deepEqual(asked.slice(0, 7), plain(names.map(({ number }) => `max/0/${number}`)));
  assert.deepEqual(asked.slice(7), ["max/1/0", "max/1/1", "max/1/2", "max/1/3", "max/1/4"]);
  assert.equal(running.most, 5);
  assert.deepEqual(heard, [...Array(7).fill(true), ...Array(5).fill(false)]);
  const tile = tiles.get(names[0]);
  assert.deepEqual([[...tile.bytes], tile.columns, tile.rows, tile.complete], [[1, 2, 0, 4], 2, 2, true]);
  tiles.want(names);
  await page.pass(1);
  assert.equal(asked.length, 12); // all are there
});

test("a tile that fails is asked for again after a while, and others end when they are not wanted", async () => {
  let isGood = false;
  const bad = { ok: false, status: 500, json: async () => ({ error: { code: "changed", message: "no" } }) };
  const { page, tiles, asked, heard } = await tilesOf(() => (isGood ? good() : bad));
  const [first, second] = tiles.names("max", 0, 0, 20);
  tiles.want([first]);
  await page.pass(1);
  assert.deepEqual([asked, heard], [["max/0/0"], ["changed"]]);
  isGood = true;
  await page.pass(4);
  assert.equal(tiles.has(first), true);
  tiles.want([second]);
  await page.pass(0.005);
  tiles.want([]);
  await page.pass(1);
  assert.equal(tiles.has(second), false);
});

test("until a tile is there, coarser and finer ones are drawn", async () => {
  const { page, tiles } = await tilesOf(good);
  tiles.want([{ kind: "max", level: 2, number: 0 }, { kind: "max", level: 0, number: 2 }]);
  await page.pass(1);
  const pieces = plain(tiles.pieces({ kind: "max", level: 1, number: 1 }, "max").map(({ tile, start, end }) => [tile.level, tile.number, start, end]));
  assert.deepEqual(pieces, [[2, 0, 20, 40], [0, 2, 20, 30]]);
  assert.equal(tiles.pieces({ kind: "max", level: 2, number: 0 }, "max").length, 1);
});

// --- Keys and pointers --------------------------------------------------------------------------

async function inputs() {
  const page = new Page();
  const { listenToKeys, listenToOverview, listenToPointers } = await page.import("navigator/input.js");
  const { document } = page;
  const [element, view, overview] = ["section", "div", "div"].map((name) => document.createElement(name));
  element.append(overview, view);
  document.querySelector("main").append(element);
  view.tabIndex = 0;
  overview.box = { left: 0, width: 200, top: 0, height: 40 };
  const done = [];
  const stage = { view, overview, area: { left: 0, width: 100 }, timeAt: (x) => x, partAt: (y) => (y < 10 ? "labels" : y > 90 ? "axis" : "picture"),
    labelAt: () => "label" };
  const known = { element, stage, closed: new AbortController(), view: { start: 20, seconds: 100 }, info: { seconds: 1000 }, cursor: 7,
    selection: null, limited: (seconds) => Math.max(1, seconds), step: (by) => (done.push(["step", by]), true) };
  const navigator = new Proxy(known, { get: (_, name) => (name in known ? known[name] : (...given) => void done.push([name, ...given])) });
  for (const listen of [listenToKeys, listenToOverview, listenToPointers]) listen(navigator);
  view.focus();
  return { page, view, overview, known, take: () => plain(done.splice(0)) };
}

test("keys of the navigator act, and fields and buttons keep theirs", async () => {
  const { page, view, take } = await inputs();
  const cases = [["+", ["zoom", 0.5]], ["=", ["zoom", 0.5]], ["-", ["zoom", 2]], ["−", ["zoom", 2]], ["0", ["zoomWhole"]], ["E", ["zoomSelection"]],
    ["l", ["loop"]], ["n", ["step", 1]], ["p", ["step", -1]], ["x", ["excerpt"]], [" ", ["toggle"]], ["PageUp", ["hour", -1]], ["PageDown", ["hour", 1]],
    ["ArrowLeft", ["move", -1, false]], [{ key: "ArrowRight", shiftKey: true }, ["move", 1, true]], ["Home", ["moveTo", 0, false]],
    ["End", ["moveTo", 1000, false]], [{ key: "1", code: "Digit1", ctrlKey: true }, ["zoom", 0.5]], [{ key: "3", ctrlKey: true }, ["zoom", 2]],
    [{ key: "e", ctrlKey: true }, ["zoomSelection"]]];
  for (const [key, act] of cases) {
    await page.press(key);
    assert.deepEqual(take(), [act], JSON.stringify(key));
  }
  await page.press({ key: "x", altKey: true }, { key: "x", ctrlKey: true }, "q");
  assert.deepEqual(take(), []);
  const [button, field] = ["button", "input"].map((name) => page.document.createElement(name));
  view.parentElement.append(button, field);
  button.focus();
  await page.press(" ", "ArrowLeft", "x");
  assert.deepEqual(take(), [["excerpt"]]);
  field.focus();
  await page.press("x", "+");
  assert.deepEqual(take(), []);
});

test("Tab goes from label to label until Escape, and again after N", async () => {
  const { page, take } = await inputs();
  await page.press("Tab", { key: "Tab", shiftKey: true }, "Escape", "Tab", "n", "Tab");
  assert.deepEqual(take(), [["step", 1], ["step", -1], ["clear"], ["step", 1], ["step", 1]]);
});

test("a click plays, a drag selects, and the axis, Alt and the wheel move the view", async () => {
  const { page, view, take, known } = await inputs();
  const at = (clientX, clientY = 50, more = {}) => ({ clientX, clientY, pointerType: "mouse", ...more });
  const way = async (from, to, more) => {
    await page.tell(view, "pointerdown", at(...from, more));
    if (to) await page.tell(view, "pointermove", at(...to, more));
    await page.tell(view, "pointerup", at(...(to ?? from), more));
    return take().filter(([name]) => name !== "prepare");
  };
  assert.deepEqual(await way([30, 50]), [["playFrom", 30]]);
  assert.deepEqual(await way([30, 50], [33, 50]), [["playFrom", 30]]); // no drag yet
  assert.deepEqual(await way([30, 50], [40, 50]), [["select", 30, 40]]);
  assert.deepEqual(await way([30, 95], [40, 95]), [["zoomTo", 10, 100]]);
  assert.deepEqual(await way([30, 50], [20, 50], { altKey: true }), [["zoomTo", 30, 100]]);
  assert.deepEqual(await way([30, 5]), [["choose", "label", true]]);
  assert.deepEqual(await way([30, 50], null, { shiftKey: true }), [["select", 7, 30]]);
  known.selection = [3, 5];
  assert.deepEqual(await way([30, 50], null, { shiftKey: true }), [["select", 3, 30]]);
  const wheel = async (more) => {
    await page.tell(view, "wheel", { clientX: 30, deltaX: 0, deltaY: 0, deltaMode: 0, ...more });
    return take()[0];
  };
  assert.deepEqual(await wheel({ deltaY: 100 }), ["zoom", Math.exp(0.22), 30]);
  assert.deepEqual(await wheel({ deltaY: -100, ctrlKey: true }), ["zoom", Math.exp(-0.88), 30]);
  assert.deepEqual(await wheel({ deltaY: 1, deltaMode: 1 }), ["zoom", Math.exp(16 * 0.0022), 30]);
  assert.deepEqual(await wheel({ deltaX: 10, deltaY: 5 }), ["zoomTo", 30, 100]);
  assert.deepEqual(await wheel({ deltaY: 10, shiftKey: true }), ["zoomTo", 30, 100]);
});

test("fingers pan, pinch and, held still, select", async () => {
  const { page, view, take } = await inputs();
  const finger = (type, id, clientX) => page.tell(view, type, { clientX, clientY: 50, pointerId: id, pointerType: "touch" });
  await finger("pointerdown", 1, 30);
  await finger("pointermove", 1, 37); // not far enough
  assert.deepEqual(take(), [["prepare", 30]]);
  await finger("pointermove", 1, 50);
  await finger("pointerup", 1, 50);
  assert.deepEqual(take(), [["zoomTo", 0, 100]]);
  await finger("pointerdown", 1, 30);
  await page.pass(0.5);
  await finger("pointermove", 1, 50);
  await finger("pointerup", 1, 50);
  assert.deepEqual(take(), [["prepare", 30], ["select", 30, 50]]);
  await finger("pointerdown", 1, 30);
  await finger("pointerdown", 2, 70);
  take();
  await finger("pointermove", 2, 110);
  assert.deepEqual(take(), [["zoomTo", 50 - 0.7 * 50, 50]]); // 70 is in the middle now
  await finger("pointerup", 2, 110);
  await finger("pointerup", 1, 30);
  assert.deepEqual(take(), []);
});

test("the frame of the overview is dragged, or moved to where it is pressed", async () => {
  const { page, overview, take } = await inputs();
  const at = (clientX) => ({ clientX, clientY: 5 });
  await page.tell(overview, "pointerdown", at(100)); // 500 s, outside of the frame
  await page.tell(overview, "pointermove", at(110));
  await page.tell(overview, "pointerup", at(110));
  await page.tell(overview, "pointermove", at(120));
  assert.deepEqual(take(), [["zoomTo", 450, 100], ["zoomTo", 500, 100]]);
  await page.tell(overview, "pointerdown", at(20)); // 100 s, inside
  await page.tell(overview, "pointermove", at(40));
  assert.deepEqual(take(), [["zoomTo", 20, 100], ["zoomTo", 120, 100]]);
});
