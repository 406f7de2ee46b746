// The mouse on the page: click, double click, selection, and dragging the borders of the active span.

import { spanAt } from "../lib/spans.js";

/** Distance from the edge of a mark within which its border can be dragged, in pixels. */
const NEAR = 5;

export class Pointer {
  #desk;
  #labelling;
  #document;
  /** The dragged border. @type {{side: "start" | "end", range: {start: number, end: number}} | null} */
  #drag = null;
  #hasDragged = false;

  constructor(desk, labelling) {
    this.#desk = desk;
    this.#labelling = labelling;
    this.#document = desk.page.document;
    const listeners = {
      mousedown: (event) => this.#press(event),
      mousemove: (event) => this.#move(event),
      mouseup: (event) => this.#release(event),
      click: (event) => this.#click(event),
      dblclick: (event) => this.#doubleClick(event),
    };
    for (const [name, listener] of Object.entries(listeners)) this.#document.addEventListener(name, listener);
  }

  #press(event) {
    this.#hasDragged = false;
    const side = event.button === 0 ? this.#borderNear(event) : null;
    if (!side) return;
    event.preventDefault();
    const { start, end } = this.#desk.active;
    this.#drag = { side, range: { start, end } };
    this.#document.documentElement.dataset.dragging = "";
  }

  #move(event) {
    if (!this.#drag) {
      this.#showHold(event);
      return;
    }
    const offset = this.#desk.page.borderAt(event.clientX, event.clientY);
    if (offset === null) return;
    const { side, range } = this.#drag;
    const next = { ...range, [side]: offset };
    if (next.start >= next.end) return;
    this.#hasDragged = true;
    this.#drag.range = next;
    this.#desk.preview(next);
  }

  #release(event) {
    if (this.#drag) {
      this.#drop(event);
      return;
    }
    const selected = this.#desk.page.selection();
    if (!selected || event.button !== 0 || event.detail > 1) return;
    const meant = this.#labelling.meant(selected, { exact: event.altKey });
    if (meant) this.#desk.pickRange(meant);
  }

  #drop(event) {
    const { range, side } = this.#drag;
    this.#drag = null;
    delete this.#document.documentElement.dataset.dragging;
    const { active } = this.#desk;
    if (!active || !this.#hasDragged) return;
    const exact = this.#labelling.meant(range, { exact: true }) ?? range;
    const grown = event.altKey ? exact : this.#labelling.grown(exact);
    this.#labelling.resize({ ...active, [side]: grown[side] });
    this.#desk.activate(active.key);
  }

  #click(event) {
    // Links are disabled.
    event.preventDefault();
    if (this.#hasDragged || event.detail > 1 || this.#desk.page.selection()) return;
    const offset = this.#desk.page.offsetAt(event.clientX, event.clientY);
    const span = offset === null ? null : spanAt(this.#desk.list.all, offset);
    const suggestion = offset === null || span ? null : this.#desk.suggestionAt({ start: offset, end: offset + 1 });
    if (suggestion) this.#desk.pickRange(suggestion);
    else this.#desk.activate(span?.key ?? null);
  }

  #doubleClick(event) {
    event.preventDefault();
    const offset = this.#desk.page.offsetAt(event.clientX, event.clientY);
    if (offset === null) return;
    const span = spanAt(this.#desk.list.all, offset);
    if (span) {
      this.#desk.activate(span.key);
      return;
    }
    const word = this.#desk.page.selection() ?? { start: offset, end: offset + 1 };
    const meant = this.#labelling.meant(event.altKey ? word : { start: offset, end: offset + 1 }, { exact: event.altKey });
    if (!meant) return;
    if (event.altKey) this.#desk.pickRange(meant);
    else this.#labelling.markAsUsual(meant);
  }

  #showHold(event) {
    const { dataset } = this.#document.documentElement;
    if (event.buttons === 0 && this.#borderNear(event)) dataset.over = "border";
    else delete dataset.over;
  }

  /** The border of the active span at the pointer, or null. */
  #borderNear({ clientX, clientY }) {
    const { active, canEdit, page } = this.#desk;
    if (!active || !canEdit) return null;
    const boxes = page.boxes(active);
    const isAt = (box, x) => box && Math.abs(clientX - x) <= NEAR && box.top <= clientY && clientY <= box.bottom;
    if (isAt(boxes.at(-1), boxes.at(-1)?.right)) return "end";
    if (isAt(boxes[0], boxes[0]?.left)) return "start";
    return null;
  }
}
