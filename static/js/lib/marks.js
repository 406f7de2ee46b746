// Paints the spans of a page as one Highlight per label, and updates only changed ones.
//
// Each change makes the browser lay out all ranges of all highlights again, so the cost of an edit grows with the
// number of ranges. On a page with thousands of spans, only those near the viewport are therefore highlighted;
// scrolling updates them.

/** Up to this number, all spans are painted. */
const ALL = 400;
/** Painted height above and below the viewport, in heights of the viewport. */
const AROUND = 1;
/** Priorities above those of labels; the last is on top. */
const ABOVE = { suggested: 1, pick: 2, active: 3 };

export class Marks {
  #page;
  #nameOf;
  #spans = [];
  /** The painted range of each span object, and the highlight it is in. */
  #painted = new Map();
  #scheduled = false;

  /** @param {import("./page.js").Page} page @param {(label: string) => string} nameOf */
  constructor(page, nameOf) {
    this.#page = page;
    this.#nameOf = nameOf;
    page.whenScrolled(() => this.#follow());
  }

  /** Shows these spans, which must be sorted and not overlap. */
  set(spans) {
    this.#spans = spans;
    this.#paint();
  }

  #paint() {
    const wanted = new Set(this.#inReach());
    for (const [span, { highlight, range }] of this.#painted) {
      if (wanted.delete(span)) continue;
      highlight.delete(range);
      this.#painted.delete(span);
    }
    for (const span of wanted) {
      const highlight = this.#page.highlight(this.#nameOf(span.label), ABOVE[this.#nameOf(span.label)]);
      const range = this.#page.range(span.start, span.end);
      highlight.add(range);
      this.#painted.set(span, { highlight, range });
    }
  }

  #inReach() {
    if (this.#spans.length <= ALL) return this.#spans;
    const { height } = this.#page.viewport;
    const first = this.#countAbove(-AROUND * height);
    const last = this.#countAbove((1 + AROUND) * height);
    return this.#spans.slice(first, last);
  }

  /** The number of spans above a height of the viewport, assuming that text runs from top to bottom. */
  #countAbove(y) {
    let low = 0;
    let high = this.#spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { start, end } = this.#spans[middle];
      if (this.#page.range(start, end).getBoundingClientRect().bottom < y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #follow() {
    if (this.#scheduled || this.#spans.length <= ALL) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#paint();
    });
  }
}

/** Marks of a single place, drawn above those of the labels. */
export class PlaceMark {
  #page;
  #name;

  /** @param {"active" | "pick"} name */
  constructor(page, name) {
    this.#page = page;
    this.#name = name;
  }

  /** @param {{start: number, end: number} | null} place */
  show(place) {
    const highlight = this.#page.highlight(this.#name, ABOVE[this.#name]);
    highlight.clear();
    if (place) highlight.add(this.#page.range(place.start, place.end));
  }
}
