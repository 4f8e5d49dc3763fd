// Buttons, fields and lists around the spectrogram.

import { make } from "../dom.js";
import { lengthText } from "./axis.js";
import { PALETTE_NAMES, colourAt } from "./draw.js";
import { OVERLAY_COLOURS } from "./stage.js";
import { GESTURES, KEYS } from "./wording.js";

/** @import { Display, Label } from "../types.d.ts" */
/** @import { Navigator } from "./navigator.js" */

const MAX_LISTED = 1000; // labels
const MIN_SEARCHED = 13; // labels for which there is a field to find one
const QUIETEST = -40; // decibels, at the lower end of the volume
const SPAN = { min: 20, max: 100 }; // decibels between the first and the last colour
export const GAIN = 40; // decibels up or down
const INDEX_COLOURS = { red: "#e00000", green: "#00a000", blue: "#2020ff" }; // of false colour
/** Icons in a square of 24. */
const ICONS = {
  play: "M7 4.5v15l12.5-7.5z",
  pause: "M6.5 5h4v14h-4zM13.5 5h4v14h-4z",
  excerpt: "M4 6h2.4v12H4zM9 6.5v11l8-5.5zM18 6h2.4v12H18z",
  loop: "M17 3l4 4-4 4V8H8a3 3 0 0 0-3 3v1H3v-1a5 5 0 0 1 5-5h9zM7 21l-4-4 4-4v3h9a3 3 0 0 0 3-3v-1h2v1a5 5 0 0 1-5 5H7z",
  volume: "M3 9v6h4l5 4.5v-15L7 9zM15 8.5v7a4 4 0 0 0 0-7zM15 4.5v2a6 6 0 0 1 0 11v2a8 8 0 0 0 0-15z",
  in: "M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z",
  out: "M5 11h14v2H5z",
  selection: "M4 4h2v16H4zM18 4h2v16h-2zM8 11h2V8l-4 4 4 4v-3h4v3l4-4-4-4v3z",
  whole: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
  before: "M15.5 5v14l-8-7zM5 5h2v14H5z",
  after: "M8.5 5v14l8-7zM17 5h2v14h-2z",
};

/** @param {keyof typeof ICONS} name */
function icon(name) {
  const drawn = make("i", { class: "nav-icon", "aria-hidden": "true" });
  drawn.style.setProperty("clip-path", `path("${ICONS[name]}")`);
  return drawn;
}

/** @param {number} overlay */
const overlayColour = (overlay) => OVERLAY_COLOURS[overlay % OVERLAY_COLOURS.length];

export class Controls {
  /** @type {Label[]} */
  #listed = [];

  /** @param {Navigator} navigator
   * @param {boolean} shown whether display settings can be changed */
  constructor(navigator, shown) {
    this.navigator = navigator;
    const { text } = navigator;
    this.playLabel = make("span");
    this.playIcon = make("span");
    this.play = make("button", { type: "button", class: "nav-play", click: () => navigator.toggle() },
      this.playIcon, this.playLabel);
    this.loop = this.#button("loop", text("loop_help"), () => navigator.loop(), text("loop"));
    this.selection = this.#button("selection", text("zoom_selection_help"), () => navigator.zoomSelection());
    this.position = make("span", { class: "nav-position" });
    this.detail = make("span", { class: "nav-detail" });
    this.bar = make("div", { class: "nav-bar", role: "group", "aria-label": text("spectrogram") },
      make("div", { class: "nav-group" }, this.play,
        this.#button("excerpt", text("excerpt_help"), () => navigator.excerpt(), text("excerpt")), this.loop),
      make("div", { class: "nav-times" }, this.position, this.detail),
      make("div", { class: "nav-group nav-zooms" },
        this.#button("before", text("hour_before"), () => navigator.hour(-1)),
        this.#button("after", text("hour_after"), () => navigator.hour(1)),
        this.#button("out", text("zoom_out"), () => navigator.zoom(2)),
        this.#button("in", text("zoom_in"), () => navigator.zoom(0.5)),
        this.selection,
        this.#button("whole", text("zoom_whole_help"), () => navigator.zoomWhole())),
      make("div", { class: "nav-group nav-extra" }, this.#goTo(), this.#volume()));
    this.list = make("ol", { class: "nav-labels" });
    this.listNote = make("p", { class: "nav-note" });
    /** @type {HTMLInputElement} */
    this.wanted = make("input", { type: "search", class: "nav-field nav-find", "aria-label": text("labels_find"),
      placeholder: text("labels_find"), input: () => this.showLabels() });
    const isTouched = matchMedia("(pointer: coarse)").matches;
    const keys = [...(isTouched ? GESTURES : []), ...KEYS].map(([, name]) => make("div", { "data-key-of": name },
      make("dt", {}, text(`${name}_keys`)), make("dd", {}, text(name))));
    this.labelKeys = keys.find((one) => one.dataset.keyOf === "key_labels");
    this.tabs = make("div", { class: "nav-tabs" });
    this.panels = make("div", { class: "nav-panels" });
    if (shown) this.#panel(text("display"), this.#settings());
    this.labelsTab = this.#panel(text("labels", { count: 0 }), make("div", {}, this.wanted, this.listNote, this.list));
    this.notes = make("ul", { class: "nav-notes" });
    this.notesTab = this.#panel(text("notes"), this.notes);
    this.showNotes();
    this.#panel(text("keys"), make("dl", { class: "nav-keys" }, keys));
    this.legend = make("div", { class: "nav-names" });
    this.indices = make("div", { class: "nav-names nav-indices", hidden: true },
      Object.entries(INDEX_COLOURS).map(([name, colour]) => make("span", {}, this.#dot(colour), text(`colour_${name}`))));
    this.element = make("div", { class: "nav-controls" }, this.bar,
      make("div", { class: "nav-row" }, this.tabs, this.indices, this.legend), this.panels);
    if (shown && matchMedia("(min-width: 56rem)").matches) /** @type {HTMLElement} */ (this.tabs.firstChild).click();
  }

  /** List the notes on the files, of which more may come while the index is built. */
  showNotes() {
    const { notes } = this.navigator.info;
    if (this.notes.children.length !== notes.length) this.notes.replaceChildren(...notes.map((note) => make("li", {}, note)));
    this.notesTab.hidden = !notes.length;
  }

  /** A panel with a button that shows it instead of the others, or hides it.
   * @param {string} title
   * @param {HTMLElement} content */
  #panel(title, content) {
    content.hidden = true;
    content.id = `nav-${crypto.getRandomValues(new Uint32Array(1))[0]}`;
    const toggle = () => {
      const opens = content.hidden;
      for (const panel of this.panels.children) /** @type {HTMLElement} */ (panel).hidden = true;
      for (const other of this.tabs.children) other.setAttribute("aria-expanded", "false");
      content.hidden = !opens;
      tab.setAttribute("aria-expanded", String(opens));
      this.showLabels();
    };
    const tab = make("button", { type: "button", class: "nav-tab", "aria-expanded": "false",
      "aria-controls": content.id, click: toggle }, title);
    this.tabs.append(tab);
    this.panels.append(content);
    return tab;
  }

  /** A button with an icon, and a text that is read or shown as a tooltip.
   * @param {keyof typeof ICONS} drawn
   * @param {string} help
   * @param {() => unknown} act
   * @param {string} [label] */
  #button(drawn, help, act, label) {
    return make("button", { type: "button", class: label ? "nav-button" : "nav-button nav-square", title: help,
      "aria-label": label ? `${label}: ${help}` : help, click: act }, icon(drawn), label);
  }

  #goTo() {
    const { text, clock } = this.navigator;
    const example = clock.text(this.navigator.info.seconds / 2, -1);
    /** @type {HTMLInputElement} */
    const field = make("input", { type: "text", class: "nav-field", size: 9, autocomplete: "off", placeholder: example,
      "aria-label": text("go_to"), enterkeyhint: "go", maxlength: 32 });
    const go = make("form", { class: "nav-go", submit: (event) => {
      event.preventDefault();
      if (this.navigator.goTo(field.value)) field.value = "";
      else field.select();
    } }, make("span", { "aria-hidden": "true" }, text("go_to")), field,
    make("button", { class: "nav-button" }, text("go")));
    return go;
  }

  #volume() {
    const { text } = this.navigator;
    /** @type {HTMLInputElement} */
    const slider = make("input", { type: "range", min: QUIETEST, max: 0, step: 1, "aria-label": text("volume"),
      title: text("volume") });
    slider.value = String(this.navigator.volume);
    const say = () => slider.setAttribute("aria-valuetext", text("decibels", { count: slider.value }));
    slider.addEventListener("input", () => {
      this.navigator.volume = Number(slider.value);
      say();
    });
    say();
    return make("label", { class: "nav-volume" }, icon("volume"), slider);
  }

  // --- Display settings ---

  #settings() {
    const { navigator } = this;
    const { text } = navigator;
    /** @type {(() => void)[]} */
    this.refreshers = [];
    const legend = make("canvas", { class: "nav-legend", width: 128, height: 1, "aria-hidden": "true" });
    const levels = make("b");
    this.refreshers.push(() => {
      this.#paintLegend(legend);
      const [low, high] = this.#range.map((level) => String(Math.round(level - getGain())).replace("-", "−"));
      levels.textContent = `${low} … ${text("decibels", { count: high })}`;
    });
    const getGain = () => navigator.display.gain_db;
    /** @type {HTMLFieldSetElement} */
    this.levels = make("fieldset", { class: "nav-levels" }, // without effect on false colour
      this.#choice("pooling", ["max", "mean"]),
      this.#choice("palette", PALETTE_NAMES),
      this.#slider("gain", -GAIN, GAIN, getGain, (gain_db) => navigator.setDisplay({ gain_db })),
      this.#slider("span", SPAN.min, SPAN.max, () => this.#span, (span) => {
        const [, high] = this.#range;
        navigator.setDisplay({ range_db: [high - span, high] });
      }),
      make("div", { class: "nav-setting" }, levels, legend));
    return make("div", { class: "nav-settings" },
      this.#choice("view", ["levels", "colour"]),
      this.#choice("frequency", ["mel", "log", "linear"]),
      this.levels,
      make("button", { type: "button", class: "nav-button", click: () => navigator.setDisplay(null) }, text("reset")));
  }

  get #range() {
    return this.navigator.display.range_db ?? this.navigator.info.range_db;
  }

  get #span() {
    const [low, high] = this.#range;
    return Math.round(high - low);
  }

  /** @param {"view" | "pooling" | "frequency" | "palette"} name
   * @param {string[]} values */
  #choice(name, values) {
    const { navigator } = this;
    /** @type {HTMLSelectElement} */
    const select = make("select", { "aria-label": navigator.text(name),
      change: () => navigator.setDisplay({ [name]: select.value }) },
      values.map((value) => make("option", { value }, navigator.text(`${name}_${value}`))));
    this.refreshers?.push(() => (select.value = navigator.display[name]));
    return make("label", { class: "nav-setting" }, make("span", {}, navigator.text(name)), select);
  }

  /** @param {string} name
   * @param {number} min
   * @param {number} max
   * @param {() => number} get
   * @param {(value: number) => void} set */
  #slider(name, min, max, get, set) {
    const { text } = this.navigator;
    const shown = make("b");
    /** @type {HTMLInputElement} */
    const slider = make("input", { type: "range", min, max, step: 1, "aria-label": text(name),
      input: () => set(Number(slider.value)) });
    this.refreshers?.push(() => {
      slider.value = String(get());
      shown.textContent = text("decibels", { count: Math.round(get()) });
      slider.setAttribute("aria-valuetext", shown.textContent);
    });
    return make("label", { class: "nav-setting nav-slider" }, make("span", {}, `${text(name)} `, shown), slider);
  }

  /** @param {HTMLCanvasElement} canvas */
  #paintLegend(canvas) {
    const context = canvas.getContext("2d");
    for (let x = 0; context && x < canvas.width; x += 1) {
      context.fillStyle = `rgb(${colourAt(this.navigator.display.palette, x / (canvas.width - 1)).join(" ")})`;
      context.fillRect(x, 0, 1, 1);
    }
  }

  /** Show the display settings. */
  showDisplay() {
    for (const refresh of this.refreshers ?? []) refresh();
  }

  // --- State ---

  /** Show what plays, the cursor and the selection. */
  update() {
    const { text, playback, clock, cursor, playhead, selection, view, isLooping } = this.navigator;
    const state = playback.isPlaying ? "pause" : "play";
    if (this.play.dataset.state !== state) {
      this.play.dataset.state = state;
      this.playIcon.replaceChildren(icon(state));
      this.playLabel.textContent = text(state);
    }
    this.loop.setAttribute("aria-pressed", String(isLooping));
    this.selection.disabled = !selection;
    const { isColour } = this.navigator.stage;
    this.indices.hidden = !isColour;
    if (this.levels) this.levels.disabled = isColour;
    this.position.textContent = clock.stamp(playhead ?? cursor, view.seconds);
    const { pointed, rangeText, selectionText } = this.navigator;
    this.detail.textContent = pointed || selectionText || rangeText;
  }

  /** List the labels; if there are too many, those in view. */
  showLabels() {
    const { labels, view, text, overlays, current } = this.navigator;
    this.labelsTab.hidden = !labels.length;
    this.labelKeys?.toggleAttribute("hidden", !labels.length);
    this.legend.replaceChildren(...overlays.map(({ name }, n) => make("span", {}, this.#dot(overlayColour(n)), name)));
    this.labelsTab.textContent = text("labels", { count: labels.length });
    if (this.labelsTab.getAttribute("aria-expanded") === "false") return;
    this.wanted.hidden = labels.length < MIN_SEARCHED && !this.wanted.value;
    const wanted = this.wanted.value.trim().toLowerCase();
    const found = labels.filter(({ text: name }) => name.toLowerCase().includes(wanted));
    const isLong = found.length > MAX_LISTED;
    const inView = found.filter((one) => one.start < view.start + view.seconds && one.start + one.seconds > view.start);
    const listed = (isLong ? inView : found).slice(0, MAX_LISTED);
    this.listNote.textContent = isLong ? text("labels_in_view", { count: MAX_LISTED }) : "";
    this.listNote.hidden = !isLong;
    if (listed.length !== this.#listed.length || listed.some((one, n) => one !== this.#listed[n])) {
      const focused = this.#listed[[...this.list.children].findIndex((one) => one.contains(document.activeElement))];
      this.#listed = listed;
      this.list.replaceChildren(...listed.map((one) => this.#listItem(one, overlays[one.overlay].name)));
      const place = focused ? listed.findIndex((one) => one.start === focused.start && one.text === focused.text) : -1;
      if (place >= 0) this.list.querySelectorAll("button")[place].focus({ preventScroll: true });
    }
    const buttons = this.list.querySelectorAll("button");
    for (const [n, one] of listed.entries()) buttons[n].toggleAttribute("aria-current", one === current);
    if (current) this.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }

  /** @param {string} colour */
  #dot(colour) {
    const dot = make("i", { class: "nav-dot", "aria-hidden": "true" });
    dot.style.setProperty("background", colour);
    return dot;
  }

  /** @param {Label} label
   * @param {string} overlay */
  #listItem(label, overlay) {
    const time = this.navigator.clock.stamp(label.start, 3600);
    const choose = () => this.navigator.choose(label, true);
    return make("li", {}, make("button", { type: "button", title: overlay, click: choose }, this.#dot(overlayColour(label.overlay)),
      make("b", {}, time), make("span", {}, label.text || overlay), make("small", {}, lengthText(label.seconds))));
  }
}
