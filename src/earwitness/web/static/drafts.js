// What is half done on a page, over reloads; gone when the page is answered or another comes.

export class Drafts {
  constructor(kept, link) {
    Object.assign(this, { kept, link });
  }

  #key(page) {
    return `${this.link} ${page}`;
  }

  /** The draft of a page; once the page is left, it writes nothing more. */
  of(page, left) {
    const key = this.#key(page);
    const put = async (data, how) =>
      void (left.aborted || (await this.kept.put({ key, link: this.link, data: structuredClone(data) }, how)));
    return {
      read: async () => (await this.kept.get(key))?.data,
      write: (data) => put(data, "strict"),
      type: (data) => put(data, "relaxed"), // many a second: none waits for the disk
    };
  }

  delete(page) {
    return this.kept.delete(this.#key(page));
  }

  /** Forget the drafts of all pages but one. */
  async only(page) {
    const own = (await this.kept.all()).filter((one) => one.link === this.link);
    for (const one of own) if (one.key !== this.#key(page)) await this.kept.delete(one.key);
  }
}
