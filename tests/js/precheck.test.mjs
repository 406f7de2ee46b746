import assert from "node:assert/strict";
import { test } from "node:test";

import { Precheck, counted, sizeInWords, summary } from "../../static/js/lib/precheck.js";

const bytes = (text) => new TextEncoder().encode(text);

function found(lines, about = {}) {
  const check = new Precheck({ idKeys: ["id"], ...about });
  for (const line of lines) check.line(typeof line === "string" ? bytes(line) : line);
  return check.found();
}

const one = (line, about) => found([line], about).faults.map((fault) => fault.message);

test("faultless lines are counted, blank ones passed over", () => {
  const seen = found(['{"id": "a"}', "", "  ", '{"id": "b"}\r'], { ids: ["a", "b"] });
  assert.deepEqual(seen, { predictions: 2, faults: [], faultCount: 0, missing: [] });
});

test("every line that cannot be read is named with its number", () => {
  const seen = found(["broken", '{"id": "a"}', new Uint8Array([0x22, 0xff, 0x22]), "[1]", "null"]);
  assert.deepEqual(
    seen.faults.map((fault) => [fault.line, fault.message]),
    [
      [1, "not valid JSON"],
      [3, "not valid UTF-8"],
      [4, "not a JSON object"],
      [5, "not a JSON object"],
    ],
  );
  assert.equal(seen.predictions, 1);
});

test("other JSON is one fault", () => {
  const rule = "JSON Lines has one object per line, without brackets or commas";
  for (const [lines, kind] of [
    [["[", '{"id": "a"}', "]"], "array"],
    [["{", '"id": "a"', "}"], "object on several lines"],
  ]) {
    assert.deepEqual(found(lines).faults, [{ line: 1, id: null, message: `this is a JSON ${kind}; ${rule}` }]);
  }
});

test("ids are compared in their composed form", () => {
  assert.deepEqual(found(['{"id": "cafe\u0301"}'], { ids: ["caf\u00e9"] }).missing, []);
  assert.equal(found(['{"id": "cafe\u0301"}'], { ids: ["caf\u00e9"] }).faultCount, 0);
});

test("a byte order mark is taken on the first line only", () => {
  assert.equal(found(["\ufeff{\"id\": \"a\"}"]).faultCount, 0);
  assert.deepEqual(one("\ufeff{\"id\": \"a\"}"), []);
  assert.equal(found(['{"id": "a"}', "\ufeff{\"id\": \"b\"}"]).faultCount, 1);
});

test("an id must be there, a string, and neither empty nor endless", () => {
  assert.deepEqual(one("{}"), ["has no 'id'"]);
  assert.deepEqual(one('{"id": 3}'), ["'id' must be a string, not a number"]);
  assert.deepEqual(one('{"id": null}'), ["'id' must be a string, not null"]);
  assert.deepEqual(one('{"id": " "}'), ["'id' must have 1 to 160 printable characters"]);
  assert.deepEqual(one(`{"id": "${"x".repeat(161)}"}`), ["'id' is longer than 160 characters"]);
  assert.deepEqual(one('{"__proto__": 1}'), ["has no 'id'"]);
});

test("an id that comes again names the line it was used on first", () => {
  const seen = found(['{"id": "a"}', '{"id": "b"}', '{"id": "a"}']);
  assert.deepEqual(seen.faults, [{ line: 3, id: "a", message: "the id was already used on line 1" }]);
  assert.equal(seen.predictions, 2);
});

test("unknown and missing ids are told where the ids are", () => {
  const seen = found(['{"id": "a"}', '{"id": "z"}'], { ids: ["a", "b", "c"] });
  assert.deepEqual(seen.faults, [{ line: 2, id: "z", message: "unknown id" }]);
  assert.deepEqual(seen.missing, ["b", "c"]);
  assert.equal(found(['{"id": "z"}']).missing, null);
});

test("an item can be named by several keys", () => {
  const lines = ['{"id": "1", "subset": "A"}', '{"id": "1", "subset": "B"}', '{"id": "2"}'];
  const seen = found(lines, { idKeys: ["subset", "id"], ids: ["A:1", "B:1"] });
  assert.deepEqual(seen.missing, []);
  assert.deepEqual(seen.faults, [{ line: 3, id: null, message: "has no 'subset'" }]);
});

test("a line needs one of the answer keys, in the words of the server", () => {
  const lines = ['{"id": "a", "text": "1"}', '{"id": "b", "html": ""}'];
  assert.deepEqual(found(lines, { answerKeys: ["html"] }).faults, [
    { line: 1, id: "a", message: "has no 'html'" },
  ]);
  assert.deepEqual(one('{"id": "a"}', { answerKeys: ["fields", "response"] }), [
    "has neither 'fields' nor 'response'",
  ]);
  assert.deepEqual(one('{"id": "a", "response": null}', { answerKeys: ["fields", "response"] }), []);
});

test("many faults are counted and the first of them kept", () => {
  const seen = found(Array(500).fill("broken"));
  assert.equal(seen.faultCount, 500);
  assert.equal(seen.faults.length, 20);
  assert.deepEqual(summary(seen).faults.slice(-2), ["line 20: not valid JSON", "and 480 more"]);
});

test("the words say what there is", () => {
  const clean = summary(found(['{"id": "a"}'], { ids: ["a"] }));
  assert.deepEqual(clean, { isTrouble: false, title: "1 prediction, no errors found.", faults: [], notes: [] });
  const bad = summary(found(["broken"]));
  assert.deepEqual([bad.isTrouble, bad.title, bad.faults], [
    true,
    "1 error in 0 predictions.",
    ["line 1: not valid JSON"],
  ]);
});

test("missing ids are a question, or a fault where every id is asked for", () => {
  const seen = found(['{"id": "a"}'], { ids: ["a", "b", "c", "d", "e", "f", "g", "h"] });
  const asked = summary(seen);
  assert.equal(asked.isTrouble, false);
  assert.deepEqual(asked.notes, [
    "7 items without a prediction: b, c, d, e, f and 2 more. You will be asked to confirm this.",
  ]);
  const refused = summary(seen, { completenessRule: "Every item must have one." });
  assert.equal(refused.isTrouble, true);
  assert.match(refused.notes[0], /Every item must have one\.$/);
});

test("a file without a readable line has no missing items", () => {
  assert.deepEqual(summary(found(["broken"], { ids: ["a"] })).notes, []);
  assert.equal(summary(found(["broken", '{"id": "a"}'], { ids: ["a", "b"] })).notes.length, 1);
});

test("a fault names the id it is about", () => {
  const seen = found(['{"id": "z"}'], { ids: ["a"] });
  assert.deepEqual(summary(seen).faults, ["line 1: “z”: unknown id"]);
});

test("a fault of the whole file has no line", () => {
  const check = new Precheck({ idKeys: ["id"] });
  check.fault("not a readable gzip file", { line: 0 });
  assert.deepEqual(summary(check.found()).faults, ["not a readable gzip file"]);
});

test("numbers and sizes in words", () => {
  assert.equal(counted(13806, "line"), "13,806 lines");
  assert.equal(sizeInWords(1), "1 byte");
  assert.equal(sizeInWords(34 * 1024), "34 kB");
  assert.equal(sizeInWords(200 * 1024 * 1024), "200.0 MB");
});
