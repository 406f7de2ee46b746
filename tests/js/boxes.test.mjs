import assert from "node:assert/strict";
import { test } from "node:test";

import { areasOf, offsetNear } from "../../static/js/lib/boxes.js";

// "Net (1,200) more" with "more" on the next line.
const BOXES = [
  [0, 3, 100, 50, 30, 20],
  [4, 5, 140, 50, 5, 20],
  [5, 10, 145, 50, 50, 20],
  [10, 11, 195, 50, 5, 20],
  [12, 16, 100, 80, 40, 20],
];

test("a word has its own area", () => {
  assert.deepEqual(areasOf(BOXES, { start: 5, end: 10 }), [{ left: 145, top: 50, right: 195, bottom: 70 }]);
});

test("a part of a word is cut in proportion", () => {
  assert.deepEqual(areasOf(BOXES, { start: 6, end: 8 }), [{ left: 155, top: 50, right: 175, bottom: 70 }]);
});

test("words of one line are one area, another line is another", () => {
  assert.deepEqual(areasOf(BOXES, { start: 0, end: 16 }), [
    { left: 100, top: 50, right: 200, bottom: 70 },
    { left: 100, top: 80, right: 140, bottom: 100 },
  ]);
});

test("columns of one line are apart", () => {
  const columns = [[0, 2, 0, 0, 20, 20], [2, 4, 300, 0, 20, 20]];
  assert.equal(areasOf(columns, { start: 0, end: 4 }).length, 2);
});

test("white space and what is not shown have no area", () => {
  assert.deepEqual(areasOf(BOXES, { start: 3, end: 4 }), []);
  assert.deepEqual(areasOf(BOXES, { start: 20, end: 30 }), []);
  assert.deepEqual(areasOf([], { start: 0, end: 5 }), []);
});

test("a point finds its character, near ones the nearest", () => {
  assert.equal(offsetNear(BOXES, 146, 60), 5);
  assert.equal(offsetNear(BOXES, 194, 60), 9);
  assert.equal(offsetNear(BOXES, 90, 60), 0);
  assert.equal(offsetNear(BOXES, 150, 90), 15);
  assert.equal(offsetNear(BOXES, 400, 60), null);
  assert.equal(offsetNear([], 1, 1), null);
});
