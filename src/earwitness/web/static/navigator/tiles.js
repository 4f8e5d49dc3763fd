// Tiles of the spectrogram: loaded in order of importance, kept in memory up to a limit.

/** @import { Piece, RecordingInfo, Tile, TileKind, TileName } from "../types.d.ts" */

const MAX_BYTES = 64 * 2 ** 20;
const MAX_REQUESTS = 5;
const MAX_IN_ADVANCE = 3; // requests for tiles that may be shown next
const MAX_DEPTH = 3; // levels below a missing tile that are looked for
const RETRY = 2000; // milliseconds after a failure

/** A request that failed; `code` is the server's, "unreachable" or "failed". */
export class RequestError extends Error {
  /** @param {string} code
   * @param {string} message */
  constructor(code, message = "") {
    super(message || code);
    this.code = code;
  }
}

/** Request an address; throws RequestError.
 * @param {string} address
 * @param {AbortSignal} [signal] */
export async function request(address, signal) {
  let reply;
  try {
    reply = await fetch(address, { signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestError("unreachable");
  }
  if (reply.ok) return reply;
  const told = await reply.json().catch(() => ({}));
  const { code = "failed", message = String(reply.status), remedy = "" } = told.error ?? {};
  throw new RequestError(code, remedy ? `${message}; ${remedy}` : message);
}

/** @param {TileName} name */
const keyOf = ({ kind, level, number }) => `${kind}/${level}/${number}`;

export class Tiles {
  /** @type {Map<string, Tile>} */
  #kept = new Map(); // the tile used last is the last one
  #bytes = 0;
  /** @type {Map<string, AbortController>} */
  #running = new Map();
  /** @type {Map<string, number>} */
  #failed = new Map(); // time of the last failure
  /** @type {Set<string>} */
  #stale = new Set(); // incomplete tiles that may have more by now
  /** @type {TileName[]} */
  #wanted = [];
  /** @type {TileName[]} */
  #later = [];
  #timer = 0;

  /** @param {string} address
   * @param {RecordingInfo} info
   * @param {{ loaded(isShown: boolean): void, failed(error: RequestError): void }} hears */
  constructor(address, info, hears) {
    this.address = address;
    this.info = info;
    this.hears = hears;
  }

  /** The seconds of a tile.
   * @param {number} level */
  seconds(level) {
    return this.info.tile_columns * this.info.frame_seconds * 2 ** level;
  }

  /** @param {TileName} name */
  get(name) {
    const key = keyOf(name);
    const tile = this.#kept.get(key);
    if (!tile) return null;
    this.#kept.delete(key);
    this.#kept.set(key, tile);
    return tile;
  }

  /** Whether a tile needs no request.
   * @param {TileName} name */
  has(name) {
    const key = keyOf(name);
    return this.#kept.has(key) && !this.#stale.has(key);
  }

  /** Load these tiles, the most important first; requests for others end.
   * @param {TileName[]} names
   * @param {TileName[]} later tiles that are loaded when all others are there */
  want(names, later = []) {
    this.#wanted = names.filter((name) => !this.has(name));
    this.#later = later.filter((name) => !this.has(name));
    const keys = new Set([...this.#wanted, ...this.#later].map(keyOf));
    for (const [key, running] of this.#running) if (!keys.has(key)) running.abort();
    this.#start();
  }

  /** Request incomplete tiles again. */
  refresh() {
    for (const [key, tile] of this.#kept) if (!tile.complete) this.#stale.add(key);
    this.#failed.clear();
  }

  close() {
    clearTimeout(this.#timer);
    this.#wanted = [];
    this.#later = [];
    for (const running of this.#running.values()) running.abort();
    this.#kept.clear();
  }

  #start() {
    clearTimeout(this.#timer);
    this.#startSome(this.#wanted, MAX_REQUESTS);
    const isIdle = !document.hidden && this.#wanted.every((name) => this.has(name));
    if (isIdle) this.#startSome(this.#later, MAX_IN_ADVANCE);
  }

  /** @param {TileName[]} names
   * @param {number} count */
  #startSome(names, count) {
    for (const name of names) {
      if (this.#running.size >= count) return;
      const key = keyOf(name);
      if (this.#running.has(key) || this.has(name)) continue;
      if (performance.now() - (this.#failed.get(key) ?? -Infinity) > RETRY) this.#load(name, key);
      else this.#timer = setTimeout(() => this.#start(), RETRY);
    }
  }

  /** @param {TileName} name
   * @param {string} key */
  async #load(name, key) {
    const running = new AbortController();
    this.#running.set(key, running);
    try {
      const tile = await this.#requested(name, key, running.signal);
      this.#failed.delete(key);
      this.#keep(key, tile);
      this.hears.loaded(this.#wanted.some((one) => keyOf(one) === key));
    } catch (error) {
      if (!running.signal.aborted) {
        this.#failed.set(key, performance.now());
        this.hears.failed(error instanceof RequestError ? error : new RequestError("failed", String(error)));
      }
    } finally {
      this.#running.delete(key);
      this.#start();
    }
  }

  /** @param {TileName} name
   * @param {string} key
   * @param {AbortSignal} signal
   * @returns {Promise<Tile>} */
  async #requested(name, key, signal) {
    const reply = await request(`${this.address}/tile/${this.info.digest}/${key}`, signal);
    const bytes = new Uint8Array(await reply.arrayBuffer());
    for (let n = 0; n < bytes.length; n += 1) bytes[n] += 1; // absent (255) becomes 0
    const columns = Number(reply.headers.get("X-Columns"));
    if (!columns || bytes.length % columns) throw new RequestError("failed", `tile ${key}`);
    return { ...name, bytes, columns, rows: bytes.length / columns, complete: reply.headers.get("X-Complete") !== "0" };
  }

  /** @param {string} key
   * @param {Tile} tile */
  #keep(key, tile) {
    this.#drop(key);
    this.#stale.delete(key);
    this.#kept.set(key, tile);
    this.#bytes += tile.bytes.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MAX_BYTES) break;
      this.#drop(oldest);
    }
  }

  /** @param {string} key */
  #drop(key) {
    this.#bytes -= this.#kept.get(key)?.bytes.length ?? 0;
    this.#kept.delete(key);
  }

  // --- What can be drawn ---

  /** Names of the tiles of a range.
   * @param {TileKind} kind
   * @param {number} level
   * @param {number} start
   * @param {number} end
   * @returns {TileName[]} */
  names(kind, level, start, end) {
    const seconds = this.seconds(level);
    const frames = Math.max(1, Math.round(this.info.seconds / this.info.frame_seconds)); // as the server counts
    const last = Math.ceil(frames * this.info.frame_seconds / seconds - 1e-9) - 1;
    const from = Math.max(0, Math.floor(start / seconds));
    const to = Math.min(last, Math.ceil(end / seconds) - 1);
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, n) => ({ kind, level, number: from + n }));
  }

  /** What to draw for a tile: itself, or until it is loaded the nearest coarser or finer ones.
   * @param {TileName} name
   * @param {TileKind} coarse the kind of coarser levels
   * @returns {Piece[]} */
  pieces(name, coarse) {
    const seconds = this.seconds(name.level);
    const [start, end] = [name.number * seconds, (name.number + 1) * seconds];
    const own = this.get(name);
    if (own) return [{ tile: own, start, end }];
    const finer = this.#finer(name, MAX_DEPTH);
    return [...this.#coarser(name, coarse, start, end), ...finer];
  }

  /** @param {TileName} name
   * @param {TileKind} coarse
   * @param {number} start
   * @param {number} end
   * @returns {Piece[]} */
  #coarser({ kind, level, number }, coarse, start, end) {
    for (let up = 0; level + up < this.info.levels; up += 1) {
      const place = { level: level + up, number: Math.floor(number / 2 ** up) };
      const tile = (up > 0 && this.get({ kind, ...place })) || (kind !== coarse && this.get({ kind: coarse, ...place }));
      if (tile) return [{ tile, start, end }];
    }
    return [];
  }

  /** @param {TileName} name
   * @param {number} depth
   * @returns {Piece[]} */
  #finer({ kind, level, number }, depth) {
    if (!depth) return [];
    return [2 * number, 2 * number + 1].flatMap((half) => {
      const name = { kind, level: level - 1, number: half };
      const tile = this.get(name);
      const seconds = this.seconds(level - 1);
      return tile ? [{ tile, start: half * seconds, end: (half + 1) * seconds }] : this.#finer(name, depth - 1);
    });
  }
}
