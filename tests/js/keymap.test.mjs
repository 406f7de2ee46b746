import assert from "node:assert/strict";
import { test } from "node:test";

import { actionOf, KEYMAP, keyName, printed } from "../../static/js/lib/keymap.js";

const bindings = KEYMAP.flatMap((group) => group.bindings);
const press = (key, modifiers = {}) => actionOf({ key, ...modifiers });

test("no key means two things", () => {
  const keys = bindings.flatMap((binding) => binding.keys);
  assert.equal(new Set(keys).size, keys.length);
});

test("every key of the list leads to its action", () => {
  for (const { keys, action } of bindings) {
    for (const name of keys) {
      const parts = name.split(/\+(?=.)/);
      const modifiers = { ctrlKey: parts.includes("Ctrl"), altKey: parts.includes("Alt"), shiftKey: parts.includes("Shift") };
      assert.equal(press(parts.at(-1), modifiers)?.action, action, name);
    }
  }
});

test("a label key tells its number", () => {
  assert.deepEqual(press("3"), { action: "label", argument: "3" });
});

test("letters count in both cases, signs as the layout gives them", () => {
  assert.equal(keyName({ key: "Z", ctrlKey: true, shiftKey: true }), "Ctrl+Shift+z");
  assert.equal(press("?", { shiftKey: true }).action, "keys");
  assert.equal(press("z", { metaKey: true }).action, "undo");
  assert.equal(press("j", { ctrlKey: true }), null);
});

test("without characters only keys that are no character, or come with Ctrl or Alt, do anything", () => {
  const left = bindings.flatMap(({ keys }) => keys).filter((key) => key.length > 1);
  assert.ok(left.includes("ArrowRight") && left.includes("Ctrl+z"));
  const without = { characters: false };
  for (const key of ["j", "J", "1", "?", "+", "0"]) assert.equal(actionOf({ key }, without), null, key);
  assert.equal(actionOf({ key: "?", shiftKey: true }, without), null);
  assert.equal(actionOf({ key: "z", ctrlKey: true }, without).action, "undo");
  assert.equal(actionOf({ key: "Delete" }, without).action, "remove");
  assert.equal(actionOf({ key: "Enter" }, without).action, "accept");
});

test("keys are printed part by part", () => {
  assert.deepEqual(printed({ keys: ["Alt+Shift+ArrowLeft"] }), [["Alt", "Shift", "←"]]);
  assert.deepEqual(printed({ keys: ["+", "="] }), [["+"]]);
});
