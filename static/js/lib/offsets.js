// Converts offsets between the browser's text nodes and the canonical text.
//
// The server counts code points over the concatenation of all text nodes; the browser counts UTF-16 units
// within one node. One pass over the nodes makes an index; afterwards each conversion is a binary search.

/**
 * @typedef {object} TextIndex
 * @property {string} text       all nodes joined: the canonical text, in UTF-16
 * @property {number[]} units    UTF-16 offset at which each node begins
 * @property {number[]} astral   UTF-16 offsets of characters beyond the basic plane (first unit), ascending
 */

/** Builds the index of an ordered list of text node contents. @param {string[]} parts @returns {TextIndex} */
export function buildIndex(parts) {
  const units = [];
  let length = 0;
  for (const part of parts) {
    units.push(length);
    length += part.length;
  }
  const text = parts.join("");
  return { text, units, astral: astralOffsets(text) };
}

function astralOffsets(text) {
  const found = [];
  for (const match of text.matchAll(/[\u{10000}-\u{10FFFF}]/gu)) found.push(match.index);
  return found;
}

/** The number of values of a sorted array that are smaller than `value`. */
function countBelow(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** UTF-16 offset in the whole text to code points. An offset within a pair counts as after it. */
export function toCodePoints(index, unit) {
  return unit - countBelow(index.astral, unit);
}

/** Code points to UTF-16 offset in the whole text. */
export function toUnits(index, codePoint) {
  let low = 0;
  let high = index.astral.length;
  // The n-th astral character is at astral[n] units, which is astral[n] - n code points.
  while (low < high) {
    const middle = (low + high) >> 1;
    if (index.astral[middle] - middle < codePoint) low = middle + 1;
    else high = middle;
  }
  return codePoint + low;
}

/** A place in a node to code points of the whole text. */
export function offsetOf(index, node, unitInNode) {
  return toCodePoints(index, index.units[node] + unitInNode);
}

/**
 * A code point offset to its node and unit. At a border between nodes, `end` selects the
 * earlier node, so that a range never extends into the next cell.
 */
export function placeOf(index, codePoint, { end = false } = {}) {
  const unit = toUnits(index, codePoint);
  const after = countBelow(index.units, end ? unit : unit + 1);
  let node = Math.max(0, after - 1);
  return { node, unit: unit - index.units[node] };
}

/** The slice of the canonical text between two code point offsets. */
export function slice(index, start, end) {
  return index.text.slice(toUnits(index, start), toUnits(index, end));
}

/** Trims white space from both ends; null if nothing is left. */
export function trimmed(index, start, end) {
  const text = slice(index, start, end);
  const left = text.length - text.trimStart().length;
  const right = text.length - text.trimEnd().length;
  if (left === text.length) return null;
  // White space lies in the basic plane, one unit each.
  return { start: start + left, end: end - right };
}
