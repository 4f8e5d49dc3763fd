// Upload of a workbook; the server replies with a receipt or with a list of errors by cell.

import { make } from "./dom.js";
import { say } from "./messages.js";

const LARGEST = 20 * 1024 * 1024; // bytes, the limit of the server
const TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

// These elements do not exist before the rater has consented.
const form = /** @type {HTMLFormElement} */ (document.getElementById("upload"));
const said = /** @type {HTMLElement} */ (document.getElementById("said"));
const result = /** @type {HTMLElement} */ (document.getElementById("result"));

/** @typedef {{ place: string, told: string, remedy?: string }} Fault */

/** Upload a file; afterwards, another upload is possible in any case.
 * @param {File | undefined} file */
async function send(file) {
  if (!file) return tell("workbook_none", true);
  if (file.size > LARGEST) return tell("workbook_large", true);
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  button.disabled = true;
  result.hidden = true;
  tell("workbook_sending");
  try {
    show(await reply(file));
  } catch {
    tell("workbook_failed", true);
  } finally {
    button.disabled = false;
  }
}

/** @param {File} file */
async function reply(file) {
  const address = `${form.dataset.action}?name=${encodeURIComponent(file.name.slice(0, 100))}`;
  const got = await fetch(address, { method: "POST", body: await file.arrayBuffer(),
    headers: { "Content-Type": TYPE, Accept: "application/json" } });
  return { status: got.status, told: await got.json() };
}

/** @param {{ status: number, told: any }} reply */
function show({ status, told }) {
  if (status === 200) return stored(told);
  if (told.faults) return faults(told);
  return tell(status === 413 ? "workbook_large" : status === 409 ? "not_open" : "workbook_failed", true);
}

/** @param {{ rows: number, all: number, open: number, blank: { place: string, name: string }[], ignored: Fault[] }} told */
function stored({ rows, all, open, blank, ignored }) {
  tell("");
  /** @type {HTMLElement[]} */
  const lines = [make("h2", {}, say("saved")), text(say("workbook_stored", { rows, all }))];
  if (open) lines.push(text(say("workbook_open", { count: open })));
  if (blank.length) {
    lines.push(text(say("workbook_blank", { count: blank.length })));
    lines.push(list(blank.map((one) => [one.place, one.name, ""])));
  }
  if (ignored.length) lines.push(list(ignored.map((one) => [one.place, one.told, one.remedy])));
  reveal(lines, "good");
}

/** @param {{ faults: Fault[], count: number }} told */
function faults({ faults: found, count }) {
  tell("");
  const rows = found.map((one) => [one.place, one.told, one.remedy]);
  const lines = [make("h2", {}, say("not_saved")), text(say("workbook_faults", { count })), list(rows)];
  if (count > found.length) lines.push(text(say("workbook_more", { count: count - found.length })));
  reveal(lines, "bad");
}

/** A list of cells, each with a message and a remedy.
 * @param {(string | undefined)[][]} rows */
function list(rows) {
  return make("ul", { class: "places" }, rows.map(([place, told, remedy]) =>
    make("li", {}, place ? make("b", {}, place) : null, " ", told, remedy ? make("small", {}, remedy) : null)));
}

/** @param {string} words */
function text(words) {
  return make("p", { class: "told" }, words);
}

/** @param {string} name
 * @param {boolean} wrong */
function tell(name, wrong = false) {
  said.textContent = name ? say(name) : "";
  said.classList.toggle("bad", wrong);
}

/** @param {HTMLElement[]} lines
 * @param {"good" | "bad"} how */
function reveal(lines, how) {
  result.dataset.how = how;
  result.replaceChildren(...lines);
  result.hidden = false;
  result.focus({ preventScroll: true });
  result.scrollIntoView();
}

/** The file field of the form. */
const fileField = () => /** @type {HTMLInputElement} */ (form.elements.namedItem("file"));

/** Upload a file at once when it is dropped on the field.
 * @param {HTMLElement} field */
function listenToDrops(field) {
  /** @type {(on: boolean) => (event: Event) => void} */
  const over = (on) => (event) => {
    event.preventDefault();
    field.classList.toggle("over", on);
  };
  field.addEventListener("dragover", over(true));
  field.addEventListener("dragleave", over(false));
  field.addEventListener("drop", (event) => {
    over(false)(event);
    const files = event.dataTransfer?.files;
    if (!files?.length) return;
    fileField().files = files;
    send(files[0]);
  });
}

if (form) {
  form.addEventListener("submit", (event) => (event.preventDefault(), send(fileField().files?.[0])));
  fileField().addEventListener("change", () => tell(""));
  listenToDrops(/** @type {HTMLElement} */ (form.querySelector(".drop")));
}
