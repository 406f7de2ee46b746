// Snaps the cases it reads from standard input, for tests/annotation/workbench/test_snap_twins.py.

import { text } from "node:stream/consumers";

import { buildIndex, toUnits } from "../../static/js/lib/offsets.js";
import { snap } from "../../static/js/lib/snap.js";

const pages = JSON.parse(await text(process.stdin));
const answers = pages.map((page) => {
  const index = buildIndex([page.text]);
  const borders = page.borders.map((border) => toUnits(index, border));
  const facts = page.facts.map(([start, end]) => ({ start, end }));
  return page.selections.map(([start, end]) => {
    const range = snap(index, borders, facts, start, end);
    return range ? [range.start, range.end] : null;
  });
});
process.stdout.write(JSON.stringify(answers));
