"use strict";

// --- Timelines -----------------------------------------------------------------------------------

// A click on a timeline plays its audio from that point.

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

// --- Curves --------------------------------------------------------------------------------------

// The line that is pointed at, or was clicked, is shown with its band, and the others are pale.

function bindCurve(plot) {
  let chosen = "";
  const parts = [...plot.querySelectorAll("[data-series]")];
  const seriesAt = (event) => event.target.closest("[data-series]")?.dataset.series ?? "";
  const show = (series) => {
    plot.classList.toggle("picking", series !== "");
    for (const part of parts) part.classList.toggle("picked", part.dataset.series === series);
  };
  plot.addEventListener("pointerover", (event) => show(seriesAt(event) || chosen));
  plot.addEventListener("pointerleave", () => show(chosen));
  plot.addEventListener("click", (event) => {
    chosen = seriesAt(event) === chosen ? "" : seriesAt(event);
    show(chosen);
  });
}

for (const plot of document.querySelectorAll(".curve.fitted")) bindCurve(plot);

// --- Sortable tables -----------------------------------------------------------------------------

// The heads of a sortable table become buttons, and a field above it filters its rows. Without this
// script, it is a plain table.

const byText = new Intl.Collator(undefined, { numeric: true });

/** The first number in a cell, or null: "−0.36 [−0.64, −0.09]" is −0.36, "<0.0001" is below 0.0001. */
function numberIn(text) {
  if (/^[−-]?∞/.test(text)) return text.startsWith("∞") ? Infinity : -Infinity;
  const found = /[−-]?\d[\d,]*(\.\d+)?(e[−-]?\d+)?/i.exec(text);
  if (!found) return null;
  const number = Number(found[0].replaceAll("−", "-").replaceAll(",", ""));
  return text.startsWith("<") ? number - Number.EPSILON : number;
}

/** The keys by which the rows are sorted: numbers if all cells have one, else texts. */
function sortKeys(rows, column) {
  const texts = rows.map((row) => row.cells[column].textContent.trim());
  const isMissing = texts.map((text) => text === "" || text === "–" || text === "·");
  const numbers = texts.map(numberIn);
  const isNumeric = texts.every(
    (text, index) => isMissing[index] || (/^[<>≤≥±∞−\d-]/.test(text) && numbers[index] !== null),
  );
  return { keys: isNumeric ? numbers : texts, isMissing, isNumeric };
}

function sortRows(table, column, descending) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const { keys, isMissing, isNumeric } = sortKeys(rows, column);
  const compare = (a, b) => (isNumeric ? keys[a] - keys[b] || 0 : byText.compare(keys[a], keys[b]));
  const order = rows.map((_, index) => index).sort((a, b) => {
    if (isMissing[a] || isMissing[b]) return isMissing[a] - isMissing[b] || a - b; // always last
    return (descending ? compare(b, a) : compare(a, b)) || a - b;
  });
  body.append(...order.map((index) => rows[index]));
}

function addSorting(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (!head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortRows(table, column, descending);
    });
  });
}

function addFilter(table, box) {
  const rows = [...table.tBodies[0].rows];
  const label = document.createElement("label");
  const field = document.createElement("input");
  const count = document.createElement("output");
  field.type = "search";
  field.autocomplete = "off";
  label.append("Filter rows ", field);
  const bar = document.createElement("div");
  bar.className = "filter";
  bar.append(label, count);
  const texts = rows.map((row) => row.textContent.toLowerCase().replaceAll("−", "-"));
  const show = () => {
    const words = field.value.toLowerCase().replaceAll("−", "-").split(/\s+/).filter(Boolean);
    rows.forEach((row, index) => {
      row.hidden = !words.every((word) => texts[index].includes(word));
    });
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
  };
  field.addEventListener("input", show);
  show();
  box.before(bar);
}

for (const table of document.querySelectorAll("table.sortable")) {
  addSorting(table);
  addFilter(table, table.closest(".scroll") ?? table);
}

// Boxes that scroll can be reached by keyboard.
const scrollWatch = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const isWide = target.scrollWidth > target.clientWidth + 1;
    if (isWide || target.scrollHeight > target.clientHeight + 1) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const box of document.querySelectorAll(".scroll")) scrollWatch.observe(box);

// --- Folded parts --------------------------------------------------------------------------------

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

// On paper, all parts are open.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});
