// Checks the values it reads from standard input, for tests/annotation/workbench/test_value_twins.py.

import { text } from "node:stream/consumers";

import { valueFault } from "../../static/js/lib/values.js";

const cases = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(cases.map((one) => valueFault(...one))));
