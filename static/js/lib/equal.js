// The places of a page with the same text as a span. Pure.

import { toCodePoints, toUnits } from "./offsets.js";
import { touching } from "./snap.js";
import { overlapping } from "./spans.js";

/** @typedef {{start: number, end: number, before: string, after: string}} Place */

const CONTEXT = 40;
const isWord = (text) => /[\p{L}\p{N}\p{M}]/u.test(text);

/**
 * Other whole occurrences of the text of `span`: not within a longer word, number or fact, not over another span,
 * and across cells only if the span itself is.
 *
 * @param {import("./offsets.js").TextIndex} index
 * @param {{start: number, end: number}[]} facts
 * @param {import("./spans.js").Span[]} spans
 * @returns {Place[]} in text order
 */
export function equalPlaces(index, borders, facts, spans, span) {
  const { text } = index;
  const isBorder = new Set(borders);
  const found = [];
  const quote = span.quote;
  for (let unit = text.indexOf(quote); unit >= 0; unit = text.indexOf(quote, unit + 1)) {
    const last = unit + quote.length;
    if (!isApart(text, isBorder, unit, last)) continue;
    const start = toCodePoints(index, unit);
    const end = toCodePoints(index, last);
    const isPart = touching(facts, start, end).some((fact) => fact.start < start || end < fact.end);
    if (isPart || overlapping(spans, start, end).length) continue;
    found.push({ start, end, before: text.slice(Math.max(0, unit - CONTEXT), unit), after: text.slice(last, last + CONTEXT) });
  }
  return found;
}

function isApart(text, isBorder, start, end) {
  const parted = (unit, inner, outer) =>
    isBorder.has(unit) || !(isWord(text.charAt(inner)) && isWord(text.charAt(outer)));
  const separated = (unit, outer, farther) =>
    isBorder.has(unit) || !(/[.,]/.test(text.charAt(outer)) && /\d/.test(text.charAt(farther)));
  return (
    (start === 0 || (parted(start, start, start - 1) && separated(start, start - 1, start - 2))) &&
    (end === text.length || (parted(end, end - 1, end) && separated(end, end, end + 1)))
  );
}

/** The text around a span, for lists. */
export function around(index, { start, end }) {
  const from = toUnits(index, start);
  const to = toUnits(index, end);
  return { before: index.text.slice(Math.max(0, from - CONTEXT), from), after: index.text.slice(to, to + CONTEXT) };
}
