// The long recording of a trial, below it: it stays while the questions of the page change. Either a
// sound of the trial or the recording is heard, not both.

import { find, make } from "./dom.js";
import { say, wordsOf } from "./messages.js";
import { Navigator } from "./navigator/navigator.js";
import { interrupt } from "./sound.js";

/** @import { NavigatorEvent, PageContext, RecordingHooks, RecordingView } from "./types.d.ts" */

/** Times are logged in milliseconds.
 * @param {number} seconds */
const rounded = (seconds) => Math.round(seconds * 1000) / 1000;

/** Show the recording of a page until the page is left. Returns its component and section, and a
 * function that stops its sound and disables it, for the time in which an answer is being sent. The
 * trial may set the hooks.
 * @param {RecordingView} recording
 * @param {Pick<PageContext, "sounds" | "events" | "left">} at */
export function showRecording({ address, display }, { sounds, events, left }) {
  const place = make("div");
  const section = make("section", { class: "recording card", "aria-labelledby": "recording-title",
    keydown: (event) => event.stopPropagation() }, // keys of the trial do not work here
  make("h2", { id: "recording-title" }, say("recording")), make("p", { class: "told" }, say("recording_told")), place);
  find("main").after(section);
  /** @type {RecordingHooks} */
  const hooks = {};
  /** @param {NavigatorEvent} event */
  const onEvent = ({ name, start, ...more }) => {
    if (name === "started") return interrupt();
    if (name === "played") hooks.played?.(rounded(start), more.seconds);
    return events.tell(`recording_${name}`, { start: rounded(start), seconds: rounded(more.seconds) });
  };
  const audio = { context: sounds.context, output: sounds.output };
  const navigator = new Navigator(place, { address, display, controls: false, wording: wordsOf("recording_"), onEvent, audio,
    clickSeconds: () => hooks.clickSeconds?.() });
  sounds.onwake = () => navigator.stop();
  left.addEventListener("abort", () => {
    sounds.onwake = () => {};
    navigator.destroy();
    section.remove();
  });
  const stop = () => {
    navigator.stop();
    section.inert = true;
  };
  return { navigator, section, hooks, stop };
}
