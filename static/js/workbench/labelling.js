// Adds, changes and removes labels, by keys or buttons.

import { toCodePoints, toUnits, trimmed } from "../lib/offsets.js";
import { newKey, overlapping } from "../lib/spans.js";
import { snap, wholeWords } from "../lib/snap.js";
import { tokenBefore, tokenFrom } from "../lib/tokens.js";
import { labelKind } from "../lib/values.js";

const shortened = (text) => {
  const plain = text.replace(/\s+/g, " ");
  return plain.length > 60 ? `${plain.slice(0, 59)}…` : plain;
};

export class Labelling {
  #desk;
  /** The label last given to each kind of fact, which a double click uses. */
  #usual = new Map();
  /** A range that was double-clicked before the facts arrived. @type {{start: number, end: number} | null} */
  #early = null;

  /** @param {import("./desk.js").Desk} desk */
  constructor(desk) {
    this.#desk = desk;
    for (const { name } of desk.data.labels) {
      const kind = labelKind(name);
      if (kind) this.#usual.set(kind, name);
    }
    desk.addEventListener("facts", () => this.#catchUp());
  }

  /** The whole fact at a selection, or with `exact` the selection without white space at its ends. */
  meant({ start, end }, { exact = false } = {}) {
    const { page, facts } = this.#desk;
    return exact ? trimmed(page.index, start, end) : snap(page.index, page.borders, facts, start, end);
  }

  /** The range, extended to whole words. */
  grown(range) {
    const { index, borders } = this.#desk.page;
    return wholeWords(index, borders, range);
  }

  /** Labels the selection, or changes the label of the active span. */
  label(number) {
    const desk = this.#desk;
    const label = desk.data.labels[number]?.name;
    if (!label || !desk.canEdit) return;
    const range = this.#selected();
    if (range) this.mark(range, label);
    else if (desk.active) desk.edit((list) => list.relabel(desk.active.key, label));
    else desk.hint("Select text or double-click a fact, then choose a label.");
  }

  /** Adds a span, or changes the label of the span with the same range. */
  mark({ start, end }, label) {
    const desk = this.#desk;
    const hindrances = overlapping(desk.list.all, start, end);
    const [same] = hindrances.filter((span) => span.start <= start && end <= span.end);
    const kind = desk.kindOf({ start, end });
    if (kind) this.#usual.set(kind, label);
    if (same) {
      desk.edit((list) => list.relabel(same.key, label));
      desk.activate(same.key);
    } else if (hindrances.length) {
      desk.activate(hindrances[0].key);
      desk.hint(`This overlaps the label on “${shortened(hindrances[0].quote)}”. Remove or shorten that label first.`);
    } else {
      const span = { key: newKey(), label, start, end, quote: desk.quote(start, end) };
      desk.edit((list) => list.add(span));
      desk.activate(span.key);
    }
  }

  /** Gives a fact its usual label, if there is one. */
  markAsUsual(range) {
    const label = this.#usual.get(this.#desk.kindOf(range));
    if (label && this.#desk.canEdit) this.mark(range, label);
    else this.#desk.pickRange(range);
    if (!this.#desk.hasFacts) this.#early = range;
  }

  /** Labels a range that was double-clicked before the facts arrived, if it is still picked. */
  #catchUp() {
    const early = this.#early;
    this.#early = null;
    const { pick } = this.#desk;
    if (early && pick?.start === early.start && pick.end === early.end) {
      this.markAsUsual(this.meant({ start: early.start, end: early.start + 1 }));
    }
  }

  removeActive() {
    const { active } = this.#desk;
    if (active) this.remove(active.key);
  }

  remove(key) {
    const desk = this.#desk;
    const span = desk.list.find(key);
    if (!span) return;
    desk.edit((list) => list.remove(key));
    // The place stays picked, so that another label needs only one key.
    if (desk.canEdit) desk.pickRange(span);
  }

  /** Moves one border by a word or a character. @param {"start" | "end"} side @param {1 | -1} direction */
  move(side, direction, unit) {
    const { place } = this.#desk;
    if (!place) return;
    const range = { start: place.start, end: place.end };
    range[side] = unit === "character" ? range[side] + direction : this.#nextBorder(side, direction, range[side]);
    this.resize(range);
  }

  /** What the keys for the borders do, by their names in the key map. */
  borderActs() {
    const move = (side, direction, unit) => () => this.move(side, direction, unit);
    return {
      "end-right": move("end", 1),
      "end-left": move("end", -1),
      "start-left": move("start", -1),
      "start-right": move("start", 1),
      "end-right-character": move("end", 1, "character"),
      "end-left-character": move("end", -1, "character"),
      "start-left-character": move("start", -1, "character"),
      "start-right-character": move("start", 1, "character"),
    };
  }

  /** Gives the place other borders. */
  resize({ start, end }) {
    const desk = this.#desk;
    const last = toCodePoints(desk.page.index, desk.page.text.length);
    if (start < 0 || end > last || start >= end || !desk.quote(start, end).trim()) return;
    const { active } = desk;
    if (!active) {
      desk.pickRange({ start, end }, { reveal: true });
      return;
    }
    const quote = desk.quote(start, end);
    if (quote === active.quote && start === active.start) return;
    let hindrances = [];
    desk.edit((list) => (hindrances = list.resize(active.key, { start, end, quote })));
    if (hindrances.length) desk.hint(`“${shortened(hindrances[0].quote)}” already has a label.`);
  }

  /** Undoes or redoes a step and shows the changed span. */
  travel(step) {
    const desk = this.#desk;
    const before = new Set(desk.list.all);
    desk.edit((list) => list[step]());
    const changed = desk.list.all.find((span) => !before.has(span));
    if (changed) desk.activate(changed.key, { reveal: true });
  }

  /** The browser's selection, or the pick if it is the same, which needs no snapping. */
  #selected() {
    const desk = this.#desk;
    const selected = desk.page.selection();
    const { pick } = desk;
    if (!selected) return pick;
    if (pick && selected.start === pick.start && selected.end === pick.end) return pick;
    return this.meant(selected);
  }

  #nextBorder(side, direction, offset) {
    const { index, borders } = this.#desk.page;
    const unit = toUnits(index, offset);
    const token =
      direction > 0
        ? tokenFrom(index.text, borders, unit + (side === "start" ? 1 : 0))
        : tokenBefore(index.text, borders, unit - (side === "end" ? 1 : 0));
    return token ? toCodePoints(index, token[side]) : offset;
  }
}
