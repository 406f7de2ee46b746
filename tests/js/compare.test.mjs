import assert from "node:assert/strict";
import { test } from "node:test";

import { areAlike, compare, merge } from "../../static/js/lib/compare.js";

const span = (key, start, end, more = {}) => ({ key, label: "Number", start, end, quote: `${start}-${end}`, ...more });
const keys = (spans) => spans.map((one) => one.key);

test("what differs is told by place and key", () => {
  const mine = [span("a", 0, 2), span("b", 4, 6), span("c", 8, 9)];
  const theirs = [span("a", 0, 2), span("b", 4, 7), span("d", 20, 22)];
  const { onlyMine, onlyTheirs, changed } = compare(mine, theirs);
  assert.deepEqual(keys(onlyMine), ["c"]);
  assert.deepEqual(keys(onlyTheirs), ["d"]);
  assert.deepEqual(changed, [{ mine: mine[1], theirs: theirs[1] }]);
});

test("the same place under two keys is the same span", () => {
  assert.equal(areAlike([span("a", 0, 2)], [span("z", 0, 2)]), true);
  assert.equal(areAlike([span("a", 0, 2)], [span("z", 0, 2, { label: "Date" })]), false);
  assert.equal(areAlike([span("a", 0, 2)], [span("a", 0, 2, { value: "7", sign: "plain" })]), false);
});

test("what either side did since the common version is done", () => {
  const base = [span("a", 0, 2), span("b", 4, 6), span("c", 8, 9), span("d", 11, 12)];
  const mine = [span("a", 0, 2, { label: "Date" }), span("c", 8, 9), span("d", 11, 12), span("m", 20, 21)];
  const theirs = [span("a", 0, 2), span("b", 4, 6), span("d", 11, 13), span("t", 30, 31)];
  const { spans, dropped } = merge(base, mine, theirs);
  // b was removed here and c there; a was changed here and d there; m and t are new.
  assert.deepEqual(keys(spans), ["a", "d", "m", "t"]);
  assert.equal(spans[0].label, "Date");
  assert.equal(spans[1].end, 13);
  assert.deepEqual(dropped, []);
});

test("where both did something, mine stays and theirs is listed", () => {
  const { spans, dropped } = merge([], [span("m", 0, 10)], [span("t", 5, 6), span("u", 12, 14)]);
  assert.deepEqual(keys(spans), ["m", "u"]);
  assert.deepEqual(keys(dropped), ["t"]);
});

test("the same span made on both sides is no overlap", () => {
  const { spans, dropped } = merge([], [span("m", 0, 3)], [span("t", 0, 3)]);
  assert.deepEqual(keys(spans), ["m"]);
  assert.deepEqual(dropped, []);
});
