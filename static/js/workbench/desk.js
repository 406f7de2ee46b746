// The state of the workbench: the page, its spans, and the current place.
//
// The place is either a span (active) or a range of text without a label (pick). All edits and moves go through
// the desk; views listen to "spans", "place" and "facts".

import { candidatesOf, countOpen, nextOpen } from "../lib/candidates.js";
import { isSame } from "../lib/compare.js";
import { slice } from "../lib/offsets.js";
import { Marks, PlaceMark } from "../lib/marks.js";
import { overlapping, SpanList } from "../lib/spans.js";

/** @typedef {import("../lib/spans.js").Span} Span */
/** @typedef {{value: string, sign: string, edited: boolean, warnings: {code: string, message: string}[]}} Reading */

/** A span without the values that the server derived, which are its reading. */
export function spanOf({ key, label, start, end, quote, value, sign, edited }) {
  const span = { key, label, start, end, quote };
  return edited ? { ...span, value, sign } : span;
}

export class Desk extends EventTarget {
  /** The page's data. Its spans are marked at once; the caller must call `read`. */
  data;
  page;
  list;
  #marks;
  #suggestionMarks;
  #activeMark;
  #pickMark;
  /** Readings by key, each with its span. */
  #readings = new Map();
  #place = {};
  #suggestions = [];
  #candidates = [];

  constructor(data, page) {
    super();
    this.data = data;
    this.page = page;
    this.list = new SpanList([]);
    const names = new Map(data.labels.map((label) => [label.name, label.css]));
    this.#marks = new Marks(page, (label) => names.get(label) ?? "label-9");
    this.#suggestionMarks = new Marks(page, () => "suggested");
    this.#activeMark = new PlaceMark(page, "active");
    this.#pickMark = new PlaceMark(page, "pick");
    this.facts = [];
    /** Whether the server's facts have arrived. */
    this.hasFacts = false;
    this.begin(data.spans.map(spanOf));
  }

  get canEdit() {
    return !this.data.readonly;
  }

  // --- spans --------------------------------------------------------------------------------

  /** Replaces all spans by those of the server. */
  load(spans) {
    this.begin(spans.map(spanOf));
    this.read(spans, this.list.all);
  }

  /** Replaces all spans by spans without readings. @param {Span[]} spans */
  begin(spans) {
    this.list = new SpanList(spans);
    this.#show();
  }

  /** Applies one change, which can be undone. */
  edit(change) {
    if (!this.canEdit) return;
    const before = this.list.all;
    change(this.list);
    if (this.list.all === before) return;
    this.#show();
    this.#emit("edit");
  }

  #show() {
    this.#marks.set(this.list.all);
    this.#suggestionMarks.set(this.openSuggestions);
    if (this.#place.key && !this.active) this.#place = {};
    this.#showPlace();
    this.#emit("spans");
    this.#emit("place");
  }

  /** Stores the server's readings of the sent spans. */
  read(answers, sent) {
    const sentByKey = new Map(sent.map((span) => [span.key, span]));
    for (const { key, value, sign, edited, warnings = [] } of answers) {
      const of = sentByKey.get(key);
      if (of) this.#readings.set(key, { of, value, sign, edited, warnings });
    }
    this.#emit("spans");
  }

  /** The server's reading of the span, or null if the span has changed since. @returns {Reading | null} */
  readingOf(span) {
    const reading = this.#readings.get(span.key);
    return reading && isSame(reading.of, span) ? reading : null;
  }

  quote(start, end) {
    return slice(this.page.index, start, end);
  }

  // --- place ----------------------------------------------------------------------------

  /** The active span, or null. */
  get active() {
    return this.#place.key ? this.list.find(this.#place.key) : null;
  }

  /** The picked range, which has no label, or null. */
  get pick() {
    return this.#place.pick ?? null;
  }

  /** The active span or the picked range. */
  get place() {
    return this.active ?? this.pick;
  }

  activate(key, { reveal = false } = {}) {
    this.#moveTo(key ? { key } : {}, reveal);
    this.page.clearSelection();
  }

  /** Picks a range and selects its text, so that it can be copied. */
  pickRange({ start, end }, { reveal = false } = {}) {
    this.#moveTo({ pick: { start, end } }, reveal);
    this.page.select({ start, end });
  }

  clear() {
    this.#moveTo({}, false);
    this.page.clearSelection();
  }

  #moveTo(place, reveal) {
    this.#place = place;
    this.#showPlace();
    if (reveal && this.place) this.page.reveal(this.place);
    this.#emit("place");
  }

  #showPlace() {
    this.#activeMark.show(this.active);
    this.#pickMark.show(this.pick);
  }

  /** Previews borders while they are dragged. */
  preview(range) {
    this.#activeMark.show(range);
  }

  // --- facts and suggestions ----------------------------------------------------------------

  setFacts(facts, suggestions) {
    this.facts = facts;
    this.hasFacts = true;
    this.#suggestions = suggestions;
    this.#suggestionMarks.set(this.openSuggestions);
    this.#candidates = candidatesOf(facts, suggestions);
    this.#emit("facts");
  }

  get openSuggestions() {
    return this.#suggestions.filter((one) => this.#isOpen(one));
  }

  /** The suggestion that covers the place, unless a span does. */
  suggestionAt({ start, end }) {
    return overlapping(this.#suggestions, start, end).find((one) => this.#isOpen(one)) ?? null;
  }

  dismiss(suggestion) {
    const rest = this.#suggestions.filter((one) => one !== suggestion);
    this.setFacts(this.facts, rest);
  }

  nextCandidate(direction) {
    const from = this.place;
    const offset = from ? (direction > 0 ? from.end : from.start) : direction > 0 ? 0 : Infinity;
    return nextOpen(this.#candidates, this.list.all, offset, direction);
  }

  get openCandidates() {
    return countOpen(this.#candidates, this.list.all);
  }

  /** "number", "date" or "" of the fact with exactly this range. */
  kindOf({ start, end }) {
    const [fact] = overlapping(this.facts, start, end);
    return fact?.start === start && fact.end === end ? fact.kind : "";
  }

  #isOpen({ start, end }) {
    return overlapping(this.list.all, start, end).length === 0;
  }

  // --- events ------------------------------------------------------------------------------

  hint(text) {
    this.dispatchEvent(new CustomEvent("hint", { detail: text }));
  }

  #emit(name) {
    this.dispatchEvent(new Event(name));
  }
}
