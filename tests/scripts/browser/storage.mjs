// What a browser keeps for all its tabs and over reloads.

export class Profile {
  stores = new Map();
  local = new Map();
  channels = new Set();
  isBlocked = false; // whether the browser lets pages store nothing
  broken = ""; // an object store of which every transaction fails

  get localStorage() {
    if (this.isBlocked) throw new Error("SecurityError");
    const { local } = this;
    return { getItem: (name) => local.get(name) ?? null, setItem: (name, value) => void local.set(name, String(value)),
      clear: () => local.clear() };
  }

  get indexedDB() {
    if (this.isBlocked) throw new Error("SecurityError");
    return { open: () => this.#open() };
  }

  #open() {
    const base = { createObjectStore: (name) => this.stores.set(name, new Map()), close() {},
      transaction: (name) => this.#transaction(name) };
    const request = { result: base };
    queueMicrotask(() => {
      if (!this.stores.size) request.onupgradeneeded();
      request.onsuccess();
    });
    return request;
  }

  #transaction(name) {
    if (name === this.broken) throw new Error("QuotaExceededError");
    const records = this.stores.get(name);
    const transaction = {};
    /** @param {() => unknown} act */
    const run = (act) => {
      const request = {};
      queueMicrotask(() => {
        request.result = structuredClone(act());
        request.onsuccess();
        queueMicrotask(() => queueMicrotask(() => transaction.oncomplete()));
      });
      return request;
    };
    const store = { put: (record) => (structuredClone(record), run(() => void records.set(record.key, structuredClone(record)))),
      get: (key) => run(() => records.get(key)), getAll: () => run(() => [...records.values()]),
      delete: (key) => run(() => void records.delete(key)) };
    return Object.assign(transaction, { objectStore: () => store });
  }
}

/** The channel between the tabs of a profile. */
export const makeChannel = (profile, clock) => class BroadcastChannel {
  constructor(name) {
    if (profile.isBlocked) throw new Error("SecurityError");
    this.name = name;
    profile.channels.add(this);
  }

  postMessage(data) {
    for (const other of profile.channels) {
      if (other !== this && other.name === this.name) clock.set(() => profile.channels.has(other) && other.onmessage?.({ data }), 1);
    }
  }

  close() {
    profile.channels.delete(this);
  }
};
