// Pages without sounds: texts, rests, feedback, the end page and withdrawal.

import { announce, button, heading, make, paragraphs, show } from "./dom.js";
import { say } from "./messages.js";

/** @import { ConsentView, FeedbackView, PageContext, State, View } from "./types.d.ts" */

/** Show another page instead of the open one if needed; returns whether that was done.
 * @param {State} state
 * @param {Pick<PageContext, "again">} at */
export function instead(state, at) {
  if (state.withdrawn) show(heading(say("withdrawn")), paragraphs(say("withdrawn_told")));
  else if (state.ineligible) ineligible(state.ineligible);
  else if (state.blocked) show(heading(say("blocked")), paragraphs(say("blocked_told")));
  else if (state.shut) show(heading(say(state.shut)), paragraphs(say(`${state.shut}_told`, { minutes: state.minutes ?? 0 })));
  else if (state.done) end(state.page ?? {}, { state, ...at });
  else if (!state.page && state.rest) rest({ title: say("rest") }, { state, answer: at.again });
  else if (!state.page) end({}, { state, ...at });
  else return false;
  return true;
}

const NOT_OPEN = 409;
export const TOO_LARGE = 413;

/** Message for an answer that the server has refused.
 * @param {number} status
 * @param {any} told */
export function refusal(status, told) {
  if (status === NOT_OPEN) return say("not_open");
  if (told.error?.code === "again") return told.error.wrong.join(" ");
  return status === TOO_LARGE ? say("too_long") : [say("wrong"), ...(told.error?.wrong ?? [])].join(" ");
}

/** Show a message at the top of the page.
 * @param {string} text */
export function tellNotice(text) {
  document.querySelector("main h1")?.after(make("p", { class: "notice" }, text));
  announce(text);
}

/** Show that an answer is being sent; `fault` is the reason for waiting.
 * @param {string} fault
 * @param {() => unknown} again */
export function held(fault, again) {
  if (!fault) return void show(heading(say("one_moment")), paragraphs(say("sending")));
  const told = say(fault === "unreachable" ? "waiting_told" : `${fault}_told`);
  show(heading(say(fault)), paragraphs(told), button(say("try_now"), again, { main: true }));
  announce(told);
}

/** Show that the state could not be requested; `fault` is the reason.
 * @param {string} fault
 * @param {() => unknown} again */
export function away(fault, again) {
  show(heading(say(fault)), paragraphs(say(`${fault}_told`)), button(say("try_now"), again, { main: true }));
}

/** Show that the test is open in another tab.
 * @param {() => unknown} take */
export function elsewhere(take) {
  show(heading(say("elsewhere")), paragraphs(say("elsewhere_told")), button(say("take_over"), take, { main: true }));
}

/** @param {ConsentView} view
 * @param {PageContext} at */
export function consent(view, { answer }) {
  const [question] = view.questions;
  const [option] = question.options;
  const going = button(say("go_on"), () => answer({ [question.name]: option.value }),
    { main: true, disabled: true });
  /** @type {HTMLInputElement} */
  const box = make("input", { type: "checkbox", id: "agree", change: () => (going.disabled = !box.checked) });
  show(heading(view.title), make("section", { class: "card" }, paragraphs(view.text),
    make("label", { class: "check" }, box, make("span", {}, question.prompt))), going);
}

/** @param {View} view
 * @param {PageContext} at */
export function text(view, { answer }) {
  show(heading(view.title), view.text && make("section", { class: "card" }, paragraphs(view.text)),
    button(say("go_on"), () => answer({}), { main: true }));
}

/** What TC and SD mean, to be read again.
 * @param {string} told */
export function definitions(told) {
  return make("details", { class: "definitions" }, make("summary", {}, say("plane_definitions")), paragraphs(told));
}

/** @param {{ title: string }} view
 * @param {Pick<PageContext, "state" | "answer">} at */
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

/** @param {FeedbackView} view
 * @param {PageContext} at */
export function feedback(view, { answer }) {
  const rows = view.rows.map(({ prompt, given, expected }) => make("div", { class: "given" },
    make("dt", {}, prompt),
    make("dd", {}, say("given", { label: given })),
    expected === null || expected === undefined ? null
      : make("dd", { class: given === expected ? "good" : "other" }, say("expected", { label: expected }))));
  show(heading(view.title ?? say("feedback")), make("section", { class: "card" }, make("dl", {}, rows)),
    button(say("go_on"), () => answer({}), { main: true }));
}

/** @param {{ title?: string }} view
 * @param {Pick<PageContext, "state" | "again">} at */
export function end(view, { state, again }) {
  const results = ownResults(state.results ?? []);
  const close = state.done ? make("p", { class: "told" }, say("close_told")) : null;
  const told = state.done
    ? [make("p", { class: "told saved" }, say("all_saved")), state.code ? completion(state.code, Boolean(state.service)) : null]
    : [make("p", { class: "told" }, say("not_counted"))];
  show(heading(view.title ?? say("end")), make("section", { class: "card end" }, told, results ? null : close), results,
    results && close, state.done ? null : button(say("try_now"), again, { main: true }));
}

/** The completion code, with what to do with it: listeners with the id of a service paste it there.
 * @param {string} code
 * @param {boolean} service */
function completion(code, service) {
  const shown = make("output", { class: "code", "aria-label": say("code") }, code);
  const copied = make("p", { class: "said", role: "status" });
  const act = async () => void (copied.textContent = (await copy(shown)) ? say("code_copied") : "");
  return make("div", { class: "completion" }, make("p", { class: "told" }, say("code")), shown,
    button(say("code_copy"), act, { main: true }), copied, make("p", { class: "told" }, say(service ? "code_told" : "code_unasked")));
}

/** Copy the text of an element, which stays selected; returns whether that was possible. Pages without
 * HTTPS have no clipboard interface.
 * @param {HTMLElement} element */
async function copy(element) {
  getSelection()?.selectAllChildren(element);
  try {
    await navigator.clipboard.writeText(element.textContent ?? "");
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

/** The last page of people who may not take part.
 * @param {NonNullable<State["ineligible"]>} told */
function ineligible({ title, text: reason, code }) {
  show(heading(title), make("section", { class: "card" }, paragraphs(reason),
    code && [make("p", { class: "told center" }, say("ineligible_code")), make("output", { class: "code" }, code)]));
}

/** A card that shows how often the listener chose each answer, as bars per scale.
 * @param {NonNullable<State["results"]>} scales */
function ownResults(scales) {
  const charts = scales.map(({ title, rows }, n) => {
    const most = Math.max(1, ...rows.map(({ count }) => count));
    return [make("p", { class: "name", id: `scale-${n}` }, title),
      make("ul", { "aria-labelledby": `scale-${n}` }, rows.map(({ label, count }) =>
        make("li", { "aria-label": say("results_count", { label, count }) }, make("span", {}, label),
          make("meter", { min: "0", max: String(most), value: String(count), "aria-hidden": "true" }),
          make("span", {}, String(count)))))];
  });
  return charts.length ? make("section", { class: "card own" }, make("h2", {}, say("results")),
    make("p", { class: "told" }, say("results_told")), charts.flat()) : null;
}

/** Ask for confirmation, then withdraw.
 * @param {() => Promise<void>} act */
export function askToWithdraw(act) {
  const said = make("p", { class: "said bad", role: "alert" });
  const really = button(say("withdraw_yes"), async () => {
    really.disabled = true;
    try {
      await act();
      box.close(); // which returns the focus to a button that is gone
      /** @type {HTMLElement | null} */ (document.querySelector("main h1"))?.focus();
    } catch {
      said.textContent = say("withdraw_failed");
      really.disabled = false;
    }
  }, { class: "danger" });
  const stay = button(say("withdraw_no"), () => box.close(), { class: "main", autofocus: true });
  /** @type {HTMLDialogElement} */
  const box = make("dialog", { "aria-labelledby": "withdraw-title", close: () => box.remove() },
    make("h2", { id: "withdraw-title" }, say("withdraw_title")),
    make("p", {}, say("withdraw_told")), said, make("div", { class: "row" }, stay, really));
  document.body.append(box);
  box.showModal();
  announce(say("withdraw_title"));
}
