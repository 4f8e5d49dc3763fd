// Above the page: how far, how long yet, whether all answers are saved; at first, which study.

import { say } from "./messages.js";

/** Show whether answers wait; `fault` if sending has failed, `refused` if the last one was. */
export function showSaving(count, fault, refused) {
  const told = count ? (fault ? "waiting" : "sending") : refused ? "not_saved" : "saved";
  const place = document.getElementById("saving");
  place.dataset.state = told;
  const text = say(told, { count });
  if (place.textContent !== text) place.textContent = text;
}

/** Show how far the listener is, and on the first page in what study. */
export function showProgress({ progress: [done, all] = [0, 0], minutes, page, answered, withdrawn, blocked, done: over }) {
  const bar = document.querySelector("progress");
  bar.max = Math.max(1, all);
  bar.value = done;
  const left = minutes > 0 && !over ? say("minutes", { minutes: Math.ceil(minutes) }) : "";
  const [number, count] = page?.progress ?? [];
  const where = count ? say("trial", { number, count }) : "";
  document.getElementById("where").textContent = [where, left].filter(Boolean).join(" · ");
  document.getElementById("study").hidden = answered > 0;
  const shut = Boolean(withdrawn || blocked);
  document.getElementById("withdraw").hidden = shut;
  document.querySelector("header").hidden = shut;
}
