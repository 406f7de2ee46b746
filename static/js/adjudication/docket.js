// The cases of the page, the current case, and the current step. Events: "cases" when a case changed, "current" when
// another case becomes current, "mode" when the step changed.

import { nextOpen } from "../lib/cases.js";
import { get, reasonOf } from "../lib/http.js";

/** @typedef {import("../lib/cases.js").Case} Case */

export class Docket extends EventTarget {
  #urls;
  #narrowed;
  #queue;
  #current = null;
  /** The current step. "case": choose; "reason": give a reason; "edit": change the marks. */
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

  /** The first open case of the queue. */
  get first() {
    return this.data.queue.length ? this.find(this.data.queue[0]) : null;
  }

  /** The next open case that matches the filter. */
  following(direction, { wraps = true } = {}) {
    const accepts = (one) => !this.#narrowed || this.#queue.has(one.id);
    return nextOpen(this.cases, this.current, direction, { accepts, wraps });
  }

  go(one) {
    this.#current = one?.id ?? null;
    this.ask("case");
    if (one) history.replaceState(history.state, "", `#case-${one.id}`);
    this.#emit("current");
  }

  /** @param {"case" | "reason" | "edit"} mode */
  ask(mode) {
    this.mode = mode;
    this.#emit("mode");
  }

  /** Replaces a case with its version from the server. @param {Case} one @param {string} [stage] */
  replace(one, stage) {
    this.cases = this.cases.map((before) => (before.id === one.id ? one : before));
    if (stage) this.data.stage = stage;
    this.#emit("cases");
  }

  /** Reloads the data of the page. Resolves to an error message, or "". */
  async refresh() {
    const answer = await get(this.#urls.data + this.#urls.query);
    if (answer.status !== 200) return reasonOf(answer);
    const known = this.#queue;
    this.#take(answer.body);
    // Cases that were opened on this page stay in the queue even if they do not match the filter.
    for (const id of known) this.#queue.add(id);
    this.#emit("cases");
    return "";
  }

  /** Adds a case that was opened on this page to the queue. */
  enqueue(id) {
    this.#queue.add(id);
  }

  hint(text) {
    this.dispatchEvent(new CustomEvent("hint", { detail: text }));
  }

  #emit(name) {
    this.dispatchEvent(new Event(name));
  }
}
