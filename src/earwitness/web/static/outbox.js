// Everything that goes to the server lies in the outbox first, and leaves it when the server has
// said that it has it, or why it never will. Answers and events have an outbox each, so that neither
// waits for the other; what is in one goes in the order in which it was given. An answer keeps the id
// that it got when it was made, so the server knows it when it comes twice.

/** @import { Entry, Fault, OutboxListener, Reply, Store } from "./types.d.ts" */

const FIRST = 1000;
const LONGEST = 30000;
const PATIENCE = 15000;
const HAS = ["stored", "known", "taken"]; // what the server says of what it has
const FINAL = [400, 409, 413, 422]; // refusals that will not change by asking again

/** A random id; plain http has no randomUUID. */
export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Ask the server for JSON; with no answer, and with one that is no JSON, there is no status.
 * @param {string} address
 * @param {unknown} [body]
 * @returns {Promise<Reply>} */
export async function ask(address, body) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), PATIENCE);
  const given = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  try {
    const reply = await fetch(address, { ...given, cache: "no-store", signal: stop.signal });
    return { status: reply.status, told: (await reply.json()) ?? {} };
  } catch {
    return { status: 0, told: {} };
  } finally {
    clearTimeout(timer);
  }
}

/** Whether it is our server that speaks, not something on the way to it; what it tells is final.
 * @param {Reply} reply */
function settled({ status, told }) {
  return status < 300 ? HAS.includes(told.status) : FINAL.includes(status) && Boolean(told.error?.code);
}

/** Why something was not done: no server is there, not this test, or the server has a fault.
 * @param {Reply} reply
 * @returns {Fault} */
export function faultOf({ status, told }) {
  if (!told.error?.code) return "unreachable";
  return status === 404 ? "not_here" : "failed";
}

export class Outbox {
  /** @type {Promise<void> | null} */
  #sending = null;
  #again = false;
  #timer = 0;
  #tries = 0;
  /** @type {Fault} */
  #fault = "";
  #last = 0;
  /** @type {Entry[]} */
  #loose = []; // what the browser would not keep

  /** `replied(entry, status, told)` hears of every answer of the server, `changed(n, fault)` of how
   * many entries wait and why, `emptied()` that none does: another tab may have sent it.
   * @param {Store} store
   * @param {string} link
   * @param {string} to
   * @param {OutboxListener} listener */
  constructor(store, link, to, { replied = () => {}, changed = () => {}, emptied = () => {} } = {}) {
    this.store = store;
    this.link = link;
    this.to = to;
    this.replied = replied;
    this.changed = changed;
    this.emptied = emptied;
    addEventListener("online", () => this.send());
    document.addEventListener("visibilitychange", () => document.hidden || this.send());
  }

  /** Put something in and start sending; done when it is kept.
   * @param {Entry["body"]} body */
  async add(body) {
    const { link, to } = this;
    this.#last = Math.max(Date.now(), this.#last + 1);
    const order = String(this.#last).padStart(15, "0");
    const entry = { key: `${link} ${to} ${order} ${body.id}`, link, to, body };
    await this.store.put(entry).catch(() => this.#loose.push(entry));
    this.send();
  }

  /** What waits, the oldest first.
   * @returns {Promise<Entry[]>} */
  async waiting() {
    const own = (await this.store.all()).filter((one) => one.link === this.link && one.to === this.to);
    own.push(...this.#loose);
    return own.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Send all that waits, now; one sender at a time. */
  send() {
    clearTimeout(this.#timer);
    this.#again = Boolean(this.#sending);
    this.#sending ??= this.#round().finally(() => this.#over());
    return this.#sending;
  }

  #over() {
    this.#sending = null;
    if (this.#again) this.send();
  }

  async clear() {
    for (const one of await this.waiting()) await this.#drop(one);
    await this.#count();
  }

  /** @param {Entry} entry */
  async #drop(entry) {
    this.#loose = this.#loose.filter((one) => one.key !== entry.key);
    await this.store.delete(entry.key);
  }

  /** @returns {Promise<void>} */
  async #round() {
    for (;;) {
      await this.#count();
      const [first] = await this.waiting();
      if (!first) return void this.emptied();
      this.#fault = await this.#sent(first);
      if (this.#fault) return this.#later();
      this.#tries = 0;
    }
  }

  async #count() {
    this.changed((await this.waiting()).length, this.#fault);
  }

  /** Send something; why it was not taken, if it was not.
   * @param {Entry} entry
   * @returns {Promise<Fault>} */
  async #sent(entry) {
    const found = await ask(`${this.link}/${entry.to}`, entry.body);
    if (!settled(found)) return faultOf(found);
    await this.#drop(entry);
    await this.replied(entry, found.status, found.told);
    return "";
  }

  async #later() {
    this.#tries += 1;
    const pause = Math.min(LONGEST, FIRST * 2 ** (this.#tries - 1)) * (0.75 + Math.random() / 2);
    this.#timer = setTimeout(() => this.send(), pause);
    await this.#count();
  }
}
