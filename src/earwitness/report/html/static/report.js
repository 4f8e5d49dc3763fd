"use strict";

// A click on a timeline plays its audio from that point; folded parts are open in print.

function readable(address) {
  try {
    return decodeURI(address);
  } catch {
    return address;
  }
}

function bind(figure) {
  const audio = figure.querySelector("audio");
  if (!audio) return;
  const duration = Number(figure.dataset.duration);
  const tracks = [...figure.querySelectorAll(".row:not(.scale) .track")];
  const heads = tracks.map((track) => {
    const head = document.createElement("span");
    head.className = "head";
    head.hidden = true;
    track.append(head);
    return head;
  });
  const move = () => {
    for (const head of heads) {
      head.hidden = false;
      head.style.left = `${Math.min(100, (100 * audio.currentTime) / duration)}%`;
    }
  };
  const play = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    for (const other of document.querySelectorAll("audio")) if (other !== audio) other.pause();
    audio.currentTime = share * duration;
    move();
    audio.play().catch((error) => {
      if (error.name !== "AbortError") silent(); // another timeline was clicked
    });
  };
  const silent = () => {
    if (figure.querySelector(".silent")) return;
    const note = document.createElement("p");
    note.className = "silent";
    note.setAttribute("role", "status");
    note.textContent = `This audio file cannot be played: ${readable(audio.getAttribute("src"))}`;
    audio.after(note);
  };
  figure.classList.add("plays");
  for (const track of tracks) track.addEventListener("click", play);
  audio.addEventListener("timeupdate", move);
  audio.addEventListener("seeking", move);
  audio.addEventListener("error", silent);
}

for (const figure of document.querySelectorAll(".timeline")) bind(figure);

// Links to a folded section open it.
function unfold() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const details = target && target.querySelector(":scope > details");
  if (details) details.open = true;
}
addEventListener("hashchange", unfold);
for (const link of document.querySelectorAll("nav a")) {
  link.addEventListener("click", () => setTimeout(unfold));
}
unfold();

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});
