// Forms: choices, numbers and texts. What is typed is kept over a reload.

import { announce, button, heading, make, paragraphs, show, wholeText } from "./dom.js";
import { say } from "./messages.js";
import { read } from "./number_input.js";

const MOST = 10000; // characters of a text
const LARGEST = 200000; // bytes of all answers

/** Show a form; sends only what is answered. */
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
  show(heading(view.title), paragraphs(view.text), form);
}

const size = (values) => new TextEncoder().encode(JSON.stringify(values)).length;

function field(question, n, values, keep) {
  const id = `field-${n}`;
  const wrong = make("p", { class: "said bad", id: `${id}-wrong` });
  const set = (value) => {
    if (value === "" || value === null) delete values[question.name];
    else values[question.name] = value;
    wrong.textContent = "";
    keep();
  };
  const drawn = question.answer === "choice" ? choice : typed;
  const { element, focus, problem } = drawn(question, id, values[question.name], set, wrong);
  const check = () => {
    const missing = question.needed && !(question.name in values);
    wrong.textContent = problem() || (missing ? say("needed") : "");
    return wrong.textContent;
  };
  return { element, focus, check };
}

const prompt = (question) =>
  question.needed ? question.prompt : `${question.prompt} (${say("optional")})`;

function choice(question, id, value, set, wrong) {
  const inputs = question.options.map((option) => {
    const input = make("input", { type: "radio", name: id, "aria-describedby": wrong.id,
      change: () => set(option.value) });
    input.checked = option.value === value;
    return [input, make("label", {}, input, make("span", {}, option.label))];
  });
  const element = make("fieldset", {}, make("legend", {}, prompt(question)),
    make("div", { class: "choices free" }, inputs.map(([, label]) => label)), wrong);
  return { element, focus: () => inputs[0][0].focus(), problem: () => "" };
}

function typed(question, id, value, set, wrong) {
  const number = question.answer === "number";
  const more = { id, "aria-describedby": wrong.id, autocomplete: "off", "aria-required": String(Boolean(question.needed)) };
  const input = number ? make("input", { type: "text", inputmode: "decimal", ...more })
    : make("textarea", { rows: "2", maxlength: String(MOST), ...more });
  if (value !== undefined) input.value = value;
  const odd = () => number && input.value.trim() !== "" && Number.isNaN(read(input.value));
  input.addEventListener("input", () => {
    const text = input.value.trim();
    set(!text || odd() ? "" : number ? read(text) : wholeText(input.value));
  });
  const element = make("div", {}, make("label", { for: id, class: "name" }, prompt(question)), input, wrong);
  return { element, focus: () => input.focus(), problem: () => (odd() ? say("number") : "") };
}
