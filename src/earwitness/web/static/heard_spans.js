// Parts of a sound that were heard: sorted, disjoint spans in seconds.

/** @import { Span } from "./types.d.ts" */

const LEAST = 0.03; // seconds that may be missing from a sound that counts as heard
const GAP = 0.003; // seconds of the shortest gap that is played again

/** Add a span and merge it with those it touches.
 * @param {Span[]} spans
 * @param {number} from
 * @param {number} to
 * @returns {Span[]} */
export function joined(spans, from, to) {
  const apart = spans.filter(([start, end]) => end < from || start > to);
  const touched = spans.filter(([start, end]) => end >= from && start <= to);
  /** @type {Span} */
  const whole = [Math.min(from, ...touched.map(([start]) => start)), Math.max(to, ...touched.map(([, end]) => end))];
  return [...apart, whole].sort(([one], [other]) => one - other);
}

/** Seconds that were heard at least once.
 * @param {Span[]} spans */
export const covered = (spans) => spans.reduce((sum, [start, end]) => sum + end - start, 0);

/** Whether all of a sound was heard.
 * @param {Span[]} spans
 * @param {number} length */
export const isWhole = (spans, length) => length > 0 && length - covered(spans) <= LEAST;

/** Start of the first part that was not heard; 0 if there is none.
 * @param {Span[]} spans
 * @param {number} length */
export function firstGap(spans, length) {
  /** @type {Span[]} */
  const known = [[0, 0], ...spans];
  const found = known.find(([, end], n) => (known[n + 1]?.[0] ?? length) - end > GAP);
  return found?.[1] ?? 0;
}
