import assert from "node:assert/strict";
import { test } from "node:test";

import { buildIndex, offsetOf, placeOf, slice, toCodePoints, toUnits, trimmed } from "../../static/js/lib/offsets.js";

const PARTS = ["Net 😀 loss", "", " of (", "1,204", ")", " 𝟚𝟛%\n"];

test("units and code points convert both ways at every character", () => {
  const index = buildIndex(PARTS);
  const characters = Array.from(PARTS.join(""));
  let unit = 0;
  characters.forEach((character, codePoint) => {
    assert.equal(toCodePoints(index, unit), codePoint);
    assert.equal(toUnits(index, codePoint), unit);
    unit += character.length;
  });
  assert.equal(toCodePoints(index, unit), characters.length);
});

test("every place in every node comes back from its offset", () => {
  const index = buildIndex(PARTS);
  PARTS.forEach((part, node) => {
    let unit = 0;
    for (const character of part) {
      const offset = offsetOf(index, node, unit);
      const place = placeOf(index, offset);
      assert.equal(index.units[place.node] + place.unit, index.units[node] + unit);
      assert.equal(slice(index, offset, offset + 1), character);
      unit += character.length;
    }
  });
});

test("a range's end stays in the node that holds its last character", () => {
  const index = buildIndex(["1,204", "next cell"]);
  assert.deepEqual(placeOf(index, 5, { end: true }), { node: 0, unit: 5 });
  assert.deepEqual(placeOf(index, 5), { node: 1, unit: 0 });
});

test("trimming drops white space of every kind and tells when nothing is left", () => {
  const index = buildIndex(["\u00a0 12% \n", "  "]);
  assert.deepEqual(trimmed(index, 0, 9), { start: 2, end: 5 });
  assert.equal(trimmed(index, 6, 9), null);
});

test("random texts with astral characters keep the round trip", () => {
  const alphabet = ["a", "1", "é", "e\u0301", "😀", "𝟚", "\n", "（"];
  let seed = 7;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 200; round += 1) {
    const parts = Array.from({ length: random(6) }, () =>
      Array.from({ length: random(9) }, () => alphabet[random(alphabet.length)]).join(""),
    );
    const index = buildIndex(parts);
    const total = Array.from(index.text).length;
    for (let codePoint = 0; codePoint <= total; codePoint += 1) {
      assert.equal(toCodePoints(index, toUnits(index, codePoint)), codePoint);
    }
  }
});
