// Time and frequency axes: clock or elapsed time, round ticks at every zoom, and the frequency of
// each row.

/** @import { Display, RecordingInfo } from "../types.d.ts" */

const DAY = 86400;
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
  10800, 21600, 43200, DAY, 2 * DAY, 7 * DAY];
const MIN_DAY = 60; // seconds of a day for which its date is shown
const LOWEST_OF_LOG = 50; // hertz
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The shortest round step of at least `least` seconds.
 * @param {number} least */
export function roundStep(least) {
  return STEPS.find((step) => step >= least * 0.999) ?? DAY * 7 * Math.ceil(least / (7 * DAY));
}

/** @param {number} number
 * @param {number} digits */
const padded = (number, digits = 2) => String(number).padStart(digits, "0");

/** A duration in words: "24 h", "1 h 30 min", "2.5 s".
 * @param {number} seconds */
export function lengthText(seconds) {
  if (seconds < 59.95) return `${Number(seconds.toFixed(seconds < 10 ? 2 : 1))} s`;
  const whole = seconds < 3600 ? Math.round(seconds) : Math.round(seconds / 60) * 60;
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const parts = [[hours, "h"], [minutes, "min"], [rest, "s"]];
  return parts.filter(([count]) => count).slice(0, 2).map(([count, unit]) => `${count} ${unit}`).join(" ");
}

/** The clock of a recording: local time if its start is known, otherwise elapsed time. */
export class Clock {
  /** @param {Pick<RecordingInfo, "began" | "offsets" | "seconds">} info
   * @param {{ days?: string[], months?: string[] }} names */
  constructor({ began, offsets, seconds }, { days = DAYS, months = MONTHS } = {}) {
    this.isKnown = began !== null;
    this.seconds = seconds;
    this.days = days;
    this.months = months;
    const hasZone = began !== null && /(Z|[+-]\d\d:?\d\d)$/i.test(began);
    this.began = began === null ? 0 : Date.parse(hasZone ? began : `${began}Z`) / 1000;
    /** @type {[number, number][]} */
    this.offsets = hasZone && offsets.length ? offsets : [[0, 0]];
    const [first, last] = [this.local(0), this.local(Math.max(0, seconds - MIN_DAY))];
    this.hasDays = this.isKnown && Math.floor(first / DAY) !== Math.floor(last / DAY);
  }

  /** The UTC offset at a time.
   * @param {number} time */
  offset(time) {
    return (this.offsets.findLast(([from]) => from <= time) ?? this.offsets[0])[1];
  }

  /** Seconds of local time since 1970, or elapsed seconds.
   * @param {number} time */
  local(time) {
    return this.began + time + this.offset(time);
  }

  /** A time as hours, minutes and seconds.
   * @param {number} time
   * @param {number} decimals of the seconds; negative for no seconds */
  text(time, decimals = 0) {
    const unit = 10 ** Math.max(0, decimals);
    let count = Math.round(this.local(time) * unit + (decimals < 0 ? 0 : 1e-6));
    if (this.isKnown) count = ((count % (DAY * unit)) + DAY * unit) % (DAY * unit);
    const whole = Math.floor(count / unit);
    const minutes = `${padded(Math.floor(whole / 3600))}:${padded(Math.floor(whole / 60) % 60)}`;
    if (decimals < 0) return minutes;
    const rest = decimals ? `.${padded(count % unit, decimals)}` : "";
    return `${minutes}:${padded(whole % 60)}${rest}`;
  }

  /** A date such as "Tue 22 Jul"; empty if unknown.
   * @param {number} time */
  date(time, year = false) {
    if (!this.isKnown) return "";
    const date = new Date(this.local(time) * 1000);
    const text = `${this.days[date.getUTCDay()]} ${date.getUTCDate()} ${this.months[date.getUTCMonth()]}`;
    return year ? `${text} ${date.getUTCFullYear()}` : text;
  }

  /** A time with as many decimals as a range of this length needs, and its date if there are several.
   * @param {number} time
   * @param {number} range */
  stamp(time, range = 60) {
    const decimals = range > 120 ? 0 : range > 10 ? 1 : range > 2 ? 2 : 3;
    return this.hasDays ? `${this.date(time)} ${this.text(time, decimals)}` : this.text(time, decimals);
  }

  /** Multiples of a step of local time within a range, as times of the recording.
   * @param {number} start
   * @param {number} end
   * @param {number} step
   * @returns {number[]} */
  multiples(start, end, step) {
    const found = [];
    for (const [n, [from, offset]] of this.offsets.entries()) {
      const low = Math.max(start, n ? from : -Infinity);
      const next = this.offsets[n + 1]?.[0] ?? Infinity; // belongs to the next offset
      const high = Math.min(end, next - step * 1e-3);
      const zero = this.began + offset;
      for (let k = Math.ceil((low + zero) / step - 1e-6); k * step - zero < high + step * 1e-6; k += 1) {
        found.push(k * step - zero);
      }
    }
    return found;
  }

  /** Ticks with labels at least `apart` seconds from each other.
   * @param {number} start
   * @param {number} end
   * @param {number} apart
   * @returns {{ time: number, text: string, isDay: boolean }[]} */
  ticks(start, end, apart) {
    const step = roundStep(apart);
    const decimals = step >= 60 ? -1 : step >= 1 ? 0 : step >= 0.1 ? 1 : 2;
    return this.multiples(start, end, step).map((time) => {
      const isDay = this.hasDays && Math.abs(this.local(time) / DAY - Math.round(this.local(time) / DAY)) < 1e-9;
      return { time, isDay, text: isDay ? this.date(time) : this.text(time, decimals) };
    });
  }

  /** The time that a person means by "6:12", "06:12:30.5" or seconds with a unit ("90 s"), also after a
   * date ("2025-07-23 06:12", "23.7.2025 06:12"). Of several days, the one nearest to `near` counts. Null if it is no time of
   * the recording.
   * @param {string} typed
   * @param {number} near
   * @returns {number | null} */
  parse(typed, near = 0) {
    const text = typed.replace(/^\s*(\d\d?)\.(\d\d?)\.(\d{4})\s/, (_, day, month, year) =>
      `${year}-${padded(month)}-${padded(day)} `);
    const elapsed = /^\s*(\d+(?:[.,]\d+)?)\s*s\s*$/.exec(text);
    if (elapsed) return this.#within(Number(elapsed[1].replace(",", ".")));
    const found = /^\s*(?:(\d{4}-\d\d-\d\d)[ T]+)?(\d{1,3})[:h.](\d{1,2})(?:[:m.](\d{1,2}(?:[.,]\d+)?))?\s*$/.exec(text);
    if (!found) return null;
    const [, date, hours, minutes, rest = "0"] = found;
    const seconds = Number(hours) * 3600 + Number(minutes) * 60 + Number(rest.replace(",", "."));
    if (Number(minutes) > 59 || Number(rest.replace(",", ".")) >= 60) return null;
    if (!this.isKnown) return date ? null : this.#within(seconds);
    if (Number(hours) > 23) return null;
    const first = date ? Date.parse(`${date}T00:00:00Z`) / 1000 : Math.floor(this.local(0) / DAY) * DAY;
    const last = date ? first : this.local(this.seconds);
    const times = [];
    for (let day = first; day <= last; day += DAY) {
      for (const offset of new Set(this.offsets.map(([, one]) => one))) {
        const time = this.#within(day + seconds - this.began - offset);
        if (time !== null && this.offset(time) === offset) times.push(time);
      }
    }
    times.sort((a, b) => Math.abs(a - near) - Math.abs(b - near));
    return times[0] ?? null;
  }

  /** @param {number} time */
  #within(time) {
    return time >= 0 && time <= this.seconds ? time : null;
  }
}

/** @type {Record<Display["frequency"], (hertz: number) => number>} */
const WARPS = {
  linear: (hertz) => hertz,
  mel: (hertz) => Math.log1p(hertz / 700),
  log: (hertz) => Math.log(Math.max(hertz, LOWEST_OF_LOG)),
};

/** The frequency axis, from the lowest frequency (0) to the highest (1). */
export class Frequencies {
  /** @param {Pick<RecordingInfo, "bands" | "fine_bands">} info
   * @param {Display["frequency"]} scale */
  constructor({ bands, fine_bands: fine }, scale) {
    this.warp = WARPS[scale];
    this.scale = scale;
    this.top = Math.min(fine.at(-1) ?? Infinity, 2 * bands[bands.length - 1] - bands[bands.length - 2]);
    this.low = this.warp(0);
    this.high = this.warp(this.top);
  }

  /** The place of a frequency, from 0 to 1.
   * @param {number} hertz */
  place(hertz) {
    return (this.warp(hertz) - this.low) / (this.high - this.low);
  }

  /** For each row from the top, the band below it and how far it is towards the next band, in 1/256.
   * @param {number[]} bands
   * @param {number} height
   * @returns {{ band: Uint16Array, mix: Uint16Array }} */
  rows(bands, height) {
    const places = bands.map((hertz) => this.place(hertz));
    const [band, mix] = [new Uint16Array(height), new Uint16Array(height)];
    let below = places.length - 2;
    for (let y = 0; y < height; y += 1) {
      const place = 1 - (y + 0.5) / height;
      while (below > 0 && places[below] > place) below -= 1;
      const part = (place - places[below]) / (places[below + 1] - places[below]);
      band[y] = below;
      mix[y] = Math.round(256 * Math.min(1, Math.max(0, part)));
    }
    return { band, mix };
  }

  /** Frequencies in hertz that are at least `apart` from each other on the axis.
   * @param {number} apart
   * @returns {number[]} */
  ticks(apart) {
    if (this.scale === "linear") {
      const step = [100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000].find((one) => one / this.top >= apart) ?? 50000;
      return Array.from({ length: Math.floor(this.top / step) + 1 }, (_, n) => n * step);
    }
    const found = [];
    let last = -Infinity;
    for (const hertz of [0, 50, 100, 200, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000]) {
      if (hertz > this.top || (this.scale === "log" && hertz < LOWEST_OF_LOG)) continue;
      if (this.place(hertz) - last < apart) continue;
      found.push(hertz);
      last = this.place(hertz);
    }
    return found;
  }
}
