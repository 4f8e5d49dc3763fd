// Numbers as people write them: with a comma or a point, and any minus sign.

/** @import { Scale } from "./types.d.ts" */

const DIGITS = 6; // decimals to which sums of steps are rounded
const NEAR = 1e-6; // of a step

const decimal = new Intl.NumberFormat(document.documentElement.lang || "en").format(0.5)[1];

/** Parse a typed number; NaN if it is not a number.
 * @param {string} text */
export function read(text) {
  const plain = text.trim().replace(",", ".").replace(/^[−–]\s*/, "-");
  return /^[+-]?(\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : NaN;
}

/** Whether a text is the beginning of a number.
 * @param {string} text */
export const begun = (text) => /^\s*[+−–-]?\s*[.,]?$/.test(text);

/** Replace a leading hyphen with a minus sign.
 * @param {string} text */
export const withMinus = (text) => text.replace(/^-/, "−");

/** Format a number in the language of the page.
 * @param {number} value */
export const shown = (value) => withMinus(String(value).replace(".", decimal));

/** Format a number with a fixed number of decimals.
 * @param {number} value
 * @param {number} decimals */
export const shownTo = (value, decimals) => withMinus(value.toFixed(decimals).replace(".", decimal));

/** @param {number} value */
const exactly = (value) => Number(value.toFixed(DIGITS)) + 0; // no −0

/** The value of a scale that is closest to a number.
 * @param {number} value
 * @param {Pick<Scale, "low" | "step">} scale */
export function stepped(value, { low, step }) {
  return exactly(low + Math.round((value - low) / step) * step);
}

/** The values of a scale below and above a number; equal if the number is on the scale.
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
