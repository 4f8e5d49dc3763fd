// Everything sent to the server is stored in an outbox first, and deleted when the server has
// confirmed it or refused it for good. Answers and events have separate outboxes, so that neither
// waits for the other; each is sent in order. An answer keeps its id, so that the server recognizes
// duplicates.

/** @import { Entry, Fault, OutboxListener, Reply, Store } from "./types.d.ts" */

const FIRST = 1000;
const LONGEST = 30000;
const PATIENCE = 15000;
const HAS = ["stored", "known", "taken", "ineligible"]; // replies that confirm receipt
const FINAL = [400, 409, 413, 422]; // refusals that a retry would not change
const FOR_GOOD = ["quota_used", "crowded"]; // codes of refusals; requests that are too fast are repeated

/** A random id; plain http has no randomUUID. */
export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (one) => one.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Request JSON from the server; status 0 if there is no reply or it is not JSON.
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

/** Whether a reply is final and comes from our server rather than from a proxy.
 * @param {Reply} reply */
function settled({ status, told }) {
  if (status < 300) return HAS.includes(told.status);
  const code = told.error?.code;
  return FOR_GOOD.includes(code ?? "") || (FINAL.includes(status) && Boolean(code));
}

/** Why a request failed: server unreachable, test not available, or server error.
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
  #loose = []; // entries that the browser could not store

  /** `replied(entry, status, told)` is called for every reply of the server, `changed(n, fault)` with
   * the number of waiting entries and the reason, and `emptied()` when none is left, which may also
   * happen because another tab has sent them.
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

  /** Add an entry and start sending; resolves when it is stored.
   * @param {Entry["body"]} body */
  async add(body) {
    const { link, to } = this;
    this.#last = Math.max(Date.now(), this.#last + 1);
    const order = String(this.#last).padStart(15, "0");
    const entry = { key: `${link} ${to} ${order} ${body.id}`, link, to, body };
    await this.store.put(entry).catch(() => this.#loose.push(entry));
    this.send();
  }

  /** The waiting entries, oldest first.
   * @returns {Promise<Entry[]>} */
  async waiting() {
    const own = (await this.store.all()).filter((one) => one.link === this.link && one.to === this.to);
    own.push(...this.#loose);
    return own.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Send all waiting entries now; only one sender runs at a time. */
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

  /** Send an entry; returns the fault, or an empty string if the reply was final.
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
