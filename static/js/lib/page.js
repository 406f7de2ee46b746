// A document page in its sandboxed iframe: its canonical text and the places in it.
//
// Marks use the CSS Custom Highlight API of the iframe's window (marks.js). The document's DOM is never changed, so
// no mark can shift an offset.

import { bordersOf, textNodes } from "./nodes.js";
import { buildIndex, offsetOf, placeOf, trimmed } from "./offsets.js";
import { MARK_STYLES } from "./mark-styles.js";

/** WebKit delivers no events to outside listeners unless scripts are allowed; the CSP forbids them anyway. */
const isWebKit = /AppleWebKit/.test(navigator.userAgent) && !/Chrome|Chromium/.test(navigator.userAgent);

/** Height of empty space at the bottom of a page that need not be seen, in pixels. */
const BORDER = 16;

/** Loads the URL into the iframe and resolves to its page. @param {HTMLIFrameElement} frame */
export function loadPage(frame, url) {
  frame.setAttribute("sandbox", isWebKit ? "allow-same-origin allow-scripts" : "allow-same-origin");
  return new Promise((resolve, reject) => {
    frame.addEventListener(
      "load",
      () => {
        try {
          resolve(new Page(frame));
        } catch (error) {
          reject(error);
        }
      },
      { once: true },
    );
    frame.src = url;
  });
}

export class Page {
  #window;
  #nodes;
  #numberOf = new Map();
  #highlights = new Map();
  #borders = null;
  #lowest = 0;

  constructor(frame) {
    this.#window = frame.contentWindow;
    this.document = frame.contentDocument;
    this.#nodes = textNodes(this.document.body);
    this.#nodes.forEach((node, number) => this.#numberOf.set(node, number));
    this.index = buildIndex(this.#nodes.map((node) => node.data));
    this.addStyles(MARK_STYLES);
    this.whenScrolled(() => this.#look());
    this.#look();
  }

  /** Whether the end of the page has been in view. */
  get isSeen() {
    this.#look();
    return this.#lowest + 2 * BORDER >= this.document.documentElement.scrollHeight;
  }

  #look() {
    this.#lowest = Math.max(this.#lowest, this.#window.scrollY + this.#window.innerHeight);
  }

  get text() {
    return this.index.text;
  }

  /** UTF-16 units at which a new block or table cell begins. */
  get borders() {
    this.#borders ??= bordersOf(this.document.body, this.#nodes, this.index.units);
    return this.#borders;
  }

  get supportsMarks() {
    return "highlights" in (this.#window.CSS ?? {});
  }

  /** The highlight with this name, created on first use. */
  highlight(name, priority = 0) {
    let highlight = this.#highlights.get(name);
    if (!highlight) {
      highlight = new this.#window.Highlight();
      highlight.priority = priority;
      this.#window.CSS.highlights.set(name, highlight);
      this.#highlights.set(name, highlight);
    }
    return highlight;
  }

  /** Paints the spans under the names and clears all other highlights. */
  paint(groups) {
    for (const highlight of this.#highlights.values()) highlight.clear();
    for (const [name, spans] of Object.entries(groups)) {
      const highlight = this.highlight(name, name === "active" ? 1 : 0);
      for (const { start, end } of spans) highlight.add(this.range(start, end));
    }
  }

  addStyles(css) {
    const sheet = new this.#window.CSSStyleSheet();
    sheet.replaceSync(css);
    this.document.adoptedStyleSheets = [...this.document.adoptedStyleSheets, sheet];
  }

  /** The selected range, trimmed, or null if it has no text. */
  selection() {
    const selection = this.document.getSelection();
    if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
    const range = selection.getRangeAt(0);
    const start = this.#offset(range.startContainer, range.startOffset);
    const end = this.#offset(range.endContainer, range.endOffset);
    return end > start ? trimmed(this.index, start, end) : null;
  }

  select({ start, end }) {
    const range = this.range(start, end);
    this.document
      .getSelection()
      ?.setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
  }

  clearSelection() {
    this.document.getSelection()?.removeAllRanges();
  }

  /** The offset between characters nearest to a point of the iframe, or null outside the text. */
  borderAt(x, y) {
    const caret = this.#caret(x, y);
    return caret && this.#numberOf.has(caret.node) ? this.#offset(caret.node, caret.offset) : null;
  }

  /** The offset of the character under a point of the iframe, or null outside the text. */
  offsetAt(x, y) {
    const offset = this.borderAt(x, y);
    if (offset === null) return null;
    // A caret is between characters: choose the one whose box contains the point.
    for (const start of [offset - 1, offset]) {
      if (start >= 0 && this.#covers(start, x, y)) return start;
    }
    return null;
  }

  /** The boxes of a range in the iframe's viewport, one per line or cell. */
  boxes({ start, end }) {
    return Array.from(this.range(start, end).getClientRects()).filter((box) => box.width > 0);
  }

  get viewport() {
    return { width: this.#window.innerWidth, height: this.#window.innerHeight };
  }

  whenScrolled(call) {
    for (const name of ["scroll", "resize"]) this.#window.addEventListener(name, call, { passive: true });
  }

  /** The sides on which the page extends beyond its frame: "", "left", "right" or both. */
  get hiddenSides() {
    const { scrollX } = this.#window;
    const { scrollWidth, clientWidth } = this.document.documentElement;
    const left = scrollX > 1 ? "left" : "";
    const right = scrollX + clientWidth < scrollWidth - 1 ? "right" : "";
    return [left, right].filter(Boolean).join(" ");
  }

  scrollBy(left, top) {
    this.#window.scrollBy({ left, top, behavior: "instant" });
  }

  /** Scrolls the span into view if necessary. */
  reveal({ start, end }) {
    const box = this.range(start, end).getBoundingClientRect();
    const { width, height } = this.viewport;
    if (box.top < 0 || box.bottom > height || box.left < 0 || box.right > width) {
      const aside = Math.min(0, box.left - 20) || Math.max(0, box.right - width + 20);
      this.scrollBy(aside, box.top - height / 3);
    }
  }

  range(start, end) {
    const from = placeOf(this.index, start);
    const to = placeOf(this.index, end, { end: true });
    const range = this.document.createRange();
    range.setStart(this.#nodes[from.node], from.unit);
    range.setEnd(this.#nodes[to.node], to.unit);
    return range;
  }

  #caret(x, y) {
    if (this.document.caretPositionFromPoint) {
      const caret = this.document.caretPositionFromPoint(x, y);
      return caret && { node: caret.offsetNode, offset: caret.offset };
    }
    const range = this.document.caretRangeFromPoint(x, y);
    return range && { node: range.startContainer, offset: range.startOffset };
  }

  #covers(start, x, y) {
    const boxes = this.range(start, start + 1).getClientRects();
    return Array.from(boxes).some(
      (box) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom,
    );
  }

  /** The offset of any DOM position, also between elements. */
  #offset(container, unit) {
    const number = this.#numberOf.get(container);
    if (number !== undefined) return offsetOf(this.index, number, unit);
    const probe = this.document.createRange();
    probe.setStart(container, unit);
    // The first text node at or after the position starts exactly there.
    let low = 0;
    let high = this.#nodes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (probe.comparePoint(this.#nodes[middle], 0) < 0) low = middle + 1;
      else high = middle;
    }
    return low < this.#nodes.length
      ? offsetOf(this.index, low, 0)
      : offsetOf(this.index, this.#nodes.length - 1, this.#nodes.at(-1).length);
  }
}
