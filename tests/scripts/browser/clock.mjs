// A clock that stands still until a test lets time pass.

const BEGINNING = Date.UTC(2026, 0, 1);

export class Clock {
  now = 0; // milliseconds
  #last = 0;
  /** @type {Map<number, { at: number, act: Function, every: number }>} */
  #waiting = new Map();

  set(act, delay = 0, every = 0) {
    this.#last += 1;
    this.#waiting.set(this.#last, { at: this.now + Math.max(0, delay), act, every });
    return this.#last;
  }

  clear(id) {
    this.#waiting.delete(id);
  }

  /** Let all that does not wait for time happen. */
  async settle() {
    for (let n = 0; n < 3; n += 1) await new Promise(setImmediate);
  }

  /** Let time pass, with all that happens in it. */
  async pass(milliseconds) {
    const end = this.now + milliseconds;
    await this.settle();
    for (;;) {
      const due = [...this.#waiting].filter(([, one]) => one.at <= end).sort(([a, one], [b, other]) => one.at - other.at || a - b);
      if (!due.length) break;
      const [[id, one]] = due;
      this.now = Math.max(this.now, one.at);
      if (one.every) one.at = this.now + one.every;
      else this.#waiting.delete(id);
      one.act(this.now);
      await this.settle();
    }
    this.now = end;
  }

  get date() {
    const clock = this;
    return class extends Date {
      constructor(...given) {
        super(...(given.length ? given : [BEGINNING + clock.now]));
      }

      static now() {
        return BEGINNING + clock.now;
      }
    };
  }
}
