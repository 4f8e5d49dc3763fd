"use strict";

// Player of a spoken summary: highlights the word that sounds, and jumps between passages and words.

const known = JSON.parse(document.getElementById("times").textContent);
const player = document.querySelector(".player");
const audio = player.querySelector("audio");
const [play, slider, clock, which] = [".play", ".way input", ".clock", ".which"].map((one) => player.querySelector(one));
const transcript = document.querySelector(".transcript");
const links = [];
for (const link of transcript.querySelectorAll("a[data-word]")) links[Number(link.dataset.word)] = link;
const starts = known.words.map((word) => word[0]);
const EDGE = 0.005; // seconds: browsers seek to slightly before a time
const REST = 4000; // ms after the reader scrolled in which the page does not
let word = -1;
let passage = -1;
let scrolled = -REST;

// Index of the last of the increasing times that is at most a time; -1 if there is none.
function last(times, now) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= now) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function minutes(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

function show(now) {
  slider.value = now;
  clock.textContent = `${minutes(now)} / ${minutes(known.seconds)}`;
  const current = Math.max(0, last(known.passages, now + EDGE));
  const started = Math.max(known.firsts[current], last(starts, now + EDGE)); // or its passage has
  const sounds = now < known.words[started][1] ? started : -1;
  if (current !== passage) enter(current);
  if (sounds === word) return;
  links[word]?.classList.remove("on");
  links[word]?.removeAttribute("aria-current");
  word = sounds;
  links[word]?.classList.add("on");
  links[word]?.setAttribute("aria-current", "true");
}

// Words of the current passage can be reached with Tab, so that the transcript has few tab stops.
function enter(next) {
  for (const link of wordsOf(passage)) link.tabIndex = -1;
  for (const link of wordsOf(next)) link.tabIndex = 0;
  const [before, row] = [passage, next].map((number) => wordsOf(number)[0]?.closest("li"));
  before?.classList.remove("now");
  row?.classList.add("now");
  passage = next;
  which.textContent = `passage ${[next + 1, known.passages.length].map((count) => count.toLocaleString("en")).join(" of ")}`;
  const text = wordsOf(next).map((link) => link.textContent).join(" ");
  slider.setAttribute("aria-valuetext", `${minutes(known.passages[next])}, ${text}`);
  if (row && !audio.paused && performance.now() - scrolled > REST) reveal(row);
}

function wordsOf(number) {
  return number < 0 ? [] : links.slice(known.firsts[number], known.firsts[number + 1]);
}

function reveal(row) {
  const box = row.getBoundingClientRect();
  const top = player.getBoundingClientRect().bottom;
  if (box.top < top || box.bottom > innerHeight) row.scrollIntoView({ block: "center" });
}

function silent() {
  if (player.querySelector(".silent")) return;
  const note = document.createElement("p");
  note.className = "silent";
  note.setAttribute("role", "status");
  note.textContent = "This browser cannot play the audio on this page.";
  player.append(note);
}

function start() {
  audio.play().catch((error) => {
    if (error.name !== "AbortError") silent();
  });
}

function toggle() {
  if (audio.paused) start();
  else audio.pause();
}

function seek(now) {
  audio.currentTime = now;
  show(now);
}

function jump(number) {
  const next = Math.min(known.passages.length - 1, Math.max(0, number));
  const inside = document.activeElement?.closest(".transcript a");
  seek(known.passages[next]);
  const [first] = wordsOf(next);
  reveal(first.closest("li"));
  if (inside) first.focus({ preventScroll: true });
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const own = event.target.closest("button, input, summary, audio, [role=region]");
  const scrolls = own === slider || own?.matches("[role=region]");
  if (event.key === " " && !own) toggle();
  else if (event.key === "ArrowRight" && !scrolls) jump(passage + 1);
  else if (event.key === "ArrowLeft" && !scrolls) jump(passage - 1);
  else return;
  event.preventDefault();
}

function clicked(event) {
  const link = event.target.closest("a[data-word]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  seek(starts[Number(link.dataset.word)]);
  start();
}

function follow() {
  show(audio.currentTime);
  if (!audio.paused) requestAnimationFrame(follow);
}

function changed() {
  play.classList.toggle("on", !audio.paused);
  play.setAttribute("aria-label", audio.paused ? "Play" : "Pause");
  follow();
}

audio.controls = false;
play.addEventListener("click", toggle);
slider.addEventListener("input", () => seek(Number(slider.value)));
transcript.addEventListener("click", clicked);
addEventListener("keydown", pressed);
for (const name of ["wheel", "touchmove"]) addEventListener(name, () => (scrolled = performance.now()), { passive: true });
for (const name of ["play", "pause", "ended"]) audio.addEventListener(name, changed);
audio.addEventListener("seeked", () => show(audio.currentTime));
audio.addEventListener("error", silent);
show(0);
