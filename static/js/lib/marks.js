// The marks of spans on a page: one Highlight per label, changed only where something changed.
//
// After every change a browser lays out anew all ranges of all highlights, so what an edit costs grows with the
// number of ranges and not with the edit. On a page with thousands only those in and around the view are
// therefore in the highlights; the others follow as the page is scrolled.

/** Up to so many spans all are painted at once. */
const ALL = 400;
/** How much more than the view is painted above and below it, in heights of the view. */
const AROUND = 1;
/** Drawn over the labels' marks, the last on top. */
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

  /** Shows these spans, sorted and free of overlaps; what is painted already is left alone. */
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

  /** How many spans lie above a height of the view. Text order is taken for the order from top to bottom. */
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
