// Skims on the plane: markers, fields, and what is missing.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Page, reload, start } from "./browser/page.mjs";
import { end, view } from "./browser/views.mjs";

const plane = (more = {}, seconds = 1) => start([view("plane", more), end()], { server: { sound: seconds } });
const marker = (page, n) => page.all(".plane-marker")[n - 1];
const field = (page, label, axis) => page.find(`[aria-label="Skim ${label}: ${axis}"]`);
const place = (page, label) => ["TC", "SD"].map((axis) => Number(field(page, label, axis).value));
const BOX = { left: 0, top: 0, right: 1100, bottom: 1100, width: 1100, height: 1100 }; // a pixel is 0.001

function laid(page) {
  page.find(".plane-field").box = BOX;
  for (const one of page.all(".plane-marker")) one.box = { left: 0, top: 1100, width: 20, height: 20 };
  return page;
}

async function drag(page, n, x, y, ending = "pointerup") {
  const start = { clientX: 10, clientY: 1110 };
  const to = { clientX: 1000 * x, clientY: 1100 - 1000 * y };
  await page.tell(marker(page, n), "pointerdown", start);
  await page.tell(marker(page, n), "pointermove", to);
  await page.tell(marker(page, n), ending, to);
}

test("markers are dragged to places, which end at the edge", async () => {
  const { server, page } = await plane();
  laid(page);
  await drag(page, 1, 0.5, 0.25);
  assert.deepEqual(place(page, 1), [0.5, 0.25]);
  assert.equal(marker(page, 1).getAttribute("aria-label"), "Marker 1. TC 0.5, SD 0.25");
  await drag(page, 1, 1.05, -0.3);
  assert.deepEqual(place(page, 1), [1, 0]);
  await page.tell(marker(page, 2), "pointerdown", { clientX: 10, clientY: 1110 });
  await page.tell(marker(page, 2), "pointermove", { clientX: 12, clientY: 1112 });
  await page.tell(marker(page, 2), "pointerup", { clientX: 12, clientY: 1112 });
  assert.equal(field(page, 2, "TC").value, ""); // pressed, not dragged
  await page.pass(5);
  assert.deepEqual(server.events.filter(({ kind }) => kind === "placed").map(({ label, TC, SD }) => [label, TC, SD]), [["1", 0.5, 0.25], ["1", 1, 0]]);
  assert.equal(page.announced, "1: TC 1, SD 0");
});

test("keys move a marker from the middle in small and large steps", async () => {
  const { page } = await plane();
  await page.press("2");
  assert.equal(page.focused, marker(page, 2));
  await page.press("ArrowRight", "ArrowRight", { key: "ArrowUp", shiftKey: true }, "ArrowDown", { key: "ArrowLeft", ctrlKey: true });
  assert.deepEqual(place(page, 2), [0.52, 0.54]);
  await page.press(" ");
  await page.pass(0.5);
  assert.equal(page.live.size, 1); // its skim plays
});

test("a click places the chosen marker, and only that", async () => {
  const { page } = await plane();
  laid(page);
  await page.tell(page.find(".plane-field"), "click", { clientX: 300, clientY: 300 });
  assert.equal(field(page, 1, "TC").value, "");
  await page.click(marker(page, 1));
  await page.tell(page.find(".plane-field"), "click", { clientX: 300, clientY: 300 });
  assert.deepEqual(place(page, 1), [0.3, 0.8]);
});

test("places are typed, and what is off the plane is told", async () => {
  const { page } = await plane();
  await page.fill(field(page, 1, "TC"), "0.1234");
  assert.equal(field(page, 1, "TC").value, "0.123");
  await page.fill(field(page, 1, "SD"), "2");
  assert.equal(field(page, 1, "SD").value, "");
  assert.ok(page.texts("[role=alert]").includes("Enter 0 to 1."));
  assert.ok(marker(page, 1).classList.contains("unplaced"));
  await page.fill(field(page, 1, "SD"), "0,9");
  assert.ok(!page.texts("[role=alert]").includes("Enter 0 to 1."));
  assert.equal(marker(page, 1).style.getPropertyValue("--x"), String(0.123 / 1.1));
  assert.equal(marker(page, 1).style.getPropertyValue("--y"), String(0.9 / 1.1));
});

test("nothing may be missing, and everything is kept over a reload", async () => {
  const { server, page } = await plane();
  await page.click("Send all places");
  assert.equal(page.all(".missing li").length, 4);
  await page.fill(field(page, 1, "TC"), "0.5");
  await page.fill(field(page, 1, "SD"), "0.25");
  await page.fill("#of-comment_2", "short");
  await page.fill("#comment", "all");
  await page.click("Skim 1: Play");
  await page.pass(1.2);
  assert.deepEqual(page.texts(".missing li"), ["Skim 2: not heard to the end yet", "Skim 2: not placed yet"]);
  const again = await reload(page);
  assert.deepEqual(place(again, 1), [0.5, 0.25]);
  await again.fill(field(again, 2, "TC"), "1");
  await again.fill(field(again, 2, "SD"), "0");
  await again.click("Send all places");
  assert.deepEqual(again.texts(".missing li"), ["Skim 2: not heard to the end yet"]);
  await again.click("Skim 2: Play");
  await again.pass(1.2);
  await again.click("Send all places");
  assert.deepEqual(server.values["1.1"], { TC_1: 0.5, SD_1: 0.25, TC_2: 1, SD_2: 0, comment: "all", comment_2: "short" });
  assert.deepEqual(server.answers[0].meta.plays.map((one) => [one.sound, one.ended]), [[0, true], [1, true]]);
});

test("one skim plays at a time", async () => {
  const { page } = await plane({}, 5);
  await page.click("Skim 1: Play");
  await page.pass(1);
  await page.click("Skim 2: Play");
  await page.pass(1);
  assert.equal(page.live.size, 1);
  assert.ok(page.button("Skim 2: Pause"));
  assert.ok(page.button("Skim 1: Play"));
});

test("drafts go to the server, come back on another device, and yield to later ones", async () => {
  const { server, page } = await plane();
  await page.fill(field(page, 1, "TC"), "0.5");
  await page.pass(1.9);
  assert.equal(server.drafts.length, 0);
  await page.pass(0.2);
  assert.equal(server.drafts.length, 1);
  const [{ page: name, revision, data }] = server.drafts;
  assert.deepEqual([name, revision, data.draft.values], ["1.1", 0, { TC_1: 0.5 }]);
  await page.fill(field(page, 1, "SD"), "0.5");
  await page.pass(2.1);
  assert.equal(server.drafts[1].revision, 1);
  server.fault = (path) => (path.endsWith("/draft") ? { status: 409, body: { error: { code: "draft_changed" } } } : undefined);
  server.pages[0].draft = { revision: 3, author: "other", draft: { ...data.draft, values: { TC_1: 0.1, SD_1: 0.2 } } };
  await page.fill("#comment", "late");
  await page.pass(2.1);
  assert.match(page.text(".notice"), /changed on another device/);
  assert.deepEqual(place(page, 1), [0.1, 0.2]);
});

test("a draft that the server does not get is sent again later", async () => {
  const { server, page } = await plane();
  server.fault = (path) => (path.endsWith("/draft") ? "cut" : undefined);
  await page.fill(field(page, 1, "TC"), "0.5");
  await page.pass(2.1);
  server.fault = () => undefined;
  await page.pass(9.8);
  assert.equal(server.drafts.length, 0);
  await page.pass(0.3);
  assert.equal(server.drafts.length, 1);
});

test("markers on one axis stand at different heights, and expected places are joined to own ones", async () => {
  const page = new Page();
  const { PlaneBoard, placeText } = await page.import("plane_board.js");
  const line = new PlaneBoard({ TC: "consistency" }, ["1", "2", "3", "4"].map((label) => ({ label, place: { TC: 0.5 } })), null);
  const heights = line.markers.map(({ element }) => element.style.getPropertyValue("--y"));
  assert.equal(new Set(heights).size, 3);
  const both = { TC: "", SD: "" };
  const board = new PlaneBoard(both, [{ label: "1", place: { TC: 0.5, SD: 0.5 }, kind: "expected" }, { label: "1", place: { TC: 1, SD: 0 }, kind: "given" }], null);
  const [offset, ...rest] = board.element.querySelectorAll(".plane-offset");
  assert.equal(rest.length, 0);
  const ends = ["x1", "y1", "x2", "y2"].map((name) => Math.round(parseFloat(offset.getAttribute(name))));
  assert.deepEqual(ends, [91, 100, 45, 55]);
  assert.deepEqual(board.markers.map(({ element }) => element.getAttribute("aria-label")),
    ["Marker 1, Expected place. TC 0.5, SD 0.5", "Marker 1, Your place. TC 1, SD 0"]);
  assert.equal(placeText({ TC: 0.3, SD: 1 }), "TC 0.3, SD 1");
});
