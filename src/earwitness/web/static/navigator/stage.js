// The drawn parts of the navigator: the overview of the whole recording, and the view with its axes,
// labels, selection, cursor and playhead. Each is drawn again only if something changed.

import { make } from "../dom.js";
import { Frequencies } from "./axis.js";
import { Picture, pixelTable } from "./draw.js";

/** @import { Display, Label, Piece, Range, RecordingInfo, TileKind, TileName } from "../types.d.ts" */
/** @import { Clock } from "./axis.js" */
/** @import { Tiles } from "./tiles.js" */

const AXIS = 26; // pixels below the view
const LANE = 19; // pixels per row of labels, above the view
const [MAX_LANES, MAX_NARROW_LANES] = [6, 4];
const NARROW = 480; // pixels
const PLAYHEAD = "#ffd23f";
const HALO = "rgb(0 0 0 / 55%)";
const BLUR = 2; // levels by which false colour is stretched before levels are shown instead
const CLOSE = 0.1; // seconds between the end of a part and the damage that ended it
const TAG = 18; // pixels of the height of the time under the mouse
export const OVERLAY_COLOURS = ["#e69f00", "#56b4e9", "#cc79a7", "#009e73"];

/** What is drawn.
 * @typedef {{ info: RecordingInfo, clock: Clock, tiles: Tiles, view: Range, display: Display,
 *   selection: [number, number] | null, cursor: number, playhead: number | null, pointer: number | null,
 *   labels: Label[], lanes: number, current: Label | null, overlays: { name: string }[],
 *   zoomed(factor: number, around?: number): Range, lay(): void, zoomsAtPointer: boolean,
 *   text(name: string, values?: Record<string, string | number>): string }} Scene */

/** Colours of the page, as style sheets define them.
 * @param {Element} element */
function pageColours(element) {
  const style = getComputedStyle(element);
  /** @param {string} name */
  const of = (name) => style.getPropertyValue(name).trim();
  return { ink: of("--ink"), soft: of("--soft"), line: of("--line"), paper: of("--paper"), card: of("--card"),
    accent: of("--accent"), edge: of("--edge"), font: style.fontFamily };
}

/** The rows of labels in order of time: overlapping ones have different rows, if there are enough.
 * @param {[number, number, string][]} spans
 * @param {number} most rows */
function rowsOf(spans, most) {
  const ends = new Array(most).fill(-Infinity);
  return spans.map(([start, seconds]) => {
    const free = ends.findIndex((end) => end <= start);
    const row = free < 0 ? ends.indexOf(Math.min(...ends)) : free;
    ends[row] = Math.max(ends[row], start + seconds);
    return row;
  });
}

const maxLanes = () => (innerWidth < NARROW ? MAX_NARROW_LANES : MAX_LANES);

/** All labels in order of time, each with its row above the spectrogram, and the number of rows.
 * @param {{ spans: [number, number, string][] }[]} overlays
 * @param {number} most rows
 * @returns {{ labels: Label[], lanes: number }} */
export function layLabels(overlays, most = maxLanes()) {
  const sorted = overlays.map(({ spans }) => spans.toSorted((a, b) => a[0] - b[0]));
  const counts = sorted.map((spans) => rowsOf(spans, most).reduce((count, row) => Math.max(count, row + 1), 1));
  const sum = () => counts.reduce((all, count) => all + count, 0);
  while (sum() > Math.max(most, counts.length)) counts[counts.indexOf(Math.max(...counts))] -= 1;
  let first = 0;
  const labels = sorted.flatMap((spans, overlay) => {
    const rows = rowsOf(spans, counts[overlay]);
    const above = first;
    first += counts[overlay];
    return spans.map(([start, seconds, text], n) =>
      ({ start, seconds, text, overlay, lane: Math.min(most - 1, above + rows[n]) }));
  });
  return { labels: labels.sort((a, b) => a.start - b.start), lanes: Math.min(most, first) };
}

/** Parts of a recording without sound, each with the name of the reason.
 * @param {Pick<RecordingInfo, "stretches" | "damages" | "seconds">} info */
export function findGaps({ stretches, damages, seconds: all }) {
  const gaps = [];
  let end = 0;
  for (const [start, seconds] of [...stretches, [all, 0]].map((one) => one.slice(0, 2).map(Number))) {
    const isDamaged = damages.some((time) => time > end - CLOSE && time < start);
    if (start > end) gaps.push({ start: end, end: start, name: isDamaged ? "unreadable" : "not_recorded" });
    end = Math.max(end, start + seconds);
  }
  return gaps;
}

export class Stage {
  /** @type {Set<"overview" | "picture" | "marks">} */
  #changed = new Set();
  #frame = 0;
  /** @type {{ key: string, table: Uint32Array }} */
  #colours = { key: "", table: new Uint32Array(256) }; // of each byte, for a range, gain and palette
  /** @type {Frequencies | null} */
  #frequencies = null;
  #focus = NaN; // the cursor when tiles were requested
  #maxLanes = maxLanes();
  #isOverviewDrawn = false; // with all of its tiles
  #isLight = matchMedia("(prefers-color-scheme: light)");

  /** `drawn` is called after the view was drawn: "drawn" if all of its tiles were there, "near" if only those
   * are missing that the server computes from the sound.
   * @param {Scene} scene
   * @param {(state: "drawn" | "near" | "drawing") => void} drawn */
  constructor(scene, drawn) {
    this.scene = scene;
    this.drawn = drawn;
    const canvas = () => make("canvas", { "aria-hidden": "true" });
    this.picture = new Picture(canvas());
    this.marks = canvas();
    this.overviewPicture = new Picture(canvas());
    this.overviewMarks = canvas();
    this.overview = make("div", { class: "nav-overview" }, this.overviewPicture.canvas, this.overviewMarks);
    this.view = make("div", { class: "nav-view" }, this.picture.canvas, this.marks);
    this.colours = pageColours(this.view);
    this.observer = new ResizeObserver(() => {
      if (this.#maxLanes !== maxLanes()) scene.lay();
      this.#maxLanes = maxLanes();
      this.change("overview", "picture");
    });
    this.observer.observe(this.view);
    this.observer.observe(this.overview);
    this.#isLight.addEventListener("change", this.#recolour);
  }

  #recolour = () => this.change("overview", "picture");

  close() {
    cancelAnimationFrame(this.#frame);
    this.observer.disconnect();
    this.#isLight.removeEventListener("change", this.#recolour);
  }

  // --- Geometry ---

  /** The area of the spectrogram within the view, in CSS pixels. */
  get area() {
    const { clientWidth: width, clientHeight: height } = this.view;
    const left = width < NARROW ? 34 : 46;
    const top = this.scene.lanes * LANE;
    return { left, top, width: Math.max(1, width - left), height: Math.max(1, height - top - AXIS) };
  }

  /** The time at a horizontal place of the view.
   * @param {number} x in CSS pixels from the left edge of the window */
  timeAt(x) {
    const { left, width } = this.area;
    const { start, seconds } = this.scene.view;
    return start + ((x - this.view.getBoundingClientRect().left - left) / width) * seconds;
  }

  /** The part of the view at a height: labels, spectrogram or axis.
   * @param {number} y in CSS pixels from the upper edge of the window */
  partAt(y) {
    const { top, height } = this.area;
    const place = y - this.view.getBoundingClientRect().top;
    return place < top ? "labels" : place > top + height ? "axis" : "picture";
  }

  /** The label at a place, the shortest if there are several; anywhere if `lanes` is false.
   * @param {number} x
   * @param {number} y
   * @param {boolean} lanes
   * @returns {Label | null} */
  labelAt(x, y, lanes = true) {
    const { view, labels } = this.scene;
    const lane = Math.floor((y - this.view.getBoundingClientRect().top) / LANE);
    const slack = (3 * view.seconds) / this.area.width; // 3 pixels
    const time = this.timeAt(x);
    const found = labels.filter((one) => (!lanes || one.lane === lane)
      && one.start - slack <= time && time <= one.start + one.seconds + slack);
    return found.sort((a, b) => a.seconds - b.seconds)[0] ?? null;
  }

  // --- Drawing ---

  /** Draw parts again in the next frame.
   * @param {("overview" | "picture" | "marks")[]} parts */
  change(...parts) {
    for (const part of parts) this.#changed.add(part);
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  /** Draw a tile that was loaded. */
  add() {
    this.change("picture", ...(this.#isOverviewDrawn ? [] : /** @type {const} */ (["overview"])));
  }

  /** Forget the colours of levels and the frequency axis after a change of the display. */
  restyle() {
    this.#frequencies = null;
    this.change("overview", "picture");
  }

  #draw() {
    this.#frame = 0;
    const changed = new Set(this.#changed);
    this.#changed.clear();
    if (!this.view.isConnected || !this.view.clientWidth) return;
    if (changed.has("overview") || changed.has("picture")) this.colours = pageColours(this.view);
    if (changed.has("overview")) this.#drawOverview();
    const state = changed.has("picture") ? this.#drawPicture() : null;
    this.#drawMarks();
    this.#drawOverviewMarks();
    if (state) this.drawn(state);
    if (state || this.#focus !== this.scene.cursor) this.#request();
  }

  /** Request the tiles that are missing, and then those that may be shown next. */
  #request() {
    const { tiles, view, cursor } = this.scene;
    const { stored, visible } = this.#named(view);
    this.#focus = cursor;
    tiles.want([...stored, ...visible, ...this.#overviewNames()], this.#near());
  }

  /** Kind and level of tiles for a range: one to two columns per pixel, or about one if the server has to
   * compute them from the sound.
   * @param {Range} range
   * @param {number} width
   * @returns {{ kind: TileKind, level: number }} */
  layer({ seconds }, width) {
    const { info, display } = this.scene;
    const exact = Math.log2(seconds / width / info.frame_seconds) + 1e-9; // one column per pixel
    const level = Math.floor(exact);
    const [low, high] = [Math.min(...info.colour_levels), Math.max(...info.colour_levels)];
    if (display.view === "colour" && level >= low - BLUR) {
      return { kind: "colour", level: Math.min(high, Math.max(low, level)) };
    }
    if (Math.round(exact) <= 0) return { kind: "fine", level: Math.max(-info.fine_levels, Math.round(exact)) };
    return { kind: display.pooling, level: Math.min(info.levels - 1, Math.max(0, level)) };
  }

  get isColour() {
    return this.layer(this.scene.view, this.area.width).kind === "colour";
  }

  /** The pixels of each byte: one range of levels for the whole recording. */
  get #table() {
    const { info, display } = this.scene;
    const range = display.range_db ?? info.range_db;
    const key = JSON.stringify([range, display.gain_db, display.palette]);
    if (this.#colours.key !== key) this.#colours = { key, table: pixelTable(info, display, range) };
    return this.#colours.table;
  }

  #how() {
    const { info, display } = this.scene;
    this.#frequencies ??= new Frequencies(info, display.frequency);
    return { info, display, table: this.#table, frequencies: this.#frequencies };
  }

  /** @param {TileName[]} names
   * @returns {Piece[]} */
  #pieces(names) {
    const { tiles, display } = this.scene;
    return names.flatMap((name) => tiles.pieces(name, name.kind === "fine" ? display.pooling : name.kind));
  }

  #overviewNames() {
    const { info, tiles } = this.scene;
    const { kind, level } = this.layer({ start: 0, seconds: info.seconds }, this.overview.clientWidth);
    return tiles.names(kind, level, 0, info.seconds);
  }

  #drawOverview() {
    const { clientWidth: width, clientHeight: height } = this.overview;
    this.overviewPicture.resize(width, height);
    const whole = { start: 0, seconds: this.scene.info.seconds };
    const names = this.#overviewNames();
    this.overviewPicture.draw(whole, this.#pieces(names), this.#how());
    this.#isOverviewDrawn = names.every((name) => this.scene.tiles.has(name));
  }

  /** Draw the spectrogram with the tiles that are there.
   * @returns {"drawn" | "near" | "drawing"} */
  #drawPicture() {
    const { tiles, view } = this.scene;
    const { left, top, width, height } = this.area;
    const { style } = this.picture.canvas;
    for (const [name, value] of Object.entries({ left, top, width, height })) style.setProperty(name, `${value}px`);
    this.picture.resize(width, height);
    const { stored, visible } = this.#named(view);
    this.picture.draw(view, this.#pieces(visible), this.#how());
    if (visible.every((name) => tiles.get(name))) return "drawn";
    return stored.length && stored.every((name) => tiles.get(name)) ? "near" : "drawing";
  }

  /** The tiles of a range, and before those that the server computes from the sound the stored ones, which come
   * sooner.
   * @param {Range} range
   * @returns {{ stored: TileName[], visible: TileName[] }} */
  #named(range) {
    const { tiles, display } = this.scene;
    const { kind, level } = this.layer(range, this.area.width);
    const [start, end] = [range.start, range.start + range.seconds];
    const stored = kind === "fine" ? tiles.names(display.pooling, 0, start, end) : [];
    return { stored, visible: tiles.names(kind, level, start, end) };
  }

  /** Tiles that the next zoom steps or a move would show, the most probable first: zooms at the pointer or the
   * cursor, as the last one was.
   * @returns {TileName[]} */
  #near() {
    const { tiles, view, info, pointer, zoomsAtPointer } = this.scene;
    if (info.state === "building") return [];
    const [place, other] = zoomsAtPointer ? [pointer, null] : [null, pointer];
    /** @param {number} factor
     * @param {number | null} around */
    const zoomed = (factor, around = place) => this.#named(this.scene.zoomed(factor, around ?? undefined));
    const steps = [zoomed(0.5), zoomed(2), zoomed(0.5, other)];
    const { stored, visible } = zoomed(0.25);
    const { kind, level } = this.layer(view, this.area.width);
    const [end, half] = [view.start + view.seconds, tiles.seconds(level) / 2];
    const [into, out, elsewhere] = steps.map((one) => [...one.stored, ...one.visible]);
    return [
      ...into,
      ...out,
      ...(stored.length ? stored : visible), // not those that the server computes from the sound
      ...elsewhere,
      ...tiles.names(kind, level, end, end + half),
      ...tiles.names(kind, level, view.start - half, view.start),
    ];
  }

  /** A canvas at the resolution of the screen, cleared.
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLElement} parent */
  #cleared(canvas, parent) {
    const scale = devicePixelRatio || 1;
    const [width, height] = [Math.round(parent.clientWidth * scale), Math.round(parent.clientHeight * scale)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = `12px ${this.colours.font}`;
    context.textBaseline = "middle";
    return context;
  }

  // --- Marks of the view ---

  #drawMarks() {
    const context = this.#cleared(this.marks, this.view);
    const { left, top, width, height } = this.area;
    const { view } = this.scene;
    /** @param {number} time */
    const x = (time) => left + ((time - view.start) / view.seconds) * width;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    this.#drawMissing(context, x, top, height, view);
    this.#drawHours(context, x);
    this.#drawSpans(context, x);
    context.restore();
    this.#drawFrequencies(context);
    this.#drawTimes(context, x);
    this.#drawLabels(context, x);
    this.#drawLines(context, x);
  }

  /** Gaps and parts that are not indexed.
   * @param {CanvasRenderingContext2D} context
   * @param {(time: number) => number} x
   * @param {number} top
   * @param {number} height
   * @param {Range} range */
  #drawMissing(context, x, top, height, range) {
    const { info, text } = this.scene;
    const [from, to] = [range.start, range.start + range.seconds];
    for (const { start, end, name } of findGaps(info)) {
      if (end <= from || start >= to) continue;
      this.#drawGap(context, x(Math.max(from, start)), x(Math.min(to, end)), top, height, text(name), false);
    }
    if (info.state === "building" && info.done < to) {
      this.#drawGap(context, x(Math.max(from, info.done)), x(to), top, height, text("not_indexed"), true);
    }
  }

  /** @param {CanvasRenderingContext2D} context
   * @param {number} from
   * @param {number} to
   * @param {number} top
   * @param {number} height
   * @param {string} text
   * @param {boolean} hatched */
  #drawGap(context, from, to, top, height, text, hatched) {
    const { card, line, soft, font } = this.colours;
    context.save();
    context.beginPath();
    context.rect(from, top, Math.max(1, to - from), height);
    context.clip();
    if (!hatched) {
      context.fillStyle = line;
      context.fillRect(from, top, Math.max(1, to - from), height);
    } else {
      context.strokeStyle = line;
      context.lineWidth = 1.5;
      context.beginPath();
      for (let start = Math.floor((from - height) / 12) * 12; start < to; start += 12) {
        context.moveTo(start, top + height);
        context.lineTo(start + height, top);
      }
      context.stroke();
    }
    context.font = `13px ${font}`;
    const room = context.measureText(text).width + 24;
    if (to - from > room && height > 60) {
      const [middle, y] = [(from + to) / 2, top + height / 2];
      context.fillStyle = card;
      context.beginPath();
      context.roundRect(middle - room / 2, y - 14, room, 28, 14);
      context.fill();
      context.fillStyle = soft;
      context.textAlign = "center";
      context.fillText(text, middle, y);
    }
    context.restore();
  }

  /** Lines over the spectrogram are dark on light palettes. */
  get #lineColour() {
    return this.scene.display.palette === "grey" && !this.isColour ? "0 0 0" : "255 255 255";
  }

  /** @param {CanvasRenderingContext2D} context
   * @param {(time: number) => number} x */
  #drawHours(context, x) {
    const { clock, view } = this.scene;
    const { top, width, height } = this.area;
    const hour = (3600 / view.seconds) * width;
    const step = hour >= 14 ? 3600 : hour * 6 >= 14 ? 21600 : 86400;
    context.fillStyle = `rgb(${this.#lineColour} / 22%)`;
    for (const time of clock.multiples(view.start, view.start + view.seconds, step)) {
      context.fillRect(Math.round(x(time)), top, 1, height);
    }
  }

  /** The selection, and the label that was chosen.
   * @param {CanvasRenderingContext2D} context
   * @param {(time: number) => number} x */
  #drawSpans(context, x) {
    const { selection, current } = this.scene;
    const { left, top, width, height } = this.area;
    if (current) {
      context.fillStyle = `${OVERLAY_COLOURS[current.overlay % OVERLAY_COLOURS.length]}30`;
      context.fillRect(x(current.start), top, Math.max(2, x(current.start + current.seconds) - x(current.start)), height);
    }
    if (!selection) return;
    const [from, to] = selection.map(x);
    context.fillStyle = "rgb(0 0 0 / 45%)"; // all but the selection
    context.fillRect(left, top, Math.max(0, from - left), height);
    context.fillRect(to, top, Math.max(0, left + width - to), height);
    for (const edge of [from, to]) {
      context.fillStyle = HALO;
      context.fillRect(edge - 1.5, top, 3, height);
      context.fillStyle = "#ffffff";
      context.fillRect(edge - 0.5, top, 1, height);
    }
  }

  /** @param {CanvasRenderingContext2D} context */
  #drawFrequencies(context) {
    const { left, top, height } = this.area;
    const frequencies = this.#frequencies;
    if (!frequencies) return;
    context.textAlign = "right";
    context.fillStyle = this.colours.soft;
    for (const hertz of frequencies.ticks(26 / height)) {
      const y = top + height * (1 - frequencies.place(hertz));
      const label = hertz ? String(hertz / 1000) : "0";
      context.fillText(label, left - 8, Math.min(top + height - 6, Math.max(top + 18, y)));
      context.fillRect(left - 4, Math.round(Math.min(top + height - 1, y)), 4, 1);
    }
    context.font = `11px ${this.colours.font}`;
    const kilohertz = frequencies.top / 1000;
    const unit = left < 40 ? "kHz" : `${kilohertz < 10 ? Math.round(10 * kilohertz) / 10 : Math.round(kilohertz)} kHz`;
    context.fillText(unit, left - 6, top + 6, left - 8); // narrower if it would not fit
    context.font = `12px ${this.colours.font}`;
  }

  /** @param {CanvasRenderingContext2D} context
   * @param {(time: number) => number} x */
  #drawTimes(context, x) {
    const { clock, view } = this.scene;
    const { left, top, width, height } = this.area;
    const room = view.seconds / width < 0.02 ? 96 : 72;
    const right = left + width;
    let free = 0; // right end of the text before
    context.textAlign = "center";
    const ticks = clock.ticks(view.start, view.start + view.seconds, (room / width) * view.seconds);
    for (const { time, text, isDay } of ticks) {
      const place = x(time);
      context.fillStyle = isDay ? this.colours.ink : this.colours.soft;
      context.font = `${isDay ? "600 " : ""}12px ${this.colours.font}`;
      const half = context.measureText(text).width / 2;
      context.fillRect(Math.round(place), top + height, 1, 5);
      const middle = Math.min(right - half, Math.max(half, place));
      if (middle - half < free) continue;
      context.fillText(text, middle, top + height + 15);
      free = middle + half + 6;
    }
  }

  /** @param {CanvasRenderingContext2D} context
   * @param {(time: number) => number} x */
  #drawLabels(context, x) {
    const { labels, current, view } = this.scene;
    const { left, width } = this.area;
    const end = view.start + view.seconds;
    context.save();
    context.beginPath();
    context.rect(left, 0, width, this.area.top);
    context.clip();
    context.fillStyle = this.colours.line;
    context.globalAlpha = 0.3;
    for (let lane = 0; lane < this.scene.lanes; lane += 1) context.fillRect(left, lane * LANE + 1.5, width, LANE - 4);
    context.globalAlpha = 1;
    context.textAlign = "left";
    context.font = `11.5px ${this.colours.font}`;
    for (const one of labels) {
      if (one.start > end || one.start + one.seconds < view.start) continue;
      const from = Math.max(left - 4, x(one.start));
      const to = Math.min(left + width + 4, x(one.start + one.seconds));
      const y = one.lane * LANE + 1.5;
      context.fillStyle = OVERLAY_COLOURS[one.overlay % OVERLAY_COLOURS.length];
      context.strokeStyle = one === current ? this.colours.ink : this.colours.paper; // also shows where they meet
      context.lineWidth = one === current ? 2 : 1;
      context.beginPath();
      context.roundRect(from, y, Math.max(3, to - from), LANE - 4, Math.min(4, Math.max(3, to - from) / 2));
      context.fill();
      context.stroke();
      if (to - from > 36) {
        context.save();
        context.clip();
        context.fillStyle = "#14171a";
        context.fillText(one.text, from + 6, y + (LANE - 4) / 2 + 0.5);
        context.restore();
      }
    }
    context.restore();
  }

  /** Pointer, cursor and playhead.
   * @param {CanvasRenderingContext2D} context
   * @param {(time: number) => number} x */
  #drawLines(context, x) {
    const { cursor, playhead, pointer, selection } = this.scene;
    const { left, top, width, height } = this.area;
    /** @param {number} time
     * @param {number} thick
     * @param {string} colour */
    const line = (time, thick, colour) => {
      const place = x(time);
      if (place < left - 1 || place > left + width + 1) return false;
      context.fillStyle = HALO;
      context.fillRect(place - thick / 2 - 1, top, thick + 2, height);
      context.fillStyle = colour;
      context.fillRect(place - thick / 2, top, thick, height);
      return true;
    };
    if (pointer !== null) {
      context.fillStyle = `rgb(${this.#lineColour} / 40%)`;
      context.fillRect(Math.round(x(pointer)), top, 1, height);
    }
    if (!(selection && (cursor === selection[0] || cursor === selection[1])) && line(cursor, 1.5, "#ffffff")) {
      const place = x(cursor);
      context.fillStyle = this.colours.ink;
      context.beginPath();
      context.moveTo(place - 6, top + height + 8);
      context.lineTo(place + 6, top + height + 8);
      context.lineTo(place, top + height);
      context.fill();
    }
    if (playhead !== null) line(playhead, 2, PLAYHEAD);
    if (pointer !== null) this.#drawTag(context, x(pointer), this.scene.clock.stamp(pointer, this.scene.view.seconds));
  }

  /** The time under the mouse, on the time axis.
   * @param {CanvasRenderingContext2D} context
   * @param {number} place
   * @param {string} text */
  #drawTag(context, place, text) {
    const { left, top, width, height } = this.area;
    context.font = `12px ${this.colours.font}`;
    context.textAlign = "center";
    const half = context.measureText(text).width / 2 + 6;
    const middle = Math.min(left + width - half, Math.max(half, place));
    context.fillStyle = this.colours.ink;
    context.beginPath();
    context.roundRect(middle - half, top + height + 5, 2 * half, TAG, 4);
    context.fill();
    context.fillStyle = this.colours.card;
    context.fillText(text, middle, top + height + 5 + TAG / 2);
  }

  // --- Marks of the overview ---

  #drawOverviewMarks() {
    const context = this.#cleared(this.overviewMarks, this.overview);
    const { info, clock, view, labels, playhead, cursor } = this.scene;
    const { clientWidth: width, clientHeight: height } = this.overview;
    /** @param {number} time */
    const x = (time) => (time / info.seconds) * width;
    this.#drawMissing(context, x, 0, height, { start: 0, seconds: info.seconds });
    for (const { start, seconds, overlay } of labels) {
      context.fillStyle = OVERLAY_COLOURS[overlay % OVERLAY_COLOURS.length];
      context.fillRect(x(start), Math.min(overlay, OVERLAY_COLOURS.length - 1) * 5 + 2, Math.max(2, x(seconds)), 3);
    }
    context.font = `10.5px ${this.colours.font}`;
    context.textAlign = "left";
    for (const { time, text } of clock.ticks(0, info.seconds, (56 / width) * info.seconds)) {
      context.fillStyle = HALO;
      context.fillRect(Math.round(x(time)), height - 12, 1, 12);
      const room = context.measureText(text).width + 8;
      if (x(time) + room > width) continue;
      context.fillRect(x(time), height - 14, room, 14);
      context.fillStyle = "#ffffff";
      context.fillText(text, x(time) + 4, height - 6.5);
    }
    const [from, to] = [x(view.start), Math.max(x(view.start) + 3, x(view.start + view.seconds))];
    context.fillStyle = "rgb(0 0 0 / 48%)";
    context.fillRect(0, 0, from, height);
    context.fillRect(to, 0, width - to, height);
    /** @type {[number | null, string][]} */
    const lines = [[cursor, "#ffffff"], [playhead, PLAYHEAD]];
    for (const [time, colour] of lines) {
      if (time === null) continue;
      context.fillStyle = colour;
      context.fillRect(x(time) - 0.75, 0, 1.5, height);
    }
    context.lineWidth = 4;
    context.strokeStyle = HALO;
    context.strokeRect(from + 1, 1, to - from - 2, height - 2);
    context.lineWidth = 2;
    context.strokeStyle = "#ffffff";
    context.strokeRect(from + 1, 1, to - from - 2, height - 2);
  }
}
