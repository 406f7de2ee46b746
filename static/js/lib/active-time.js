// Seconds in which a person was at work: counted from act to act, not over pauses or while the page is hidden.

/** After so long without a key, click or scroll nobody is at work. */
const IDLE = 60_000;

export class ActiveTime {
  #now;
  #since = null;
  #milliseconds = 0;
  #taken = 0;

  /** @param {() => number} now   milliseconds of a clock that never goes back */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** The person did something. A pause too long counts as none at all. */
  act() {
    const now = this.#now();
    if (this.#since !== null && now - this.#since <= IDLE) this.#milliseconds += now - this.#since;
    this.#since = now;
  }

  /** The page is hidden or left: what follows does not count until the next act. */
  pause() {
    if (this.#since !== null) this.act();
    this.#since = null;
  }

  /** Whole seconds counted so far. */
  get seconds() {
    return Math.floor(this.#milliseconds / 1000);
  }

  /** Hands out the whole seconds, each once. */
  take() {
    const fresh = this.seconds - this.#taken;
    this.#taken = this.seconds;
    return fresh;
  }
}
