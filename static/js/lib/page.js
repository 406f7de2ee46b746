// A document page in its sandboxed iframe: its canonical text, and marks painted over it.
//
// Marks are drawn with the CSS Custom Highlight API registered in the iframe's own window; the document's DOM
// is never changed, so no mark can shift an offset.

import { buildIndex, offsetOf, placeOf, trimmed } from "./offsets.js";

/**
 * The labels as the site's style sheet draws them (components.css); the underline is the second cue besides
 * colour. A page under annotation always has a light ground, so only the light scheme's colours occur.
 */
const COLOURS = ["#0a57a6", "#9c4700", "#8b2d7c", "#00684c", "#6a4a2c", "#00677a", "#a3143f", "#525d68", "#583db3"];
const LINES = ["solid", "dashed", "dotted", "double", "wavy", "solid", "dashed", "dotted", "double"];
const MARKS = [
  ...COLOURS.map((colour, n) => {
    const thickness = n < 5 ? 2 : 4;
    return `::highlight(label-${n + 1}) {
      background-color: ${colour}22;
      text-decoration: underline ${LINES[n]} ${thickness}px ${colour};
    }`;
  }),
  "::highlight(active) { background-color: #1c2024; color: #ffffff; }",
].join("\n");

/** WebKit delivers no event to listeners attached from outside unless scripts are allowed; the CSP forbids them. */
const isWebKit = /AppleWebKit/.test(navigator.userAgent) && !/Chrome|Chromium/.test(navigator.userAgent);

/** Loads the address into the iframe and resolves to its page. @param {HTMLIFrameElement} frame */
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

  constructor(frame) {
    this.#window = frame.contentWindow;
    this.document = frame.contentDocument;
    this.#nodes = textNodes(this.document.body);
    this.#nodes.forEach((node, number) => this.#numberOf.set(node, number));
    this.index = buildIndex(this.#nodes.map((node) => node.data));
    this.#addStyles();
  }

  get text() {
    return this.index.text;
  }

  /** Draws the spans under the names, replacing what the names showed before. */
  paint(groups) {
    for (const highlight of this.#highlights.values()) highlight.clear();
    for (const [name, spans] of Object.entries(groups)) {
      const highlight = this.#highlight(name);
      for (const { start, end } of spans) highlight.add(this.range(start, end));
    }
  }

  /** The selected text as trimmed offsets, or null when nothing or only white space is selected. */
  selection() {
    const selection = this.document.getSelection();
    if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
    const range = selection.getRangeAt(0);
    const start = this.#offset(range.startContainer, range.startOffset);
    const end = this.#offset(range.endContainer, range.endOffset);
    return end > start ? trimmed(this.index, start, end) : null;
  }

  clearSelection() {
    this.document.getSelection()?.removeAllRanges();
  }

  /** The offset of the character under a point of the iframe, or null beside the text. */
  offsetAt(x, y) {
    const caret = this.#caret(x, y);
    if (!caret || !this.#numberOf.has(caret.node)) return null;
    const offset = this.#offset(caret.node, caret.offset);
    // A caret stands between characters: take the one whose box holds the point.
    for (const start of [offset - 1, offset]) {
      if (start >= 0 && this.#covers(start, x, y)) return start;
    }
    return null;
  }

  /** Scrolls the span into view unless it is there already. */
  reveal({ start, end }) {
    const box = this.range(start, end).getBoundingClientRect();
    const { innerHeight, innerWidth } = this.#window;
    if (box.top < 0 || box.bottom > innerHeight || box.left < 0 || box.right > innerWidth) {
      this.#window.scrollBy({ top: box.top - innerHeight / 3, left: Math.min(0, box.left - 20) || Math.max(0, box.right - innerWidth + 20) });
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

  #highlight(name) {
    let highlight = this.#highlights.get(name);
    if (!highlight) {
      highlight = new this.#window.Highlight();
      highlight.priority = name === "active" ? 1 : 0;
      this.#window.CSS.highlights.set(name, highlight);
      this.#highlights.set(name, highlight);
    }
    return highlight;
  }

  #addStyles() {
    const sheet = new this.#window.CSSStyleSheet();
    sheet.replaceSync(MARKS);
    this.document.adoptedStyleSheets = [...this.document.adoptedStyleSheets, sheet];
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

  /** Offset of any DOM position, also of one between elements. */
  #offset(container, unit) {
    const number = this.#numberOf.get(container);
    if (number !== undefined) return offsetOf(this.index, number, unit);
    const probe = this.document.createRange();
    probe.setStart(container, unit);
    // The first text node at or behind the position begins exactly there.
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

function textNodes(body) {
  const walker = body.ownerDocument.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}
