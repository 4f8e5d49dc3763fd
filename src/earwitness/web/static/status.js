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

/** Show the progress in pages, from the first page on, and, on the first page, the title of the study.
 * @param {State} state */
export function showProgress(state) {
  const { progress: [done, all] = [0, 0], minutes = 0, answered = 0, withdrawn, blocked, ineligible, shut: full, done: over } = state;
  const bar = find("progress");
  bar.max = Math.max(1, all);
  bar.value = done;
  const left = minutes > 0 && !over ? say("minutes", { minutes: Math.ceil(minutes) }) : "";
  const where = all && !over ? say("page_of", { number: Math.min(done + 1, all), count: all }) : "";
  byId("where").textContent = [where, left].filter(Boolean).join(" · ");
  byId("study").hidden = answered > 0;
  const shut = Boolean(withdrawn || blocked || ineligible || full);
  byId("withdraw").hidden = Boolean(withdrawn || ineligible || (full && full !== "lapsed")); // else answers are stored
  find("header").hidden = shut || Boolean(state.ineligible);
}
