// Unfinished input of a page, kept over reloads and deleted when the page is answered or another one
// is shown. If the browser cannot store it, the listener can still continue. Drafts of pages that take
// long are also sent to the server, so that another device can continue.

import { ask, newId } from "./outbox.js";

/** @import { PageDraft, ServerDraft, Store } from "./types.d.ts" */

const PAUSE = 2000; // milliseconds between a change and its sending
const LATER = 10000; // the same after a failure
const REFUSED = [400, 404, 409, 413, 422]; // refusals that a retry would not change

const CHANGED = "draft_changed"; // code of a refusal

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
   * @param {ServerDraft} [server] the draft on the server; undefined if it is not to be sent
   * @param {() => unknown} changed called if another device has changed it since
   * @returns {PageDraft} */
  of(page, left, server, changed = nothing) {
    const key = this.#key(page);
    const { link, store } = this;
    let { revision = 0 } = server ?? {};
    let author = newId(); // of this browser, for one page
    /** @type {object | null} */
    let latest = null;
    let timer = 0;
    let sending = false;

    /** @param {IDBTransactionDurability} how */
    const save = (how) => store.put(/** @type {any} */ ({ key, link, data: latest, author, revision }), how).catch(nothing);

    const send = async () => {
      timer = 0;
      if (left.aborted || sending) return;
      sending = true;
      const sent = latest;
      const { status, told } = await ask(`${link}/draft`, { page, revision, data: { author, draft: sent } });
      sending = false;
      if (left.aborted) return;
      const stored = status > 0 && status < 300 && Number.isInteger(told.revision);
      if (stored) {
        revision = told.revision;
        await save("relaxed");
      }
      if (told.error?.code === CHANGED) return void changed();
      if (latest !== sent || (!stored && !REFUSED.includes(status))) later(stored ? PAUSE : LATER);
    };

    /** @param {number} pause */
    const later = (pause) => {
      if (!left.aborted) timer ||= setTimeout(send, pause);
    };

    if (server) {
      document.addEventListener("visibilitychange", () => {
        if (!document.hidden || !timer) return;
        clearTimeout(timer);
        send();
      }, { signal: left });
      left.addEventListener("abort", () => clearTimeout(timer));
    }

    /** @param {object} data
     * @param {IDBTransactionDurability} how */
    const put = async (data, how, send = Boolean(server)) => {
      if (left.aborted) return;
      latest = structuredClone(data);
      if (send) later(PAUSE);
      await save(how);
    };

    return {
      // the draft of this browser, unless another one has changed that of the server since
      read: async () => {
        const own = await store.get(key).catch(nothing);
        const isOwn = own && (server?.author === own.author || (server?.revision ?? 0) === own.revision);
        if (server?.draft && !isOwn) return server.draft;
        author = own?.author ?? author;
        return own?.data;
      },
      write: (data) => put(data, "strict"),
      type: (data) => put(data, "relaxed"), // several times per second, so do not wait for the disk
      mark: (data) => put(data, "relaxed", false),
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
