// Pages without sounds: what is told, rests, feedback, the end, leaving for good.

import { announce, button, heading, make, paragraphs, show } from "./dom.js";
import { say } from "./messages.js";

/** A page that stands instead of the one that is open, if there is a reason. */
export function instead(state, at) {
  if (state.withdrawn) return show(heading(say("withdrawn")), paragraphs(say("withdrawn_told")));
  if (state.blocked) return show(heading(say("blocked")), paragraphs(say("blocked_told")));
  if (state.done) return end(state.page ?? {}, { state, ...at });
  if (!state.page && state.rest) return rest({ title: say("rest") }, { state, answer: at.again });
  if (!state.page) return end({}, { state, ...at });
  return null;
}

const NOT_OPEN = 409;
export const TOO_LARGE = 413;

/** Why the server will never take an answer. */
export function refusal(status, told) {
  if (status === NOT_OPEN) return say("not_open");
  return status === TOO_LARGE ? say("too_long") : [say("wrong"), ...(told.error?.wrong ?? [])].join(" ");
}

/** Say something on top of the page that is shown. */
export function tellNotice(text) {
  document.querySelector("main h1")?.after(make("p", { class: "notice" }, text));
  announce(text);
}

/** While an answer is on its way; `fault` says why it waits. */
export function held(fault, again) {
  if (!fault) return void show(heading(say("one_moment")), paragraphs(say("sending")));
  const told = say(fault === "unreachable" ? "waiting_told" : `${fault}_told`);
  show(heading(say(fault)), paragraphs(told), button(say("try_now"), again, { main: true }));
  announce(told);
}

/** Where the server does not say which page is open; `fault` says why. */
export function away(fault, again) {
  show(heading(say(fault)), paragraphs(say(`${fault}_told`)), button(say("try_now"), again, { main: true }));
}

/** Where another tab has the test. */
export function elsewhere(take) {
  show(heading(say("elsewhere")), paragraphs(say("elsewhere_told")), button(say("take_over"), take, { main: true }));
}

export function consent(view, { answer }) {
  const [question] = view.questions;
  const [option] = question.options;
  const going = button(say("go_on"), () => answer({ [question.name]: option.value }),
    { main: true, disabled: true });
  const box = make("input", { type: "checkbox", id: "agree", change: () => (going.disabled = !box.checked) });
  show(heading(view.title), make("section", { class: "card" }, paragraphs(view.text),
    make("label", { class: "check" }, box, make("span", {}, question.prompt))), going);
}

export function text(view, { answer }) {
  show(heading(view.title), view.text && make("section", { class: "card" }, paragraphs(view.text)),
    button(say("go_on"), () => answer({}), { main: true }));
}

export function rest(view, { state, answer }) {
  const until = performance.now() + (state.rest?.seconds ?? 0) * 1000;
  const clock = make("p", { class: "clock", role: "timer" });
  const told = make("p", { class: "told center" }, say("rest_told"));
  const going = button(say("go_on"), () => answer({}), { main: true, disabled: true });
  show(heading(view.title), make("section", { class: "card" }, clock, told), going);
  const tick = () => {
    const left = Math.max(0, Math.ceil((until - performance.now()) / 1000));
    clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    if (!clock.isConnected) return clearInterval(timer);
    if (left) return undefined;
    clearInterval(timer);
    going.disabled = false;
    told.textContent = say("rest_over");
    return announce(say("rest_over"));
  };
  const timer = setInterval(tick, 250);
  tick();
}

export function feedback(view, { answer }) {
  const rows = view.rows.map(({ prompt, given, expected }) => make("div", { class: "given" },
    make("dt", {}, prompt),
    make("dd", {}, say("given", { label: given })),
    expected === null || expected === undefined ? null
      : make("dd", { class: given === expected ? "good" : "other" }, say("expected", { label: expected }))));
  show(heading(view.title ?? say("feedback")), make("section", { class: "card" }, make("dl", {}, rows)),
    button(say("go_on"), () => answer({}), { main: true }));
}

export function end(view, { state, again }) {
  const code = state.code
    ? [make("p", { class: "told center" }, say("code")), make("output", { class: "code" }, state.code)]
    : [make("p", { class: "told center" }, say(state.done ? "all_saved" : "not_counted"))];
  show(heading(view.title ?? say("end")), make("section", { class: "card" }, code),
    state.done ? null : button(say("try_now"), again, { main: true }));
}

/** Ask whether somebody really wants to withdraw, then do it. */
export function askToWithdraw(act) {
  const said = make("p", { class: "said bad", role: "alert" });
  const really = button(say("withdraw_yes"), async () => {
    really.disabled = true;
    try {
      await act();
      box.close();
    } catch {
      said.textContent = say("withdraw_failed");
      really.disabled = false;
    }
  }, { class: "danger" });
  const stay = button(say("withdraw_no"), () => box.close(), { class: "main", autofocus: true });
  const box = make("dialog", { "aria-labelledby": "withdraw-title", close: () => box.remove() },
    make("h2", { id: "withdraw-title" }, say("withdraw_title")),
    make("p", {}, say("withdraw_told")), said, make("div", { class: "row" }, stay, really));
  document.body.append(box);
  box.showModal();
  announce(say("withdraw_title"));
}
