// What lies on the desk: the page, its spans, and the one place that is being looked at.
//
// The place is either a span (active) or a stretch of text without a label (pick). Everything that edits or
// moves goes through here; what shows it listens to "spans", "place" and "facts".

import { candidatesOf, countOpen, nextOpen } from "../lib/candidates.js";
import { isSame } from "../lib/compare.js";
import { slice } from "../lib/offsets.js";
import { Marks, PlaceMark } from "../lib/marks.js";
import { overlapping, SpanList } from "../lib/spans.js";

/** @typedef {import("../lib/spans.js").Span} Span */
/** @typedef {{value: string, sign: string, edited: boolean, warnings: {code: string, message: string}[]}} Reading */

/** A span as the annotator made it; what the server derived from it is its reading. */
export function spanOf({ key, label, start, end, quote, value, sign, edited }) {
  const span = { key, label, start, end, quote };
  return edited ? { ...span, value, sign } : span;
}

export class Desk extends EventTarget {
  /** What the page came with; its spans are marked at once, `read` is left to the caller. */
  data;
  page;
  list;
  #marks;
  #suggestionMarks;
  #activeMark;
  #pickMark;
  /** Readings by key, each with the span it was made from. */
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
    /** Whether the server has told the facts yet. */
    this.hasFacts = false;
    this.begin(data.spans.map(spanOf));
  }

  get canEdit() {
    return !this.data.readonly;
  }

  // --- spans --------------------------------------------------------------------------------

  /** Begins anew with these spans as the server told them. */
  load(spans) {
    this.begin(spans.map(spanOf));
    this.read(spans, this.list.all);
  }

  /** Begins with spans of which the server has told no reading yet. @param {Span[]} spans */
  begin(spans) {
    this.list = new SpanList(spans);
    this.#show();
  }

  /** Does one change that can be undone; "spans" tells whether something is to be saved. */
  edit(change) {
    if (!this.canEdit) return;
    const before = this.list.all;
    change(this.list);
    if (this.list.all === before) return;
    this.#show();
    this.#tell("edit");
  }

  #show() {
    this.#marks.set(this.list.all);
    this.#suggestionMarks.set(this.openSuggestions);
    if (this.#place.key && !this.active) this.#place = {};
    this.#showPlace();
    this.#tell("spans");
    this.#tell("place");
  }

  /** Takes over what the server read from the spans that were sent. */
  read(answers, sent) {
    const sentByKey = new Map(sent.map((span) => [span.key, span]));
    for (const { key, value, sign, edited, warnings = [] } of answers) {
      const of = sentByKey.get(key);
      if (of) this.#readings.set(key, { of, value, sign, edited, warnings });
    }
    this.#tell("spans");
  }

  /** What the server read from the span as it is now; null until it has. @returns {Reading | null} */
  readingOf(span) {
    const reading = this.#readings.get(span.key);
    return reading && isSame(reading.of, span) ? reading : null;
  }

  quote(start, end) {
    return slice(this.page.index, start, end);
  }

  // --- the place ----------------------------------------------------------------------------

  /** The span that is looked at, or null. */
  get active() {
    return this.#place.key ? this.list.find(this.#place.key) : null;
  }

  /** The stretch that is looked at and has no label, or null. */
  get pick() {
    return this.#place.pick ?? null;
  }

  /** The span or stretch that is looked at. */
  get place() {
    return this.active ?? this.pick;
  }

  activate(key, { reveal = false } = {}) {
    this.#moveTo(key ? { key } : {}, reveal);
    this.page.clearSelection();
  }

  /** Looks at a stretch; it becomes the page's selection too, so that it can be copied. */
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
    this.#tell("place");
  }

  #showPlace() {
    this.#activeMark.show(this.active);
    this.#pickMark.show(this.pick);
  }

  /** Shows where borders would be while they are dragged. */
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
    this.#tell("facts");
  }

  get openSuggestions() {
    return this.#suggestions.filter((one) => this.#isOpen(one));
  }

  /** The suggestion that stands exactly here or covers the place, while no span does. */
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

  /** "number", "date" or "" of the fact that stands exactly here. */
  kindOf({ start, end }) {
    const [fact] = overlapping(this.facts, start, end);
    return fact?.start === start && fact.end === end ? fact.kind : "";
  }

  #isOpen({ start, end }) {
    return overlapping(this.list.all, start, end).length === 0;
  }

  // --- telling ------------------------------------------------------------------------------

  hint(text) {
    this.dispatchEvent(new CustomEvent("hint", { detail: text }));
  }

  #tell(name) {
    this.dispatchEvent(new Event(name));
  }
}
