// Forms: choices, numbers and texts. Input is kept over a reload.

import { announce, button, heading, make, paragraphs, show, wholeText } from "./dom.js";
import { say } from "./messages.js";
import { read } from "./number_input.js";
import { definitions } from "./pages.js";

/** @typedef {{ element: HTMLElement, focus: () => void, problem: () => string }} Field */
/** @typedef {(value: string | number | boolean) => void} Setter */
/** @import { ChoiceQuestion, FormView, PageContext, TypedQuestion, Values } from "./types.d.ts" */

const MOST = 10000; // characters of a text
const LARGEST = 200000; // bytes of all answers

/** Show a form; only answered questions are sent.
 * @param {FormView} view
 * @param {PageContext} at */
export async function showForm(view, { answer, draft, left }) {
  const values = (await draft.read()) ?? {};
  if (left.aborted) return;
  const keep = () => draft.type(values);
  const fields = view.questions.map((question, n) => field(question, n, values, keep));
  const long = make("p", { class: "said bad", role: "alert" });
  const send = () => {
    const wrong = fields.filter((one) => one.check());
    long.textContent = !wrong.length && size(values) > LARGEST ? say("too_long") : "";
    if (!wrong.length) return long.textContent || answer(values);
    wrong[0].focus();
    return announce(wrong[0].check());
  };
  const form = make("form", { novalidate: true, submit: (event) => (event.preventDefault(), send()) },
    make("section", { class: "card fields" }, fields.map((one) => one.element)), long,
    button(say("go_on"), send, { main: true }));
  show(heading(view.title), paragraphs(view.text), view.definitions ? definitions(view.definitions) : null, form);
}

/** @param {Values} values */
const size = (values) => new TextEncoder().encode(JSON.stringify(values)).length;

/** @param {ChoiceQuestion | TypedQuestion} question
 * @param {number} n
 * @param {Values} values
 * @param {() => void} keep */
function field(question, n, values, keep) {
  const id = `field-${n}`;
  const wrong = make("p", { class: "said bad", id: `${id}-wrong` });
  /** @type {Setter} */
  const set = (now) => {
    if (now === "") delete values[question.name];
    else values[question.name] = now;
    wrong.textContent = "";
    mark();
    keep();
  };
  const value = values[question.name];
  const { element, focus, problem } = question.answer === "choice" ? choice(question, id, value, set, wrong)
    : typed(question, id, value, set, wrong);
  const mark = () => {
    const control = element.querySelector(`#${id}`);
    if (wrong.textContent) control?.setAttribute("aria-invalid", "true");
    else control?.removeAttribute("aria-invalid");
  };
  const check = () => {
    const missing = question.needed && !(question.name in values);
    wrong.textContent = problem() || (missing ? say("needed") : "");
    mark();
    return wrong.textContent;
  };
  return { element, focus, check };
}

/** @param {ChoiceQuestion | TypedQuestion} question */
const prompt = (question) =>
  question.needed ? question.prompt : `${question.prompt} (${say("optional")})`;

/** @param {ChoiceQuestion} question
 * @param {string} id
 * @param {unknown} value
 * @param {Setter} set
 * @param {HTMLElement} wrong
 * @returns {Field} */
function choice(question, id, value, set, wrong) {
  const inputs = question.options.map((option) => {
    const input = make("input", { type: "radio", name: id, "aria-describedby": wrong.id,
      change: () => set(option.value) });
    input.checked = option.value === value;
    return { input, label: make("label", {}, input, make("span", {}, option.label)) };
  });
  const element = make("fieldset", {}, make("legend", {}, prompt(question)),
    make("div", { class: "choices free" }, inputs.map(({ label }) => label)), wrong);
  return { element, focus: () => inputs[0].input.focus(), problem: () => "" };
}

/** @param {TypedQuestion} question
 * @param {string} id
 * @param {unknown} value
 * @param {Setter} set
 * @param {HTMLElement} wrong
 * @returns {Field} */
function typed(question, id, value, set, wrong) {
  const number = question.answer === "number";
  const more = { id, "aria-describedby": wrong.id, autocomplete: "off", "aria-required": String(Boolean(question.needed)) };
  const input = number ? make("input", { type: "text", inputmode: "decimal", ...more })
    : make("textarea", { rows: "2", maxlength: String(MOST), ...more });
  if (value !== undefined) input.value = String(value);
  const odd = () => number && input.value.trim() !== "" && Number.isNaN(read(input.value));
  input.addEventListener("input", () => {
    const text = input.value.trim();
    set(!text || odd() ? "" : number ? read(text) : wholeText(input.value));
  });
  const element = make("div", {}, make("label", { for: id, class: "name" }, prompt(question)), input, wrong);
  return { element, focus: () => input.focus(), problem: () => (odd() ? say("number") : "") };
}
