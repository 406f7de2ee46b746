// Saves the newest state, one request at a time, and never loses the one that failed.
//
// Pure but for what it is given. A save names the revision it was made from; the server refuses it when that is
// no longer the newest (another tab saved), and the person decides. What the server has not accepted is handed to
// `keep` with every change, so that it outlives the page.

/**
 * @typedef {import("./spans.js").Span} Span
 * @typedef {"saved" | "dirty" | "saving" | "offline" | "conflict" | "refused"} SaveState
 * @typedef {{status: number, body: any}} Answer   status 0: no connection
 * @typedef {{base_revision: number, save_key: string, spans: Span[], active_seconds: number}} Save
 *
 * @typedef {object} Unsaved       what has to outlive the page
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
  /** The save that is under way or failed: sent again under the same key, so that it cannot count twice. */
  #pending = null;
  #dirty = false;

  /**
   * @param {object} parts
   * @param {number} parts.revision           the revision the page was loaded with
   * @param {Span[]} parts.base               the spans of that revision
   * @param {() => Span[]} parts.snapshot     the spans as they are now
   * @param {(save: Save) => Promise<Answer>} parts.send
   * @param {(state: SaveState, detail?: any) => void} parts.report
   * @param {(unsaved: Unsaved | null) => Promise<void> | void} [parts.keep]    null: the server has everything
   * @param {() => number} [parts.takeSeconds]   active time since it was asked last
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

  /** Something changed: save soon. */
  touch() {
    this.#dirty = true;
    this.#keep();
    if (this.state === "conflict") return;
    this.#tell("dirty");
    this.#schedule(PAUSE);
  }

  /** Goes on where a former page was cut off; the promise tells when that is kept. @param {Unsaved} unsaved */
  resume({ revision, base, pending, spans }) {
    this.revision = revision;
    this.base = base;
    this.#pending = pending;
    this.#dirty = spans !== null;
    this.#tell("dirty");
    this.#schedule(0);
    return this.#keep();
  }

  /** Saves at once; resolves to whether everything is on the server. */
  async flush() {
    while (this.hasUnsaved) {
      if (this.state === "conflict") return false;
      await this.#run();
      if (this.state === "offline" || this.state === "refused") return false;
    }
    return this.state !== "conflict";
  }

  /** The connection is back: what failed is not left waiting. */
  retry() {
    if (this.hasUnsaved && this.state !== "conflict") this.#run();
  }

  /** The person chose between two versions: go on from the server's revision. */
  resolve(revision, base, { keepMine }) {
    this.revision = revision;
    this.base = base;
    this.#pending = null;
    this.#dirty = keepMine;
    this.#keep();
    this.#tell(keepMine ? "dirty" : "saved");
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
    // Kept before it is sent: a page that is left now must know the key under which it may have arrived.
    await this.#keep();
    this.#tell("saving");
    this.#take(await this.#parts.send(this.#pending));
  }

  #take({ status, body }) {
    if (status === 200) this.#accepted(body);
    else if (status === 409) this.#tell("conflict", body);
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
      this.#tell("dirty");
      this.#schedule(PAUSE);
    } else {
      this.#tell("saved", body);
    }
  }

  #failed() {
    this.#tell("offline");
    this.#schedule(RETRY[Math.min(this.#failures, RETRY.length - 1)]);
    this.#failures += 1;
  }

  /** The server will never take this state: it stays unsaved until the person changes something. */
  #refused(body, status) {
    this.#pending = null;
    this.#dirty = true;
    this.#keep();
    this.#tell("refused", { ...body, status });
  }

  #keep() {
    const { keep, snapshot } = this.#parts;
    if (!this.hasUnsaved) return keep(null);
    const spans = this.#dirty ? snapshot() : null;
    return keep({ revision: this.revision, base: this.base, pending: this.#pending, spans });
  }

  #tell(state, detail) {
    this.state = state;
    this.#parts.report(state, detail);
  }
}
