// Examples of rated captions, before the first trial: the dimensions, then the example ratings.
// Space scrolls here instead of pressing Continue.

import { button, heading, make, paragraphs, show } from "./dom.js";
import { say } from "./messages.js";
import { withMinus } from "./number_input.js";
import { Player } from "./player.js";
import { meanings } from "./rubric_help.js";

/** @import { ExamplesView, PageContext, WorkedExample } from "./types.d.ts" */

/** @param {ExamplesView} view
 * @param {PageContext} at */
export function showExamples(view, at) {
  /** @param {Player} [but] */
  const hush = (but) => players.forEach((one) => one !== but && one.pause());
  const players = (view.sounds ?? []).map(({ address }, n) =>
    new Player(at, address, { hears: { started: () => hush(players[n]) } }));
  const go = () => (hush(), at.answer({}));
  show(heading(view.title), paragraphs(view.text),
    make("section", { class: "card" }, make("h2", {}, view.rubric), meanings(view.dimensions), total(view)),
    view.examples.map((one, n) => example(one, n, players)),
    button(say("go_on"), go, { class: "main", "data-press": "Enter" }));
}

/** The formula of the total, with the titles of the dimensions.
 * @param {ExamplesView} view */
function total({ formula, dimensions }) {
  const names = new Map(dimensions.map((one) => [one.name, one.title]));
  const text = formula.replace(/[\p{L}_][\p{L}\p{N}_]*/gu, (name) => names.get(name) ?? name).replaceAll("-", "−");
  return make("p", { class: "formula" }, `${say("total")} = ${text}`);
}

/** @param {WorkedExample} one
 * @param {number} n
 * @param {Player[]} players */
function example(one, n, players) {
  /** @type {(title: string, shown: string, kind?: string) => HTMLElement} */
  const number = (title, shown, kind = "") =>
    make("div", { class: kind }, make("dt", {}, title), make("dd", {}, withMinus(shown)));
  return make("section", { class: "card example" }, make("h2", {}, say("example", { number: n + 1 })),
    one.heard && make("p", { class: "soft" }, say("heard_there", { text: one.heard })),
    one.sound === undefined ? null : players[one.sound].element,
    make("blockquote", { class: "caption" }, one.caption),
    make("dl", { class: "numbers" }, one.values.map(({ title, shown }) => number(title, shown)),
      number(say("total"), one.total, "sum")),
    paragraphs(one.comment));
}
