// The facts without a label, and the next one from an offset. Pure.

import { overlapping } from "./spans.js";

/** @typedef {{start: number, end: number, kind?: string, isLabelled?: boolean, label?: string, source?: string}} Candidate */

/**
 * Suggestions and found facts in text order. A suggestion replaces the facts it touches. Facts that the rules say not
 * to label (`isLabelled` is false) are left out.
 * @param {Candidate[]} facts @param {Candidate[]} suggestions
 */
export function candidatesOf(facts, suggestions) {
  const wanted = facts.filter((fact) => fact.isLabelled !== false);
  const rest = wanted.filter((fact) => overlapping(suggestions, fact.start, fact.end).length === 0);
  return [...suggestions, ...rest].sort((a, b) => a.start - b.start);
}

/** The next candidate after (or before) an offset without a span, wrapping around; or null. */
export function nextOpen(candidates, spans, offset, direction) {
  const isOpen = ({ start, end }) => overlapping(spans, start, end).length === 0;
  const ordered = direction > 0 ? candidates : [...candidates].reverse();
  const ahead = ordered.find((one) => (direction > 0 ? one.start >= offset : one.end <= offset) && isOpen(one));
  return ahead ?? ordered.find(isOpen) ?? null;
}

/** The number of candidates without a span. Both lists must be sorted. */
export function countOpen(candidates, spans) {
  let count = 0;
  let at = 0;
  for (const { start, end } of candidates) {
    while (at < spans.length && spans[at].end <= start) at += 1;
    if (at === spans.length || spans[at].start >= end) count += 1;
  }
  return count;
}
