// Events in addition to answers: lost focus, errors, device data. Sent in small batches.

import { newId } from "./outbox.js";

/** @import { Outbox } from "./outbox.js" */

const PAUSE = 3000;

/** Data that the browser reports about the device. */
export function deviceFacts() {
  const { width, height } = screen;
  const { maxTouchPoints, userAgent } = navigator;
  return { screen: [width, height], window: [innerWidth, innerHeight], touch: maxTouchPoints > 0, agent: userAgent };
}

export class Events {
  /** @type {Record<string, unknown>[]} */
  #batch = [];
  #timer = 0;
  page = "";
  lost = 0;
  held = true; // until the first answer is saved: before consent, nothing is stored or sent

  /** @param {Outbox} outbox */
  constructor(outbox) {
    this.outbox = outbox;
    addEventListener("blur", () => this.#away("blur"));
    document.addEventListener("visibilitychange", () => document.hidden && this.#away("hidden"));
    addEventListener("error", (event) => this.tell("error", { told: event.message }));
    addEventListener("unhandledrejection", ({ reason }) =>
      this.tell("error", { told: String(reason?.message ?? reason) }));
    addEventListener("pagehide", () => this.flush());
  }

  /** Start counting lost focus for a page; events are sent from now on if a page has been answered.
   * @param {string} page
   * @param {number} answered */
  turn(page, answered) {
    if (this.held && answered) {
      this.held = false;
      this.flush();
    }
    this.page = page;
    this.lost = 0;
  }

  /** @param {string} kind
   * @param {Record<string, unknown>} more */
  tell(kind, more = {}) {
    this.#batch.push({ kind, page: this.page, at: new Date().toISOString(), ...more });
    this.#timer ||= setTimeout(() => this.flush(), PAUSE);
  }

  async flush() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.held) return;
    const events = this.#batch.splice(0);
    if (events.length) await this.outbox.add({ id: newId(), events });
  }

  /** @param {"blur" | "hidden"} how */
  #away(how) {
    this.lost += 1;
    this.tell("focus_lost", { how });
    if (how === "hidden") this.flush();
  }
}
