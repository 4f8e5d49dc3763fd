// The main flow: request the listener's state, show the open page, send the answer.

import { askLevel, showDevice } from "./device.js";
import { byId, find, heading, paragraphs, show } from "./dom.js";
import { Drafts } from "./drafts.js";
import { deviceFacts, Events } from "./events.js";
import { showExamples } from "./examples.js";
import { showForm } from "./forms.js";
import { listenToKeys } from "./keys.js";
import { say } from "./messages.js";
import { ask, faultOf, newId, Outbox } from "./outbox.js";
import * as pages from "./pages.js";
import { preload, resolved } from "./preload.js";
import { oneTab } from "./single_tab.js";
import { Sounds } from "./sound.js";
import { showProgress, showSaving } from "./status.js";
import { openStorage } from "./storage.js";
import { Volume } from "./volume.js";

/** @import { Entry, Fault, PageContext, State, View } from "./types.d.ts" */

/** Pages other than trials. The view of a trial names its own script.
 * @type {Record<string, (view: any, at: PageContext) => unknown>} */
const PAGES = { consent: pages.consent, text: pages.text, rest: pages.rest, feedback: pages.feedback,
  end: pages.end, form: showForm, check: showForm, device: showDevice, examples: showExamples };
const AGAIN = 4000; // milliseconds between attempts to reach the server
const SLOW = 20000; // the same if the server does not have this test
const CALM = 400; // milliseconds before a page is replaced by "Please wait"

const link = location.pathname.replace(/\/+$/, "");

/** The participant ID of a recruitment service, which the open link passes on. */
function claimed() {
  const claim = new URLSearchParams(location.search).get("claim");
  return claim ? { claim } : {};
}

/** The function that shows a page, which may return a function of the recording below it; undefined for a trial without a script. The shell has already
 * loaded the scripts of the study, so trials do not wait for them.
 * @param {View} view */
async function rendererOf(view) {
  if (!view.renderer) return PAGES[view.kind];
  return (await import(`./trials/${view.renderer}.js`)).showTrial;
}

class Flow {
  #elsewhere = false;
  #timer = 0;
  #holding = 0;
  /** @type {"quiet" | "shown" | Fault} */
  #held = ""; // "quiet", "shown" or a fault while an answer is being sent
  #isAskedAgain = false; // whether the last answer was wrong in a check, which is no fault
  #waits = false; // whether that answer is in the outbox
  #left = new AbortController(); // aborted when the shown page is left
  #visit = `?visit=${newId()}`; // sent with each request until the server has replied once

  /** @param {Awaited<ReturnType<typeof openStorage>>} storage */
  constructor({ waiting, drafts, lasting }) {
    this.waiting = false; // whether answers wait to be sent
    this.refused = ""; // the page whose answer was refused, if the last one was
    this.notice = ""; // message for the next page
    this.lasting = lasting;
    this.outbox = new Outbox(waiting, link, "answers", {
      replied: (entry, status, told) => this.replied(entry, status, told),
      changed: (count, fault) => this.saving(count, fault),
      emptied: () => this.#held && this.#waits && this.go(),
    });
    this.drafts = new Drafts(drafts, link);
    this.sounds = new Sounds();
    this.volume = new Volume(link);
    this.events = new Events(new Outbox(waiting, link, "events"));
    this.tabs = oneTab(link, (now, handed) => this.elsewhere(now, handed));
  }

  async start() {
    if (!this.lasting) addEventListener("beforeunload", (event) => this.waiting && event.preventDefault());
    byId("withdraw").addEventListener("click", () => this.withdraw());
    this.events.tell("device", deviceFacts());
    if (await this.tabs.alone()) await this.go();
  }

  /** Send waiting answers first, then request the state. */
  async go() {
    clearTimeout(this.#timer);
    if (this.#elsewhere) return;
    if ((await this.outbox.waiting()).length) {
      this.hold();
      this.#waits = true;
      this.outbox.send();
      return;
    }
    const found = await ask(`${link}/state${this.#visit}`);
    if (found.status >= 300 || !found.told.progress) return this.away(faultOf(found));
    this.#visit = "";
    this.saving(0, "");
    await this.show(found.told);
  }

  /** Show why no page can be shown, and try again later.
   * @param {Fault} fault */
  away(fault) {
    this.leave();
    if (this.#elsewhere) return;
    document.body.dataset.page = fault;
    pages.away(fault, () => this.go());
    this.#timer = setTimeout(() => this.go(), fault === "not_here" ? SLOW : AGAIN);
  }

  /** While an answer is being sent: the page is disabled, then replaced by a message. */
  hold() {
    this.release();
    find("main").inert = true;
    this.#held = "quiet";
    this.#waits = false;
    this.#holding = setTimeout(() => this.showHeld("shown"), CALM);
  }

  /** @param {"shown" | Fault} how */
  showHeld(how) {
    this.leave();
    this.#held = how;
    document.body.dataset.page = "sending";
    pages.held(how === "shown" ? "" : how, () => this.outbox.send());
  }

  release() {
    clearTimeout(this.#holding);
    this.#held = "";
  }

  /** Leave the shown page for any reason: its sounds stop, and its draft is no longer written. */
  leave() {
    this.release();
    this.#left.abort();
    this.#left = new AbortController();
  }

  /** @param {number} count
   * @param {Fault} fault */
  saving(count, fault) {
    this.waiting = count > 0;
    showSaving(count, fault, this.#isAskedAgain ? "" : this.refused);
    if (count && fault && this.#held && this.#held !== fault) this.showHeld(fault);
  }

  /** @param {Entry} entry
   * @param {number} status
   * @param {any} told */
  async replied(entry, status, told) {
    if (told.address) return location.assign(told.address); // in a preview
    const { page, values } = entry.body;
    const refused = status >= 300;
    this.refused = refused ? page : "";
    this.#isAskedAgain = refused && told.error?.code === "again";
    this.notice = refused ? pages.refusal(status, told) : told.status === "taken" ? say("taken") : "";
    if (!refused) await this.drafts.delete(page);
    else this.events.tell("refused", { page, status, values: status === pages.TOO_LARGE ? null : values });
    if (this.#elsewhere) return;
    const state = told.state ?? told.error?.state;
    await (state && !this.#visit ? this.show(state) : this.go());
  }

  /** @param {State} state */
  async show(state) {
    this.leave();
    if (this.#elsewhere) return;
    const left = this.#left.signal;
    const view = state.page;
    if (state.answered && location.search) history.replaceState(null, "", link); // the id is stored
    this.events.turn(view?.name ?? "", state.answered ?? 0);
    document.body.dataset.page = view?.kind ?? "none";
    document.body.dataset.name = view?.name ?? "";
    document.querySelector("footer a")?.toggleAttribute("hidden",
      Boolean(state.withdrawn || state.blocked || state.ineligible || state.shut));
    showProgress(state);
    this.sounds.rate = state.rate ?? 0;
    preload(this.sounds, this.volume, state, link);
    await this.drafts.only(view?.name);
    if (left.aborted) return;
    const notice = state.withdrawn || state.blocked || state.ineligible || state.shut ? "" : this.notice;
    this.notice = "";
    if (!pages.instead(state, { again: () => this.go() }) && view) await this.page(view, state, left);
    if (notice && !left.aborted) pages.tellNotice(notice);
  }

  /** @param {View} view
   * @param {State} state
   * @param {AbortSignal} left */
  async page(view, state, left) {
    let render;
    try {
      render = await rendererOf(view);
    } catch {
      return this.away("unreachable");
    }
    if (left.aborted) return undefined;
    if (!render) return show(heading(view.title), paragraphs(say("unknown_kind")));
    let sent = false;
    let stopRecording = () => {};
    /** @type {PageContext["answer"]} */
    const answer = async (values, meta = {}) => {
      if (sent) return;
      sent = true;
      stopRecording();
      const body = { id: newId(), page: view.name, values, meta, at: new Date().toISOString(),
        ...(state.answered ? {} : claimed()) };
      this.refused = "";
      this.hold();
      this.saving(1, "");
      await this.events.flush();
      await this.outbox.add(body);
      this.#waits = true;
    };
    const { sounds, events, volume } = this;
    /** @type {PageContext} */
    const at = { answer, sounds, events, volume, state, left,
      draft: this.drafts.of(view.name, left, view.keeps_draft ? view.draft ?? {} : undefined, () => {
        this.notice = say("draft_changed");
        this.go();
      }),
      refused: this.refused === view.name, again: () => this.go() };
    if (view.sounds && volume.get() === null && typeof state.level === "number") await askLevel(state.level, at);
    const found = resolved(view, link);
    const attach = left.aborted ? undefined : await render(found, at);
    if (!found.recording || left.aborted) return undefined;
    try {
      const { showRecording } = await import("./full_recording.js");
      if (left.aborted) return undefined;
      const recording = showRecording(found.recording, at);
      stopRecording = recording.stop;
      if (typeof attach === "function") attach(recording);
    } catch {
      if (!left.aborted) this.away("unreachable");
    }
    return undefined;
  }

  /** Another tab has taken the test, or this one has; a test handed over by a tab is not a new visit.
   * @param {boolean} now
   * @param {boolean} handed */
  elsewhere(now, handed) {
    this.#elsewhere = now;
    this.leave();
    if (handed) this.#visit = "";
    if (!now) return void this.go();
    this.sounds.hush();
    document.body.dataset.page = "elsewhere";
    pages.elsewhere(() => this.tabs.take());
  }

  withdraw() {
    pages.askToWithdraw(async () => {
      const { status, told } = await ask(`${link}/withdraw`, { confirm: true });
      if (told.withdrawn !== true) throw new Error(String(status));
      await this.outbox.clear();
      await this.events.outbox.clear();
      await this.drafts.only(null);
      await this.show({ withdrawn: true });
    });
  }
}

listenToKeys();
openStorage().then((storage) => new Flow(storage).start());
