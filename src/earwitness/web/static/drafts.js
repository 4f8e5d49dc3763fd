// What is half done on a page, over reloads; gone when the page is answered or another comes. A
// browser that fails to keep it keeps nobody from going on.

const nothing = () => undefined;

export class Drafts {
  constructor(store, link) {
    Object.assign(this, { store, link });
  }

  #key(page) {
    return `${this.link} ${page}`;
  }

  /** The draft of a page; once the page is left, it writes nothing more. */
  of(page, left) {
    const key = this.#key(page);
    const put = async (data, how) => {
      const record = { key, link: this.link, data: structuredClone(data) };
      if (!left.aborted) await this.store.put(record, how).catch(nothing);
    };
    return {
      read: async () => (await this.store.get(key).catch(nothing))?.data,
      write: (data) => put(data, "strict"),
      type: (data) => put(data, "relaxed"), // many a second: none waits for the disk
    };
  }

  delete(page) {
    return this.store.delete(this.#key(page)).catch(nothing);
  }

  /** Forget the drafts of all pages but one. */
  async only(page) {
    const own = ((await this.store.all().catch(nothing)) ?? []).filter((one) => one.link === this.link);
    for (const one of own) if (one.key !== this.#key(page)) await this.store.delete(one.key).catch(nothing);
  }
}
