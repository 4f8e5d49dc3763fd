// What must outlive a reload, in IndexedDB: answers on their way, and what is half done.
// Where the browser keeps nothing, memory does, and whoever leaves the page is warned.

const NAME = "earwitness";
const STORES = ["waiting", "drafts"];

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

/** One store on disk. */
class OnDisk {
  constructor(base, name) {
    this.base = base;
    this.name = name;
  }

  async #within(mode, act, durability = "strict") {
    const transaction = this.base.transaction(this.name, mode, { durability });
    const whole = new Promise((done, failed) => {
      transaction.oncomplete = done;
      transaction.onerror = transaction.onabort = () => failed(transaction.error);
    });
    const found = await wait(act(transaction.objectStore(this.name)));
    await whole;
    return found;
  }

  put = (record, how) => this.#within("readwrite", (store) => store.put(record), how);
  get = (key) => this.#within("readonly", (store) => store.get(key));
  all = () => this.#within("readonly", (store) => store.getAll());
  delete = (key) => this.#within("readwrite", (store) => store.delete(key));
}

/** The same in memory. */
class InMemory {
  records = new Map();
  put = async (record) => void this.records.set(record.key, structuredClone(record));
  get = async (key) => this.records.get(key);
  all = async () => [...this.records.values()];
  delete = async (key) => void this.records.delete(key);
}

/** Both stores; `lasting` is false where only memory is left. */
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
