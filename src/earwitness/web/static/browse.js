// The page of `earwitness browse`: one recording with all controls.

import { byId } from "./dom.js";
import { Frequencies, lengthText } from "./navigator/axis.js";
import { GAIN } from "./navigator/controls.js";
import { PALETTE_NAMES } from "./navigator/draw.js";
import { DISPLAY, Navigator } from "./navigator/navigator.js";

/** @import { Display, RecordingInfo } from "./types.d.ts" */

const place = byId("navigator");
const navigator_ = new Navigator(place, {
  address: place.dataset.address ?? "",
  onEvent: ({ name }) => (name === "viewed" || name === "displayed") && remember(),
});
/** @type {Map<string, string[]>} */
const CHOICES = new Map([["pooling", ["max", "mean"]], ["view", ["levels", "colour"]], ["frequency", ["mel", "log", "linear"]],
  ["palette", PALETTE_NAMES]]);

/** Keep the view, and display settings that were changed, in the address of the page, so that both can be
 * reloaded or shared. */
function remember() {
  const { view: { start, seconds }, display, info } = navigator_;
  const changed = info.display ? [] : Object.entries(display).filter(([name, value]) =>
    String(value) !== String(DISPLAY[/** @type {keyof Display} */ (name)]));
  const isWhole = seconds >= info.seconds && !changed.length;
  const settings = changed.map(([name, value]) => `&${name}=${value}`).join("");
  const hash = `#${start.toFixed(3)}+${seconds.toFixed(3)}${settings}`;
  history.replaceState(null, "", isWhole ? location.pathname : hash);
}

/** Show the view of the address of the page, with its display settings. */
function recall() {
  const found = /^#([\d.]+)\+([\d.]+)((?:&\w+=[\w.,-]+)*)$/.exec(location.hash);
  if (!found) return;
  const [start, seconds] = [Number(found[1]), Number(found[2])];
  if (Number.isFinite(start) && Number.isFinite(seconds)) navigator_.zoomTo(start, seconds);
  const settings = new URLSearchParams(found[3]);
  const gain = Number(settings.get("gain_db"));
  const [low, high] = (settings.get("range_db") ?? "").split(",").map(Number);
  const choices = [...settings].filter(([name, value]) => CHOICES.get(name)?.includes(value));
  if (navigator_.info.display) return;
  navigator_.setDisplay({ ...DISPLAY, ...Object.fromEntries(choices), gain_db: Math.abs(gain) <= GAIN ? gain : 0,
    range_db: low < high && Number.isFinite(high - low) ? [low, high] : null });
}

/** Date, length and format of the recording.
 * @param {RecordingInfo} info */
function factsOf(info) {
  const { seconds, rate, channels, stretches, speech } = info;
  const { text, clock } = navigator_;
  const { top } = new Frequencies(info, "linear");
  const files = new Set(stretches.map(([, , file]) => file)).size;
  return [clock.date(0, true), lengthText(seconds), `${rate / 1000} kHz`,
    rate > 2.2 * top ? text("picture_top", { count: Math.round(top / 1000) }) : "",
    channels === 1 ? text("mono") : text("channels", { count: channels }),
    files > 1 ? text("files", { count: files }) : "",
    speech === "keep" ? "" : text(`speech_${speech}`)].filter(Boolean).join(" · ");
}

async function start() {
  await navigator_.ready;
  const { info } = navigator_;
  if (!info) return;
  byId("facts").textContent = factsOf(info);
  recall();
  addEventListener("hashchange", recall);
  navigator_.stage.view.focus({ preventScroll: true });
}

start();
