// The listener's volume on this device, in decibels: stored in the browser if possible, otherwise
// kept while the page is open.

export class Volume {
  /** @type {number | null} */
  #now = null;

  /** @param {string} link */
  constructor(link) {
    this.name = `earwitness level ${link}`;
  }

  /** The volume; null if it was not set on this device. */
  get() {
    return this.#now ?? this.#stored();
  }

  /** @param {number} decibels */
  keep(decibels) {
    this.#now = decibels;
    try {
      localStorage.setItem(this.name, String(decibels));
    } catch {
      // kept in memory until the page is closed
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
