// Moves from fact to fact and from word to word by keyboard.

import { toCodePoints, toUnits } from "../lib/offsets.js";
import { touching } from "../lib/snap.js";
import { tokenBefore, tokenFrom, tokenAt } from "../lib/tokens.js";

/** Maximum distance of a line above or below, and steps of the search, in pixels. */
const REACH = 160;
const STEP = 6;

export class Moving {
  #desk;

  /** @param {import("./desk.js").Desk} desk */
  constructor(desk) {
    this.#desk = desk;
  }

  span(direction, accepts = () => true) {
    const desk = this.#desk;
    const spans = desk.list.all.filter(accepts);
    if (spans.length === 0) return;
    const at = desk.place ?? (direction > 0 ? { start: -1, end: -1 } : { start: Infinity, end: Infinity });
    const next =
      direction > 0
        ? (spans.find((span) => span.start > at.start) ?? spans[0])
        : (spans.findLast((span) => span.start < at.start) ?? spans.at(-1));
    desk.activate(next.key, { reveal: true });
  }

  warning() {
    this.span(1, (span) => this.#desk.readingOf(span)?.warnings.length > 0);
  }

  candidate(direction) {
    const next = this.#desk.nextCandidate(direction);
    if (next) this.#desk.pickRange(next, { reveal: true });
    else this.#desk.hint("Every number and date in this document has a label.");
  }

  token(direction) {
    const desk = this.#desk;
    const { index, borders } = desk.page;
    const { place } = desk;
    const from = place ? toUnits(index, direction > 0 ? place.end : place.start) : this.#top();
    const token = direction > 0 ? tokenFrom(index.text, borders, from) : tokenBefore(index.text, borders, from);
    if (token) this.#stepOn(token);
  }

  /** Moves to the nearest word above or below. */
  line(direction) {
    const desk = this.#desk;
    if (!desk.place) {
      this.token(direction);
      return;
    }
    desk.page.reveal(desk.place);
    this.#makeRoom(direction);
    const box = direction > 0 ? desk.page.boxes(desk.place).at(-1) : desk.page.boxes(desk.place)[0];
    if (!box) return;
    const x = (box.left + box.right) / 2;
    for (let distance = STEP / 2; distance < REACH; distance += STEP) {
      const y = direction > 0 ? box.bottom + distance : box.top - distance;
      const token = this.#tokenNear(x, y, box);
      if (token) {
        this.#stepOn(token);
        return;
      }
    }
  }

  /** Moves to the span or fact of a word, or to the word itself. */
  #stepOn(token) {
    const desk = this.#desk;
    const { index } = desk.page;
    const range = { start: toCodePoints(index, token.start), end: toCodePoints(index, token.end) };
    const [span] = touching(desk.list.all, range.start, range.end);
    const [fact] = touching(desk.facts, range.start, range.end);
    if (span) desk.activate(span.key, { reveal: true });
    else desk.pickRange(fact ?? range, { reveal: true });
  }

  #tokenNear(x, y, { top, bottom }) {
    const { page } = this.#desk;
    const offset = page.borderAt(x, y);
    if (offset === null) return null;
    const unit = toUnits(page.index, offset);
    const token = tokenAt(page.text, page.borders, unit) ?? tokenBefore(page.text, page.borders, unit);
    if (!token) return null;
    const range = { start: toCodePoints(page.index, token.start), end: toCodePoints(page.index, token.end) };
    const box = page.boxes(range)[0];
    // The browser returns the nearest text. Only a word of another line counts.
    const isElsewhere = box && (box.top >= bottom - 1 || box.bottom <= top + 1);
    return isElsewhere && Math.abs((box.top + box.bottom) / 2 - y) < STEP * 3 ? token : null;
  }

  #makeRoom(direction) {
    const { page } = this.#desk;
    const box = page.boxes(this.#desk.place)[0];
    if (!box) return;
    if (direction > 0 && box.bottom + REACH > page.viewport.height) page.scrollBy(0, page.viewport.height / 3);
    if (direction < 0 && box.top - REACH < 0) page.scrollBy(0, -page.viewport.height / 3);
  }

  /** The first text in view, where moving starts. */
  #top() {
    const { page } = this.#desk;
    for (let y = 10; y < page.viewport.height; y += 20) {
      const offset = page.borderAt(page.viewport.width / 4, y);
      if (offset !== null) return toUnits(page.index, offset);
    }
    return 0;
  }
}
