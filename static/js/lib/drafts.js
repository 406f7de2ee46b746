// What the server has not accepted yet, kept in the browser (IndexedDB) until it has.
//
// Each page load keeps a record of its own, so that two tabs never write over each other. A page takes over what
// former pages of the same person and task have left; idempotent saves make it harmless to take over too much.

const DATABASE = "factboard";
const STORE = "drafts";
/** Milliseconds from a change to its being written. */
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
  /** The newest state asked for, while another one is being written. */
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
      // Private windows may refuse to store anything; the page then warns before it is left unsaved.
      drafts.isReliable = false;
    }
    return drafts;
  }

  /** What former pages left, oldest first; from here on it is the caller's. @returns {Promise<Unsaved[]>} */
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
   * Keeps the newest state, or nothing for null. Writes one at a time; states in between are left out.
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
      // Copying thousands of spans would keep the mark that was just made from being painted.
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
