import assert from "node:assert/strict";
import { test } from "node:test";

import { candidatesOf, countOpen, nextOpen } from "../../static/js/lib/candidates.js";
import { equalPlaces } from "../../static/js/lib/equal.js";
import { buildIndex } from "../../static/js/lib/offsets.js";

const range = (start, end, more = {}) => ({ start, end, ...more });

test("a suggestion replaces the facts it touches", () => {
  const all = candidatesOf([range(0, 2), range(5, 8), range(9, 11)], [range(6, 10, { label: "Date" })]);
  assert.deepEqual(all.map((one) => [one.start, one.end]), [[0, 2], [6, 10]]);
});

test("facts that are not to be labelled are no candidates", () => {
  const facts = [range(0, 2, { isLabelled: true }), range(5, 8, { isLabelled: false }), range(9, 11)];
  assert.deepEqual(candidatesOf(facts, []).map((one) => one.start), [0, 9]);
  assert.deepEqual(candidatesOf(facts, [range(5, 8, { label: "Date" })]).map((one) => one.start), [0, 5, 9]);
});

test("the way goes round, past what has a label", () => {
  const facts = [range(0, 2), range(5, 8), range(9, 11)];
  const spans = [range(5, 8)];
  assert.equal(nextOpen(facts, spans, 2, 1).start, 9);
  assert.equal(nextOpen(facts, spans, 11, 1).start, 0);
  assert.equal(nextOpen(facts, spans, 9, -1).start, 0);
  assert.equal(nextOpen(facts, spans, 0, -1).start, 9);
  assert.equal(nextOpen(facts, facts, 0, 1), null);
  assert.equal(countOpen(facts, spans), 2);
  assert.equal(countOpen(facts, [range(1, 6), range(10, 20)]), 0);
});

test("equal places are whole, free and not part of a larger fact", () => {
  const text = "1,200 and 1,200 but 11,200 or 1,200.5 or (1,200) and 😀 1,200.";
  const index = buildIndex([text]);
  const characters = Array.from(text);
  const at = (quote, from = 0) => characters.join("").indexOf(quote, from); // all before the emoji
  const fact = at("(1,200)");
  const found = equalPlaces(index, [], [range(fact, fact + 7)], [range(0, 5)], { start: 0, end: 5, quote: "1,200" });
  assert.deepEqual(found.map(({ start }) => start), [10, characters.lastIndexOf("1", characters.length - 5)]);
  assert.equal(found[0].after.startsWith(" but"), true);
});

test("cells that stand side by side hold equal places of their own", () => {
  const index = buildIndex(["1,200", "1,200", "7"]);
  const found = equalPlaces(index, [5, 10], [], [range(0, 5)], { start: 0, end: 5, quote: "1,200" });
  assert.deepEqual(found.map(({ start }) => start), [5]);
  assert.deepEqual(equalPlaces(index, [], [], [range(0, 5)], { start: 0, end: 5, quote: "1,200" }), []);
});
