import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { sha256 } from "../../static/js/lib/sha256.js";

const reference = (text) => createHash("sha256").update(text, "utf8").digest("hex");

test("the standard's own example", () => {
  assert.equal(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("equals the platform's hash at every length around the block borders", () => {
  for (let length = 0; length < 140; length += 1) {
    const text = "(1,204) ü 😀 ".repeat(20).slice(0, length);
    // A cut through a pair leaves half of it; both sides encode that as U+FFFD.
    assert.equal(sha256(text), reference(text));
  }
});

test("a long filing", () => {
  const text = "Total assets 1,204,555 € 😀\n".repeat(40000);
  assert.equal(sha256(text), reference(text));
});
