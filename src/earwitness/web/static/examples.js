// Captions that were judged already, before the first rating: what is asked, then how it was
// answered. Space scrolls here, so nobody leaves this page by scrolling.

import { button, heading, make, paragraphs, show } from "./dom.js";
import { meanings } from "./meaning.js";
import { withMinus } from "./numbers.js";
import { Player } from "./player.js";
import { say } from "./words.js";

export function showExamples(view, at) {
  const players = (view.sounds ?? []).map(({ address }, n) => new Player(at, address, { hears: {
    began: () => players.forEach((one, other) => other !== n && one.pause()) } }));
  show(heading(view.title), paragraphs(view.text),
    make("section", { class: "card" }, make("h2", {}, view.rubric), meanings(view.dimensions), total(view)),
    view.examples.map((one, n) => example(one, n, players)),
    button(say("go_on"), () => answer(), { class: "main", "data-press": "Enter" }));
  const answer = () => (players.forEach((one) => one.pause()), at.answer({}));
}

/** How the total is made, with the names that people see. */
function total({ formula, dimensions }) {
  const names = new Map(dimensions.map((one) => [one.name, one.title]));
  const text = formula.replace(/[^\W\d]\w*/gu, (name) => names.get(name) ?? name).replaceAll("-", "−");
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
