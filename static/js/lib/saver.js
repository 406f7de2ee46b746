// Saves the newest state, one request at a time, and retries failed saves.
//
// A save names the revision from which it was edited. The server refuses it if another tab saved meanwhile; the user
// then chooses a version. `keep` receives all unsaved work with every change, so that it survives the page.

/**
 * @typedef {import("./spans.js").Span} Span
 * @typedef {"saved" | "dirty" | "saving" | "offline" | "conflict" | "refused"} SaveState
 * @typedef {{status: number, body: any}} Answer   status 0: no connection
 * @typedef {{base_revision: number, save_key: string, spans: Span[], active_seconds: number}} Save
 *
 * @typedef {object} Unsaved       the work to keep
 * @property {number} revision     the newest revision known to be accepted
 * @property {Span[]} base         the spans of that revision
 * @property {Save | null} pending the save under way or failed
 * @property {Span[] | null} spans the newest spans, when they are not all in `pending`
 */

const PAUSE = 600;
const RETRY = [1000, 2000, 5000];

export class Saver {
  #parts;
  #failures = 0;
  #running = null;
  #timer = null;
  /** The save under way or failed. It is sent again with the same key, so that it counts once. */
  #pending = null;
  #dirty = false;

  /**
   * @param {object} parts
   * @param {number} parts.revision           the revision the page was loaded with
   * @param {Span[]} parts.base               the spans of that revision
   * @param {() => Span[]} parts.snapshot     the current spans
   * @param {(save: Save) => Promise<Answer>} parts.send
   * @param {(state: SaveState, detail?: any) => void} parts.report
   * @param {(unsaved: Unsaved | null) => Promise<void> | void} [parts.keep]    null: the server has everything
   * @param {() => number} [parts.takeSeconds]   active time since the last call
   * @param {() => string} parts.newKey
   * @param {(work: () => void, ms: number) => any} [parts.later]
   */
  constructor({ revision, base = [], ...parts }) {
    this.#parts = {
      keep: () => {},
      takeSeconds: () => 0,
      later: (work, ms) => setTimeout(work, ms),
      ...parts,
    };
    this.revision = revision;
    this.base = base;
    this.state = "saved";
  }

  /** Schedules a save after a change. */
  touch() {
    this.#dirty = true;
    this.#keep();
    if (this.state === "conflict") return;
    this.#setState("dirty");
    this.#schedule(PAUSE);
  }

  /** Continues the work of a former page. Resolves when it is stored. @param {Unsaved} unsaved */
  resume({ revision, base, pending, spans }) {
    this.revision = revision;
    this.base = base;
    this.#pending = pending;
    this.#dirty = spans !== null;
    this.#setState("dirty");
    this.#schedule(0);
    return this.#keep();
  }

  /** Saves at once. Resolves to whether everything is saved. */
  async flush() {
    while (this.hasUnsaved) {
      if (this.state === "conflict") return false;
      await this.#run();
      if (this.state === "offline" || this.state === "refused") return false;
    }
    return this.state !== "conflict";
  }

  /** Retries a failed save, because the connection is back. */
  retry() {
    if (this.hasUnsaved && this.state !== "conflict") this.#run();
  }

  /** Continues from the server's revision after the user chose a version. */
  resolve(revision, base, { keepMine }) {
    this.revision = revision;
    this.base = base;
    this.#pending = null;
    this.#dirty = keepMine;
    this.#keep();
    this.#setState(keepMine ? "dirty" : "saved");
    if (keepMine) this.#schedule(0);
  }

  get hasUnsaved() {
    return this.#dirty || this.#pending !== null;
  }

  #schedule(ms) {
    if (this.#timer !== null) return;
    this.#timer = this.#parts.later(() => {
      this.#timer = null;
      this.#run();
    }, ms);
  }

  #run() {
    this.#running ??= this.#save().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #save() {
    if (!this.hasUnsaved || this.state === "conflict") return;
    if (this.#pending === null) {
      this.#pending = {
        base_revision: this.revision,
        save_key: this.#parts.newKey(),
        spans: this.#parts.snapshot(),
        active_seconds: this.#parts.takeSeconds(),
      };
      this.#dirty = false;
    }
    // Stored before it is sent, so that the next page knows the key of a save that may have arrived.
    await this.#keep();
    this.#setState("saving");
    this.#take(await this.#parts.send(this.#pending));
  }

  #take({ status, body }) {
    if (status === 200) this.#accepted(body);
    else if (status === 409) this.#setState("conflict", body);
    else if (status === 0 || status >= 500 || status === 429) this.#failed();
    else this.#refused(body, status);
  }

  #accepted(body) {
    this.revision = body.revision;
    this.base = this.#pending.spans;
    this.#pending = null;
    this.#failures = 0;
    this.#keep();
    this.#parts.report("accepted", body);
    if (this.#dirty) {
      this.#setState("dirty");
      this.#schedule(PAUSE);
    } else {
      this.#setState("saved", body);
    }
  }

  #failed() {
    this.#setState("offline");
    this.#schedule(RETRY[Math.min(this.#failures, RETRY.length - 1)]);
    this.#failures += 1;
  }

  /** The server never accepts this state. It stays unsaved until the user changes something. */
  #refused(body, status) {
    this.#pending = null;
    this.#dirty = true;
    this.#keep();
    this.#setState("refused", { ...body, status });
  }

  #keep() {
    const { keep, snapshot } = this.#parts;
    if (!this.hasUnsaved) return keep(null);
    const spans = this.#dirty ? snapshot() : null;
    return keep({ revision: this.revision, base: this.base, pending: this.#pending, spans });
  }

  #setState(state, detail) {
    this.state = state;
    this.#parts.report(state, detail);
  }
}
