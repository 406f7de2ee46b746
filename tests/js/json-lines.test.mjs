import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { bytesOf, kindOf, linesOf, mistakenKind } from "../../static/js/lib/json-lines.js";
import { seeded } from "./random.mjs";

const bytes = (text) => new TextEncoder().encode(text);
const textOf = (line) => new TextDecoder().decode(line);

/** A stream that arrives in the pieces given. */
function arriving(pieces) {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

async function read(stream, longest) {
  const found = [];
  for await (const lines of linesOf(stream, longest)) found.push(...lines.map(textOf));
  return found;
}

test("a file is told by its first bytes, a ZIP by its name, too", () => {
  assert.equal(kindOf(bytes("PK"), "x.jsonl"), "zip");
  assert.equal(kindOf(bytes("{}"), "X.ZIP"), "zip");
  assert.equal(kindOf(new Uint8Array([0x1f, 0x8b]), "x.jsonl"), "gzip");
  assert.equal(kindOf(bytes("{}"), "x.gz"), "lines");
  assert.equal(kindOf(new Uint8Array(0), ""), "lines");
});

test("a file that is clearly no text is recognised by its first bytes", () => {
  assert.equal(mistakenKind(new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d])), "a PNG image");
  assert.equal(mistakenKind(bytes("%PDF-1.7")), "a PDF");
  assert.equal(mistakenKind(new Uint8Array([0xff, 0xfe, 0x7b, 0])), "text in UTF-16");
  assert.equal(mistakenKind(new Uint8Array([0x7b, 0, 1])), "a binary file");
  assert.equal(mistakenKind(bytes('{"id": "é"}')), "");
  assert.equal(mistakenKind(new Uint8Array(0)), "");
});

test("lines are found wherever the pieces are cut", async () => {
  const whole = bytes('{"id": "é"}\n\n{"id": "b"}\nlast');
  for (let cut = 0; cut <= whole.length; cut += 1) {
    const pieces = [whole.subarray(0, cut), whole.subarray(cut)].filter((piece) => piece.length);
    assert.deepEqual(await read(arriving(pieces)), ['{"id": "é"}', "", '{"id": "b"}', "last"]);
  }
});

test("a last newline makes no further line, and an empty file none", async () => {
  assert.deepEqual(await read(arriving([bytes("a\nb\n")])), ["a", "b"]);
  assert.deepEqual(await read(arriving([])), []);
});

test("any text in any pieces gives the lines that splitting gives", async () => {
  const below = seeded(7);
  for (let round = 0; round < 60; round += 1) {
    const text = Array.from({ length: 40 }, () => ["a", "€", "\n", "\r", "😀"][below(5)]).join("");
    const whole = bytes(text);
    const pieces = [];
    for (let at = 0; at < whole.length; ) {
      const size = 1 + below(9);
      pieces.push(whole.subarray(at, at + size));
      at += size;
    }
    const wanted = text.split("\n");
    if (wanted.at(-1) === "") wanted.pop();
    assert.deepEqual(await read(arriving(pieces)), wanted);
  }
});

test("a line without an end is given up", async () => {
  const pieces = Array.from({ length: 5 }, () => bytes("x".repeat(10)));
  assert.deepEqual(await read(arriving(pieces), 25), ["x".repeat(30)]);
});

test("gzipped bytes are unpacked", async () => {
  const file = new Blob([gzipSync(bytes("a\nb\n"))]);
  assert.deepEqual(await read(bytesOf(file, "gzip")), ["a", "b"]);
});

test("bytes that are no gzip fail", async () => {
  await assert.rejects(read(bytesOf(new Blob([new Uint8Array([0x1f, 0x8b, 1, 2, 3])]), "gzip")));
});
