"use strict";

// Player of a skim: shows the recording time of the current sound, and jumps between picks.
// During a fade, two times are audible; the time of the louder pick is shown.

const known = JSON.parse(document.getElementById("picks").textContent);
const audio = document.querySelector("audio");
const player = document.querySelector(".player");
const [play, face, date, which] = [".play", ".clock", ".date", ".which"].map((one) => player.querySelector(one));
const [cursor, day, slider, told] = [".day .cursor", ".day", ".way input", ".told"].map((one) => player.querySelector(one));
const [ownCursor, own] = [".sound .cursor", ".sound"].map((one) => player.querySelector(one));
const buttons = [...document.querySelectorAll("[data-pick]")];
const LATE = 0.75; // share of a fade after which a pick is clearly the louder one
const EDGE = 0.001; // seconds before the end of a pick at which it still counts as playing
let shown = -1;

const two = (number) => String(number).padStart(2, "0");

function minutes(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${two(whole % 60)}`;
}

function clock(seconds, timed) {
  const whole = Math.floor(seconds);
  const hours = Math.floor(whole / 3600);
  const rest = `${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  return timed ? `${two(((hours % 24) + 24) % 24)}:${rest}` : `${hours}:${rest}`;
}

// Position in a pick at a time of the skim; reversed picks run backwards.
function within(pick, now) {
  const gone = Math.max(0, now - pick.heard);
  const place = pick.turned ? pick.seconds - gone : gone;
  return Math.min(pick.seconds - EDGE, Math.max(0, place));
}

// Index of the louder pick: it changes in the middle of a fade.
function loudest(now) {
  const after = known.picks.findIndex((pick, number) => number && pick.heard + known.overlap / 2 > now);
  return after < 0 ? known.picks.length - 1 : after - 1;
}

function show(now) {
  if (!known.picks.length) return;
  const number = loudest(now);
  const pick = known.picks[number];
  const gone = within(pick, now);
  const text = clock((pick.clock ?? pick.start) + gone, "clock" in pick);
  if (face.textContent !== text) face.textContent = text;
  cursor.style.left = `${pick.left + ((pick.right - pick.left) * gone) / pick.seconds}%`;
  if (own) ownCursor.style.left = `${(100 * now) / (known.heard || 1)}%`;
  slider.value = now;
  told.textContent = `${minutes(now)} / ${minutes(known.heard)}`;
  if (number !== shown) mark(number);
}

function mark(number) {
  shown = number;
  const pick = known.picks[number];
  which.textContent = `pick ${number + 1} of ${known.picks.length}${pick.turned ? ", played backwards" : ""}${pick.classes ? ` · ${pick.classes}` : ""}`;
  if (pick.day) date.textContent = pick.day;
  slider.setAttribute("aria-valuetext", `pick ${number + 1}, ${clock(pick.clock ?? pick.start, "clock" in pick)}`);
  for (const button of buttons) {
    const on = Number(button.dataset.pick) === number;
    button.classList.toggle("on", on);
    if (button.closest(".picks")) button.setAttribute("aria-current", String(on));
  }
}

function silent() {
  if (player.querySelector(".silent")) return;
  const note = document.createElement("p");
  note.className = "silent";
  note.setAttribute("role", "status");
  note.textContent = "This browser cannot play the audio on this page.";
  player.querySelector(".face").after(note);
}

function start() {
  audio.play().catch((error) => {
    if (error.name !== "AbortError") silent();
  });
}

function toggle() {
  if (!audio) return;
  if (audio.paused) start();
  else audio.pause();
}

// Start a pick after the fade of the previous one, where it is loudest.
function jump(number, playing = true) {
  const pick = known.picks[Math.min(known.picks.length - 1, Math.max(0, number))];
  const now = pick.heard + (pick === known.picks[0] ? 0 : known.overlap * LATE);
  if (audio) {
    audio.currentTime = now;
    if (playing) start();
  }
  show(now);
}

function nearest(event) {
  const place = 100 * share(event, day);
  const far = known.picks.map((pick) => Math.abs((pick.left + pick.right) / 2 - place));
  jump(far.indexOf(Math.min(...far)));
}

// Position of a click in an element, from 0 to 1.
function share(event, element) {
  const box = element.getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
}

function seek(now) {
  if (audio) audio.currentTime = now;
  show(now);
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const own = event.target.closest("button, input, summary, a, audio");
  if (event.key === " " && !own) toggle();
  else if (event.key === "ArrowRight" && own !== slider) jump(shown + 1, !audio?.paused);
  else if (event.key === "ArrowLeft" && own !== slider) jump(shown - 1, !audio?.paused);
  else return;
  event.preventDefault();
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

for (const button of buttons) button.addEventListener("click", () => jump(Number(button.dataset.pick)));
day.addEventListener("click", nearest);
addEventListener("keydown", pressed);
own?.addEventListener("click", (event) => seek(share(event, own) * known.heard));
slider.addEventListener("input", () => seek(Number(slider.value)));
if (audio) {
  audio.controls = false;
  play.addEventListener("click", toggle);
  for (const name of ["play", "pause", "ended"]) audio.addEventListener(name, changed);
  audio.addEventListener("seeked", () => show(audio.currentTime));
  audio.addEventListener("error", silent);
} else {
  play.hidden = true;
}
show(0);
