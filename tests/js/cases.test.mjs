import assert from "node:assert/strict";
import { test } from "node:test";

import { caseAt, countLooks, fullest, LOOKS, lookOf, merged, nextOpen, rangesOf } from "../../static/js/lib/cases.js";

const span = (start, end) => ({ start, end });
const made = (fields) => ({
  id: 1,
  state: "open",
  start: 0,
  end: 10,
  difference: "boundary",
  marked_by: ["A", "B"],
  proposals: [{ letter: "A", spans: [span(0, 6)] }, { letter: "B", spans: [span(4, 10)] }],
  decision: [],
  ...fields,
});

test("how a case looks says in what it differs, and then how it was decided", () => {
  assert.equal(lookOf(made()), "boundary");
  assert.equal(lookOf(made({ difference: "only", marked_by: ["A"] })), "only-a");
  assert.equal(lookOf(made({ difference: "only", marked_by: ["B"] })), "only-b");
  assert.equal(lookOf(made({ difference: "only", marked_by: ["C"] })), "some");
  assert.equal(lookOf(made({ difference: "only" })), "some");
  assert.equal(lookOf(made({ state: "decided", decision: [span(0, 6)] })), "decided");
  assert.equal(lookOf(made({ state: "decided" })), "rejected");
});

test("every look has its place in the legend, and is counted", () => {
  const looks = LOOKS.map(([look]) => look);
  const cases = [made(), made({ difference: "review" }), made({ state: "decided" })];
  const counts = countLooks([{ origin: "agreed" }, { origin: "reviewed" }, { origin: "agreed" }], cases);
  assert.deepEqual([...counts.keys()], looks);
  const found = Object.fromEntries([...counts].filter(([, count]) => count));
  assert.deepEqual(found, { agreed: 2, gold: 1, boundary: 1, review: 1, rejected: 1 });
});

test("ranges are those of the marks, of the decision, or of the whole case", () => {
  assert.deepEqual(rangesOf(made()), [span(0, 10)]);
  const apart = [{ letter: "A", spans: [span(0, 2)] }, { letter: "B", spans: [span(5, 7)] }];
  assert.deepEqual(rangesOf(made({ proposals: apart })), [span(0, 2), span(5, 7)]);
  assert.deepEqual(rangesOf(made({ state: "decided", decision: [span(0, 6)] })), [span(0, 6)]);
  assert.deepEqual(rangesOf(made({ state: "decided", proposals: apart })), [span(0, 10)]);
  assert.deepEqual(rangesOf(made({ difference: "review", proposals: apart })), [span(0, 10)]);
  assert.deepEqual(rangesOf(made({ proposals: [{ letter: "gold", spans: [] }] })), [span(0, 10)]);
});

test("merged ranges do not overlap, and those that only touch stay apart", () => {
  assert.deepEqual(merged([span(6, 9), span(0, 4), span(3, 5), span(5, 6)]), [span(0, 5), span(5, 6), span(6, 9)]);
});

const row = [
  made({ id: 1, start: 0 }),
  made({ id: 2, start: 20, state: "decided" }),
  made({ id: 3, start: 40 }),
  made({ id: 4, start: 60 }),
];
const next = (from, direction, options) => nextOpen(row, row.find(({ id }) => id === from) ?? null, direction, options)?.id ?? null;

test("the next open case comes in text order, after the last from the beginning again", () => {
  assert.deepEqual([next(null, 1), next(1, 1), next(2, 1), next(4, 1)], [1, 3, 3, 1]);
  assert.deepEqual([next(null, -1), next(4, -1), next(2, -1), next(1, -1)], [4, 3, 1, 4]);
});

test("without wrapping, or with a condition, there may be none", () => {
  assert.equal(next(4, 1, { wraps: false }), null);
  assert.equal(next(1, -1, { wraps: false }), null);
  assert.equal(next(1, 1, { accepts: ({ id }) => id === 1 }), null);
  assert.equal(next(1, 1, { accepts: ({ id }) => id === 4 }), 4);
});

test("a case holds the characters from its start to before its end", () => {
  assert.equal(caseAt(row, 0)?.id, 1);
  assert.equal(caseAt([made({ end: 10 })], 10), null);
});

test("an edit begins with the fullest proposal, the first of equals", () => {
  assert.equal(fullest([{ spans: [] }, { spans: [1, 2] }, { spans: [3, 4] }]), 1);
});
