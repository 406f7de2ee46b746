import assert from "node:assert/strict";
import { test } from "node:test";

import { fittingSign, valueFault } from "../../static/js/lib/values.js";

test("numbers are decimals and fractions whose sign fits", () => {
  const good = [["", ""], ["-1200.50", "parentheses"], ["0", "minus"], ["21/4", "plain"], ["-1/3", "trailing_cr"]];
  for (const [value, sign] of good) assert.equal(valueFault(value, sign, "Number"), null, value);
  for (const value of ["1,200", "007", "1e5", "1/0", "2025-03-31", "three", "5\n"]) {
    assert.match(valueFault(value, "plain", "Number"), /must be a decimal/, value);
  }
  assert.match(valueFault("-5", "plain", "Number"), /choose how the sign is shown/);
  assert.match(valueFault("5", "minus", "Number"), /must begin with -/);
});

test("dates are days, months, quarters, halves, years, days of any year, durations and intervals", () => {
  const good = ["2025-03-31", "2025-03", "2025", "2025-Q2", "2025-H1", "--06-30", "--02-29", "P1.5Y", "PT24H"];
  for (const value of [...good, "2024-01-01/2024-03-31", "2025-Q4/2026-H1", "0004-02-29"]) {
    assert.equal(valueFault(value, "", "Date"), null, value);
    assert.equal(valueFault(value, "", "Temporal"), null, value);
  }
  for (const value of ["2025-02-29", "1900-02-29", "--02-30", "2025-13", "0000", "2025/2026-00"]) {
    assert.match(valueFault(value, "", "Date"), /no such date/, value);
  }
  for (const value of ["24.03.2025", "P", "PT", "P1D2M", "2025/2026/2027", "2025-Q5", "5"]) {
    assert.match(valueFault(value, "", "Date"), /must be a date/, value);
  }
});

test("a sign is put in where only one can be meant", () => {
  assert.equal(fittingSign("", "parentheses", "Number"), "");
  assert.equal(fittingSign("5", "", "Number"), "plain");
  assert.equal(fittingSign("-5", "", "Number"), "");
  assert.equal(fittingSign("5", "minus", "Number"), "minus");
  assert.equal(fittingSign("2025", "", "Date"), "");
});
