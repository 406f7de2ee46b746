import assert from "node:assert/strict";
import { test } from "node:test";

import { newKey, overlapping, spanAt, SpanList } from "../../static/js/lib/spans.js";

const span = (key, start, end, label = "Number") => ({ key, label, start, end, quote: "x" });

test("touching spans do not overlap, sharing one character does", () => {
  const spans = [span("a", 0, 3), span("b", 5, 8)];
  assert.deepEqual(overlapping(spans, 3, 5), []);
  assert.deepEqual(overlapping(spans, 2, 6).map((s) => s.key), ["a", "b"]);
  assert.equal(spanAt(spans, 7).key, "b");
  assert.equal(spanAt(spans, 8), null);
});

test("an overlapping span is refused with what hinders it", () => {
  const list = new SpanList([span("a", 0, 3)]);
  assert.deepEqual(list.add(span("b", 2, 4)).map((s) => s.key), ["a"]);
  assert.equal(list.all.length, 1);
  assert.equal(list.canUndo, false);
});

test("undo and redo return every state", () => {
  const list = new SpanList([]);
  const states = [list.all];
  const steps = [
    () => list.add(span("a", 4, 6)),
    () => list.add(span("b", 0, 2)),
    () => list.relabel("a", "Date"),
    () => list.remove("b"),
    () => list.replace([span("c", 1, 9)]),
  ];
  for (const step of steps) {
    step();
    states.push(list.all);
  }
  for (let n = states.length - 2; n >= 0; n -= 1) {
    list.undo();
    assert.deepEqual(list.all, states[n]);
  }
  list.undo();
  for (let n = 1; n < states.length; n += 1) {
    list.redo();
    assert.deepEqual(list.all, states[n]);
  }
  assert.equal(list.canRedo, false);
});

test("a new change forgets what was undone", () => {
  const list = new SpanList([]);
  list.add(span("a", 0, 1));
  list.undo();
  list.add(span("b", 0, 1));
  assert.equal(list.canRedo, false);
  assert.deepEqual(list.all.map((s) => s.key), ["b"]);
});

test("keys differ", () => {
  assert.equal(new Set(Array.from({ length: 1000 }, newKey)).size, 1000);
});
