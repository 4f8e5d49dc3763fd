// Steps of an expert with the full recording of a plane trial: explore it and list its sources, hear a
// few points of every hour, and read both notes while placing skims.

import { make } from "./dom.js";
import { say } from "./messages.js";
import { EXCERPT } from "./navigator/navigator.js";
import { commentField } from "./trial.js";

/** @import { Navigator } from "./navigator/navigator.js" */
/** @import { PlaneDraft, PlaneView } from "./types.d.ts" */

const LOOK = 100; // milliseconds
const KEEP = 5; // seconds after which the time spent is stored
const MAX_HOURS = 24; // as in the trial kind
const MIN_HEARD = 0.5; // smallest part of an excerpt that counts as heard
const STEPS = /** @type {const} */ (["explore", "hours", "place"]);

/** @param {number} seconds */
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

export class PlaneSteps {
  #sequence = 0; // number of the running sequence of points
  /** @type {(() => void)[]} */
  #counts = []; // show what was heard of each part

  /** @param {PlaneView} view
   * @param {PlaneDraft} draft
   * @param {Navigator} navigator
   * @param {(own?: boolean) => unknown} keep stores the draft; `own` is false if the expert has changed nothing
   * @param {(step: string) => unknown} opened called when a step is opened
   * @param {AbortSignal} left */
  constructor(view, draft, navigator, keep, opened, left) {
    this.view = view;
    this.draft = draft;
    this.navigator = navigator;
    this.keep = keep;
    this.opened = opened;
    this.left = left;
    this.timer = make("p", { class: "plane-timer", role: "timer" });
    this.hours = make("div", { class: "plane-hours" });
    this.notes = make("div", { class: "plane-notes" });
    const names = STEPS.filter((name) => (name === "explore" ? "SD" in view.axes : name !== "hours" || ("TC" in view.axes && view.hours !== 0)));
    this.tabs = names.map((name, n) => make("button", { type: "button", role: "tab", id: `plane-tab-${name}`,
      "aria-controls": `plane-step-${name}`, click: () => this.open(name), keydown: (event) => this.#key(event, name) },
    `${n + 1}. ${say(`plane_${name}`)}`));
    this.panels = names.map((name) => make("div", { role: "tabpanel", class: "plane-step", id: `plane-step-${name}`,
      "aria-labelledby": `plane-tab-${name}` }, this.#content(name)));
    this.names = names;
    // the recording is far below in the last step, but its instruction is read before
    this.told = make("p", {}, say("plane_place_told"));
    this.head = make("div", {}, make("div", { class: "plane-bar", role: "tablist", "aria-label": say("plane_steps") }, this.tabs), this.told);
    this.element = make("div", { class: "plane-steps" }, this.panels);
    this.open(names.includes(draft.step) ? draft.step : names[0], false);
    navigator.ready.then(() => navigator.info && this.#showHours());
    const timer = setInterval(() => this.#tick(), 1000);
    left.addEventListener("abort", () => (clearInterval(timer), (this.#sequence += 1)));
    this.#tick(0);
  }

  /** @param {typeof STEPS[number]} name */
  #content(name) {
    const { explore_minutes: minutes, points, point_seconds: seconds } = this.view;
    if (name === "explore") {
      return [make("div", { class: "plane-row" }, make("p", {}, say("plane_explore_told", { minutes })), this.timer),
        make("label", { for: "plane-sources" }, say("plane_sources")),
        commentField("plane-sources", this.draft.notes.sources ?? "", (text) => this.#note("sources", text), { rows: "5" })];
    }
    if (name === "hours") return [make("p", {}, say("plane_hours_told", { points, seconds })), this.hours];
    return [this.notes];
  }

  /** @param {typeof STEPS[number]} name */
  open(name, own = true) {
    this.draft.step = name;
    this.tabs.forEach((tab, n) => {
      const isOpen = this.names[n] === name;
      tab.setAttribute("aria-selected", String(isOpen));
      tab.tabIndex = isOpen ? 0 : -1;
      this.panels[n].hidden = !isOpen;
    });
    this.told.hidden = name !== "place";
    if (name === "place") this.#showNotes();
    this.opened(name);
    this.keep(own);
  }

  /** @param {KeyboardEvent} event
   * @param {typeof STEPS[number]} name */
  #key(event, name) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const to = (this.names.indexOf(name) + step + this.names.length) % this.names.length;
    this.open(this.names[to]);
    this.tabs[to].focus();
  }

  /** @param {string} name
   * @param {string} text */
  #note(name, text) {
    this.draft.notes[name] = text;
    this.keep();
  }

  /** Count the time in which the first step is open. */
  #tick(seconds = 1) {
    const { draft } = this;
    if (draft.step === "explore" && !document.hidden) draft.explored += seconds;
    this.timer.textContent = say("plane_timer", { time: clock(draft.explored) });
    this.timer.classList.toggle("good", draft.explored >= 60 * this.view.explore_minutes);
    if (seconds && draft.step === "explore" && draft.explored % KEEP === 0) this.keep(false);
  }

  /** Number of parts of the recording: as the study has it, or one per hour. */
  get #count() {
    return this.view.hours ?? Math.min(MAX_HOURS, Math.max(1, Math.round(this.navigator.info.seconds / 3600)));
  }

  /** Start and length of a part of the recording.
   * @param {number} hour */
  #part(hour) {
    const length = this.navigator.info.seconds / this.#count;
    return { start: hour * length, length };
  }

  /** @param {number} hour */
  #partText(hour) {
    const { start, length } = this.#part(hour);
    const decimals = length < 120 ? 0 : -1;
    return [start, start + length].map((time) => this.navigator.clock.text(Math.min(time, this.navigator.info.seconds), decimals)).join("–");
  }

  #showHours() {
    this.#counts = [];
    this.hours.replaceChildren(...Array.from({ length: this.#count }, (_, hour) => this.#hour(hour)));
    this.#showPoints();
    this.#showNotes();
  }

  // --- Points ---

  /** A click in the spectrogram plays an excerpt in the second step. */
  get clickSeconds() {
    return this.draft.step === "hours" ? this.view.point_seconds : undefined;
  }

  /** Count an excerpt that was heard in the second step, wherever it was started.
   * @param {number} start
   * @param {number} seconds */
  played(start, seconds) {
    const { draft, view } = this;
    if (this.left.aborted || draft.step !== "hours" || seconds < MIN_HEARD * Math.min(view.point_seconds, EXCERPT) || this.#isHeard(start)) return;
    draft.points.push(start);
    this.#showPoints();
    this.keep();
  }

  /** Whether a point was heard.
   * @param {number} start */
  #isHeard(start) {
    return this.draft.points.some((one) => Math.abs(one - start) < this.view.point_seconds / 2);
  }

  /** Mark all points that were heard in the recording, and count them by hour. */
  #showPoints() {
    const { draft, navigator, view } = this;
    const spans = draft.points.map((start) => /** @type {[number, number, string]} */ ([start, view.point_seconds, ""]));
    const points = { name: say("plane_points_title"), kind: /** @type {const} */ ("picks"), spans };
    navigator.setOverlays([...navigator.info.overlays, ...(spans.length ? [points] : [])]);
    for (const show of this.#counts) show();
  }

  /** @param {number} hour */
  #hour(hour) {
    const { navigator, view } = this;
    const { start, length } = this.#part(hour);
    const time = this.#partText(hour);
    const times = Array.from({ length: view.points }, (_, n) =>
      Math.max(0, start + ((n + 0.5) / view.points) * length - view.point_seconds / 2));
    const show = () => navigator.zoomTo(start, length);
    const name = `hour_${hour}`;
    /** @type {HTMLInputElement} */
    const note = make("input", { type: "text", maxlength: "2000", "aria-label": say("plane_hour_note", { time }), autocomplete: "off",
      input: () => this.#note(name, note.value) });
    note.value = this.draft.notes[name] ?? "";
    /** @type {HTMLElement[]} */
    const buttons = times.map((at, n) => make("button", { type: "button",
      "aria-label": say("plane_point", { number: n + 1, time: navigator.clock.text(at) }),
      click: () => (show(), this.#playAll([at], [buttons[n]])) }, String(n + 1)));
    const heard = make("span", { class: "plane-heard" });
    this.#counts.push(() => {
      const count = this.draft.points.filter((at) => at >= start && at < start + length).length;
      heard.textContent = say(count > view.points ? "plane_points_more" : "plane_points_heard", { count, points: view.points });
      buttons.forEach((one, n) => one.classList.toggle("heard", this.#isHeard(times[n])));
    });
    return make("div", { class: "plane-hour" },
      make("button", { type: "button", "aria-label": say("plane_hour_shown", { time }), click: show }, time),
      make("button", { type: "button", class: "plane-all", "aria-label": `${say("plane_points", { points: view.points })}, ${time}`,
        click: () => (show(), this.#playAll(times, buttons)) }, `▶ ${view.points} × ${view.point_seconds} s`),
      make("span", { class: "plane-points" }, buttons), heard, note);
  }

  /** Play excerpts one after the other, until something else is played, and mark their buttons meanwhile.
   * @param {number[]} times
   * @param {HTMLElement[]} buttons */
  async #playAll(times, buttons) {
    this.#sequence += 1;
    const own = this.#sequence;
    const { navigator } = this;
    for (const [n, time] of times.entries()) {
      navigator.play(time, this.view.point_seconds);
      const cursor = navigator.cursor;
      buttons[n].classList.add("playing");
      do await new Promise((done) => setTimeout(done, LOOK));
      while (own === this.#sequence && navigator.playback.isPlaying && navigator.cursor === cursor);
      buttons[n].classList.remove("playing");
      if (own !== this.#sequence || navigator.cursor !== cursor) return;
    }
  }

  /** Show the notes of the other steps. */
  #showNotes() {
    const { notes } = this.draft;
    const known = Boolean(this.navigator.info);
    const hours = Array.from({ length: known ? this.#count : 0 }, (_, hour) => ({ hour, text: notes[`hour_${hour}`]?.trim() }))
      .filter(({ text }) => text);
    this.notes.replaceChildren(
      make("div", {}, make("h3", {}, say("plane_your_sources")), make("p", {}, notes.sources?.trim() || "–")),
      make("div", {}, make("h3", {}, say("plane_your_hours")),
        hours.length ? make("dl", {}, hours.map(({ hour, text }) =>
          make("div", {}, make("dt", {}, this.#partText(hour)), make("dd", {}, text)))) : make("p", {}, "–")));
  }
}
