// Data that must survive a reload, in IndexedDB: unsent answers and drafts. If the browser cannot
// store them, they are kept in memory, and listeners are warned when they leave the page.

/** @import { Store, StoredRecord } from "./types.d.ts" */

const NAME = "earwitness";
const STORES = ["waiting", "drafts"];

/** @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>} */
const wait = (request) =>
  new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });

function opened() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => {
    for (const name of STORES) request.result.createObjectStore(name, { keyPath: "key" });
  };
  return wait(request);
}

/** An object store on disk. */
class OnDisk {
  /** @param {IDBDatabase} base
   * @param {string} name */
  constructor(base, name) {
    this.base = base;
    this.name = name;
  }

  /** @template T
   * @param {IDBTransactionMode} mode
   * @param {(store: IDBObjectStore) => IDBRequest<T>} act
   * @param {IDBTransactionDurability} durability */
  async #within(mode, act, durability = "strict") {
    const transaction = this.base.transaction(this.name, mode, { durability });
    const whole = new Promise((done, failed) => {
      transaction.oncomplete = () => done(undefined);
      transaction.onerror = transaction.onabort = () => failed(transaction.error);
    });
    const found = await wait(act(transaction.objectStore(this.name)));
    await whole;
    return found;
  }

  /** @type {Store["put"]} */
  put = (record, durability) => this.#within("readwrite", (store) => store.put(record), durability);
  /** @type {Store["get"]} */
  get = (key) => this.#within("readonly", (store) => store.get(key));
  all = () => this.#within("readonly", (store) => store.getAll());
  /** @type {Store["delete"]} */
  delete = (key) => this.#within("readwrite", (store) => store.delete(key));
}

/** An object store in memory. */
class InMemory {
  /** @type {Map<string, StoredRecord>} */
  records = new Map();
  /** @type {Store["put"]} */
  put = async (record) => void this.records.set(record.key, structuredClone(record));
  /** @type {Store["get"]} */
  get = async (key) => this.records.get(key);
  all = async () => [...this.records.values()];
  /** @type {Store["delete"]} */
  delete = async (key) => void this.records.delete(key);
}

/** Open both stores; `lasting` is false if they are only in memory.
 * @returns {Promise<{ waiting: Store, drafts: Store, lasting: boolean }>} */
export async function openStorage() {
  try {
    const base = await opened();
    base.onversionchange = () => base.close();
    const [waiting, drafts] = STORES.map((name) => new OnDisk(base, name));
    await waiting.all();
    return { waiting, drafts, lasting: true };
  } catch {
    return { waiting: new InMemory(), drafts: new InMemory(), lasting: false };
  }
}
