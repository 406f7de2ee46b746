// Keeps unsaved work in the browser (IndexedDB) until the server has accepted it.
//
// Each page load has its own record, so that two tabs never overwrite each other. A page takes over the records of
// former pages of the same user and task; saves are idempotent, so taking over too much is harmless.

const DATABASE = "factboard";
const STORE = "drafts";
/** Milliseconds between a change and its write. */
const LAG = 30;

/** @typedef {import("./saver.js").Unsaved} Unsaved */

function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(STORE, { keyPath: "id" }).createIndex("owner", ["user", "assignment"]);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("the local store is in use by an older page"));
  });
}

function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export class Drafts {
  #database;
  #owner;
  #id;
  /** The newest state that is not written yet. */
  #next = undefined;
  #writing = null;
  isReliable = true;

  /** @param {{user: number, assignment: number, id: string, text_sha256: string}} owner */
  static async open({ id, ...owner }) {
    const drafts = new Drafts();
    drafts.#owner = owner;
    drafts.#id = id;
    try {
      drafts.#database = await open();
    } catch {
      // Private windows may refuse to store anything. The page then warns before it is left.
      drafts.isReliable = false;
    }
    return drafts;
  }

  /** The records of former pages, oldest first. The caller must save and forget them. @returns {Promise<Unsaved[]>} */
  async takeOver() {
    if (!this.isReliable) return [];
    const { user, assignment } = this.#owner;
    const found = await done(this.#store("readonly").index("owner").getAll([user, assignment]));
    return found
      .filter((draft) => draft.id !== this.#id)
      .sort((a, b) => a.kept_at - b.kept_at);
  }

  async forget(id) {
    if (this.isReliable) await done(this.#store("readwrite").delete(id));
  }

  /**
   * Stores the newest state, or deletes the record for null. Skips states while a write is under way.
   * @returns {Promise<void>} when this state or a newer one is written
   */
  keep(unsaved) {
    if (!this.isReliable) return Promise.resolve();
    this.#next = unsaved;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  async #write() {
    try {
      // Delayed, so that copying thousands of spans does not delay painting the new mark.
      await new Promise((resolve) => setTimeout(resolve, LAG));
      while (this.#next !== undefined) {
        const unsaved = this.#next;
        this.#next = undefined;
        const store = this.#store("readwrite");
        if (unsaved) await done(store.put({ ...unsaved, ...this.#owner, id: this.#id, kept_at: Date.now() }));
        else await done(store.delete(this.#id));
      }
    } catch {
      this.isReliable = false;
    }
  }

  #store(mode) {
    return this.#database.transaction(STORE, mode).objectStore(STORE);
  }
}
