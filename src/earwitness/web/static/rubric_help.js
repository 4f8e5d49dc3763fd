// Explanations of the numbers of a rubric: inline, in a dialog, and on the examples page.

import { button, make } from "./dom.js";
import { say } from "./messages.js";
import { shown, withMinus } from "./number_input.js";

/** @import { Dimension, RubricView } from "./types.d.ts" */

/** The help text of a dimension and the meaning of its anchors.
 * @param {Pick<Dimension, "help" | "anchors">} dimension */
export function meaning({ help, anchors }) {
  const rows = anchors.map((one) => make("div", {}, make("dt", {}, withMinus(one.shown)), make("dd", {}, one.text)));
  return [help && make("p", {}, help), rows.length ? make("dl", { class: "anchors" }, rows) : null].filter(Boolean);
}

/** Text about the direction of scores or penalties; right is better unless low scores are good.
 * @param {string} role */
export const direction = (role) =>
  say(role === "penalty" ? "penalties_told" : role === "low" ? "low_scores_told" : "scores_told");

/** Group consecutive dimensions of the same role.
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

/** Explanations of all dimensions.
 * @param {Dimension[]} dimensions */
export function meanings(dimensions) {
  return grouped(dimensions).map((group) => make("section", { class: "meanings" },
    make("p", { class: "direction" }, direction(group[0].role)),
    group.map((one) => make("section", {}, make("h3", {}, one.title, " ",
      make("span", { class: "range" }, say("from_to", { low: shown(one.low), high: shown(one.high) }))),
    meaning(one)))));
}

/** Show the explanations in a dialog over the page.
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
