// Counts the seconds in which a user was active, without pauses and hidden pages.

/** Milliseconds without a key, click or scroll after which a user counts as idle. */
const IDLE = 60_000;

export class ActiveTime {
  #now;
  #since = null;
  #milliseconds = 0;
  #taken = 0;

  /** @param {() => number} now   milliseconds of a monotonic clock */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Records an act of the user. The time since the last act counts unless it was a pause. */
  act() {
    const now = this.#now();
    if (this.#since !== null && now - this.#since <= IDLE) this.#milliseconds += now - this.#since;
    this.#since = now;
  }

  /** Stops counting until the next act, because the page is hidden or left. */
  pause() {
    if (this.#since !== null) this.act();
    this.#since = null;
  }

  /** Whole seconds counted so far. */
  get seconds() {
    return Math.floor(this.#milliseconds / 1000);
  }

  /** The whole seconds since the last call. */
  take() {
    const fresh = this.seconds - this.#taken;
    this.#taken = this.seconds;
    return fresh;
  }
}
