// Cases of a page in adjudication: how each looks on it, how many there are of what, which one comes next. Pure.

/** @typedef {{label: string, start: number, end: number, quote: string, value?: string, sign?: string}} SpanData */
/**
 * @typedef {object} Case
 * @property {number} id
 * @property {"open" | "decided"} state
 * @property {number} start
 * @property {number} end
 * @property {"only" | "boundary" | "label" | "value" | "review"} difference
 * @property {string[]} marked_by
 * @property {{letter: string, spans: SpanData[]}[]} proposals
 * @property {SpanData[]} decision
 */

/** What is told apart on the page, in the order of the legend. */
export const LOOKS = [
  ["agreed", "Agreed by all"],
  ["gold", "Gold from review or import"],
  ["only-a", "Only A"],
  ["only-b", "Only B"],
  ["some", "Only some of them"],
  ["boundary", "Boundary differs"],
  ["label", "Label differs"],
  ["value", "Value missing or differs"],
  ["review", "Sent back or opened for correction"],
  ["decided", "Decided"],
  ["rejected", "Decided: nothing to mark"],
];

/** How a case looks. @param {Case} one */
export function lookOf(one) {
  if (one.state === "decided") return one.decision.length ? "decided" : "rejected";
  if (one.difference !== "only") return one.difference;
  if (one.marked_by.length === 1 && one.marked_by[0] === "A") return "only-a";
  return one.marked_by.length === 1 && one.marked_by[0] === "B" ? "only-b" : "some";
}

/** The stretches in which a case is painted, in text order and free of overlaps. @param {Case} one */
export function stretchesOf(one) {
  if (one.state === "decided" && one.decision.length) return merged(one.decision);
  const spans = one.proposals.flatMap((proposal) => proposal.spans);
  const isWhole = one.state === "decided" || one.difference === "review" || spans.length === 0;
  return merged(isWhole ? [one] : spans);
}

/** Stretches that overlap become one. */
export function merged(spans) {
  const found = [];
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = found.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else found.push({ start, end });
  }
  return found;
}

/** How the gold of no case looks: what all marked alike, or what came by another way. */
export const lookOfMark = ({ origin }) => (origin === "agreed" ? "agreed" : "gold");

/** How many there are of each look. @returns {Map<string, number>} */
export function countLooks(marks, cases) {
  const counts = new Map(LOOKS.map(([look]) => [look, 0]));
  for (const look of [...marks.map(lookOfMark), ...cases.map(lookOf)]) counts.set(look, counts.get(look) + 1);
  return counts;
}

/**
 * The open case after (1) or before (-1) another one in text order, with `wraps` from the other end after the last.
 * Only those that `accepts` says; null when there is none but the one itself.
 *
 * @param {Case[]} cases in text order @param {Case | null} from @param {1 | -1} direction
 */
export function nextOpen(cases, from, direction, { accepts = () => true, wraps = true } = {}) {
  const open = cases.filter((one) => one.state === "open" && accepts(one) && one.id !== from?.id);
  const ordered = direction > 0 ? open : open.reverse();
  const beyond = (one) => !from || (direction > 0 ? one.start > from.start : one.start < from.start);
  return ordered.find(beyond) ?? (wraps ? (ordered[0] ?? null) : null);
}

/** The case that holds the character at an offset, or null. */
export const caseAt = (cases, offset) => cases.find((one) => one.start <= offset && offset < one.end) ?? null;

/** The place of the proposal with the most marks, with which an edit begins. */
export function fullest(proposals) {
  let best = 0;
  proposals.forEach((proposal, place) => {
    if (proposal.spans.length > proposals[best].spans.length) best = place;
  });
  return best;
}
