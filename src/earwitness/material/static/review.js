"use strict";

// Review of clips: plays them, records keep or drop with a reason, and exports the decisions.
// Decisions are stored by the browser under a hash of the clips.

const known = JSON.parse(document.getElementById("clips").textContent);
const { clips, reasons } = known;
const STORE = `earwitness-review-${known.key}`;
const OTHER = reasons.at(-1);
const find = (selector) => document.querySelector(selector);
const [audio, play, slider, told] = ["audio", ".play", ".way input", ".told"].map(find);
const [keep, drop, undo, note, other] = [".keep", ".drop", ".undo", ".note", ".other"].map(find);
const [list, filter, message] = [".clips", ".show", ".message"].map(find);
const radios = [...document.querySelectorAll("input[name=reason]")];
const places = new Map(clips.map((clip, number) => [clip.name, number]));
const decisions = new Map(); // name → { decision, reason }
let current = -1;
let rows = [];

// --- Storage ---

function complain(text) {
  message.textContent = text;
  message.hidden = !text;
}

function store() {
  try {
    localStorage.setItem(STORE, JSON.stringify({ current, decisions: [...decisions] }));
  } catch {
    complain("This browser does not store decisions. Export review.csv before you close the page.");
  }
}

function restore() {
  try {
    const stored = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    for (const [name, one] of stored.decisions ?? []) if (places.has(name)) decisions.set(name, one);
    return clips[stored.current] ? stored.current : 0;
  } catch {
    return 0;
  }
}

// --- Decisions ---

const of = (number) => decisions.get(clips[number].name);

function decide(decision, reason = "") {
  decisions.set(clips[current].name, { decision, reason });
  changed();
}

function forget() {
  decisions.delete(clips[current].name);
  changed();
}

function changed() {
  store();
  showDecision();
  showRow(current);
  count();
}

function keepClip() {
  decide("keep");
  goOn();
}

function dropClip() {
  if (of(current)?.decision !== "drop") decide("drop");
  play.focus();
}

function giveReason(reason, goes = true) {
  if (reason === OTHER) {
    const text = of(current)?.decision === "drop" ? of(current).reason : "";
    decide("drop", reasons.includes(text) || !text ? OTHER : text);
    if (goes) note.focus();
  } else {
    decide("drop", reason);
    if (goes) goOn();
  }
}

// Go to the next clip without a decision; stay at the current one if there is none.
function goOn() {
  const order = clips.map((_, step) => (current + 1 + step) % clips.length);
  const next = order.find((number) => !of(number));
  if (next === undefined) {
    audio.pause();
    play.focus();
    return;
  }
  open(next, find(".auto").checked);
  play.focus();
}

// --- Current clip ---

function open(number, plays = false) {
  current = number;
  const clip = clips[number];
  audio.src = `audio/${encodeURIComponent(clip.name)}.wav`;
  slider.max = clip.seconds;
  find(".place").textContent = `Clip ${number + 1} of ${clips.length}`;
  find(".name").textContent = clip.name;
  draw(clip);
  find("dl.facts").replaceChildren(
    ...clip.facts.map(([name, value]) => {
      const row = document.createElement("div");
      for (const [tag, text] of [["dt", name], ["dd", value]]) row.append(Object.assign(document.createElement(tag), { textContent: text }));
      return row;
    }),
  );
  showTime(0);
  showDecision();
  rows.forEach((row, place) => (place === number ? row.button.setAttribute("aria-current", "true") : row.button.removeAttribute("aria-current")));
  const { button } = rows[number];
  const box = list.getBoundingClientRect(); // scroll the list, never the page
  const own = button.getBoundingClientRect();
  if (own.top < box.top || own.bottom > box.bottom) list.scrollTop += own.top - box.top - box.height / 2;
  store();
  if (plays) start();
}

function step(by) {
  const next = current + by;
  if (clips[next]) open(next, !audio.paused);
}

function shape(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function draw(clip) {
  const highest = Math.max(1, ...clip.peaks);
  const width = 100 / clip.peaks.length;
  const spans = clip.spans.map(([start, end]) => {
    const [left, right] = [start, end].map((time) => (100 * Math.min(Math.max(time, 0), clip.seconds)) / clip.seconds);
    return shape("rect", { class: "speech", x: left, y: 0, width: right - left, height: 100 });
  });
  const bars = clip.peaks.map((peak, place) => {
    const half = Math.max(0.8, (46 * peak) / highest);
    return `M${(width * (place + 0.2)).toFixed(2)} ${(50 - half).toFixed(1)}h${(width * 0.6).toFixed(2)}v${(2 * half).toFixed(1)}h-${(width * 0.6).toFixed(2)}z`;
  });
  find(".wave").replaceChildren(...spans, shape("path", { d: bars.join("") }));
  const ticks = Array.from({ length: Math.floor(clip.seconds) + 1 }, (_, second) => {
    const tick = document.createElement("span");
    tick.textContent = `${second} s`;
    tick.style.left = `${(100 * second) / clip.seconds}%`;
    if (clip.seconds - second < 0.15) tick.className = "end";
    return tick;
  });
  find(".axis").replaceChildren(...ticks);
}

function showDecision() {
  const own = of(current);
  const isDrop = own?.decision === "drop";
  keep.setAttribute("aria-pressed", String(own?.decision === "keep"));
  drop.setAttribute("aria-pressed", String(isDrop));
  undo.disabled = !own;
  const isListed = reasons.slice(0, -1).includes(own?.reason);
  for (const radio of radios) radio.checked = isDrop && (isListed ? radio.value === own.reason : Boolean(own.reason) && radio.value === OTHER);
  other.hidden = !radios.at(-1).checked;
  note.value = other.hidden || own.reason === OTHER ? "" : own.reason;
  const state = find(".state");
  state.className = `state ${own?.decision ?? "open"}`;
  state.textContent = describe(own);
  find(".previous").disabled = !current;
  find(".next").disabled = current === clips.length - 1;
}

function describe(one) {
  if (!one) return "Not reviewed";
  if (one.decision === "keep") return "Keep";
  return one.reason ? `Drop: ${one.reason}` : "Drop: no reason yet";
}

// --- Player ---

const seconds = (time) => time.toFixed(1);

function showTime(now) {
  const clip = clips[current];
  slider.value = now;
  told.textContent = `${seconds(now)} / ${seconds(clip.seconds)} s`;
  find(".picture .cursor").style.left = `${(100 * Math.min(now, clip.seconds)) / clip.seconds}%`;
}

function start() {
  audio.play().catch((error) => {
    if (error.name === "NotSupportedError") broken();
  });
}

function toggle() {
  if (audio.paused) start();
  else audio.pause();
}

function broken() {
  complain(`audio/${clips[current].name}.wav cannot be played. Keep this page next to its folder "audio".`);
}

function follow() {
  showTime(audio.currentTime);
  if (!audio.paused) requestAnimationFrame(follow);
}

function showPlay() {
  play.classList.toggle("on", !audio.paused);
  play.setAttribute("aria-label", audio.paused ? "Play" : "Pause");
  follow();
}

function seek(time) {
  audio.currentTime = time;
  showTime(time);
}

// --- List, filter and progress ---

function makeRow(clip, number) {
  const item = document.createElement("li");
  const button = Object.assign(document.createElement("button"), { type: "button" });
  const [mark, name, state] = ["b", "span", "small"].map((tag) => document.createElement(tag));
  mark.setAttribute("aria-hidden", "true");
  name.textContent = clip.name;
  button.append(mark, name, state);
  button.addEventListener("click", () => {
    open(number, !audio.paused);
    play.focus({ preventScroll: false });
  });
  item.append(button);
  return { item, button, mark, state };
}

function showRow(number) {
  const { item, button, mark, state } = rows[number];
  const own = of(number);
  button.className = own?.decision ?? "open";
  mark.textContent = { keep: "✓", drop: "✕" }[own?.decision] ?? "";
  state.textContent = describe(own);
  item.hidden = filter.value !== "all" && filter.value !== (own?.decision ?? "open") && number !== current;
}

function showRows() {
  clips.forEach((_, number) => {
    showRow(number);
    const kind = of(number)?.decision ?? "open";
    rows[number].item.hidden = filter.value !== "all" && filter.value !== kind;
  });
  find(".none").hidden = rows.some(({ item }) => !item.hidden);
}

function count() {
  const all = [...decisions.values()];
  const kept = all.filter((one) => one.decision === "keep").length;
  const unexplained = all.filter((one) => one.decision === "drop" && !one.reason).length;
  find(".count").textContent = `${all.length} of ${clips.length} reviewed`;
  find("progress").value = all.length;
  const missing = unexplained ? ` (${unexplained} without a reason)` : "";
  find(".tally").textContent = `${kept} kept, ${all.length - kept} dropped${missing}`;
}

// --- Export and import ---

// Text that a spreadsheet may take for a formula gets an apostrophe, as in io/tables.py.
const FORMULA = /^[' ]*[=+\-@\t\r\n\0\ufeff＝＋－＠]/;
const escapeCell = (text) => (FORMULA.test(text) ? `'${text}` : text);
const unescapeCell = (cell) => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell);
const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function writeCsv() {
  const lines = clips.filter(({ name }) => decisions.has(name)).map(({ name }) => {
    const { decision, reason } = decisions.get(name);
    return [name, decision, reason].map(escapeCell).map(quote).join(",");
  });
  return `${["name,decision,reason", ...lines].join("\n")}\n`;
}

function exportCsv() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([writeCsv()], { type: "text/csv" }));
  link.download = "review.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function parseCsv(text) {
  const table = [[""]];
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const one = text[at];
    const row = table.at(-1);
    if (quoted && one === '"' && text[at + 1] === '"') row[row.length - 1] += text[++at];
    else if (one === '"') quoted = !quoted;
    else if (!quoted && one === ",") row.push("");
    else if (!quoted && one === "\n") table.push([""]);
    else if (quoted || one !== "\r") row[row.length - 1] += one;
  }
  return table.filter((row) => row.some(Boolean)).map((row) => row.map(unescapeCell));
}

function importCsv(text) {
  const [header = [], ...lines] = parseCsv(text.replace(/^\ufeff/, ""));
  const [name, decision, reason] = ["name", "decision", "reason"].map((one) => header.indexOf(one));
  if (name < 0 || decision < 0) {
    complain("The file needs the columns name and decision.");
    return;
  }
  const imported = new Map();
  let unknown = 0;
  for (const row of lines) {
    const value = (row[decision] ?? "").trim().toLowerCase();
    if (!places.has(row[name]) || !["keep", "drop"].includes(value)) unknown += 1;
    else if ((imported.get(row[name])?.decision ?? value) !== value) {
      complain(`The file has two decisions on ${row[name]}. Nothing was imported.`);
      return;
    } else imported.set(row[name], { decision: value, reason: value === "drop" ? (row[reason] ?? "") : "" });
  }
  let replaced = 0;
  for (const [clip, value] of imported) {
    if ((decisions.get(clip)?.decision ?? value.decision) !== value.decision) replaced += 1;
    decisions.set(clip, value);
  }
  const parts = [`Imported decisions: ${imported.size}`, `changed here: ${replaced}`];
  if (unknown) parts.push(`rows ignored for an unknown clip or decision: ${unknown}`);
  complain(`${parts.join("; ")}.`);
  changed();
  showRows();
}

// --- Events ---

function pressed(event) {
  const { target } = event;
  const typed = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  if (event.ctrlKey || event.metaKey || event.altKey || (typed && target.type !== "checkbox")) return;
  const key = event.key.toLowerCase();
  const number = Number(key);
  const actions = {
    k: keepClip,
    d: dropClip,
    u: forget,
    arrowleft: () => step(-1),
    arrowright: () => step(1),
    " ": target instanceof HTMLButtonElement || typed ? undefined : toggle,
  };
  const action = actions[key] ?? (number >= 1 && reasons[number - 1] ? () => giveReason(reasons[number - 1]) : undefined);
  if (!action || target.tagName === "SUMMARY") return;
  event.preventDefault();
  action();
}

addEventListener("keydown", pressed);
play.addEventListener("click", toggle);
keep.addEventListener("click", keepClip);
drop.addEventListener("click", dropClip);
undo.addEventListener("click", () => {
  forget();
  play.focus();
});
find(".previous").addEventListener("click", () => step(-1));
find(".next").addEventListener("click", () => step(1));
find(".export").addEventListener("click", exportCsv);
find(".import").addEventListener("change", async ({ target }) => {
  importCsv(await target.files[0].text());
  target.value = "";
});
filter.addEventListener("change", showRows);
slider.addEventListener("input", () => seek(Number(slider.value)));
find(".picture").addEventListener("click", (event) => {
  const box = find(".picture").getBoundingClientRect();
  seek(((event.clientX - box.left) / box.width) * clips[current].seconds);
});
// A click goes on to the next clip; the arrow keys of the group only change the reason.
let clicked = false;
find(".chips").addEventListener("pointerdown", () => (clicked = true));
find(".chips").addEventListener("keydown", () => (clicked = false));
for (const radio of radios) {
  radio.addEventListener("change", () => {
    giveReason(radio.value, clicked);
    clicked = false;
  });
}
note.addEventListener("input", () => {
  decisions.set(clips[current].name, { decision: "drop", reason: note.value.trim() || OTHER });
  store();
  find(".state").textContent = describe(of(current));
  showRow(current);
  count();
});
note.addEventListener("keydown", (event) => {
  if (event.key === "Enter") goOn();
});
for (const name of ["play", "pause", "ended"]) audio.addEventListener(name, showPlay);
audio.addEventListener("error", broken);

const first = restore();
rows = clips.map(makeRow);
list.append(...rows.map(({ item }) => item));
open(first);
showRows();
count();
