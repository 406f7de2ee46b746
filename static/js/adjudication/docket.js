// The cases of the page, the one that is looked at, and what is being asked about it. Everything else listens:
// "cases" when any changed, "current" when another is looked at, "mode" when something else is asked.

import { nextOpen } from "../lib/cases.js";
import { get, reasonOf } from "../lib/http.js";

/** @typedef {import("../lib/cases.js").Case} Case */

export class Docket extends EventTarget {
  #urls;
  #narrowed;
  #queue;
  #current = null;
  /** "case": what becomes of it; "reason": why; "edit": its marks are being changed. */
  mode = "case";

  constructor(page, data) {
    super();
    this.#urls = page.urls;
    this.#narrowed = page.narrowed;
    this.#take(data);
  }

  #take(data) {
    this.data = data;
    this.cases = data.cases;
    this.#queue = new Set(data.queue);
    this.next = data.next;
  }

  /** @returns {Case | null} */
  get current() {
    return this.#current === null ? null : (this.find(this.#current) ?? null);
  }

  find(id) {
    return this.cases.find((one) => one.id === id);
  }

  get openCount() {
    return this.cases.filter((one) => one.state === "open").length;
  }

  /** The case to begin with: the first open one of the queue's order. */
  get first() {
    return this.data.queue.length ? this.find(this.data.queue[0]) : null;
  }

  /** The open case that comes next; with a filter only those that match it. */
  following(direction, { wraps = true } = {}) {
    const accepts = (one) => !this.#narrowed || this.#queue.has(one.id);
    return nextOpen(this.cases, this.current, direction, { accepts, wraps });
  }

  go(one) {
    this.#current = one?.id ?? null;
    this.ask("case");
    if (one) history.replaceState(history.state, "", `#case-${one.id}`);
    this.#tell("current");
  }

  /** @param {"case" | "reason" | "edit"} mode */
  ask(mode) {
    this.mode = mode;
    this.#tell("mode");
  }

  /** Takes over what the server says a case is now. @param {Case} one @param {string} [stage] */
  replace(one, stage) {
    this.cases = this.cases.map((before) => (before.id === one.id ? one : before));
    if (stage) this.data.stage = stage;
    this.#tell("cases");
  }

  /** Asks the server for the whole page again; answers what is wrong, or "". */
  async refresh() {
    const answer = await get(this.#urls.data + this.#urls.query);
    if (answer.status !== 200) return reasonOf(answer);
    const known = this.#queue;
    this.#take(answer.body);
    // What was opened here is to be decided here, whatever the filter says.
    for (const id of known) this.#queue.add(id);
    this.#tell("cases");
    return "";
  }

  /** A case that was opened here belongs to the queue. */
  enqueue(id) {
    this.#queue.add(id);
  }

  hint(text) {
    this.dispatchEvent(new CustomEvent("hint", { detail: text }));
  }

  #tell(name) {
    this.dispatchEvent(new Event(name));
  }
}
