import assert from "node:assert/strict";
import { test } from "node:test";

import { seeded } from "./random.mjs";
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

test("a span is moved unless another one is in the way, and loses the value written for the old borders", () => {
  const list = new SpanList([{ ...span("a", 0, 3), value: "7", sign: "plain" }, span("b", 5, 8)]);
  assert.deepEqual(list.resize("a", { start: 1, end: 6, quote: "y" }).map((s) => s.key), ["b"]);
  assert.deepEqual(list.resize("a", { start: 1, end: 5, quote: "y" }), []);
  assert.deepEqual(list.find("a"), { key: "a", label: "Number", start: 1, end: 5, quote: "y" });
});

test("many spans are added as one step, or none of them", () => {
  const list = new SpanList([span("a", 4, 6)]);
  assert.equal(list.addAll([span("b", 0, 2), span("c", 5, 9)]).length, 1);
  assert.equal(list.all.length, 1);
  list.addAll([span("b", 0, 2), span("c", 6, 9)]);
  assert.deepEqual(list.all.map((s) => s.key), ["b", "a", "c"]);
  list.undo();
  assert.deepEqual(list.all.map((s) => s.key), ["a"]);
});

test("an own value stays until it is given back", () => {
  const list = new SpanList([span("a", 0, 3)]);
  list.setValue("a", { value: "-7", sign: "minus" });
  assert.equal(list.find("a").value, "-7");
  list.setValue("a", null);
  assert.equal("value" in list.find("a"), false);
});

test("whatever is done, undo and redo return every state and spans never overlap", () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const random = seeded(seed);
    const list = new SpanList([]);
    const states = [list.all];
    const anyKey = () => list.all[random(list.all.length || 1)]?.key ?? "none";
    const acts = [
      () => list.add(span(`k${random(1e6)}`, random(50), 50 + random(3))),
      () => list.add(span(`k${random(1e6)}`, ...[random(50)].flatMap((start) => [start, start + 1 + random(5)]))),
      () => list.remove(anyKey()),
      () => list.relabel(anyKey(), ["Number", "Date"][random(2)]),
      () => list.resize(anyKey(), ...[random(50)].map((start) => ({ start, end: start + 1 + random(6), quote: "z" }))),
      () => list.setValue(anyKey(), { value: String(random(9)), sign: "plain" }),
      () => list.replace(list.all.filter(() => random(2))),
    ];
    let at = 0;
    for (let step = 0; step < 60; step += 1) {
      const act = random(10);
      if (act === 8 && list.canUndo) {
        list.undo();
        at -= 1;
      } else if (act === 9 && list.canRedo) {
        list.redo();
        at += 1;
      } else {
        const before = list.all;
        acts[act % acts.length]();
        if (list.all === before) continue;
        at += 1;
        states.length = at;
        states.push(list.all);
      }
      assert.deepEqual(list.all, states[at]);
      list.all.slice(1).forEach((one, n) => assert.ok(list.all[n].end <= one.start));
    }
    while (list.canUndo) list.undo();
    assert.deepEqual(list.all, states[0]);
    while (list.canRedo) list.redo();
    assert.deepEqual(list.all, states.at(-1));
  }
});
