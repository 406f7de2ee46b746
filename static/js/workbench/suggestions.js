// Suggestions: dashed marks that can be accepted one by one or all in view, or dismissed.

import { newKey } from "../lib/spans.js";
import { around } from "../lib/equal.js";

/** The suggestions that the user dismissed on this page. */
class Dismissals {
  #name;

  constructor({ user, assignment }) {
    this.#name = `factboard:dismissed:${user}:${assignment}`;
  }

  get all() {
    try {
      return new Set(JSON.parse(localStorage.getItem(this.#name) ?? "[]"));
    } catch {
      return new Set();
    }
  }

  add(name) {
    try {
      localStorage.setItem(this.#name, JSON.stringify([...this.all, name]));
    } catch {
      // Some private windows store nothing. The suggestion then returns with the next visit.
    }
  }
}

const nameOf = ({ start, end, label }) => `${start}-${end}-${label}`;

export class Suggestions {
  #desk;
  #choose;
  #dismissals;

  /** @param {(options: object) => Promise<object[] | null>} choose   the preview (choice-dialog.js) */
  constructor(desk, choose) {
    this.#desk = desk;
    this.#choose = choose;
    this.#dismissals = new Dismissals(desk.data);
  }

  /** The suggestions of the server's response that were not dismissed. */
  offered(rows) {
    const dismissed = this.#dismissals.all;
    return rows
      .map(([start, end, label, source, details = ""]) => ({ start, end, label, source, details }))
      .filter((one) => !dismissed.has(nameOf(one)));
  }

  /** The places of dismissed suggestions, for the submission. */
  get dismissed() {
    return [...this.#dismissals.all].map((name) => {
      const [, start, end, label] = /^(\d+)-(\d+)-(.*)$/s.exec(name);
      return { start: Number(start), end: Number(end), label };
    });
  }

  /** The current suggestion, or null. */
  get current() {
    const { pick } = this.#desk;
    const found = pick && this.#desk.suggestionAt(pick);
    return found && found.start === pick.start && found.end === pick.end ? found : null;
  }

  accept() {
    const { current } = this;
    if (!current) return false;
    const span = this.#spanOf(current);
    this.#desk.edit((list) => list.add(span));
    this.#desk.activate(span.key);
    return true;
  }

  dismiss() {
    const { current } = this;
    if (!current) return false;
    this.#dismissals.add(nameOf(current));
    this.#desk.dismiss(current);
    this.#desk.clear();
    return true;
  }

  async acceptVisible() {
    const desk = this.#desk;
    const { height } = desk.page.viewport;
    const inView = desk.openSuggestions.filter((one) =>
      desk.page.boxes(one).some((box) => box.bottom > 0 && box.top < height),
    );
    if (inView.length === 0) {
      desk.hint("There are no suggestions in view.");
      return;
    }
    const chosen = await this.#choose({
      title: "Accept all suggestions in view",
      places: inView.map((one) => ({ ...one, ...around(desk.page.index, one), quote: desk.quote(one.start, one.end) })),
      verb: "Accept",
    });
    if (chosen?.length) desk.edit((list) => list.addAll(chosen.map((one) => this.#spanOf(one))));
  }

  #spanOf({ start, end, label }) {
    return { key: newKey(), label, start, end, quote: this.#desk.quote(start, end) };
  }
}
