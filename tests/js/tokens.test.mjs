import assert from "node:assert/strict";
import { test } from "node:test";

import { tokenAt, tokenBefore, tokenFrom } from "../../static/js/lib/tokens.js";

const TEXT = "Loss of $ (1,204.5) in cafe\u0301 𝟚𝟛%.";
const read = (token) => token && TEXT.slice(token.start, token.end);

function forward(text, borders = []) {
  const found = [];
  for (let token = tokenFrom(text, borders, 0); token; token = tokenFrom(text, borders, token.end)) {
    found.push(text.slice(token.start, token.end));
  }
  return found;
}

function backward(text, borders = []) {
  const found = [];
  for (let token = tokenBefore(text, borders, text.length); token; token = tokenBefore(text, borders, token.start)) {
    found.unshift(text.slice(token.start, token.end));
  }
  return found;
}

test("numbers, words with their accents and single signs are tokens", () => {
  assert.deepEqual(forward(TEXT), ["Loss", "of", "$", "(", "1,204.5", ")", "in", "cafe\u0301", "𝟚𝟛", "%", "."]);
});

test("there and back pass the same tokens", () => {
  assert.deepEqual(backward(TEXT), forward(TEXT));
  const long = `${"word ".repeat(300)}${"x".repeat(900)} end`;
  assert.equal(backward(long).at(-1), "end");
  assert.equal(backward(long)[0], "word");
  assert.equal(forward(long).at(-1), "end");
});

test("no token reaches over the border of a cell", () => {
  assert.deepEqual(forward("1,5861,702", [5]), ["1,586", "1,702"]);
  assert.deepEqual(backward("1,5861,702", [5]), ["1,586", "1,702"]);
});

test("a place is in its token, white space in none", () => {
  assert.equal(read(tokenAt(TEXT, [], TEXT.indexOf("204"))), "1,204.5");
  assert.equal(tokenAt(TEXT, [], 4), null);
});
