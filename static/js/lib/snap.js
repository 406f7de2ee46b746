// Extends a selection to whole facts and words. Pure; the twin of portal.facts.snap.
//
// Offsets are code points. `facts` are sorted, free of overlaps and come from the server.

import { toCodePoints, toUnits } from "./offsets.js";

/** @typedef {import("./offsets.js").TextIndex} TextIndex */
/** @typedef {{start: number, end: number}} Range */

const W = "[\\p{L}\\p{N}_]";
/** What both sides call white space. */
const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
// Letters and digits, marks between two of them as in 10-K or 5,000, and the parentheses behind the number of a
// section: 30(h), 501(c)(3). Failing that, a run of marks such as $ or a dash.
const TOKEN = new RegExp(`${W}+(?:[.,/&'’:\\u2011-]${W}+)*(?:(?<=[0-9A-Z)])\\(${W}{1,5}\\))*`, "gu");
const MARKS = new RegExp(`(?:(?!${W}|${SPACE.source}).)+`, "gsu");
const WORD = new RegExp(W, "u");

/** A text with what parts it, for the functions below. */
class Ground {
  constructor(index, borders, facts) {
    this.index = index;
    this.borders = borders;
    this.facts = facts;
  }

  slice(start, end) {
    return this.index.text.slice(toUnits(this.index, start), toUnits(this.index, end));
  }

  /** The matches of a pattern in a stretch, as code points. */
  find(pattern, start, end) {
    const first = toUnits(this.index, start);
    const text = this.index.text.slice(first, toUnits(this.index, end));
    return Array.from(text.matchAll(pattern), ({ index, 0: match }) => ({
      start: toCodePoints(this.index, first + index),
      end: toCodePoints(this.index, first + index + match.length),
    }));
  }

  /** The stretch about an offset without white space or a border in it. */
  chunk(offset) {
    const { text } = this.index;
    const unit = toUnits(this.index, offset);
    const before = countWhere(this.borders, (border) => border <= unit);
    const low = before ? this.borders[before - 1] : 0;
    const high = Math.min(before < this.borders.length ? this.borders[before] : text.length, text.length);
    let start = unit;
    let end = unit;
    while (start > low && !SPACE.test(text[start - 1])) start -= 1;
    while (end < high && !SPACE.test(text[end])) end += 1;
    return { start: toCodePoints(this.index, start), end: toCodePoints(this.index, end) };
  }
}

/** How many values at the beginning of a sorted array the condition holds for. */
function countWhere(sorted, holds) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(sorted[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The facts that share a character with [start, end); one that is empty also touches edges. */
export function touching(facts, start, end) {
  const first = countWhere(facts, (fact) => fact.end <= start);
  const last = countWhere(facts, (fact) => fact.start < end);
  if (first < last || start < end) return facts.slice(first, Math.max(first, last));
  // Between two facts the one that begins here is meant, not the one that ends.
  const beside = countWhere(facts, (fact) => fact.end < start);
  return facts.slice(beside, beside + 2).filter((fact) => fact.start <= start).slice(-1);
}

/**
 * The stretch that a selection means; a double click has `start === end`.
 *
 * @param {TextIndex} index
 * @param {number[]} borders   UTF-16 units at which blocks and cells begin, ascending
 * @param {Range[]} facts
 * @returns {Range | null}   null when there is nothing to select
 */
export function snap(index, borders, facts, start, end) {
  const ground = new Ground(index, borders, facts);
  let range = withoutSpace(ground, start, end);
  const fact = meant(ground, touching(facts, range.start, range.end), range);
  if (fact) return { start: fact.start, end: fact.end };
  if (range.start === range.end) range = pieceAt(ground, range.start);
  range = completed(ground, range);
  return range.start < range.end ? range : null;
}

/** The range with the words that its edges cut. */
export function wholeWords(index, borders, range) {
  return completed(new Ground(index, borders, []), range);
}

function withoutSpace(ground, start, end) {
  const characters = Array.from(ground.slice(start, end));
  const first = characters.findIndex((character) => !SPACE.test(character));
  if (first < 0) return touching(ground.facts, start, end).length ? { start, end } : { start, end: start };
  const last = characters.findLastIndex((character) => !SPACE.test(character));
  return { start: start + first, end: start + last + 1 };
}

/** The one fact that is meant; null when the selection means something else. */
function meant(ground, touched, { start, end }) {
  const whole = touched.filter((fact) => start <= fact.start && fact.end <= end);
  if (touched.length === 0 || whole.length > 1) return null;
  const hasWord = (from, to) => from < to && WORD.test(ground.slice(from, to));
  let position = start;
  for (const fact of touched) {
    if (hasWord(position, fact.start)) return null;
    position = fact.end;
  }
  if (hasWord(position, end)) return null;
  const shared = (fact) => Math.min(end, fact.end) - Math.max(start, fact.start);
  return touched.reduce((best, fact) => (shared(fact) > shared(best) ? fact : best));
}

/** The word or marks at an offset that touches no fact. */
function pieceAt(ground, offset) {
  const { facts } = ground;
  const chunk = ground.chunk(offset);
  const following = countWhere(facts, (fact) => fact.start < offset);
  const low = following ? Math.max(chunk.start, facts[following - 1].end) : chunk.start;
  const high = following < facts.length ? Math.min(chunk.end, facts[following].start) : chunk.end;
  for (const pattern of [TOKEN, MARKS]) {
    const found = ground.find(pattern, low, high).find((match) => match.start <= offset && offset <= match.end);
    if (found) return found;
  }
  return { start: offset, end: offset };
}

/** The selection with the words and facts that its edges cut. */
function completed(ground, { start, end }) {
  while (start < end) {
    const touched = touching(ground.facts, start, end);
    const low = cutWord(ground, Math.min(start, touched[0]?.start ?? start)).start;
    const high = cutWord(ground, Math.max(end, touched.at(-1)?.end ?? end)).end;
    if (low === start && high === end) break;
    [start, end] = [low, high];
  }
  return { start, end };
}

/** The word that an offset cuts; the offset itself when it cuts none. */
function cutWord(ground, offset) {
  const { start, end } = ground.chunk(offset);
  const cut = ground.find(TOKEN, start, end).find((match) => match.start < offset && offset < match.end);
  return cut ?? { start: offset, end: offset };
}
