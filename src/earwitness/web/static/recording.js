// The recording of a text: it can be paused and is heard to its end before the answer is sent. Its
// plays are recorded from their start.

import { announce } from "./dom.js";
import { covered } from "./heard_spans.js";
import { say } from "./messages.js";
import { Player } from "./player.js";
import { addPlayed, newPlay, readDraft } from "./trial.js";

/** @import { PlayerListener } from "./player.js" */
/** @import { Trial } from "./trial.js" */
/** @import { PageContext, RecordingDraft, TrialView } from "./types.d.ts" */

/** The stored draft of a page with a recording, with defaults from `empty`.
 * @template {object} Empty
 * @param {TrialView} view
 * @param {PageContext} at
 * @param {Empty} empty
 * @returns {Promise<Empty & RecordingDraft>} */
export async function readRecordingDraft(view, at, empty) {
  const draft = await readDraft(at, { spans: null, ...empty });
  if (at.refused) {
    Object.assign(draft, { plays: [], spans: null }); // the server may have rejected the plays
    await at.draft.write(draft);
  } else addPlayed(view, draft);
  return draft;
}

export class Recording {
  asked = false; // whether the listener has tried to save

  /** The player of the first sound of a trial; `changed` is called when the whole recording was heard.
   * @param {Trial<TrialView, RecordingDraft>} trial
   * @param {() => void} changed */
  constructor(trial, changed) {
    this.trial = trial;
    this.changed = changed;
    const [sound] = trial.view.sounds;
    /** @type {Player | null} */
    this.player = sound ? this.#makePlayer(sound.address) : null;
    this.#limit();
  }

  /** @param {string} address */
  #makePlayer(address) {
    const { trial } = this;
    /** @type {PlayerListener} */
    const hears = { moved: () => this.#moved(), whole: () => this.#whole(),
      began: () => trial.beginPlay(newPlay({ sound: 0, question: "" })),
      paused: (underruns, cut) => this.#paused(underruns, cut),
      failed: (error) => trial.tellFailure(error) };
    const told = () => ({ text: say(this.#state()), bad: this.asked && !this.heard });
    return new Player(trial.at, address, { hears, told, spans: trial.draft.spans,
      leaps: !trial.view.plays, more: { "data-press": "Space" } });
  }

  get element() {
    return this.player?.element ?? null;
  }

  /** Whether the whole recording was heard, or there is none. */
  get heard() {
    return !this.trial.view.sounds.length || this.trial.endedPlays.length > 0;
  }

  /** The key of the text below the player. */
  #state() {
    if (this.heard) return "recording_heard";
    if (this.player?.skipped) return "skipped";
    return this.asked ? "hear_recording_first" : "hear_recording";
  }

  /** Say that the recording must be heard, if it was not; return whether it was. */
  check() {
    this.asked = true;
    this.player?.update();
    return this.heard;
  }

  focus() {
    this.player?.button.focus();
  }

  pause() {
    this.player?.pause();
  }

  /** The current or last play. */
  get #last() {
    return this.trial.draft.plays[this.trial.draft.plays.length - 1];
  }

  #moved() {
    const { player, trial } = this;
    if (!player?.open) return;
    trial.draft.spans = player.spans;
    trial.movePlay(this.#last, covered(player.spans));
  }

  #whole() {
    this.#last.ended = true;
    this.trial.draft.spans = null;
    this.#record("play_ended");
    this.#limit();
    this.changed();
    announce(say("recording_heard"));
  }

  /** @param {number} underruns
   * @param {boolean} cut */
  #paused(underruns, cut) {
    this.trial.countUnderruns(underruns);
    if (this.player?.open) this.#record(cut ? "play_ended" : "play_paused");
  }

  /** Report the last play to the server and save the draft.
   * @param {"play_paused" | "play_ended"} kind */
  #record(kind) {
    this.trial.tellPlay(kind, this.#last);
    this.trial.keep();
  }

  #limit() {
    const { player, trial } = this;
    if (!player) return;
    player.again = this.heard;
    player.closed = trial.view.plays > 0 && trial.endedPlays.length >= trial.view.plays;
    player.update();
  }
}
