// Header: progress, remaining time, whether all answers are saved, and on the first page the title.

import { byId, find } from "./dom.js";
import { say } from "./messages.js";

/** @import { Fault, State } from "./types.d.ts" */

/** Show whether answers are waiting; `fault` if sending failed, `refused` if the last was refused.
 * @param {number} count
 * @param {Fault} fault
 * @param {string} refused */
export function showSaving(count, fault, refused) {
  const told = count ? (fault ? "waiting" : "sending") : refused ? "not_saved" : "saved";
  const place = byId("saving");
  place.dataset.state = told;
  const text = say(told, { count });
  if (place.textContent !== text) place.textContent = text;
}

/** Show the progress and, on the first page, the title of the study.
 * @param {State} state */
export function showProgress(state) {
  const { progress: [done, all] = [0, 0], minutes = 0, page, answered = 0, withdrawn, blocked, done: over } = state;
  const bar = find("progress");
  bar.max = Math.max(1, all);
  bar.value = done;
  const left = minutes > 0 && !over ? say("minutes", { minutes: Math.ceil(minutes) }) : "";
  const [number, count] = page?.progress ?? [0, 0];
  const where = count ? say("trial", { number, count }) : "";
  byId("where").textContent = [where, left].filter(Boolean).join(" · ");
  byId("study").hidden = answered > 0;
  const shut = Boolean(withdrawn || blocked);
  byId("withdraw").hidden = shut;
  find("header").hidden = shut;
}
