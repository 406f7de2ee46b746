// The spans of one assignment, sorted and free of overlaps, with undo and redo without limit.
//
// Pure: no DOM, no network. Every change replaces the list and keeps the objects of the spans that stay, so
// that a former list is a former state and changes are found by identity.

/**
 * @typedef {object} Span
 * @property {string} key
 * @property {string} label
 * @property {number} start    code points of the canonical text, half open
 * @property {number} end
 * @property {string} quote
 * @property {string} [value]  only if the annotator edited it; otherwise the server derives it
 * @property {string} [sign]
 */

/** A unique key for a new span or save. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Position of the first span that ends after `offset`. */
export function firstEndingAfter(spans, offset) {
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

  /** Adds a span, or returns the spans that it overlaps. */
  add(span) {
    return this.addAll([span]);
  }

  /** Adds spans as one step, or returns the spans that they overlap. */
  addAll(spans) {
    const hindrances = spans.flatMap((span) => overlapping(this.#spans, span.start, span.end));
    if (hindrances.length === 0 && spans.length) this.#change(sorted([...this.#spans, ...spans]));
    return hindrances;
  }

  remove(key) {
    if (this.find(key)) this.#change(this.#spans.filter((span) => span.key !== key));
  }

  /** Changes the label and drops an edited value, which may not fit the new label. */
  relabel(key, label) {
    if (this.find(key)?.label === label) return;
    this.#replaceOne(key, ({ value, sign, ...span }) => ({ ...span, label }));
  }

  /** Moves the borders, or returns the spans in the way. */
  resize(key, { start, end, quote }) {
    const hindrances = overlapping(this.#spans, start, end).filter((span) => span.key !== key);
    if (hindrances.length === 0) {
      this.#replaceOne(key, ({ value, sign, ...span }) => ({ ...span, start, end, quote }));
    }
    return hindrances;
  }

  /** Sets an edited value and sign; null lets the server derive them. */
  setValue(key, own) {
    this.#replaceOne(key, ({ value, sign, ...span }) => ({ ...span, ...own }));
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

  /** Replaces all spans as one step that can be undone. */
  replace(spans) {
    this.#change(sorted(spans));
  }

  #replaceOne(key, change) {
    this.#change(sorted(this.#spans.map((span) => (span.key === key ? change(span) : span))));
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
