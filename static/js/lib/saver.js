// Saves the newest state, one request at a time, and never loses the one that failed.
//
// Pure but for the `send`, `report` and `later` it is given. A save names the revision it was made from; the
// server refuses it when that is no longer the newest (another tab saved), and the person decides.

/**
 * @typedef {"saved" | "dirty" | "saving" | "offline" | "conflict" | "refused"} SaveState
 * @typedef {{status: number, body: any}} Answer   status 0: no connection
 */

const PAUSE = 600;
const RETRY = [1000, 2000, 5000, 10000];

export class Saver {
  #send;
  #report;
  #later;
  #newKey;
  #snapshot;
  #failures = 0;
  #running = null;
  #timer = null;
  /** The save that is under way or failed: sent again under the same key, so that it cannot count twice. */
  #pending = null;
  #dirty = false;

  /**
   * @param {object} parts
   * @param {number} parts.revision        the revision the page was loaded with
   * @param {() => object[]} parts.snapshot   the spans as they are now
   * @param {(body: object) => Promise<Answer>} parts.send
   * @param {(state: SaveState, detail?: any) => void} parts.report
   * @param {() => string} parts.newKey
   * @param {(work: () => void, ms: number) => any} parts.later
   */
  constructor({ revision, snapshot, send, report, newKey, later = (work, ms) => setTimeout(work, ms) }) {
    this.revision = revision;
    this.state = "saved";
    this.#snapshot = snapshot;
    this.#send = send;
    this.#report = report;
    this.#newKey = newKey;
    this.#later = later;
  }

  /** Something changed: save soon. */
  touch() {
    this.#dirty = true;
    if (this.state === "conflict") return;
    this.#tell("dirty");
    this.#schedule(PAUSE);
  }

  /** Saves at once; resolves to whether everything is on the server. */
  async flush() {
    while (this.#dirty || this.#pending) {
      if (this.state === "conflict") return false;
      await this.#run();
      if (this.state === "offline" || this.state === "refused") return false;
    }
    return this.state !== "conflict";
  }

  /** The person chose between two versions: go on from the server's revision. */
  resolve(revision, { keepMine }) {
    this.revision = revision;
    this.#pending = null;
    this.#dirty = keepMine;
    this.#tell(keepMine ? "dirty" : "saved");
    if (keepMine) this.#schedule(0);
  }

  get hasUnsaved() {
    return this.#dirty || this.#pending !== null;
  }

  #schedule(ms) {
    if (this.#timer !== null) return;
    this.#timer = this.#later(() => {
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
        save_key: this.#newKey(),
        spans: this.#snapshot(),
      };
      this.#dirty = false;
    }
    this.#tell("saving");
    this.#take(await this.#send(this.#pending));
  }

  #take({ status, body }) {
    if (status === 200) this.#accepted(body);
    else if (status === 409) this.#tell("conflict", body);
    else if (status === 0 || status >= 500 || status === 429) this.#failed();
    else this.#refused(body);
  }

  #accepted(body) {
    this.revision = body.revision;
    this.#pending = null;
    this.#failures = 0;
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
  #refused(body) {
    this.#pending = null;
    this.#dirty = true;
    this.#tell("refused", body);
  }

  #tell(state, detail) {
    this.state = state;
    this.#report(state, detail);
  }
}
