// A transcript, word by word, of which words are kept as a summary. With a recording, the word that
// is heard is highlighted. The kept words survive a reload and a refusal.

import { announce, button, heading, make, show } from "../dom.js";
import { say } from "../messages.js";
import { readRecordingDraft, Recording } from "../recording.js";
import { Trial } from "../trial.js";
import { WordList } from "../word_list.js";

/** @import { PageContext, WordsDraft, WordsView } from "../types.d.ts" */

/** Show a trial.
 * @param {WordsView} view
 * @param {PageContext} at sounds, events, the draft and the answer callback of the page */
export async function showTrial(view, at) {
  /** @type {WordsDraft} */
  const draft = await readRecordingDraft(view, at, { positions: [] });
  if (at.left.aborted) return;
  new Words(view, at, draft).show();
}

/** @extends {Trial<WordsView, WordsDraft>} */
class Words extends Trial {
  asked = false; // whether to show what is missing
  count = make("b", { class: "count" });
  advice = make("span", { class: "advice" });
  summary = make("p", { class: "summary", "aria-live": "off" });
  missing = make("p", { class: "missing", role: "alert" });
  meter = make("div", { class: "meter", "aria-hidden": "true" }, make("i"));
  undo = button(say("undo"), () => this.list.undo(), { class: "step" });
  redo = button(say("redo"), () => this.list.redo(), { class: "step" });

  /** @param {WordsView} view
   * @param {PageContext} at
   * @param {WordsDraft} draft */
  constructor(view, at, draft) {
    super(view, at, draft);
    const kept = view.words.map(() => false);
    for (const position of draft.positions) if (position <= kept.length) kept[position - 1] = true;
    this.list = new WordList(view.words, kept, { changed: (now, byKey) => this.#changed(now, byKey) });
    this.recording = new Recording(this, () => this.#explain());
  }

  show() {
    const { view, list } = this;
    const bar = make("div", { class: "tally" }, this.meter,
      make("p", { class: "tally-text" }, this.count, " ", this.advice), make("div", { class: "steps-back" }, this.undo, this.redo));
    show(heading(view.title), make("section", { class: "card texts" },
      make("p", { class: "prompt" }, view.questions[0].prompt), this.recording.element,
      make("p", { class: "how" }, say("words_how"), " ", make("span", { class: "keys" }, say("words_keys"))),
      list.element, bar,
      make("h2", {}, say("your_summary")), this.summary), this.missing,
    button(say("save"), () => this.#save(), { class: "main save", "data-press": "Enter" }));
    document.addEventListener("keydown", (event) => this.#shortcut(event), { signal: this.at.left });
    this.#update();
    this.#follow();
    announce(say("words_told", { count: view.words.length }));
  }

  /** Positions of the kept words; the first word is 1. */
  get positions() {
    return this.list.kept.flatMap((keep, place) => (keep ? [place + 1] : []));
  }

  /** Ctrl+Z and Ctrl+Y or Ctrl+Shift+Z, also with Cmd.
   * @param {KeyboardEvent} event */
  #shortcut(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || document.querySelector("dialog[open], main[inert]")) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    if (key === "y" || event.shiftKey) this.list.redo();
    else this.list.undo();
  }

  /** @param {boolean[]} kept
   * @param {boolean} byKey */
  #changed(kept, byKey) {
    this.draft.positions = this.positions;
    this.draft.keyboard ||= byKey;
    this.type();
    this.#update();
    announce(`${this.count.textContent} ${this.advice.textContent}`);
  }

  /** Update the numbers, the summary and the buttons. */
  #update() {
    const { words, target } = this.view;
    const { positions } = this;
    const percent = Math.round((100 * positions.length) / words.length);
    this.count.textContent = say("words_kept", { kept: positions.length, count: words.length, percent });
    this.advice.textContent = this.#advise(positions.length);
    this.advice.classList.toggle("good", this.#fits(positions.length));
    this.summary.textContent = positions.map((position) => words[position - 1]).join(" ") || say("words_none");
    this.summary.classList.toggle("empty", !positions.length);
    for (const [name, part] of Object.entries({ kept: positions.length, low: target.low, high: target.high })) {
      this.meter.style.setProperty(`--${name}`, String(part / words.length));
    }
    this.undo.disabled = !this.list.canUndo;
    this.redo.disabled = !this.list.canRedo;
    this.#explain();
  }

  /** @param {number} kept */
  #fits(kept) {
    return kept >= this.view.target.low && kept <= this.view.target.high;
  }

  /** What to do about the number of words.
   * @param {number} kept */
  #advise(kept) {
    const { low, aim, high, enforced } = this.view.target;
    if (this.#fits(kept)) return say("words_right");
    if (!enforced) return say("words_about", { aim });
    if (!kept) return say("words_target", { low, high });
    return kept < low ? say("words_more", { number: low - kept }) : say("words_fewer", { number: kept - high });
  }

  /** Say what is missing, once the listener has tried to save; return whether nothing is. */
  #explain() {
    const kept = this.list.kept.filter(Boolean).length;
    const wrong = [];
    if (!this.recording.heard) wrong.push(say("recording_unheard"));
    if (!kept) wrong.push(say("words_none"));
    else if (this.view.target.enforced && !this.#fits(kept)) wrong.push(this.#advise(kept));
    const text = this.asked && wrong.length ? `${say("missing")} ${wrong.join("; ")}` : "";
    if (this.missing.textContent !== text) this.missing.textContent = text;
    return !wrong.length;
  }

  /** Highlight the word that is heard, between the times that the player reports. */
  #follow() {
    const { times } = this.view;
    const { player } = this.recording;
    if (!player || !times.length) return;
    let at = 0;
    let since = performance.now();
    const look = () => {
      if (this.at.left.aborted) return;
      if (player.position !== at) [at, since] = [player.position, performance.now()];
      const now = at + Math.min(0.2, (performance.now() - since) / 1000);
      this.list.light(player.playing ? heardWord(times, now) : -1);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }

  #save() {
    this.asked = true;
    const heard = this.recording.check();
    if (this.#explain()) {
      this.recording.pause();
      this.finish({ positions: this.positions });
    } else if (heard) this.list.element.focus();
    else this.recording.focus();
  }
}

/** The word that is heard at a time; -1 between words.
 * @param {[start: number, end: number][]} times
 * @param {number} seconds */
function heardWord(times, seconds) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle][0] <= seconds) low = middle + 1;
    else high = middle;
  }
  return low && seconds < times[low - 1][1] ? low - 1 : -1;
}
