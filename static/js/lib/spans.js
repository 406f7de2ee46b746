// The spans of one assignment, sorted and free of overlaps, with undo and redo.
//
// Pure: no DOM, no network. Every change replaces the list, so that a former list is a former state.

/** @typedef {{key: string, label: string, start: number, end: number, quote: string}} Span */

/** A name for a new span or save that no other browser will choose. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Position of the first span that ends behind `offset`. */
function firstEndingAfter(spans, offset) {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].end <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Spans that share at least one code point with [start, end). */
export function overlapping(spans, start, end) {
  const found = [];
  for (let n = firstEndingAfter(spans, start); n < spans.length && spans[n].start < end; n += 1) {
    found.push(spans[n]);
  }
  return found;
}

/** The span that covers the character at `offset`, or null. */
export function spanAt(spans, offset) {
  return overlapping(spans, offset, offset + 1)[0] ?? null;
}

export class SpanList {
  #spans;
  #undone = [];
  #done = [];

  /** @param {Span[]} spans */
  constructor(spans) {
    this.#spans = sorted(spans);
  }

  get all() {
    return this.#spans;
  }

  get canUndo() {
    return this.#done.length > 0;
  }

  get canRedo() {
    return this.#undone.length > 0;
  }

  find(key) {
    return this.#spans.find((span) => span.key === key) ?? null;
  }

  /** Adds a span; the ones it would overlap are returned instead and nothing changes. */
  add(span) {
    const hindrance = overlapping(this.#spans, span.start, span.end);
    if (hindrance.length === 0) this.#change(sorted([...this.#spans, span]));
    return hindrance;
  }

  remove(key) {
    this.#change(this.#spans.filter((span) => span.key !== key));
  }

  relabel(key, label) {
    this.#change(this.#spans.map((span) => (span.key === key ? { ...span, label } : span)));
  }

  undo() {
    if (!this.canUndo) return;
    this.#undone.push(this.#spans);
    this.#spans = this.#done.pop();
  }

  redo() {
    if (!this.canRedo) return;
    this.#done.push(this.#spans);
    this.#spans = this.#undone.pop();
  }

  /** Takes over another version as one step that can be undone. */
  replace(spans) {
    this.#change(sorted(spans));
  }

  #change(next) {
    this.#done.push(this.#spans);
    this.#undone = [];
    this.#spans = next;
  }
}

function sorted(spans) {
  return [...spans].sort((a, b) => a.start - b.start);
}
