// The spectrogram as pixels: columns are pooled to pixels, bands interpolated to rows, and levels
// coloured by a palette that people with colour blindness can read.

/** @import { Display, Piece, Range, RecordingInfo } from "../types.d.ts" */
/** @import { Frequencies } from "./axis.js" */

const MAX_PIXELS = 1_600_000;
const PALETTES = {
  viridis: "44015448186a472d7b4240863b528b33638d2c728e26828e21918c1f9f8827ad813dbc745cc86381d34daadc32d5e21afde725",
  magma: "0000040a08221d114736106b51127c6a1c818326819c2e7fb73779cf4070e55064f4695cfb8761fea571fec287fde0a1fcfdbf",
  cividis: "00224e002e6a1a386f32436d434e6c535a6d61656f6f70737d7c788b87789a9376aaa073bbad6dccba64ddc858efd748fee838",
  grey: "ffffff111111",
};
export const PALETTE_NAMES = /** @type {Display["palette"][]} */ (Object.keys(PALETTES));

/** Colour of a palette at a place from 0 to 1.
 * @param {Display["palette"]} name
 * @param {number} place
 * @returns {[number, number, number]} */
export function colourAt(name, place) {
  const anchors = PALETTES[name].match(/.{6}/g) ?? [];
  const at = Math.min(1, Math.max(0, place)) * (anchors.length - 1);
  const first = Math.min(anchors.length - 2, Math.floor(at));
  const channels = [0, 2, 4].map((from) => {
    const [low, high] = [first, first + 1].map((n) => Number.parseInt(anchors[n].slice(from, from + 2), 16));
    return Math.round(low + (high - low) * (at - first));
  });
  return /** @type {[number, number, number]} */ (channels);
}

const isLittle = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** A pixel of ImageData as one number.
 * @param {number} red
 * @param {number} green
 * @param {number} blue */
const pixel = (red, green, blue) =>
  (isLittle ? (255 << 24) | (blue << 16) | (green << 8) | red : (red << 24) | (green << 16) | (blue << 8) | 255) >>> 0;

/** The pixel of each byte of a tile; absent (0) is transparent.
 * @param {RecordingInfo} info
 * @param {Display} display
 * @param {[number, number]} range in decibels */
export function pixelTable({ byte }, { palette, gain_db: gain }, [low, high]) {
  return Uint32Array.from({ length: 256 }, (_, n) => {
    if (!n) return 0;
    const level = byte.floor_db + (n - 1) * byte.step_db + gain;
    return pixel(...colourAt(palette, (level - low) / Math.max(1, high - low)));
  });
}

/** A canvas in which a range of a recording is drawn. */
export class Picture {
  /** @type {ImageData | null} */
  #image = null;
  /** @type {Uint32Array} */
  #pixels = new Uint32Array(0);
  #pooled = new Uint8Array(0);
  /** @type {Map<string, { band: Uint16Array, mix: Uint16Array }>} */
  #rows = new Map();
  /** @type {Frequencies | null} */
  #frequencies = null;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  }

  /** Set the size in CSS pixels; large pictures on fine screens have fewer pixels than the screen.
   * @param {number} width
   * @param {number} height */
  resize(width, height) {
    const scale = Math.min(devicePixelRatio || 1, Math.sqrt(MAX_PIXELS / Math.max(1, width * height)));
    const [columns, rows] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
    if (this.#image?.width === columns && this.#image.height === rows) return;
    this.canvas.width = columns;
    this.canvas.height = rows;
    this.#image = this.context.createImageData(columns, rows);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
    this.#rows.clear();
  }

  /** Draw pieces of a range.
   * @param {Range} range
   * @param {Piece[]} pieces
   * @param {{ info: RecordingInfo, display: Display, frequencies: Frequencies, table: Uint32Array }} how */
  draw(range, pieces, { info, display, table, frequencies }) {
    const image = this.#image;
    if (!image) return;
    if (frequencies !== this.#frequencies) this.#rows.clear();
    this.#frequencies = frequencies;
    this.#pixels.fill(0);
    const { width } = image;
    const second = width / range.seconds; // pixels per second
    const first = Math.round(range.start * second); // pixels have the same borders wherever the view starts
    for (const { tile, start, end } of pieces) {
      const from = Math.max(0, Math.round(start * second) - first);
      const to = Math.min(width, Math.round(end * second) - first);
      if (to <= from) continue;
      const column = info.frame_seconds * 2 ** tile.level * second; // pixels
      const offset = first - tile.number * info.tile_columns * column;
      this.#pool(tile, from, to - from, column, offset, display.pooling === "mean");
      const bands = tile.kind === "fine" ? info.fine_bands : info.bands;
      const rows = this.#rowsOf(tile.kind === "fine" ? "fine" : "bands", bands, frequencies);
      if (tile.kind === "colour") this.#mixColours(rows, bands.length, from, to - from);
      else this.#colour(rows, table, from, to - from);
    }
    this.context.putImageData(image, 0, 0);
  }

  /** @param {string} name
   * @param {number[]} bands
   * @param {Frequencies} frequencies */
  #rowsOf(name, bands, frequencies) {
    const known = this.#rows.get(name);
    if (known) return known;
    const made = frequencies.rows(bands, this.canvas.height);
    this.#rows.set(name, made);
    return made;
  }

  /** Pool or interpolate the columns of a tile to pixels.
   * @param {Piece["tile"]} tile
   * @param {number} from the first pixel
   * @param {number} count pixels
   * @param {number} column pixels per column
   * @param {number} offset of the view, in pixels from the start of the tile
   * @param {boolean} mean */
  #pool({ bytes, rows, columns }, from, count, column, offset, mean) {
    if (this.#pooled.length < rows * count) this.#pooled = new Uint8Array(rows * count);
    const pooled = this.#pooled;
    const last = columns - 1;
    const starts = new Int32Array(count);
    const ends = new Int32Array(count); // after the last column, or 1/256 towards the next column
    for (let x = 0; x < count; x += 1) {
      const place = (offset + from + x) / column;
      if (column <= 1) {
        const start = Math.min(last, Math.max(0, Math.floor(place + 1e-6)));
        starts[x] = start;
        ends[x] = Math.min(columns, Math.max(start + 1, Math.floor(place + 1 / column + 1e-6)));
      } else {
        const middle = Math.min(last, Math.max(0, place + 0.5 / column - 0.5));
        starts[x] = Math.min(Math.max(0, last - 1), Math.floor(middle));
        ends[x] = last ? Math.round(256 * (middle - starts[x])) : 0;
      }
    }
    for (let row = 0; row < rows; row += 1) {
      const base = row * columns;
      const to = row * count;
      if (column > 1) {
        for (let x = 0; x < count; x += 1) {
          const at = base + starts[x];
          pooled[to + x] = mixed(bytes[at], last ? bytes[at + 1] : bytes[at], ends[x]);
        }
      } else if (mean) {
        for (let x = 0; x < count; x += 1) pooled[to + x] = meanOf(bytes, base + starts[x], base + ends[x]);
      } else {
        for (let x = 0; x < count; x += 1) {
          let most = bytes[base + starts[x]];
          for (let n = starts[x] + 1; n < ends[x]; n += 1) if (bytes[base + n] > most) most = bytes[base + n];
          pooled[to + x] = most;
        }
      }
    }
  }

  /** @param {{ band: Uint16Array, mix: Uint16Array }} rows
   * @param {Uint32Array} table
   * @param {number} from
   * @param {number} count */
  #colour({ band, mix }, table, from, count) {
    const pooled = this.#pooled;
    const { width, height } = this.canvas;
    for (let y = 0; y < height; y += 1) {
      const below = band[y] * count;
      const above = below + count;
      const part = mix[y];
      const to = y * width + from;
      for (let x = 0; x < count; x += 1) {
        const low = pooled[below + x];
        const high = pooled[above + x];
        if (low && high) this.#pixels[to + x] = table[low + (((high - low) * part) >> 8)];
        else if (low || high) this.#pixels[to + x] = table[low || high];
      }
    }
  }

  /** Red, green and blue are three sets of bands.
   * @param {{ band: Uint16Array, mix: Uint16Array }} rows
   * @param {number} bands
   * @param {number} from
   * @param {number} count */
  #mixColours({ band, mix }, bands, from, count) {
    const pooled = this.#pooled;
    const plane = bands * count;
    const { width, height } = this.canvas;
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < count; x += 1) {
        const below = band[y] * count + x;
        if (!pooled[below]) continue;
        const above = below + count;
        const red = mixed(pooled[below], pooled[above], mix[y]);
        const green = mixed(pooled[below + plane], pooled[above + plane], mix[y]);
        const blue = mixed(pooled[below + 2 * plane], pooled[above + 2 * plane], mix[y]);
        this.#pixels[y * width + from + x] = pixel(red, green, blue);
      }
    }
  }
}

/** @param {number} low
 * @param {number} high
 * @param {number} part in 1/256 */
function mixed(low, high, part) {
  if (!low || !high) return part < 128 ? low : high;
  return low + (((high - low) * part) >> 8);
}

/** The mean without absent bytes.
 * @param {Uint8Array} bytes
 * @param {number} from
 * @param {number} to */
function meanOf(bytes, from, to) {
  let [sum, count] = [0, 0];
  for (let n = from; n < to; n += 1) {
    sum += bytes[n];
    count += bytes[n] ? 1 : 0;
  }
  return count ? Math.round(sum / count) : 0;
}
