// Pages of the package in a browser that has no layout, sound or network: their scripts run as they are,
// each page with modules and globals of its own, on a clock that tests move.

import { webcrypto } from "node:crypto";
import { setMaxListeners } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

import { Clock } from "./clock.mjs";
import { Document, Element, Happening, Input, Target } from "./dom.mjs";
import { Server } from "./server.mjs";
import { makeAudio } from "./sound.mjs";
import { makeChannel, Profile } from "./storage.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const PACKAGE = join(ROOT, "src", "earwitness");
const SCRIPTS = join(PACKAGE, "web", "static");
const PLUGIN_SCRIPTS = join(SCRIPTS, "trials", "plugin"); // as browsers see those of the example
const EXAMPLE = join(ROOT, "examples", "plugin", "earwitness_tags");
const TYPED = "input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea";
const STEPS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

setMaxListeners(0); // a page listens to the end of many things

const sources = new Map();

/** The text of a script, which is read once. */
function sourceOf(path) {
  if (!sources.has(path)) sources.set(path, readFileSync(path.replace(PLUGIN_SCRIPTS, EXAMPLE), "utf8"));
  return sources.get(path);
}

/** The texts of listeners' pages in a language. */
const wordsOf = (language) => JSON.parse(sourceOf(join(PACKAGE, "studies", "wordings", `${language}.json`))).web;

export class Page {
  said = []; // errors
  live = new Set(); // sources of sound that run
  isWide = true;
  #modules = new Map();

  constructor({ clock = new Clock(), server = null, profile = new Profile(), language = "en", search = "", without = [], isAsleep = false } = {}) {
    Object.assign(this, { clock, server, profile, language });
    this.window = new Target();
    this.document = new Document(this.window);
    this.document.documentElement.lang = language;
    this.#shell();
    const globals = this.#globals(search, isAsleep);
    for (const name of without) delete globals[name];
    this.context = vm.createContext(globals);
    vm.runInContext("Array.prototype.toSorted ??= function (by) { return [...this].sort(by); };", this.context);
  }

  /** What shell.html has. */
  #shell() {
    const { document } = this;
    const add = (parent, name, attributes = {}, text = "") => {
      const made = document.createElement(name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      made.textContent = text;
      parent.append(made);
      return made;
    };
    const { body } = document;
    body.dataset.page = "loading";
    add(body, "script", { id: "words" }, JSON.stringify(wordsOf(this.language)));
    const header = add(body, "header");
    for (const [name, attributes] of [["progress", {}], ["span", { id: "where" }], ["span", { id: "saving" }], ["p", { id: "study", hidden: "" }]]) {
      add(header, name, attributes);
    }
    add(body, "main");
    const footer = add(body, "footer");
    add(footer, "a", { href: "workbook" });
    add(footer, "button", { id: "withdraw" }, "Withdraw");
    for (let n = 0; n < 2; n += 1) add(body, "div", { class: "announced" });
  }

  #globals(search, isAsleep) {
    const { clock, document, window, profile, server, live } = this;
    const page = this;
    const AudioContext = makeAudio(clock, live, isAsleep);
    const heard = (act) => (...given) => {
      if (this.isClosed) return undefined;
      try {
        return act(...given);
      } catch (error) {
        this.said.push(error);
        throw error;
      }
    };
    const timer = (repeats) => (act, delay = 0) => clock.set(heard(act), delay, repeats ? Math.max(1, delay) : 0);
    const clear = (id) => clock.clear(id);
    const globals = {
      document, Element, HTMLElement: Element, HTMLInputElement: Input, Node: Element, Event, EventTarget, AbortController, AbortSignal,
      KeyboardEvent: Happening, addEventListener: window.addEventListener.bind(window),
      dispatchEvent: window.dispatchEvent.bind(window), console, TextEncoder, TextDecoder, URLSearchParams, structuredClone,
      setTimeout: timer(false), setInterval: timer(true), clearTimeout: clear, clearInterval: clear,
      requestAnimationFrame: (act) => clock.set(heard(act), 16), cancelAnimationFrame: clear, queueMicrotask,
      performance: { now: () => clock.now, timeOrigin: clock.now }, Date: clock.date, crypto: webcrypto,
      navigator: { maxTouchPoints: 0, userAgent: "none", clipboard: { writeText: async (text) => void (page.copied = text) } },
      screen: { width: 1200, height: 800 }, innerWidth: 1200, innerHeight: 800, scrollX: 0, scrollY: 0, devicePixelRatio: 1,
      scrollTo: (_, y) => (page.context.scrollY = y), getSelection: () => ({ selectAllChildren() {} }),
      getComputedStyle: () => ({ fontSize: "16px", getPropertyValue: () => "" }),
      matchMedia: () => ({ get matches() {
        return page.isWide;
      }, addEventListener() {}, removeEventListener() {} }),
      ResizeObserver: class { observe() {} disconnect() {} },
      location: { pathname: "/l/tok", search, hash: "" }, history: { replaceState: () => (page.context.location.search = "") },
      fetch: async (...given) => (page.isClosed ? new Promise(() => {}) : server.fetch(...given)),
      BroadcastChannel: makeChannel(profile, clock), AudioContext, ...AudioContext.nodes,
    };
    for (const name of ["indexedDB", "localStorage"]) Object.defineProperty(globals, name, { get: () => profile[name], configurable: true });
    return Object.assign(globals, { window: globals, self: globals });
  }

  // --- Scripts ---

  #module(path) {
    if (!this.#modules.has(path)) {
      const options = { identifier: path, context: this.context, importModuleDynamically: (name, from) => this.#imported(join(dirname(from.identifier), name)) };
      this.#modules.set(path, new vm.SourceTextModule(sourceOf(path), options));
    }
    return this.#modules.get(path);
  }

  async #imported(path) {
    if (this.server?.fault(`/static/${path.slice(SCRIPTS.length + 1)}`)) throw new TypeError("no network");
    const found = this.#module(path);
    if (found.status === "unlinked") await found.link((name, from) => this.#module(join(dirname(from.identifier), name)));
    await found.evaluate();
    return found;
  }

  /** What a module of the pages of studies exports. */
  async import(name) {
    return (await this.#imported(join(SCRIPTS, name))).namespace;
  }

  /** Run a script that is no module; returns the value of an expression in it. */
  run(path, expression = "undefined") {
    return vm.runInContext(`${sourceOf(join(PACKAGE, path))}\n;${expression}`, this.context);
  }

  // --- Looking ---

  find(selector) {
    const found = this.document.querySelector(selector);
    if (!found) throw new Error(`no ${selector} in ${this.document.body.textContent.slice(-2000)}`);
    return found;
  }

  all(selector) {
    return this.document.querySelectorAll(selector);
  }

  text(selector) {
    return this.find(selector).textContent;
  }

  texts(selector) {
    return this.all(selector).map((one) => one.textContent);
  }

  has(selector) {
    return this.document.querySelector(selector) !== null;
  }

  get name() {
    return this.document.body.dataset.name;
  }

  get title() {
    return this.text("main h1");
  }

  get announced() {
    return this.texts(".announced").join("");
  }

  get focused() {
    return this.document.activeElement;
  }

  /** The first visible button whose name begins with a text; an exact one before others. */
  button(name) {
    const labelOf = (one) => one.getAttribute("aria-label") ?? one.textContent;
    const shown = this.all("button, summary").filter((one) => !one.closest("[hidden]"));
    const found = shown.find((one) => labelOf(one) === name) ?? shown.find((one) => labelOf(one).startsWith(name));
    if (!found) throw new Error(`no button ${name}: ${shown.map(labelOf).join(" | ")}`);
    return found;
  }

  // --- Doing ---

  async click(what) {
    const element = typeof what === "string" ? this.button(what) : what;
    this.document.dispatchEvent(new Happening("pointerdown"));
    element.focus();
    element.click();
    await this.clock.settle();
  }

  /** Press keys one after the other, each on the element that has the focus. */
  async press(...keys) {
    for (const one of keys) {
      const given = typeof one === "string" ? { key: one } : one;
      this.#key(given);
      await this.clock.settle();
    }
  }

  #key(given) {
    const element = this.focused;
    const event = new Happening("keydown", { bubbles: true, cancelable: true, code: "", repeat: false, ctrlKey: false,
      altKey: false, metaKey: false, shiftKey: false, isComposing: false, ...given });
    if (!element.dispatchEvent(event) || event.ctrlKey || event.altKey) return;
    const { key } = event;
    const now = this.focused; // which a key may have changed
    const isTyped = now.matches(TYPED);
    if (isTyped && key.length === 1) this.enter(now, now.value + key);
    else if (isTyped && key === "Backspace") this.enter(now, now.value.slice(0, -1));
    else if (key === "Enter" && now.localName === "textarea") this.enter(now, `${now.value}\n`);
    else if (key === "Enter" && isTyped) now.closest("form")?.dispatchEvent(new Happening("submit", { bubbles: true, cancelable: true }));
    else if ([" ", "Enter"].includes(key) && now.matches("button, summary")) now.click();
    else if (key === " " && now.matches("[type=radio], [type=checkbox]")) now.click();
    else if (now.type === "range" && key in STEPS) this.enter(now, Number(now.value) + STEPS[key] * Number(now.step || 1));
  }

  /** Give a field a value, as typing or sliding does. */
  enter(element, value) {
    element.value = String(value);
    element.dispatchEvent(new Happening("input", { bubbles: true }));
  }

  /** The same, and leave the field. */
  async fill(what, value) {
    const element = typeof what === "string" ? this.find(what) : what;
    element.focus();
    this.enter(element, value);
    element.dispatchEvent(new Happening("change", { bubbles: true }));
    await this.clock.settle();
  }

  /** Tell an element of an event. */
  async tell(element, type, more = {}) {
    element.dispatchEvent(new Happening(type, { bubbles: true, cancelable: true, button: 0, isPrimary: true, pointerId: 1, ...more }));
    await this.clock.settle();
  }

  pass(seconds) {
    return this.clock.pass(1000 * seconds);
  }

  /** Close the tab without a word to its scripts. */
  close() {
    this.isClosed = true;
    for (const one of [...this.live]) one.stop();
    for (const one of [...this.profile.channels]) if (one instanceof this.context.BroadcastChannel) one.close();
  }
}

/** Open the page of a listener of a server, and wait until it is shown. */
export async function visit(server, { profile = new Profile(), ...more } = {}) {
  const page = new Page({ server, clock: server.clock, profile, language: server.language, ...more });
  await page.import("listen.js");
  for (const { renderer } of server.pages) if (renderer && existsSync(join(SCRIPTS, "trials", `${renderer}.js`))) {
    await page.import(`trials/${renderer}.js`).catch(() => {}); // asked for again when it is needed
  }
  await page.pass(0.2); // in which an earlier tab would reply
  return page;
}

/** Close a page and open it again in the same browser. */
export async function reload(page) {
  page.window.dispatchEvent(new Happening("pagehide"));
  await page.clock.settle();
  page.close();
  return visit(page.server, { profile: page.profile });
}

/** A server of pages on a clock of its own, and the page of its listener. */
export async function start(pages, { language = "en", server: more = {}, ...options } = {}) {
  const server = Object.assign(new Server(pages, new Clock(), language), more);
  return { server, page: await visit(server, options) };
}
