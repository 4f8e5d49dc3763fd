// A server of listeners' pages in memory, which replies as the real one does.

export class Server {
  place = 0;
  answers = [];
  events = [];
  drafts = [];
  posts = []; // the id of every answer that came, also again
  asked = []; // paths of all requests
  sound = 0.4; // seconds; 0 for a file that is no sound
  restUntil = 0;
  isWithdrawn = false;
  more = {}; // further fields of the state

  /** @param {object[]} pages views of the pages
   * @param {{ now: number }} clock
   * @param {string} language */
  constructor(pages, clock, language = "en") {
    Object.assign(this, { pages, clock, language });
    this.#arrive();
  }

  /** What goes wrong with a request: "cut" or "lost" (the server has it, but its reply is not heard), or a
   * reply of something between; nothing by default.
   * @returns {undefined | "cut" | "lost" | "silent" | { status: number, body: unknown }} */
  fault() {
    return undefined;
  }

  get values() {
    return Object.fromEntries(this.answers.map((one) => [one.page, one.values]));
  }

  #arrive() {
    const page = this.pages[this.place];
    if (page.kind === "rest") this.restUntil = this.clock.now + 1000 * page.seconds;
  }

  get state() {
    const page = this.pages[this.place];
    const next = this.pages.slice(this.place + 1).find((one) => one.sounds);
    const done = page.kind === "end";
    const seconds = Math.max(0, this.restUntil - this.clock.now) / 1000;
    return { page: this.isWithdrawn ? null : page, progress: [this.place, this.pages.length - 1],
      minutes: this.pages.length - this.place, rest: seconds ? { until: "", seconds } : null,
      ahead: next ? next.sounds.map((one) => one.address) : [], level: this.values.device?.level ?? null,
      answered: this.answers.length + (this.pages[0].sounds ? 1 : 0), done, code: done ? "C0DE-77" : null,
      service: true, blocked: false, withdrawn: this.isWithdrawn, ...this.more };
  }

  /** Reply to a request as a listener's browser sends it. */
  reply(path, body) {
    this.asked.push(path);
    const what = path.replace(/^\/l\/tok\/?/, "").replace(/\?.*/, "");
    if (what === "state") return { status: 200, body: this.state };
    if (what === "answers") return this.#answered(body);
    if (what === "events") return (this.events.push(...body.events), { status: 200, body: { status: "stored" } });
    if (what === "draft") return (this.drafts.push(body), { status: 200, body: { revision: this.drafts.length } });
    if (what === "withdraw") return ((this.isWithdrawn = body.confirm), (this.answers = []), { status: 200, body: this.state });
    if (what.startsWith("sound/")) return { status: 200, bytes: { seconds: this.sound } };
    return { status: 404, body: { error: { code: "not_found", message: "" } } };
  }

  #answered(body) {
    this.posts.push(body.id);
    if (this.answers.some((one) => one.id === body.id)) return { status: 200, body: { status: "known", state: this.state } };
    if (this.answers.some((one) => one.page === body.page)) return { status: 200, body: { status: "taken", state: this.state } };
    if (body.page !== this.pages[this.place].name || this.restUntil > this.clock.now) {
      return { status: 409, body: { error: { code: "not_open", message: "" }, state: this.state } };
    }
    this.answers.push(body);
    this.place += 1;
    this.#arrive();
    return { status: 200, body: { status: "stored", state: this.state } };
  }

  /** `fetch` of a page of this server. */
  async fetch(address, { body, signal } = {}) {
    const given = body === undefined ? undefined : JSON.parse(body);
    const fault = this.fault(address, given);
    if (fault === "cut") throw new Error("no network");
    if (fault === "silent") await new Promise((_, failed) => signal.addEventListener("abort", () => failed(new Error("aborted"))));
    const { status, body: told, bytes } = typeof fault === "object" ? fault : this.reply(address, given);
    if (fault === "lost") throw new Error("no network");
    const text = typeof told === "string" ? told : JSON.stringify(told);
    return { ok: status < 300, status, headers: new Map(), json: async () => JSON.parse(text), arrayBuffer: async () => bytes };
  }
}
