// The listener's level on this device, in decibels: kept over reloads where the browser keeps
// anything, else as long as the page is open.

export class Volume {
  /** @type {number | null} */
  #now = null;

  /** @param {string} link */
  constructor(link) {
    this.name = `earwitness level ${link}`;
  }

  /** The level; null where none was set on this device. */
  get() {
    return this.#now ?? this.#stored();
  }

  /** @param {number} decibels */
  keep(decibels) {
    this.#now = decibels;
    try {
      localStorage.setItem(this.name, String(decibels));
    } catch {
      // until the page is closed, it is known here
    }
  }

  #stored() {
    try {
      const found = localStorage.getItem(this.name);
      return found === null ? null : Number(found);
    } catch {
      return null;
    }
  }
}
