// Shared parts of all trials: a draft that survives a reload, plays that are recorded from their
// start, comments, and the answer with its metadata.

import { button, make, wholeText } from "./dom.js";
import { byKeyboard } from "./keys.js";
import { say } from "./messages.js";

/** @import { Play, PlayResult, TrialDraft, PageContext, TrialView, Values } from "./types.d.ts" */

const MAX_COMMENT_CHARACTERS = 2000;

/** The stored draft of a trial, with defaults from `empty`.
 * @template {object} Empty
 * @param {PageContext} at
 * @param {Empty} empty
 * @returns {Promise<Empty & TrialDraft>} */
export async function readDraft(at, empty) {
  const shown = new Date().toISOString();
  return { plays: [], underruns: 0, lost: 0, keyboard: false, shown, ...empty, ...(await at.draft.read()) };
}

/** Add the complete plays on another device, of sounds that were not heard to the end on this one.
 * @param {TrialView} view
 * @param {TrialDraft} draft */
export function addPlayed(view, { plays }) {
  /** @param {Play} play */
  const part = ({ question, sound }) => `${sound} ${question}`;
  const ended = new Set(plays.filter((play) => play.ended).map(part));
  plays.unshift(...(view.played ?? []).filter((play) => !ended.has(part(play))));
}

/** A comment field; `changed` is called with each new text.
 * @param {string} id
 * @param {string} text
 * @param {(text: string) => void} changed
 * @param {Record<string, string>} more */
export function commentField(id, text, changed, more) {
  /** @type {HTMLTextAreaElement} */
  const area = make("textarea", { id, maxlength: String(MAX_COMMENT_CHARACTERS), ...more,
    input: () => changed(wholeText(area.value)) });
  area.value = text;
  return area;
}

/** A button that opens a comment field, and the field; it is open from the start if it has a text.
 * @param {string} text
 * @param {(text: string) => void} changed */
export function commentButton(text, changed) {
  const field = commentField("comment", text, changed, { rows: "3", "aria-label": say("comment") });
  const area = make("div", { class: "comment", id: "comment-area" }, field);
  const toggle = button(say("comment_add"), () => open(area.hidden), { class: "quiet", "aria-controls": area.id });
  /** @param {boolean} now */
  const open = (now) => {
    area.hidden = !now;
    toggle.setAttribute("aria-expanded", String(now));
    if (now) field.focus();
  };
  area.hidden = !text;
  toggle.setAttribute("aria-expanded", String(Boolean(text)));
  return { toggle, area };
}

/** A shown trial; `draft` is its unfinished input.
 * @template {TrialView} View
 * @template {TrialDraft} Draft */
export class Trial {
  /** @param {View} view
   * @param {PageContext} at
   * @param {Draft} draft */
  constructor(view, at, draft) {
    this.view = view;
    this.at = at;
    this.draft = draft;
    at.events.lost = draft.lost;
  }

  /** Write the draft; resolves when it is on disk. */
  keep() {
    this.draft.lost = this.at.events.lost;
    return this.at.draft.write(this.draft);
  }

  /** Write the draft after a change, without waiting for the disk. */
  type() {
    return this.at.draft.type(this.draft);
  }

  /** Record whether the keyboard was used. */
  noteKeyboard() {
    this.draft.keyboard ||= byKeyboard();
  }

  /** Plays that were heard to the end. */
  get endedPlays() {
    return this.draft.plays.filter((play) => play.ended);
  }

  /** Play a sound to its end, or until the page is left, and record the play.
   * @param {string} address
   * @param {Pick<Play, "sound" | "question">} about
   * @param {(part: number) => void} moved called with the share of the sound heard so far
   * @returns {Promise<Play | null>} null if the page was left before it began */
  async play(address, about, moved) {
    const play = newPlay(about);
    const { left, sounds } = this.at;
    const buffer = await sounds.load(address);
    await sounds.wake();
    if (left.aborted) return null;
    this.beginPlay(play);
    await this.#endPlay(play, await sounds.play(buffer, left, (seconds) => {
      this.movePlay(play, seconds);
      moved(seconds / buffer.duration);
    }));
    return play;
  }

  /** Record a play from its start, here and on the server, so that it also counts if a reload
   * interrupts it or the listener resumes on another device.
   * @param {Play} play */
  beginPlay(play) {
    this.draft.plays.push(play);
    this.keep();
    this.tellPlay("play_started", play);
  }

  /** Record the progress of a play, about once per second.
   * @param {Play} play
   * @param {number} seconds */
  movePlay(play, seconds) {
    const turned = Math.floor(seconds) > Math.floor(play.seconds);
    play.seconds = seconds;
    if (turned) this.type();
  }

  /** @param {Play} play
   * @param {PlayResult} result */
  async #endPlay(play, { underruns, ...result }) {
    Object.assign(play, result);
    this.tellPlay("play_ended", play);
    this.countUnderruns(underruns);
    await this.keep();
  }

  /** Report a play to the server at once.
   * @param {"play_started" | "play_paused" | "play_ended"} kind
   * @param {Play} play */
  tellPlay(kind, { question, sound, started, seconds, ended }) {
    this.at.events.tell(kind, { page: this.view.name, question, sound, started, seconds, ended });
    this.at.events.flush();
  }

  /** @param {number} count */
  countUnderruns(count) {
    this.draft.underruns += count;
    if (count) this.at.events.tell("underrun", { count });
  }

  /** Report to the server why a sound could not be played.
   * @param {any} error */
  tellFailure(error) {
    this.at.events.tell("sound", { told: error.name, why: String(error.cause?.message ?? error.message) });
  }

  /** Answer the page, with metadata about how it was answered.
   * @param {Values} values
   * @param {Record<string, unknown>} more */
  finish(values, more = {}) {
    const { plays, shown, underruns, keyboard } = this.draft;
    const { latency, rate } = this.view.sounds.length ? this.at.sounds.facts : { latency: null, rate: null };
    this.at.answer(values, { plays, shown, latency, rate, focus_lost: this.at.events.lost, underruns, keyboard, ...more });
  }
}

/** A play that starts now.
 * @param {Pick<Play, "sound" | "question">} about
 * @returns {Play} */
export function newPlay(about) {
  return { ...about, started: new Date().toISOString(), seconds: 0, ended: false };
}
