// The text boxes of a page on one of its images.
//
// A box is [start, end, left, top, width, height]: code points of the canonical text, pixels of the image.

/** @typedef {[number, number, number, number, number, number]} Box */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Area  pixels of the image */

/** Distance from a word within which a click selects it, in pixels of the image. */
const REACH = 24;

/**
 * The areas of a range of text, one for each line; boxes must be sorted by `start`.
 * A partly covered word is cut in proportion. @param {Box[]} boxes @returns {Area[]}
 */
export function areasOf(boxes, { start, end }) {
  const areas = [];
  for (let n = firstEndingAfter(boxes, start); n < boxes.length && boxes[n][0] < end; n += 1) {
    const [from, to, left, top, width, height] = boxes[n];
    const share = (offset) => left + (width * (Math.min(Math.max(offset, from), to) - from)) / (to - from);
    const area = { left: share(start), top, right: share(end), bottom: top + height };
    const last = areas.at(-1);
    if (last && isBeside(last, area)) {
      last.right = Math.max(last.right, area.right);
      last.top = Math.min(last.top, area.top);
      last.bottom = Math.max(last.bottom, area.bottom);
    } else {
      areas.push(area);
    }
  }
  return areas;
}

/** The offset of the character at or nearest to a point; null if no text is near. @param {Box[]} boxes */
export function offsetNear(boxes, x, y) {
  let best = null;
  let least = REACH;
  for (const box of boxes) {
    const [, , left, top, width, height] = box;
    const distance = Math.max(left - x, x - left - width, top - y, y - top - height, 0);
    if (distance < least) [best, least] = [box, distance];
    if (distance === 0) break;
  }
  if (!best) return null;
  const [start, end, left, , width] = best;
  const share = width ? (x - left) / width : 0;
  return Math.min(end - 1, Math.max(start, start + Math.floor(share * (end - start))));
}

/** Whether the area is the next word of the same line: at most about a character away. */
function isBeside(one, other) {
  const height = one.bottom - one.top;
  const overlap = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return overlap > height / 2 && other.left >= one.right - height / 2 && other.left - one.right < height;
}

function firstEndingAfter(boxes, offset) {
  let low = 0;
  let high = boxes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boxes[middle][1] <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
