// Compares and merges two versions of an assignment's spans that have a common base. Pure.

import { overlapping } from "./spans.js";

/** @typedef {import("./spans.js").Span} Span */

/** Whether two spans have the same offsets, label, value and sign. */
export const isSame = (a, b) =>
  a.start === b.start && a.end === b.end && a.label === b.label && a.value === b.value && a.sign === b.sign;

const place = (span) => `${span.start}-${span.end}`;

/** The counterpart of each span: the one with the same key, or with the same offsets. */
function twins(spans, others) {
  const byKey = new Map(others.map((span) => [span.key, span]));
  const byPlace = new Map(others.map((span) => [place(span), span]));
  return new Map(spans.map((span) => [span, byKey.get(span.key) ?? byPlace.get(place(span)) ?? null]));
}

/**
 * @param {Span[]} mine @param {Span[]} theirs
 * @returns {{onlyMine: Span[], onlyTheirs: Span[], changed: {mine: Span, theirs: Span}[]}}
 */
export function compare(mine, theirs) {
  const onlyMine = [];
  const changed = [];
  const met = new Set();
  for (const [span, twin] of twins(mine, theirs)) {
    if (!twin || met.has(twin)) onlyMine.push(span);
    else {
      met.add(twin);
      if (!isSame(span, twin)) changed.push({ mine: span, theirs: twin });
    }
  }
  return { onlyMine, onlyTheirs: theirs.filter((span) => !met.has(span)), changed };
}

/** Whether both versions have the same spans, regardless of their keys. */
export function areAlike(mine, theirs) {
  const { onlyMine, onlyTheirs, changed } = compare(mine, theirs);
  return onlyMine.length + onlyTheirs.length + changed.length === 0;
}

/**
 * Merges the additions, changes and removals of both versions since `base`. In a conflict, mine is kept and
 * theirs is in `dropped`.
 *
 * @param {Span[]} base @param {Span[]} mine @param {Span[]} theirs
 * @returns {{spans: Span[], dropped: Span[]}}
 */
export function merge(base, mine, theirs) {
  const before = new Map(base.map((span) => [span.key, span]));
  const atTheirs = new Map(theirs.map((span) => [span.key, span]));
  const atMine = new Map(mine.map((span) => [span.key, span]));
  const isUntouched = (span) => before.has(span.key) && isSame(span, before.get(span.key));

  const kept = mine.flatMap((span) => {
    if (!isUntouched(span)) return [span];
    const other = atTheirs.get(span.key);
    return other ? [other] : [];
  });
  const wanted = theirs.filter((span) => !atMine.has(span.key) && !isUntouched(span));
  return withoutOverlaps(kept, wanted);
}

/** Keeps all of `kept`, then those of `wanted` that do not overlap. */
function withoutOverlaps(kept, wanted) {
  let spans = [];
  const dropped = [];
  for (const span of [...kept, ...wanted]) {
    const hindrances = overlapping(spans, span.start, span.end);
    if (hindrances.length === 0) spans = insert(spans, span);
    else if (!(hindrances.length === 1 && isSame(hindrances[0], span))) dropped.push(span);
  }
  return { spans, dropped };
}

function insert(spans, span) {
  const last = spans.at(-1);
  if (!last || last.start < span.start) {
    spans.push(span);
    return spans;
  }
  return [...spans, span].sort((a, b) => a.start - b.start);
}
