import assert from "node:assert/strict";
import { test } from "node:test";

import { BY_MODE, KEYMAP } from "../../static/js/adjudication/keymap.js";
import { actionOf, printed } from "../../static/js/lib/keymap.js";

for (const mode of ["case", "reason", "edit"]) {
  test(`while the ${mode} is asked no key means two things`, () => {
    const keys = KEYMAP.filter((group) => [mode, "any"].includes(group.mode)).flatMap(({ bindings }) => bindings.flatMap((one) => one.keys));
    assert.equal(new Set(keys).size, keys.length);
    assert.equal(BY_MODE[mode].size, keys.length);
  });
}

test("a digit takes a proposal, names a reason or a label, as is asked", () => {
  const press = (mode) => actionOf({ key: "2" }, { actions: BY_MODE[mode] });
  assert.deepEqual(press("case"), { action: "take", argument: "2" });
  assert.deepEqual(press("reason"), { action: "reason", argument: "2" });
  assert.deepEqual(press("edit"), { action: "label", argument: "2" });
});

test("keys that say which are printed as a row", () => {
  const [take] = KEYMAP.find(({ title }) => title === "Adjudicate").bindings;
  assert.deepEqual(printed(take).map(([key]) => key), ["1", "a", "2", "b", "…"]);
});
