// Unfinished input of a page, kept over reloads and deleted when the page is answered or another one
// is shown. If the browser cannot store it, the listener can still continue.

/** @import { PageDraft, Store } from "./types.d.ts" */

const nothing = () => undefined;

export class Drafts {
  /** @param {Store} store
   * @param {string} link */
  constructor(store, link) {
    this.store = store;
    this.link = link;
  }

  /** @param {string | null | undefined} page */
  #key(page) {
    return `${this.link} ${page}`;
  }

  /** The draft of a page; after the page is left, it is no longer written.
   * @param {string} page
   * @param {AbortSignal} left
   * @returns {PageDraft} */
  of(page, left) {
    const key = this.#key(page);
    /** @param {object} data
     * @param {IDBTransactionDurability} how */
    const put = async (data, how) => {
      const record = { key, link: this.link, data: structuredClone(data) };
      if (!left.aborted) await this.store.put(record, how).catch(nothing);
    };
    return {
      read: async () => (await this.store.get(key).catch(nothing))?.data,
      write: (data) => put(data, "strict"),
      type: (data) => put(data, "relaxed"), // several times per second, so do not wait for the disk
    };
  }

  /** @param {string} page */
  delete(page) {
    return this.store.delete(this.#key(page)).catch(nothing);
  }

  /** Delete the drafts of all pages except one.
   * @param {string | null | undefined} page */
  async only(page) {
    const own = ((await this.store.all().catch(nothing)) ?? []).filter((one) => one.link === this.link);
    for (const one of own) if (one.key !== this.#key(page)) await this.store.delete(one.key).catch(nothing);
  }
}
