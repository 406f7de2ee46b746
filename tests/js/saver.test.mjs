import assert from "node:assert/strict";
import { test } from "node:test";

import { Saver } from "../../static/js/lib/saver.js";

/** A saver whose clock and server stand still until told. */
function scene(answers) {
  const sent = [];
  const states = [];
  const timers = [];
  const kept = [];
  let spans = [];
  let keys = 0;
  const saver = new Saver({
    revision: 3,
    snapshot: () => spans,
    send: async (body) => {
      sent.push(structuredClone(body));
      return answers.shift();
    },
    report: (state) => states.push(state),
    keep: (unsaved) => kept.push(structuredClone(unsaved)),
    takeSeconds: () => 7,
    newKey: () => `key-${(keys += 1)}`,
    later: (work) => timers.push(work),
  });
  const tick = async () => {
    timers.shift()?.();
    await new Promise((done) => setImmediate(done));
  };
  return { saver, sent, states, timers, kept, tick, mark: (next) => { spans = next; saver.touch(); } };
}

const ok = (revision) => ({ status: 200, body: { revision } });

test("several changes in a moment make one save", async () => {
  const { saver, sent, states, tick, mark } = scene([ok(4)]);
  mark(["a"]);
  mark(["a", "b"]);
  await tick();
  assert.deepEqual(sent, [{ base_revision: 3, save_key: "key-1", spans: ["a", "b"], active_seconds: 7 }]);
  assert.equal(saver.revision, 4);
  assert.equal(states.at(-1), "saved");
  assert.equal(saver.hasUnsaved, false);
});

test("a lost answer is asked again under the same key", async () => {
  const { saver, sent, states, tick, mark } = scene([{ status: 0, body: null }, ok(4)]);
  mark(["a"]);
  await tick();
  assert.equal(states.at(-1), "offline");
  assert.equal(saver.hasUnsaved, true);
  await tick();
  assert.equal(sent[0].save_key, sent[1].save_key);
  assert.equal(saver.revision, 4);
});

test("a change during the outage is saved after the one that was lost", async () => {
  const { saver, sent, tick, mark, timers } = scene([{ status: 503, body: null }, ok(4), ok(5)]);
  mark(["a"]);
  await tick();
  mark(["a", "b"]);
  while (timers.length) await tick();
  assert.deepEqual(sent.map((s) => s.spans.length), [1, 1, 2]);
  assert.deepEqual(sent.map((s) => s.base_revision), [3, 3, 4]);
  assert.equal(saver.revision, 5);
});

test("a conflict stops saving until the person chose; mine is then saved on top", async () => {
  const { saver, sent, states, tick, mark } = scene([{ status: 409, body: { revision: 9 } }, ok(10)]);
  mark(["mine"]);
  await tick();
  assert.equal(states.at(-1), "conflict");
  mark(["mine", "more"]);
  assert.equal(sent.length, 1);
  saver.resolve(9, ["theirs"], { keepMine: true });
  await tick();
  assert.deepEqual(sent[1], { base_revision: 9, save_key: "key-2", spans: ["mine", "more"], active_seconds: 7 });
  assert.equal(saver.revision, 10);
});

test("flush tells whether everything arrived", async () => {
  const good = scene([ok(4)]);
  good.mark(["a"]);
  assert.equal(await good.saver.flush(), true);
  const bad = scene([{ status: 0, body: null }]);
  bad.mark(["a"]);
  assert.equal(await bad.saver.flush(), false);
});

test("what the server refuses stays unsaved and says so", async () => {
  const { saver, states, tick, mark } = scene([{ status: 422, body: { code: "invalid" } }]);
  mark(["a"]);
  await tick();
  assert.equal(states.at(-1), "refused");
  assert.equal(saver.hasUnsaved, true);
});

test("every change and every save is kept before it is sent, and forgotten once accepted", async () => {
  const { saver, kept, tick, mark } = scene([ok(4)]);
  mark(["a"]);
  assert.deepEqual(kept.at(-1), { revision: 3, base: [], pending: null, spans: ["a"] });
  await tick();
  const pending = { base_revision: 3, save_key: "key-1", spans: ["a"], active_seconds: 7 };
  assert.deepEqual(kept.at(-2), { revision: 3, base: [], pending, spans: null });
  assert.equal(kept.at(-1), null);
  assert.deepEqual(saver.base, ["a"]);
});

test("a page that takes over sends the save under its old key first, then what is newer", async () => {
  const { saver, sent, tick, timers, mark } = scene([ok(4), ok(5)]);
  const pending = { base_revision: 3, save_key: "of-old", spans: ["a"], active_seconds: 2 };
  mark(["a", "b"]);
  saver.resume({ revision: 3, base: [], pending, spans: ["a", "b"] });
  while (timers.length) await tick();
  assert.deepEqual(sent.map((save) => save.save_key), ["of-old", "key-1"]);
  assert.deepEqual(sent.map((save) => save.base_revision), [3, 4]);
  assert.deepEqual(sent[1].spans, ["a", "b"]);
});

test("a connection that comes back sends the very same save at once", async () => {
  const { saver, sent, tick, mark } = scene([{ status: 503, body: null }, ok(4)]);
  mark(["a"]);
  await tick();
  saver.retry();
  await tick();
  assert.deepEqual(sent[0], sent[1]);
});
