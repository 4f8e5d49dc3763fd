// Captions that were judged already, before the first rating: what is asked, then how it was
// answered. Space scrolls here, so nobody leaves this page by scrolling.

import { button, heading, make, paragraphs, show } from "./dom.js";
import { say } from "./messages.js";
import { withMinus } from "./number_input.js";
import { Player } from "./player.js";
import { meanings } from "./rubric_help.js";

export function showExamples(view, at) {
  const hush = (but) => players.forEach((one) => one !== but && one.pause());
  const players = (view.sounds ?? []).map(({ address }, n) =>
    new Player(at, address, { hears: { started: () => hush(players[n]) } }));
  const go = () => (hush(), at.answer({}));
  show(heading(view.title), paragraphs(view.text),
    make("section", { class: "card" }, make("h2", {}, view.rubric), meanings(view.dimensions), total(view)),
    view.examples.map((one, n) => example(one, n, players)),
    button(say("go_on"), go, { class: "main", "data-press": "Enter" }));
}

/** How the total is made, with the names that people see. */
function total({ formula, dimensions }) {
  const names = new Map(dimensions.map((one) => [one.name, one.title]));
  const text = formula.replace(/[\p{L}_][\p{L}\p{N}_]*/gu, (name) => names.get(name) ?? name).replaceAll("-", "−");
  return make("p", { class: "formula" }, `${say("total")} = ${text}`);
}

function example(one, n, players) {
  const number = (title, shown, kind = "") => make("div", { class: kind }, make("dt", {}, title), make("dd", {}, withMinus(shown)));
  return make("section", { class: "card example" }, make("h2", {}, say("example", { number: n + 1 })),
    one.heard && make("p", { class: "soft" }, say("heard_there", { text: one.heard })),
    one.sound === undefined ? null : players[one.sound].element,
    make("blockquote", { class: "caption" }, one.caption),
    make("dl", { class: "numbers" }, one.values.map(({ title, shown }) => number(title, shown)),
      number(say("total"), one.total, "sum")),
    paragraphs(one.comment));
}
