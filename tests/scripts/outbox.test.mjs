// Answers on their way: nothing is lost and nothing is sent twice, whatever the network, the server and
// the browser do.

import assert from "node:assert/strict";
import { test } from "node:test";

import { reload, start, visit } from "./browser/page.mjs";
import { Profile } from "./browser/storage.mjs";
import { end, trial, view } from "./browser/views.mjs";

const texts = () => ["a", "b", "c"].map((name) => view("text", { name })).concat(end());
const one = () => [view("text", { name: "a" }), end()];
const works = () => undefined;

/** A fault of all requests to a part of the server. */
const at = (part, fault) => (path) => (path.includes(part) ? fault : undefined);

function onceEach(server, ...pages) {
  assert.deepEqual(server.answers.map((answer) => answer.page), pages);
  assert.equal(new Set(server.answers.map((answer) => answer.id)).size, pages.length);
}

test("an answer waits for the network and can be sent by hand", async () => {
  const { server, page } = await start(texts());
  server.fault = at("/answers", "cut");
  await page.click("Continue");
  assert.equal(page.text("#saving"), "Not sent yet: 1");
  assert.match(page.text("main .told"), /stored on this device/);
  assert.equal(page.announced, page.text("main .told"));
  assert.deepEqual(server.answers, []);
  server.fault = works;
  await page.click("Try again");
  assert.equal(page.name, "b");
  assert.equal(page.text("#saving"), "Saved");
  assert.equal(page.announced, "");
  onceEach(server, "a");
});

test("an answer is sent again by itself, after longer and longer pauses", async () => {
  for (const fault of [{ status: 503, body: "<html>try later</html>" }, { status: 429, body: { error: { code: "too_fast" } } }, "cut"]) {
    const { server, page } = await start(texts());
    const times = [];
    server.fault = (path) => {
      if (!path.endsWith("/answers")) return undefined;
      times.push(page.clock.now);
      return times.length < 8 ? fault : undefined;
    };
    await page.click("Continue");
    await page.pass(150);
    assert.equal(page.name, "b");
    onceEach(server, "a");
    const pauses = times.slice(1).map((time, n) => (time - times[n]) / 1000);
    pauses.forEach((pause, n) => {
      const usual = Math.min(30, 2 ** n);
      assert.ok(pause >= 0.75 * usual && pause <= 1.25 * usual, `${pauses}`);
    });
    assert.equal(pauses.length, 7);
  }
});

test("the browser sends at once when it is online again or its tab is shown", async () => {
  for (const act of [(page) => page.tell(page.window, "online"), (page) => page.tell(page.document, "visibilitychange")]) {
    const { server, page } = await start(texts());
    server.fault = at("/answers", "cut");
    await page.click("Continue");
    server.fault = works;
    await act(page);
    assert.equal(page.name, "b");
  }
  const { server, page } = await start(texts());
  server.fault = at("/answers", "cut");
  await page.click("Continue");
  server.fault = works;
  page.document.hidden = true;
  await page.tell(page.document, "visibilitychange");
  assert.deepEqual(server.answers, []);
});

test("a request without a reply is given up after a while", async () => {
  const { server, page } = await start(texts());
  server.fault = at("/answers", "silent");
  await page.click("Continue");
  await page.pass(14);
  assert.equal(page.text("#saving"), "Saving…");
  server.fault = works;
  await page.pass(3);
  assert.equal(page.name, "b");
});

test("events beyond a quota are dropped and answers are not", async () => {
  const { server, page } = await start([trial("acr"), view("text", { name: "b" }), end()]);
  const sent = [];
  server.fault = (path, body) => {
    if (!path.endsWith("/events")) return undefined;
    sent.push(body.id);
    return { status: 429, body: { error: { code: "quota_used", message: "" } } };
  };
  await page.click("Play");
  await page.pass(1);
  await page.press("3", "Enter");
  await page.pass(40);
  onceEach(server, "1.1");
  assert.equal(page.text("#saving"), "Saved");
  assert.ok(sent.length);
  assert.equal(new Set(sent).size, sent.length);
});

test("an answer whose acknowledgement is lost is not doubled, also after a reload", async () => {
  const { server, page } = await start(texts());
  server.fault = at("/answers", "lost");
  await page.click("Continue");
  assert.equal(page.text("#saving"), "Not sent yet: 1");
  onceEach(server, "a");
  server.fault = works;
  const again = await reload(page);
  assert.equal(again.name, "b");
  assert.equal(again.text("#saving"), "Saved");
  onceEach(server, "a");
  assert.ok(server.posts.length >= 2);
  assert.equal(new Set(server.posts).size, 1);
});

test("a reload during an outage keeps the answer, also where the browser was killed", async () => {
  const { server, page } = await start(texts());
  server.fault = at("/answers", "cut");
  await page.click("Continue");
  page.close();
  const other = await visit(server, { profile: page.profile });
  assert.equal(other.text("#saving"), "Not sent yet: 1");
  server.fault = works;
  await other.click("Try again");
  assert.equal(other.name, "b");
  onceEach(server, "a");
});

test("answers and events are sent in the order of their making", async () => {
  const { server, page } = await start([trial("p835"), end()]);
  server.fault = at("/events", "cut");
  for (const value of ["1", "2", "3"]) {
    await page.click("Play");
    await page.pass(1);
    await page.press(value, "Enter");
  }
  server.fault = works;
  await page.pass(60);
  onceEach(server, "1.1"); // without waiting for events
  const kinds = server.events.map(({ kind }) => kind).filter((kind) => kind.startsWith("play"));
  assert.deepEqual(kinds, ["play_started", "play_ended", "play_started", "play_ended", "play_started", "play_ended"]);
});

test("nothing is sent before consent", async () => {
  const { server, page } = await start([view("consent"), view("text", { name: "a" }), end()]);
  await page.pass(10);
  await page.tell(page.window, "pagehide");
  assert.deepEqual(server.events, []);
  assert.ok(!server.asked.some((path) => path.endsWith("/events")));
  assert.ok(page.button("Continue").disabled);
  await page.click(page.find("label.check"));
  await page.click("Continue");
  await page.pass(10);
  assert.deepEqual(server.values, { consent: { agree: true } });
  assert.equal(server.events[0].kind, "device");
});

test("a second click answers nothing", async () => {
  const { server, page } = await start(texts());
  const button = page.button("Continue");
  button.click();
  button.click();
  await page.pass(1);
  assert.equal(page.name, "b");
  onceEach(server, "a");
});

test("a page that another browser answered is not answered twice", async () => {
  const { server, page } = await start(texts());
  const other = await visit(server, { profile: new Profile() });
  await other.click("Continue");
  assert.equal(other.name, "b");
  await page.click("Continue");
  assert.equal(page.name, "b");
  assert.match(page.text("main .notice"), /already answered/);
  onceEach(server, "a");
});

test("an id is made where there is no maker of ids", async () => {
  const { page } = await start(one());
  const { newId } = await page.import("outbox.js");
  page.context.crypto = { getRandomValues: (bytes) => bytes.fill(255) };
  assert.equal(newId(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  page.context.crypto = { getRandomValues: (bytes) => bytes.fill(1) };
  assert.equal(newId(), "01010101-0101-4101-8101-010101010101");
});

test("a browser that keeps nothing still sends answers, and warns who leaves before", async () => {
  const profile = new Profile();
  profile.isBlocked = true;
  const { server, page } = await start(texts(), { profile });
  server.fault = at("/answers", "cut");
  await page.click("Continue");
  const leaving = { defaultPrevented: false, preventDefault() {
    this.defaultPrevented = true;
  }, type: "beforeunload" };
  page.window.dispatchEvent(leaving);
  assert.ok(leaving.defaultPrevented);
  server.fault = works;
  await page.click("Try again");
  onceEach(server, "a");
  assert.equal(page.name, "b");
});

test("a browser that fails to keep drafts keeps nobody from going on", async () => {
  const { server, page } = await start([view("form"), trial("p835"), end()]);
  page.profile.broken = "drafts";
  await page.click(page.all("input[type=radio]")[1]);
  await page.fill("#field-1", "31");
  await page.click("Continue");
  for (const value of ["1", "2", "3"]) {
    await page.click("Play");
    await page.pass(1);
    await page.press(value, "Enter");
  }
  assert.deepEqual(server.values["1.1"], { BAK: 1, SIG: 2, OVRL: 3 });
});

// --- What the server says -----------------------------------------------------------------------

const FAULTS = {
  "This test is not available now": { status: 404, body: { error: { code: "not_found", message: "no" } } },
  "The server has a problem": { status: 503, body: { error: { code: "store_failed", message: "no" } } },
  "No connection": { status: 404, body: "<html>a proxy</html>" },
};

test("why an answer waits is told, and it is sent later", async () => {
  for (const [title, fault] of Object.entries(FAULTS)) {
    const { server, page } = await start(texts());
    server.fault = at("/answers", fault);
    await page.click("Continue");
    assert.equal(page.title, title);
    assert.match(page.text("main .told"), /stored on this device/);
    assert.equal(page.text("#saving"), "Not sent yet: 1");
    server.fault = works;
    await page.pass(2);
    assert.equal(page.name, "b");
    onceEach(server, "a");
  }
});

test("why no page comes is told, and it is asked for again by itself", async () => {
  for (const [title, fault] of Object.entries(FAULTS)) {
    const { server, page } = await start(texts());
    server.fault = at("/state", fault);
    const again = await reload(page);
    assert.equal(again.title, title);
    const slow = title.startsWith("This test");
    server.fault = works;
    await again.pass(slow ? 19 : 3);
    assert.equal(again.title, title);
    await again.pass(2);
    assert.equal(again.name, "a");
  }
});

test("a reply that is not the server's confirms nothing", async () => {
  for (const status of [200, 422]) {
    for (const body of ["{}", "null", '{"status": "ok"}', "<html>"]) {
      const { server, page } = await start(texts());
      server.fault = at("/answers", { status, body });
      await page.click("Continue");
      assert.equal(page.title, "No connection", `${status} ${body}`);
      server.fault = works;
      await page.click("Try again");
      assert.equal(page.name, "b");
      onceEach(server, "a");
    }
  }
});

test("a reply that is not the server's is no state and no withdrawal", async () => {
  const { server, page } = await start(texts());
  server.fault = at("/withdraw", { status: 200, body: "{}" });
  await page.click("Withdraw");
  await page.click("Delete my answers");
  assert.match(page.text("dialog [role=alert]"), /did not confirm/);
  assert.ok(!page.button("Delete my answers").disabled);
  server.fault = at("/state", { status: 200, body: "{}" });
  assert.equal((await reload(page)).title, "No connection");
});

test("whoever withdraws is asked first, and all that waits is deleted", async () => {
  const { server, page } = await start(texts());
  await page.click("Withdraw");
  await page.click("Stay");
  assert.ok(!server.isWithdrawn);
  assert.ok(!page.has("dialog"));
  server.fault = at("/answers", "cut");
  await page.click("Continue");
  await page.click("Withdraw");
  await page.click("Delete my answers");
  assert.equal(page.title, "You have withdrawn from this test");
  assert.ok(page.find("#withdraw").hidden);
  assert.equal(page.profile.stores.get("waiting").size, 0);
  server.fault = works;
  await page.pass(60);
  assert.deepEqual(server.answers, []);
  assert.equal((await reload(page)).title, "You have withdrawn from this test");
});

test("who cannot continue is told, and can withdraw", async () => {
  for (const [more, title] of [[{ blocked: true }, "You cannot continue this test"], [{ shut: "lapsed" }, "Your place was given to another person"]]) {
    const { server, page } = await start(one(), { server: { more: { page: null, ...more } } });
    assert.equal(page.title, title);
    server.more = {};
    await page.click("Withdraw");
    await page.click("Delete my answers");
    assert.ok(server.isWithdrawn);
    assert.equal(page.title, "You have withdrawn from this test");
  }
  const { page } = await start(one(), { server: { more: { page: null, shut: "full" } } });
  assert.ok(page.find("#withdraw").hidden);
});

test("who withdrew on another device is told that and nothing else", async () => {
  const { server, page } = await start(one());
  const state = { ...server.state, page: null, withdrawn: true };
  server.fault = at("/answers", { status: 409, body: { error: { code: "not_open", message: "no" }, state } });
  await page.click("Continue");
  assert.equal(page.title, "You have withdrawn from this test");
  assert.ok(!page.has(".notice"));
});

test("people who may not take part see why, also after a failed check", async () => {
  const last = { title: "Not on this device", text: "Thank you.", code: "SORRY" };
  const { page } = await start(one(), { server: { more: { page: null, ineligible: last } } });
  assert.equal(page.title, "Not on this device");
  assert.equal(page.text(".code"), "SORRY");
  assert.ok(page.find("#withdraw").hidden && page.find("header").hidden);
});

test("a script of a trial that does not come is told and asked for again", async () => {
  const { server, page } = await start([trial("p835"), end()], { server: { fault: at("trials/single.js", "cut") } });
  assert.equal(page.title, "No connection");
  server.fault = works;
  await page.click("Try again");
  assert.equal(page.title, "Session 1 of 2");
  assert.ok(!page.button("Play").disabled);
});

test("a kind that no script shows is told", async () => {
  const { page } = await start([trial("p835", "1.1", { kind: "mushra", renderer: "" }), end()]);
  assert.match(page.text("main"), /cannot be shown in a browser yet/);
});

// --- Refused answers ----------------------------------------------------------------------------

const form = async (page) => {
  await page.click(page.all("input[type=radio]")[1]);
  await page.fill("#field-1", "31");
  await page.fill("#field-2", "A long story");
};

test("a refused form keeps what was typed and is not called saved", async () => {
  for (const [status, told] of [[413, /too long to be sent/], [422, /was not accepted/]]) {
    const { server, page } = await start([view("text", { name: "a" }), view("form"), end()]);
    await page.click("Continue");
    await form(page);
    server.fault = at("/answers", { status, body: { error: { code: "wrong", message: "no", wrong: ["age must be lower"] } } });
    await page.click("Continue");
    assert.match(page.text(".notice"), told);
    if (status === 422) assert.match(page.text(".notice"), /age must be lower/);
    assert.equal(page.text("#saving"), "Not saved");
    assert.equal(page.find("#field-2").value, "A long story");
    const again = await reload(page);
    assert.equal(again.find("#field-2").value, "A long story");
    server.fault = works;
    await again.click("Continue");
    await again.pass(5);
    assert.deepEqual(server.values.before, { device: "In-ear", age: 31, more: "A long story" });
    assert.equal(again.text("#saving"), "Saved");
    const [refused] = server.events.filter(({ kind }) => kind === "refused");
    assert.deepEqual([refused.page, refused.status], ["before", status]);
    assert.deepEqual(refused.values, status === 413 ? null : { device: "In-ear", age: 31, more: "A long story" });
  }
});

test("an answer that is asked for again is no fault", async () => {
  const { server, page } = await start([view("form"), end()]);
  await form(page);
  server.fault = at("/answers", { status: 422, body: { error: { code: "again", message: "no", wrong: ["Please read it again."] } } });
  await page.click("Continue");
  assert.equal(page.text(".notice"), "Please read it again.");
  assert.equal(page.text("#saving"), "Saved");
});

test("a refused trial is heard again and keeps its comment", async () => {
  const { server, page } = await start([trial("acr", "1.1", { plays: 1 }), end()]);
  await page.click("Add a comment");
  await page.fill("#comment", "a click at the end");
  const rate = async (value) => {
    await page.click("Play");
    await page.pass(1);
    await page.press(value, "Enter");
  };
  server.fault = at("/answers", { status: 422, body: { error: { code: "wrong", message: "no" } } });
  await rate("2");
  assert.match(page.text(".notice"), /was not accepted/);
  assert.equal(page.find("#comment").value, "a click at the end");
  server.fault = works;
  page.find("h1").focus();
  await rate("3");
  assert.deepEqual(server.values, { 1.1: { QUALITY: 3 } });
  assert.equal(server.answers[0].meta.comment, "a click at the end");
  assert.equal(server.answers[0].meta.plays.length, 1);
});

// --- Several tabs -------------------------------------------------------------------------------

const ELSEWHERE = "This test is open in another tab";

test("a second tab sees the first and may take over, and the first takes the test back", async () => {
  const { server, page: first } = await start(texts());
  const second = await visit(server, { profile: first.profile });
  assert.equal(second.title, ELSEWHERE);
  await second.click("Use this tab");
  await second.pass(0.1);
  assert.equal(second.name, "a");
  assert.equal(first.title, ELSEWHERE);
  await second.click("Continue");
  await first.click("Use this tab");
  await first.pass(0.1);
  assert.equal(first.name, "b");
  assert.equal(second.title, ELSEWHERE);
  onceEach(server, "a");
});

test("a tab that was handed over is no new visit, and one of a closed tab is", async () => {
  const { server, page: first } = await start(texts());
  const visits = () => server.asked.filter((path) => path.includes("visit=")).length;
  const second = await visit(server, { profile: first.profile });
  await second.click("Use this tab");
  await second.pass(0.1);
  assert.equal(visits(), 1);
  const third = await visit(server, { profile: first.profile });
  second.close();
  first.close();
  await third.click("Use this tab");
  await third.pass(0.9);
  assert.equal(third.title, ELSEWHERE);
  await third.pass(0.3);
  assert.equal(third.name, "a");
  assert.equal(visits(), 2);
});

test("a tab whose answer another tab sent goes on", async () => {
  const { server, page: first } = await start(texts());
  const second = await visit(server, { profile: first.profile });
  await second.click("Use this tab");
  await second.pass(0.1);
  let from = "second";
  server.fault = (path) => (path.endsWith("/answers") && from === "second" ? "cut" : undefined);
  await second.click("Continue");
  assert.equal(second.title, "No connection");
  from = "first";
  await first.tell(first.window, "online");
  onceEach(server, "a");
  await second.click("Try again");
  assert.equal(second.name, "b");
  assert.equal(second.text("#saving"), "Saved");
  onceEach(server, "a");
});

test("a tab that gave up the test writes over nothing and falls silent", async () => {
  const { server, page: first } = await start([trial("p835"), end()], { server: { sound: 20 } });
  const old = first.find("#comment");
  await first.click("Play");
  await first.pass(1);
  assert.equal(first.live.size, 1);
  const second = await visit(server, { profile: first.profile });
  await second.click("Use this tab");
  await second.pass(0.1);
  assert.equal(first.title, ELSEWHERE);
  assert.equal(first.live.size, 0);
  await second.click("Add a comment");
  await second.fill("#comment", "of the second");
  await first.fill(old, "of the first");
  await second.pass(1);
  assert.equal((await reload(second)).title, "Session 1 of 2");
  const drafts = [...first.profile.stores.get("drafts").values()];
  assert.deepEqual(drafts.map(({ data }) => data.comment), ["of the second"]);
});

test("tabs that do not hear of each other answer once", async () => {
  const without = ["BroadcastChannel"];
  const { server, page: first } = await start(texts(), { without });
  const second = await visit(server, { profile: first.profile, without });
  assert.deepEqual([first.name, second.name], ["a", "a"]);
  await first.click("Continue");
  await second.click("Continue");
  assert.deepEqual([first.name, second.name], ["b", "b"]);
  onceEach(server, "a");
});

test("a session that starts again has nothing of what was given before", async () => {
  const { server, page } = await start([view("text", { name: "1.0" }), trial("p835"), end()]);
  await page.click("Continue");
  await page.click("Play");
  await page.pass(1);
  await page.press("2", "Enter");
  assert.match(page.text(".steps"), /Question 2 of 3/);
  Object.assign(server, { place: 0, answers: [] });
  const again = await reload(page);
  assert.equal(again.name, "1.0");
  await again.click("Continue");
  assert.match(again.text(".steps"), /Question 1 of 3/);
});
