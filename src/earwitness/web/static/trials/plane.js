// Skims of a long recording, placed on the TC/SD plane on one page; and the page of placed examples.
// Skims are heard in any order; each is heard to its end and placed before the answer can be sent. All
// input is kept over a reload.

import { announce, button, find, heading, make, paragraphs, show } from "../dom.js";
import { covered } from "../heard_spans.js";
import { say } from "../messages.js";
import { read, shown, within } from "../number_input.js";
import { definitions, feedback } from "../pages.js";
import { placeText, PlaneBoard } from "../plane_board.js";
import { PlaneSteps } from "../plane_steps.js";
import { Player } from "../player.js";
import { drawSpectrogram } from "../spectrogram.js";
import { addPlayed, commentField, newPlay, readDraft, Trial } from "../trial.js";

/** @import { Navigator } from "../navigator/navigator.js" */
/** @import { Marked, Place } from "../plane_board.js" */
/** @import { PageContext, PlaneDraft, PlaneExamplesView, PlaneFeedbackView, PlaneView, RecordingHooks, SliderQuestion, Values } from "../types.d.ts" */

const COLUMNS = 480; // of a spectrogram
const ROWS = 56;

/** Show a trial, the examples before the first one, or feedback after practice; returns what follows once
 * the recording is there.
 * @param {PlaneView | PlaneExamplesView | PlaneFeedbackView} view
 * @param {PageContext} at sounds, events, the draft and the answer callback of the page
 * @returns {Promise<((recording: { navigator: Navigator, section: HTMLElement, hooks: RecordingHooks }) => void) | undefined>} */
export async function showTrial(view, at) {
  if ("placed" in view) return showExamples(view, at);
  if ("rows" in view) return void showFeedback(view, at);
  const draft = await readDraft(at, { values: {}, notes: {}, spans: [], points: [], explored: 0, step: "explore" });
  if (at.refused) {
    Object.assign(draft, { plays: [], spans: [] }); // the server may have rejected the plays
    await at.draft.write(draft);
  } else addPlayed(view, draft);
  if (at.left.aborted) return undefined;
  const trial = new PlaneTrial(view, at, /** @type {any} */ (draft));
  trial.show();
  return (recording) => trial.addSteps(recording);
}

/** The spectrogram of a sound, drawn once it is decoded.
 * @param {PageContext} at
 * @param {string} address
 * @param {string} label */
function spectrogram(at, address, label) {
  /** @type {HTMLCanvasElement} */
  const canvas = make("canvas", { class: "plane-spectrogram", width: COLUMNS, height: ROWS, role: "img",
    "aria-label": say("plane_spectrogram", { label }) });
  at.sounds.load(address).then((buffer) => !at.left.aborted && drawSpectrogram(canvas, buffer), () => {});
  return canvas;
}

/** @param {PlaneExamplesView} view
 * @param {PageContext} at */
function showExamples(view, at) {
  /** @param {Player} [but] */
  const hush = (but) => players.forEach((one) => one !== but && one.pause());
  /** @param {"play_started" | "play_paused" | "play_ended"} kind
   * @param {number} sound */
  const record = (kind, sound) => at.events.tell(kind, { sound, seconds: covered(players[sound].spans), ended: kind === "play_ended" });
  /** @type {Player[]} */
  const players = view.sounds.map(({ address, label }, n) => named(new Player(at, address, { hears: {
    began: () => record("play_started", n), started: () => hush(players[n]),
    paused: () => players[n].open && record("play_paused", n),
    whole: () => {
      players[n].again = true;
      record("play_ended", n);
    } } }), label));
  const marked = view.placed.map(({ label, TC, SD }) => ({ label, place: { TC, SD } }));
  const board = new PlaneBoard(view.axes, marked, null);
  const cards = view.placed.map(({ label, TC, SD, reason }, n) => make("section", { class: "plane-example" },
    make("h2", {}, say("plane_skim", { label }), make("small", {}, ` ${placeText({ TC, SD })}`)),
    spectrogram(at, view.sounds[n].address, label), players[n].element, paragraphs(reason)));
  const page = make("div", { class: "plane-page" },
    make("section", { class: "card plane-left", "aria-label": say("plane") }, board.element),
    make("div", { class: "card plane-list" }, cards));
  show(heading(view.title), paragraphs(view.text), definitions(view.definitions), page, button(say("go_on"), () => (hush(), at.answer({})), { class: "main", "data-press": "Enter" }));
  return (/** @type {{ section: HTMLElement }} */ { section }) => page.after(section);
}

/** Places and expected places on one plane, above the numbers.
 * @param {PlaneFeedbackView} view
 * @param {PageContext} at */
function showFeedback(view, at) {
  feedback(view, at);
  const axes = Object.keys(view.axes);
  const count = view.rows.length / axes.length;
  /** @param {number} skim
   * @param {"given" | "expected"} name
   * @returns {Marked} */
  const marked = (skim, name) => {
    const values = axes.map((_, n) => read(view.rows[skim * axes.length + n][name] ?? ""));
    const place = values.some(Number.isNaN) ? null : Object.fromEntries(axes.map((axis, n) => [axis, values[n]]));
    return { label: String(skim + 1), place, kind: name };
  };
  const skims = Array.from({ length: count }, (_, n) => n);
  const board = new PlaneBoard(view.axes, [...skims.map((n) => marked(n, "expected")), ...skims.map((n) => marked(n, "given"))]
    .filter((one) => one.place), null);
  const legend = make("p", { class: "plane-legend" }, make("span", { class: "plane-marker", "aria-hidden": "true" }, "n"),
    say("plane_given"), make("span", { class: "plane-marker expected", "aria-hidden": "true" }, "n"), say("plane_expected"));
  find("main").querySelector(".card")?.before(definitions(view.definitions), make("section", { class: "card", "aria-label": say("plane") }, board.element, legend));
}

/** Name the controls of a player by its skim.
 * @param {Player} player
 * @param {string} label */
function named(player, label) {
  player.element.setAttribute("aria-label", say("plane_skim", { label }));
  player.bar.setAttribute("aria-label", `${say("plane_skim", { label })}: ${say("position")}`);
  player.label.before(make("span", { class: "hidden" }, `${say("plane_skim", { label })}: `));
  return player;
}

/** @extends {Trial<PlaneView, PlaneDraft>} */
class PlaneTrial extends Trial {
  asked = false; // whether to show what is missing
  missing = make("div", { class: "missing" });
  bar = make("div"); // steps
  page = make("div"); // plane and skims
  back = make("button", { type: "button", class: "plane-go", hidden: true }); // to a skim below the plane

  /** @param {PlaneView} view
   * @param {PageContext} at
   * @param {PlaneDraft} draft */
  constructor(view, at, draft) {
    super(view, at, draft);
    this.axes = Object.keys(view.axes);
    this.players = view.sounds.map((_, n) => this.#player(n));
    const marked = view.sounds.map(({ label }, n) => ({ label, place: this.#placeOf(n) }));
    this.board = new PlaneBoard(view.axes, marked, {
      moved: (n, place, done) => this.#moved(n, place, done),
      chosen: (n) => this.#chosen(n),
      pressed: (n) => this.players[n].toggle(),
    }, at.left);
    this.told = view.sounds.map(() => make("span", { class: "bad", role: "alert" }));
    this.fields = view.sounds.map((_, n) => this.axes.map((axis) => this.#field(n, axis)));
    this.rows = view.sounds.map((_, n) => this.#row(n));
  }

  show() {
    const { view } = this;
    const isPlane = this.axes.length > 1;
    const keys = make("span", { class: "plane-keys" }, ` ${say("plane_keys")}`); // useless on touch screens
    const left = make("section", { class: "card plane-left", "aria-label": say("plane") }, this.board.element,
      this.back, make("p", { class: "keys", id: "plane-help" }, say(isPlane ? "plane_help" : "plane_axis_help"), keys),
      make("label", { for: "comment" }, `${say(isPlane ? "plane_comment_all" : "plane_comment_axis")} (${say("optional")})`),
      commentField("comment", this.draft.notes.comment ?? "", (text) => this.#note("comment", text), { rows: "2" }));
    const list = make("section", { class: "card plane-list", "aria-label": say("plane_skims") }, this.rows);
    this.page = make("div", { class: "plane-page" }, left, list);
    show(heading(view.title), paragraphs(view.text ?? ""), definitions(view.definitions), this.bar, this.page, this.missing,
      button(say("plane_send"), () => this.#save(), { class: "main save" }));
    this.players.forEach((_, n) => this.#limit(n));
    announce(say("plane_count_told", { count: view.sounds.length }));
  }

  /** Add the steps with the recording below it.
   * @param {{ navigator: Navigator, section: HTMLElement, hooks: RecordingHooks }} recording */
  addSteps({ navigator, section, hooks }) {
    // the recording comes first until skims are placed
    const arrange = (/** @type {string} */ step) => (step === "place" ? this.page.after(section) : this.page.before(section));
    const steps = new PlaneSteps(this.view, this.draft, navigator, (own = true) =>
      (own ? this.type() : this.at.draft.mark(this.draft)), arrange, this.at.left);
    Object.assign(hooks, { clickSeconds: () => steps.clickSeconds, played: steps.played.bind(steps) });
    this.bar.replaceWith(steps.head);
    section.append(steps.element);
  }

  // --- Skims ---

  /** Number of times a skim was heard to its end.
   * @param {number} sound */
  #heard(sound) {
    return this.endedPlays.filter((play) => play.sound === sound).length;
  }

  /** @param {number} sound */
  #last(sound) {
    return this.draft.plays.findLast((play) => play.sound === sound && !play.ended);
  }

  /** @param {number} sound */
  #player(sound) {
    const { address, label } = this.view.sounds[sound];
    const player = new Player(this.at, address, {
      spans: this.#last(sound) ? this.draft.spans[sound] : null,
      leaps: !this.view.plays,
      told: () => (this.#heard(sound) ? { text: say("plane_heard") }
        : this.asked ? { text: say("plane_unheard", { label }), bad: true } : { text: say("not_heard") }),
      hears: {
        began: () => this.beginPlay(newPlay({ sound, question: "" })),
        started: () => this.players.forEach((one) => one !== player && one.pause()),
        moved: () => this.#played(sound),
        whole: () => this.#whole(sound),
        paused: (underruns, cut) => this.#paused(sound, underruns, cut),
        failed: (error) => this.tellFailure(error),
      },
    });
    return named(player, label);
  }

  /** @param {number} sound */
  #played(sound) {
    const play = this.#last(sound);
    if (!play) return;
    this.draft.spans[sound] = this.players[sound].spans;
    this.movePlay(play, covered(this.players[sound].spans));
  }

  /** @param {number} sound */
  #whole(sound) {
    const play = this.#last(sound);
    if (!play) return;
    play.ended = true;
    this.draft.spans[sound] = null;
    this.tellPlay("play_ended", play);
    this.keep();
    this.#limit(sound);
    if (this.asked) this.#list();
    announce(say("item_heard", { label: this.view.sounds[sound].label }));
  }

  /** @param {number} sound
   * @param {number} underruns
   * @param {boolean} cut */
  #paused(sound, underruns, cut) {
    this.countUnderruns(underruns);
    const play = this.#last(sound);
    if (play) this.tellPlay(cut ? "play_ended" : "play_paused", play);
    this.keep();
  }

  /** @param {number} sound */
  #limit(sound) {
    const player = this.players[sound];
    player.again = this.#heard(sound) > 0;
    player.closed = this.view.plays > 0 && this.#heard(sound) >= this.view.plays;
    player.update();
  }

  // --- Places ---

  /** @param {number} sound
   * @param {string} axis */
  #nameOf(sound, axis) {
    return `${axis}_${sound + 1}`;
  }

  /** The place of a skim; null if a coordinate is missing.
   * @param {number} sound
   * @returns {Place | null} */
  #placeOf(sound) {
    const place = Object.fromEntries(this.axes.map((axis) => [axis, this.draft.values[this.#nameOf(sound, axis)]]));
    return Object.values(place).some((value) => value === undefined) ? null : place;
  }

  /** @param {number} sound
   * @param {Place} place
   * @param {boolean} done */
  #moved(sound, place, done) {
    this.axes.forEach((axis, n) => {
      this.draft.values[this.#nameOf(sound, axis)] = place[axis];
      this.fields[sound][n].value = shown(place[axis]);
    });
    this.noteKeyboard();
    if (!done) return;
    this.type();
    this.at.events.tell("placed", { label: this.view.sounds[sound].label, ...place });
    announce(say("plane_at", { label: this.view.sounds[sound].label, place: placeText(place) }));
    if (this.asked) this.#list();
  }

  /** @param {number} sound */
  #chosen(sound) {
    this.rows.forEach((row, n) => row.classList.toggle("chosen", n === sound));
  }

  /** Show the plane, if it is not beside the skims, with a button to return to the skim.
   * @param {number} sound */
  #go(sound) {
    this.board.choose(sound);
    this.board.element.scrollIntoView();
    this.back.textContent = say("plane_back", { label: this.view.sounds[sound].label });
    this.back.hidden = false;
    this.back.onclick = () => {
      this.back.hidden = true;
      this.rows[sound].scrollIntoView();
      this.players[sound].button.focus({ preventScroll: true });
    };
  }

  /** A coordinate as a number, for exact places and screen readers.
   * @param {number} sound
   * @param {string} axis */
  #field(sound, axis) {
    const { label } = this.view.sounds[sound];
    const name = this.#nameOf(sound, axis);
    const question = /** @type {SliderQuestion} */ (this.view.questions.find((one) => one.name === name));
    /** @type {HTMLInputElement} */
    const input = make("input", { type: "text", inputmode: "decimal", autocomplete: "off", placeholder: "–",
      "aria-label": `${say("plane_skim", { label })}: ${axis}`, change: () => {
        const value = Math.round(read(input.value) * 1000) / 1000;
        const isGood = Number.isFinite(value) && within(value, question);
        if (isGood) this.draft.values[name] = value;
        this.told[sound].textContent = isGood || !input.value.trim() ? "" : say("out_of_range", { low: "0", high: "1" });
        input.value = name in this.draft.values ? shown(this.draft.values[name]) : "";
        const place = this.#placeOf(sound);
        if (isGood && place) {
          this.board.set(sound, place);
          this.#moved(sound, place, true);
        } else this.type();
      } });
    input.value = name in this.draft.values ? shown(this.draft.values[name]) : "";
    return input;
  }

  /** @param {number} sound */
  #row(sound) {
    const { address, label } = this.view.sounds[sound];
    const name = `comment_${sound + 1}`;
    const id = `of-${name}`;
    const area = commentField(id, this.draft.notes[name] ?? "", (text) => this.#note(name, text),
      { rows: "2", "aria-label": say("plane_comment", { label }) });
    const more = make("details", { open: Boolean(this.draft.notes[name]) },
      make("summary", { "aria-label": say("plane_comment", { label }) }, say("comment")), area);
    return make("div", { class: "plane-skim", role: "group", "aria-label": say("plane_skim", { label }) },
      make("b", { class: "plane-number", "aria-hidden": "true", click: () => this.board.choose(sound) }, label), spectrogram(this.at, address, label),
      this.players[sound].element,
      make("div", { class: "plane-values" }, this.axes.map((axis, n) => make("label", {}, `${axis} `, this.fields[sound][n])), this.told[sound],
        make("button", { type: "button", class: "plane-go", click: () => this.#go(sound) }, say("plane_go", { label })), more));
  }

  /** @param {string} name
   * @param {string} text */
  #note(name, text) {
    this.draft.notes[name] = text;
    this.noteKeyboard();
    this.type();
  }

  // --- Answer ---

  /** List what is missing, once the expert has tried to send. */
  #list() {
    const { sounds } = this.view;
    const unheard = sounds.filter((_, n) => !this.#heard(n)).map(({ label }) => say("plane_unheard", { label }));
    const unplaced = sounds.filter((_, n) => !this.#placeOf(n)).map(({ label }) => say("plane_missing", { label }));
    const names = [...unheard, ...unplaced];
    this.missing.replaceChildren(...(names.length
      ? [make("p", {}, say("missing")), make("ul", {}, names.map((one) => make("li", {}, one)))] : []));
    return names;
  }

  #save() {
    this.asked = true;
    const names = this.#list();
    this.players.forEach((one) => one.update());
    if (!names.length) return this.#send();
    const unheard = this.players.findIndex((_, n) => !this.#heard(n));
    if (unheard >= 0) this.players[unheard].button.focus();
    else this.board.choose(this.view.sounds.findIndex((_, n) => !this.#placeOf(n)));
    return announce(`${say("missing")} ${names.join("; ")}`);
  }

  #send() {
    this.players.forEach((one) => one.pause());
    const notes = Object.entries(this.draft.notes).filter(([, text]) => text.trim());
    /** @type {Values} */
    const values = { ...this.draft.values, ...Object.fromEntries(notes) };
    this.finish(values, { explored: this.draft.explored, points: this.draft.points });
  }
}
