// Numbers as people write them: with a comma or a point, with any minus.

/** @import { Scale } from "./types.d.ts" */

const DIGITS = 6; // to which sums of steps are rounded
const NEAR = 1e-6; // of a step

const decimal = new Intl.NumberFormat(document.documentElement.lang || "en").format(0.5)[1];

/** A number as it was typed; NaN if it is none.
 * @param {string} text */
export function read(text) {
  const plain = text.trim().replace(",", ".").replace(/^[−–]\s*/, "-");
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : NaN;
}

/** Whether a text may still become a number.
 * @param {string} text */
export const begun = (text) => /^\s*[+−–-]?\s*[.,]?$/.test(text);

/** A text with the real minus before its number.
 * @param {string} text */
export const withMinus = (text) => text.replace(/^-/, "−");

/** A number as it is written in the language of the page.
 * @param {number} value */
export const shown = (value) => withMinus(String(value).replace(".", decimal));

/** @param {number} value */
const exactly = (value) => Number(value.toFixed(DIGITS)) + 0; // no −0

/** The number of a scale that is closest to a value.
 * @param {number} value
 * @param {Pick<Scale, "low" | "step">} scale */
export function stepped(value, { low, step }) {
  return exactly(low + Math.round((value - low) / step) * step);
}

/** The numbers of a scale around a value; one and the same where it is on the scale.
 * @param {number} value
 * @param {Pick<Scale, "low" | "step">} scale */
export function around(value, { low, step }) {
  const steps = (value - low) / step;
  const [below, above] = [Math.floor(steps + NEAR), Math.ceil(steps - NEAR)];
  return [below, above].map((count) => exactly(low + count * step));
}

/** Whether a value lies between the ends of a scale.
 * @param {number} value
 * @param {Pick<Scale, "low" | "high">} scale */
export const within = (value, { low, high }) => value >= low - NEAR && value <= high + NEAR;
