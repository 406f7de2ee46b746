import assert from "node:assert/strict";
import { test } from "node:test";

import { ActiveTime } from "../../static/js/lib/active-time.js";

function clock() {
  let now = 0;
  const time = new ActiveTime(() => now);
  return { time, at: (seconds) => { now = seconds * 1000; } };
}

test("time between acts counts, a long pause does not", () => {
  const { time, at } = clock();
  time.act();
  for (const second of [10, 40, 200, 205]) {
    at(second);
    time.act();
  }
  assert.equal(time.seconds, 45); // 10 + 30, not the 160, and 5
});

test("a hidden page stands still until the next act", () => {
  const { time, at } = clock();
  time.act();
  at(5);
  time.pause();
  at(20);
  time.act();
  at(23);
  time.act();
  assert.equal(time.seconds, 8);
});

test("each second is handed out once", () => {
  const { time, at } = clock();
  time.act();
  at(7.6);
  time.act();
  assert.equal(time.take(), 7);
  assert.equal(time.take(), 0);
  at(8.1);
  time.act();
  assert.equal(time.take(), 1);
  assert.equal(time.seconds, 8);
});
