// Words, numbers and single signs of a text around a place. Pure.
//
// Offsets here are UTF-16 units of the text. `borders` are sorted units at which a new block or table cell
// starts: no token crosses one, even without white space between two cells.

const TOKEN = /[\p{L}\p{N}\p{M}]+(?:[.,'’\u00a0\u202f-](?=[\p{N}])[\p{N}]+)*|[^\s\p{L}\p{N}\p{M}]/gu;
/** Maximum distance in which a token is searched; longer words are cut. */
const REACH = 400;

/** @typedef {{start: number, end: number}} Token */

/** The number of values of a sorted array that are at most `value`. */
function countUpTo(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The range without a border that contains the unit. */
function blockAt(text, borders, unit) {
  const after = countUpTo(borders, unit);
  return {
    start: after > 0 ? borders[after - 1] : 0,
    end: after < borders.length ? borders[after] : text.length,
  };
}

/** Steps back to white space, so that no token is entered in its middle. */
function safeStart(text, from, least) {
  let start = Math.max(least, from);
  while (start > least && !/\s/.test(text[start - 1]) && from - start < REACH) start -= 1;
  return start;
}

function tokensBetween(text, start, end) {
  return Array.from(text.slice(start, end).matchAll(TOKEN), (match) => ({
    start: start + match.index,
    end: start + match.index + match[0].length,
  }));
}

/** The token that contains the unit, or null in white space. */
export function tokenAt(text, borders, unit) {
  const block = blockAt(text, borders, unit);
  const start = safeStart(text, unit, block.start);
  const found = tokensBetween(text, start, Math.min(block.end, unit + REACH));
  return found.find((token) => token.start <= unit && unit < token.end) ?? null;
}

/** The first token that starts at or after the unit, or null. */
export function tokenFrom(text, borders, unit) {
  for (let at = Math.max(0, unit); at < text.length; ) {
    const block = blockAt(text, borders, at);
    const start = safeStart(text, at, block.start);
    const end = Math.min(block.end, at + REACH);
    const found = tokensBetween(text, start, end).find((token) => token.start >= at);
    if (found) return found;
    at = end;
  }
  return null;
}

/** The last token that ends at or before the unit, or null. */
export function tokenBefore(text, borders, unit) {
  for (let at = Math.min(unit, text.length); at > 0; ) {
    const block = blockAt(text, borders, at - 1);
    const start = safeStart(text, Math.max(block.start, at - REACH), block.start);
    const found = tokensBetween(text, start, Math.min(block.end, at + REACH)).filter((token) => token.end <= at);
    if (found.length) return found.at(-1);
    at = start;
  }
  return null;
}
