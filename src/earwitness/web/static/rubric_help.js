// What numbers of a rubric mean: in place, in a dialog over a trial, and before the first one.

import { button, make } from "./dom.js";
import { say } from "./messages.js";
import { shown, withMinus } from "./number_input.js";

/** @import { Dimension, RubricView } from "./types.d.ts" */

/** What a dimension asks, and what some of its numbers stand for.
 * @param {Pick<Dimension, "help" | "anchors">} dimension */
export function meaning({ help, anchors }) {
  const rows = anchors.map((one) => make("div", {}, make("dt", {}, withMinus(one.shown)), make("dd", {}, one.text)));
  return [help && make("p", {}, help), rows.length ? make("dl", { class: "anchors" }, rows) : null].filter(Boolean);
}

/** Which way numbers of a role run: for both, right is better.
 * @param {string} role */
export const direction = (role) => say(role === "penalty" ? "penalties_told" : "scores_told");

/** Dimensions in order, those of one role that follow each other together.
 * @template {{ role: string }} Item
 * @param {Item[]} dimensions */
export function grouped(dimensions) {
  /** @type {Item[][]} */
  const groups = [];
  for (const one of dimensions) {
    const last = groups.at(-1);
    if (last?.[0].role === one.role) last.push(one);
    else groups.push([one]);
  }
  return groups;
}

/** All dimensions, one after the other.
 * @param {Dimension[]} dimensions */
export function meanings(dimensions) {
  return grouped(dimensions).map((group) => make("section", { class: "meanings" },
    make("p", { class: "direction" }, direction(group[0].role)),
    group.map((one) => make("section", {}, make("h3", {}, one.title, " ",
      make("span", { class: "range" }, say("from_to", { low: shown(one.low), high: shown(one.high) }))),
    meaning(one)))));
}

/** Show all that over the page, which stays as it is.
 * @param {RubricView} view
 * @param {AbortSignal} left */
export function explainAll(view, left) {
  const close = () => box.close();
  /** @type {HTMLDialogElement} */
  const box = make("dialog", { class: "wide", "aria-labelledby": "meaning-title", close: () => box.remove() },
    make("h2", { id: "meaning-title", tabindex: "-1", autofocus: true }, view.rubric || say("meaning")), meanings(view.dimensions),
    make("div", { class: "row" }, button(say("close"), close, { class: "main" })));
  left.addEventListener("abort", close);
  document.body.append(box);
  box.showModal();
}
