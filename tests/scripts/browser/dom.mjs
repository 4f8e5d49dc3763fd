// Elements of a page without layout: attributes, children, events that bubble, and the selectors that
// the scripts of the package use.

const BOOLEANS = ["hidden", "disabled", "open", "inert", "autofocus"];
const TEXTS = { id: "id", className: "class", type: "type", name: "name", min: "min", max: "max", step: "step",
  title: "title", role: "role" };
const FOCUSABLE = "button, input, textarea, select, summary, a, [tabindex]";

export class Happening {
  constructor(type, { bubbles = false, cancelable = false, ...more } = {}) {
    Object.assign(this, { type, bubbles, cancelable, defaultPrevented: false, target: null, isStopped: false }, more);
  }

  preventDefault() {
    this.defaultPrevented = true;
  }

  stopPropagation() {
    this.isStopped = true;
  }

  getModifierState(name) {
    return Boolean(this[`modifier${name}`]);
  }
}

export class Target {
  listeners = [];

  addEventListener(type, act, { signal, capture = false, once = false } = {}) {
    if (signal?.aborted) return;
    this.listeners.push({ type, act, capture, once });
    signal?.addEventListener("abort", () => this.removeEventListener(type, act));
  }

  removeEventListener(type, act) {
    this.listeners = this.listeners.filter((one) => one.type !== type || one.act !== act);
  }

  hear(event, capture) {
    for (const one of [...this.listeners]) {
      if (one.type !== event.type || one.capture !== capture || !this.listeners.includes(one)) continue;
      if (one.once) this.removeEventListener(one.type, one.act);
      event.currentTarget = this;
      one.act.call(this, event);
    }
  }

  get above() {
    return null;
  }

  dispatchEvent(event) {
    const path = [];
    for (let one = this.above; one; one = one.above) path.push(one);
    event.target = this;
    for (const one of path.toReversed?.() ?? [...path].reverse()) one.hear(event, true);
    this.hear(event, true);
    for (const one of [this, ...(event.bubbles ? path : [])]) {
      if (!event.isStopped || one === this) one.hear(event, false);
      this[`on${event.type}`]?.call(this, event);
      if (event.isStopped) break;
    }
    return !event.defaultPrevented;
  }
}

const camel = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
const dashed = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Split at a character outside of brackets and quotes. */
function split(text, pattern) {
  const [parts, stack] = [[""], []];
  for (const sign of text) {
    if ("([".includes(sign)) stack.push(sign);
    if (")]".includes(sign)) stack.pop();
    if (!stack.length && pattern.test(sign)) parts.push("");
    else parts[parts.length - 1] += sign;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

const SIMPLE = /\*|[\w-]+|#[\w-]+|\.[\w-]+|\[([\w-]+)(?:=("[^"]*"|[^\]]*))?\]|:([\w-]+)(?:\(((?:[^()]|\([^()]*\))*)\))?/gy;

function fitsCompound(element, compound) {
  return [...compound.matchAll(SIMPLE)].every(([part, attribute, value, state, inner]) => {
    if (part === "*") return true;
    if (part[0] === "#") return element.id === part.slice(1);
    if (part[0] === ".") return element.classList.contains(part.slice(1));
    if (attribute) {
      if (value === undefined) return element.hasAttribute(attribute);
      return element.getAttribute(attribute) === value.replace(/^"|"$/g, "");
    }
    if (state === "not") return !element.matches(inner);
    if (state === "has") return element.querySelector(inner) !== null;
    if (state === "disabled") return element.disabled;
    if (state === "enabled") return !element.disabled;
    if (state === "checked") return Boolean(element.checked);
    if (state === "empty") return element.childNodes.length === 0 || element.textContent === "";
    return element.localName === part.toLowerCase();
  });
}

function fitsChain(element, parts) {
  const last = parts.at(-1);
  if (!fitsCompound(element, last)) return false;
  const rest = parts.slice(0, -1);
  if (!rest.length) return true;
  if (rest.at(-1) === ">") return Boolean(element.parentElement) && fitsChain(element.parentElement, rest.slice(0, -1));
  for (let one = element.parentElement; one; one = one.parentElement) if (fitsChain(one, rest)) return true;
  return false;
}

class Text {
  parentElement = null;
  constructor(data) {
    this.data = data;
  }

  get textContent() {
    return this.data;
  }

  remove() {
    this.parentElement?.detach(this);
  }
}

class ClassList {
  constructor(element) {
    this.element = element;
  }

  get names() {
    return (this.element.getAttribute("class") ?? "").split(/\s+/).filter(Boolean);
  }

  contains(name) {
    return this.names.includes(name);
  }

  toggle(name, now = !this.contains(name)) {
    const rest = this.names.filter((one) => one !== name);
    this.element.setAttribute("class", [...rest, ...(now ? [name] : [])].join(" "));
    return now;
  }

  add(...names) {
    for (const name of names) this.toggle(name, true);
  }

  remove(...names) {
    for (const name of names) this.toggle(name, false);
  }
}

const makeStyle = () => {
  const values = {};
  return Object.assign(values, { setProperty: (name, value) => (values[name] = value),
    getPropertyValue: (name) => values[name] ?? "" });
};

export class Element extends Target {
  childNodes = [];
  parentElement = null;
  attributes = new Map();
  style = makeStyle();
  classList = new ClassList(this);
  box = { left: 0, top: 0, right: 100, bottom: 20, width: 100, height: 20 };
  offsetLeft = 0;
  offsetTop = 0;
  offsetWidth = 10;
  clientWidth = 100;
  clientHeight = 20;
  dataset = new Proxy({}, {
    get: (_, name) => this.getAttribute(`data-${dashed(String(name))}`) ?? undefined,
    set: (_, name, value) => (this.setAttribute(`data-${dashed(name)}`, value), true),
    has: (_, name) => this.hasAttribute(`data-${dashed(name)}`),
    ownKeys: () => [...this.attributes.keys()].filter((name) => name.startsWith("data-")).map((name) => camel(name.slice(5))),
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  });

  constructor(document, localName) {
    super();
    this.ownerDocument = document;
    this.localName = localName;
  }

  get tagName() {
    return this.localName.toUpperCase();
  }

  get above() {
    return this.parentElement ?? (this === this.ownerDocument.documentElement ? this.ownerDocument : null);
  }

  get isConnected() {
    return this.ownerDocument.documentElement.contains(this);
  }

  // --- Attributes ---

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  hasAttribute(name) {
    return this.attributes.has(name);
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  toggleAttribute(name, now = !this.hasAttribute(name)) {
    if (now) this.setAttribute(name, "");
    else this.removeAttribute(name);
    return now;
  }

  get tabIndex() {
    return Number(this.getAttribute("tabindex") ?? (this.matches(FOCUSABLE) ? 0 : -1));
  }

  set tabIndex(value) {
    this.setAttribute("tabindex", value);
  }

  // --- Children ---

  get children() {
    return this.childNodes.filter((one) => one instanceof Element);
  }

  get firstChild() {
    return this.childNodes[0] ?? null;
  }

  get lastElementChild() {
    return this.children.at(-1) ?? null;
  }

  get textContent() {
    return this.childNodes.map((one) => one.textContent).join("");
  }

  set textContent(text) {
    this.replaceChildren(...(text === "" || text === null ? [] : [String(text)]));
  }

  detach(child) {
    this.childNodes = this.childNodes.filter((one) => one !== child);
    child.parentElement = null;
    const { activeElement, body } = this.ownerDocument;
    if (child instanceof Element && child.contains(activeElement)) this.ownerDocument.activeElement = body;
  }

  insert(place, nodes) {
    const made = nodes.map((one) => (one instanceof Element || one instanceof Text ? one : new Text(String(one))));
    for (const one of made) one.remove();
    this.childNodes.splice(Math.min(place, this.childNodes.length), 0, ...made);
    for (const one of made) one.parentElement = this;
  }

  append(...nodes) {
    this.insert(Infinity, nodes);
  }

  replaceChildren(...nodes) {
    for (const one of [...this.childNodes]) this.detach(one);
    this.append(...nodes);
  }

  remove() {
    this.parentElement?.detach(this);
  }

  before(...nodes) {
    for (const one of nodes) one.remove?.();
    this.parentElement.insert(this.parentElement.childNodes.indexOf(this), nodes);
  }

  after(...nodes) {
    for (const one of nodes) one.remove?.();
    this.parentElement.insert(this.parentElement.childNodes.indexOf(this) + 1, nodes);
  }

  replaceWith(...nodes) {
    this.after(...nodes);
    this.remove();
  }

  contains(other) {
    for (let one = other; one; one = one.parentElement) if (one === this) return true;
    return false;
  }

  // --- Selectors ---

  matches(selector) {
    return split(selector, /,/).some((one) => fitsChain(this, split(one, /\s/)));
  }

  closest(selector) {
    for (let one = this; one; one = one.parentElement) if (one.matches(selector)) return one;
    return null;
  }

  get descendants() {
    return this.children.flatMap((one) => [one, ...one.descendants]);
  }

  querySelectorAll(selector) {
    return this.descendants.filter((one) => one.matches(selector));
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  // --- What people do ---

  focus() {
    const { ownerDocument: document } = this;
    if (document.activeElement === this || !this.matches(FOCUSABLE) || this.disabled) return;
    document.activeElement?.dispatchEvent(new Happening("blur"));
    document.activeElement = this;
    this.dispatchEvent(new Happening("focus"));
    this.dispatchEvent(new Happening("focusin", { bubbles: true }));
  }

  blur() {
    this.ownerDocument.activeElement = this.ownerDocument.body;
    this.dispatchEvent(new Happening("blur"));
  }

  click() {
    if (this.disabled) return;
    const toggles = ["checkbox", "radio"].includes(this.type);
    if (toggles) this.checked = this.type === "radio" || !this.checked;
    this.dispatchEvent(new Happening("click", { bubbles: true, cancelable: true, clientX: 0, clientY: 0 }));
    if (toggles) for (const type of ["input", "change"]) this.dispatchEvent(new Happening(type, { bubbles: true }));
    if (this.localName === "label") {
      (this.querySelector("input, textarea") ?? this.ownerDocument.getElementById(this.getAttribute("for")))?.click();
    }
    if (this.localName === "summary") this.parentElement.toggleAttribute("open");
  }

  getBoundingClientRect() {
    return this.box;
  }

  setPointerCapture() {}
  select() {}
  scrollIntoView() {
    this.ownerDocument.scrolledTo = this;
  }

  getContext() {
    return null;
  }

  showModal() {
    this.open = true;
    this.querySelector("[autofocus]")?.focus();
  }

  close() {
    if (!this.open) return;
    this.open = false;
    this.dispatchEvent(new Happening("close"));
  }
}

for (const name of BOOLEANS) {
  Object.defineProperty(Element.prototype, name, { get() {
    return this.hasAttribute(name);
  }, set(now) {
    this.toggleAttribute(name, Boolean(now));
  } });
}
for (const [name, attribute] of Object.entries(TEXTS)) {
  Object.defineProperty(Element.prototype, name, { get() {
    return this.getAttribute(attribute) ?? "";
  }, set(value) {
    this.setAttribute(attribute, value);
  } });
}

export class Input extends Element {
  #value = null;
  #checked = null;

  get value() {
    const value = this.#value ?? this.getAttribute("value") ?? "";
    if (this.type !== "range") return value;
    const [low, high] = [Number(this.min || 0), Number(this.max || 100)];
    return String(value === "" ? (low + high) / 2 : Math.min(high, Math.max(low, Number(value))));
  }

  set value(value) {
    this.#value = String(value);
  }

  get checked() {
    return this.#checked ?? this.hasAttribute("checked");
  }

  set checked(now) {
    if (now && this.type === "radio") {
      for (const other of this.ownerDocument.querySelectorAll(`input[name="${this.name}"]`)) other.uncheck();
    }
    this.#checked = now;
  }

  uncheck() {
    this.#checked = false;
  }
}

export class Document extends Target {
  hidden = false;
  activeElement = null;
  scrolledTo = null; // the element to which a script scrolled last

  constructor(window) {
    super();
    this.window = window;
    this.documentElement = this.createElement("html");
    this.body = this.createElement("body");
    this.documentElement.append(this.body);
    this.activeElement = this.body;
  }

  get above() {
    return this.window;
  }

  createElement(name) {
    return ["input", "textarea", "select"].includes(name) ? new Input(this, name) : new Element(this, name);
  }

  createElementNS(_, name) {
    return this.createElement(name);
  }

  getElementById(id) {
    return this.documentElement.descendants.find((one) => one.id === id) ?? null;
  }

  querySelector(selector) {
    return this.documentElement.querySelector(selector);
  }

  querySelectorAll(selector) {
    return this.documentElement.querySelectorAll(selector);
  }

  elementFromPoint() {
    return this.pointed ?? null;
  }

  execCommand() {
    return true;
  }
}
