// The page of `earwitness browse`: one recording with all controls.

import { byId } from "./dom.js";
import { lengthText } from "./navigator/axis.js";
import { Navigator } from "./navigator/navigator.js";

/** @import { RecordingInfo } from "./types.d.ts" */

const place = byId("navigator");
const navigator_ = new Navigator(place, {
  address: place.dataset.address ?? "",
  onEvent: ({ name }) => name === "viewed" && remember(),
});

/** Keep the view in the address of the page, so that it can be reloaded or shared. */
function remember() {
  const { start, seconds } = navigator_.view;
  const isWhole = seconds >= navigator_.info.seconds;
  history.replaceState(null, "", isWhole ? location.pathname : `#${start.toFixed(3)}+${seconds.toFixed(3)}`);
}

/** Show the view of the address of the page. */
function recall() {
  const found = /^#([\d.]+)\+([\d.]+)$/.exec(location.hash);
  if (found) navigator_.zoomTo(Number(found[1]), Number(found[2]));
}

/** Date, length and format of the recording.
 * @param {RecordingInfo} info */
function factsOf({ seconds, rate, channels, stretches, speech }) {
  const { text, clock } = navigator_;
  const files = new Set(stretches.map(([, , file]) => file)).size;
  return [clock.date(0, true), lengthText(seconds), `${rate / 1000} kHz`,
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
