// Types of server replies and of data shared by the scripts of listeners' pages.
// Checked by `make types`; not sent to browsers.

import type { Events } from "./events.js";
import type { Sounds } from "./sound.js";
import type { Volume } from "./volume.js";

// --- The state of a listener ---

export interface State {
  page?: View | null;
  /** Pages answered, and all pages before the end. */
  progress?: [done: number, all: number];
  minutes?: number;
  rest?: { until: string; seconds: number } | null;
  ahead?: string[];
  level?: number | null;
  /** Common sample rate of the audio files; 0 if they differ. */
  rate?: number;
  answered?: number;
  done?: boolean;
  code?: string | null;
  service?: boolean; // whether the listener came with the id of a recruitment service
  blocked?: boolean;
  withdrawn?: boolean;
  ineligible?: { title: string; text: string; code: string | null } | null;
  results?: { title: string; rows: { label: string; count: number }[] }[] | null;
  /** Why a person has no place in the test: "full", "crowded", "started" or "lapsed". */
  shut?: string;
}

/** A reply of the server; status 0 if there was none. */
export interface Reply {
  status: number;
  told: any;
}

/** Why a page cannot be shown, or an answer cannot be sent. */
export type Fault = "" | "unreachable" | "not_here" | "failed";

// --- Views of pages ---

export interface View {
  kind: string;
  name: string;
  title: string;
  text?: string;
  renderer?: string;
  sounds?: SoundView[];
  recording?: RecordingView;
  progress?: [number: number, count: number];
  /** Whether drafts are sent to the server, and the last one that it has. */
  keeps_draft?: boolean;
  draft?: ServerDraft;
}

/** A draft as a browser has sent it, and how often drafts were saved. */
export interface ServerDraft {
  author?: string;
  draft?: object;
  revision?: number;
}

/** The long recording of a trial, and how it is shown. */
export interface RecordingView {
  address: string;
  display: Partial<Display>;
}

export interface SoundView {
  address: string;
  label: string;
}

export interface ChoiceOption {
  value: string | number | boolean;
  label: string;
}

interface QuestionView {
  name: string;
  prompt: string;
  sound?: number;
  needed?: boolean;
}

export interface ChoiceQuestion extends QuestionView {
  answer: "choice";
  options: ChoiceOption[];
}

export interface TypedQuestion extends QuestionView {
  answer: "number" | "text";
}

export interface ConsentView extends View {
  questions: ChoiceQuestion[];
}

export interface FormView extends View {
  definitions?: string;
  questions: (ChoiceQuestion | TypedQuestion)[];
}

export interface FeedbackView extends View {
  rows: { prompt: string; given: string; expected?: string | null }[];
}

export type DeviceStep = "level" | "sides" | "huggins" | "antiphase";

export interface DeviceView extends View {
  steps: DeviceStep[];
  trials: Partial<Record<DeviceStep, number[]>>;
}

export interface HearingView extends View {
  sounds: SoundView[];
  triplets: number[][];
}

export interface Scale {
  low: number;
  high: number;
  step: number;
}

export interface Dimension extends Scale {
  name: string;
  title: string;
  role: string;
  help: string;
  anchors: { value: number; shown: string; text: string }[];
}

export interface WorkedExample {
  heard: string;
  caption: string;
  values: { title: string; shown: string }[];
  total: string;
  comment: string;
  sound?: number;
}

export interface ExamplesView extends View {
  rubric: string;
  formula: string;
  dimensions: Dimension[];
  examples: WorkedExample[];
}

export interface TrialView extends View {
  sounds: SoundView[];
  plays: number;
  played?: Play[];
}

export interface SingleView extends TrialView {
  questions: ChoiceQuestion[];
}

/** Two sounds, or two and X, with one question. */
export interface PairView extends TrialView {
  restart: boolean;
  questions: ChoiceQuestion[];
}

export interface SliderQuestion extends QuestionView, Scale {
  answer: "slider";
  /** Labels from the upper end of the scale down. */
  labels?: string[];
  caption: number;
  dimension: string;
}

export interface TextQuestion extends QuestionView {
  answer: "text";
  caption: number;
}

export interface CaptionView {
  label: string;
  text: string;
}

export interface RubricView extends TrialView {
  rubric: string;
  captions: CaptionView[];
  dimensions: Dimension[];
  questions: (SliderQuestion | TextQuestion | ChoiceQuestion)[];
}

export interface MushraView extends TrialView {
  restart: boolean;
  questions: SliderQuestion[];
}

/** A transcript, of which words are kept; `times` is empty if words are not highlighted. */
export interface WordsView extends TrialView {
  words: string[];
  times: [start: number, end: number][];
  target: { low: number; aim: number; high: number; enforced: boolean };
  questions: QuestionView[];
}

export interface ReadingQuestion extends ChoiceQuestion {
  caption: number;
}

/** An original and its summaries, one question each. */
export interface ReadingView extends TrialView {
  text: string;
  prompt: string;
  captions: CaptionView[];
  questions: ReadingQuestion[];
}

/** Skims of a recording; `axes` are titles by name, one or both of TC and SD. */
export interface PlaneView extends TrialView {
  definitions: string;
  axes: Record<string, string>;
  explore_minutes: number;
  /** Number of parts of the recording that have a note. */
  hours: number | null; // null: one per hour
  points: number;
  point_seconds: number;
  questions: SliderQuestion[];
}

/** Feedback after a practice trial; rows are in the order of skims, then of axes. */
export interface PlaneFeedbackView extends FeedbackView {
  definitions: string;
  axes: Record<string, string>;
}

export interface PlaneExamplesView extends View {
  definitions: string;
  sounds: SoundView[];
  axes: Record<string, string>;
  placed: { label: string; TC: number; SD: number; reason: string }[];
}

// --- Context and answers of a page ---

export type Values = Record<string, unknown>;

export interface PageContext {
  answer(values: Values, meta?: Record<string, unknown>): unknown;
  again(): unknown;
  sounds: Sounds;
  events: Events;
  volume: Volume;
  state: State;
  /** Aborted when the page is left. */
  left: AbortSignal;
  draft: PageDraft;
  /** Whether the server refused the last answer to this page. */
  refused: boolean;
}

export interface PageDraft {
  read(): Promise<any>;
  /** Resolves when it is on disk. */
  write(data: object): Promise<void>;
  /** The same without waiting for the disk. */
  type(data: object): Promise<void>;
  /** The same for what the listener has not changed: it is not sent. */
  mark(data: object): Promise<void>;
}

export interface Play {
  sound: number;
  question: string;
  started: string;
  seconds: number;
  ended: boolean;
}

export interface PlayResult {
  started?: string;
  seconds: number;
  ended: boolean;
  underruns: number;
}

export interface TrialDraft {
  plays: Play[];
  underruns: number;
  lost: number;
  keyboard: boolean;
  shown: string;
}

export interface SingleDraft extends TrialDraft {
  values: Values;
  /** The choice of the open question. */
  chosen: ChoiceOption["value"] | null;
  comment: string;
}

export interface PairDraft extends TrialDraft {
  chosen: ChoiceOption["value"] | null;
  comment: string;
  /** Parts of each sound that were heard in its current play. */
  spans: Span[][];
}

export interface RubricDraft extends TrialDraft {
  /** Ratings, choices and comments, as text. */
  given: Record<string, string>;
  spans: Span[] | null;
}

export interface MushraDraft extends TrialDraft {
  values: Record<string, number>;
  /** Parts of each sound that were heard in its unfinished play. */
  spans: Span[][];
  sorted: boolean;
}

/** Input of a page with a recording; `spans` are the parts heard in the current play. */
export interface RecordingDraft extends TrialDraft {
  spans: Span[] | null;
}

export interface WordsDraft extends RecordingDraft {
  positions: number[];
}

export interface ReadingDraft extends RecordingDraft {
  values: Values;
}

export interface PlaneDraft extends TrialDraft {
  /** Coordinates by question. */
  values: Record<string, number>;
  /** Comments and notes by name. */
  notes: Record<string, string>;
  /** Parts of each skim that were heard in its unfinished play. */
  spans: (Span[] | null)[];
  /** Starts of the excerpts of the recording that were heard in the second step, in seconds. */
  points: number[];
  /** Seconds spent on the first step, and the open step. */
  explored: number;
  step: "explore" | "hours" | "place";
}

/** A part of a sound, in seconds. */
export type Span = [start: number, end: number];

// --- Data stored in the browser ---

export interface Store {
  put(record: StoredRecord, durability?: IDBTransactionDurability): Promise<unknown>;
  get(key: string): Promise<any>;
  all(): Promise<any[]>;
  delete(key: string): Promise<unknown>;
}

export interface StoredRecord {
  key: string;
  link: string;
}

/** An entry that waits to be sent. */
export interface Entry extends StoredRecord {
  to: string;
  body: { id: string; [name: string]: any };
}

export interface OutboxListener {
  replied?(entry: Entry, status: number, told: any): unknown;
  changed?(count: number, fault: Fault): void;
  emptied?(): unknown;
}

// --- Recordings that are browsed ---

/** A recording, as the server describes it; times are seconds on its clock. */
export interface RecordingInfo {
  name: string;
  seconds: number;
  /** Date and time of the start; null if unknown: times are then elapsed times. */
  began: string | null;
  rate: number;
  channels: number;
  digest: string;
  /** UTC offsets in seconds, each from a time on. */
  offsets: [from: number, offset: number][];
  /** What was recorded; the rest are gaps. */
  stretches: [start: number, seconds: number, file: string][];
  /** Starts of passages that cannot be read. */
  damages: number[];
  notes: string[];
  state: "building" | "ready" | "failed";
  message: string;
  /** Seconds from the start that are indexed. */
  done: number;
  checked: number;
  tile_columns: number;
  frame_seconds: number;
  levels: number;
  fine_levels: number;
  bands: number[];
  fine_bands: number[];
  byte: { floor_db: number; step_db: number; absent: number };
  range_db: [low: number, high: number];
  colour_levels: number[];
  overlays: Overlay[];
  speech: "keep" | "reverse" | "mute";
  display: Partial<Display> | null;
}

export interface Overlay {
  name: string;
  kind: "picks" | "labels";
  spans: [start: number, seconds: number, text: string][];
}

/** A label or pick of an overlay. */
export interface Label {
  start: number;
  seconds: number;
  text: string;
  overlay: number;
  lane: number;
}

export interface Display {
  pooling: "max" | "mean";
  view: "levels" | "colour";
  frequency: "mel" | "log" | "linear";
  gain_db: number;
  range_db: [low: number, high: number] | null;
  palette: "viridis" | "magma" | "cividis" | "grey";
}

export type TileKind = "mean" | "max" | "fine" | "colour";

/** A tile; each byte is one more than the server's, so that 0 is absent. */
export interface Tile {
  kind: TileKind;
  level: number;
  number: number;
  rows: number;
  columns: number;
  bytes: Uint8Array;
  complete: boolean;
}

export interface TileName {
  kind: TileKind;
  level: number;
  number: number;
}

/** A part of the time axis and the tile that is drawn there. */
export interface Piece {
  tile: Tile;
  start: number;
  end: number;
}

/** The visible part of a recording, in seconds. */
export interface Range {
  start: number;
  seconds: number;
}

export type NavigatorEvent =
  /** `seconds` were heard from `start` on; `end` is the end of the part, which may have been repeated. */
  | { name: "played"; start: number; seconds: number; end: number }
  | { name: "viewed"; start: number; seconds: number }
  /** Display settings were changed. */
  | { name: "displayed"; start: number; seconds: number }
  /** Playback was requested. */
  | { name: "started"; start: number; seconds: number };

/** What a trial adds to its long recording. */
export interface RecordingHooks {
  /** Seconds that a click plays; undefined: to the end. */
  clickSeconds?(): number | undefined;
  /** Called when sound of the recording has ended. */
  played?(start: number, seconds: number): void;
}

export interface NavigatorOptions {
  /** Address of the recording, without a slash at the end. */
  address: string;
  /** Display settings; those of the server have priority. */
  display?: Partial<Display>;
  /** Whether display settings can be changed. */
  controls?: boolean;
  /** Texts that replace the English ones. */
  wording?: Record<string, string>;
  onEvent?: (event: NavigatorEvent) => unknown;
  /** Seconds that a click plays; undefined: to the end. */
  clickSeconds?: () => number | undefined;
  /** Audio context and node to play through; otherwise the component opens its own. */
  audio?: { context: BaseAudioContext; output: AudioNode };
}
