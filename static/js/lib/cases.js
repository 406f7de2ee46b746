// Cases of a page in adjudication: their looks, counts and order. Pure.

/** @typedef {{label: string, start: number, end: number, quote: string, value?: string, sign?: string}} SpanData */
/**
 * @typedef {object} Case
 * @property {number} id
 * @property {"open" | "decided"} state
 * @property {number} start
 * @property {number} end
 * @property {"only" | "boundary" | "label" | "value" | "doubtful" | "review"} difference
 * @property {string[]} marked_by
 * @property {{spans: SpanData[]}[]} proposals
 * @property {SpanData[]} decision
 */

/** The looks of marks on the page with their names, in the order of the legend. */
export const LOOKS = [
  ["agreed", "Agreed by all"],
  ["gold", "Gold from review or import"],
  ["only-a", "Labelled by A only"],
  ["only-b", "Labelled by B only"],
  ["some", "Labelled by some annotators only"],
  ["boundary", "Different start or end"],
  ["label", "Different label"],
  ["value", "Different or missing value"],
  ["doubtful", "Labelled alike, with a warning"],
  ["review", "Sent back or reopened for correction"],
  ["decided", "Decided"],
  ["rejected", "Decided: no fact"],
];

/** The look of a case. @param {Case} one */
export function lookOf(one) {
  if (one.state === "decided") return one.decision.length ? "decided" : "rejected";
  if (one.difference !== "only") return one.difference;
  if (one.marked_by.length === 1 && one.marked_by[0] === "A") return "only-a";
  return one.marked_by.length === 1 && one.marked_by[0] === "B" ? "only-b" : "some";
}

/** The ranges of a case's marks, in text order and without overlaps. @param {Case} one */
export function rangesOf(one) {
  if (one.state === "decided" && one.decision.length) return merged(one.decision);
  const spans = one.proposals.flatMap((proposal) => proposal.spans);
  const isWhole = one.state === "decided" || one.difference === "review" || spans.length === 0;
  return merged(isWhole ? [one] : spans);
}

/** Merges ranges that overlap. */
export function merged(spans) {
  const found = [];
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = found.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else found.push({ start, end });
  }
  return found;
}

/** The look of gold without a case: agreed by all annotators, or from another source. */
export const lookOfMark = ({ origin }) => (origin === "agreed" ? "agreed" : "gold");

/** The number of marks and cases with each look. @returns {Map<string, number>} */
export function countLooks(marks, cases) {
  const counts = new Map(LOOKS.map(([look]) => [look, 0]));
  for (const look of [...marks.map(lookOfMark), ...cases.map(lookOf)]) counts.set(look, counts.get(look) + 1);
  return counts;
}

/**
 * The open case after (1) or before (-1) another one in text order, or null. `wraps` continues from the other end;
 * `accepts` filters the cases.
 *
 * @param {Case[]} cases in text order @param {Case | null} from @param {1 | -1} direction
 */
export function nextOpen(cases, from, direction, { accepts = () => true, wraps = true } = {}) {
  const open = cases.filter((one) => one.state === "open" && accepts(one) && one.id !== from?.id);
  const ordered = direction > 0 ? open : open.reverse();
  const beyond = (one) => !from || (direction > 0 ? one.start > from.start : one.start < from.start);
  return ordered.find(beyond) ?? (wraps ? (ordered[0] ?? null) : null);
}

/** The case that contains the character at an offset, or null. */
export const caseAt = (cases, offset) => cases.find((one) => one.start <= offset && offset < one.end) ?? null;

/** The index of the proposal with the most marks. */
export function fullest(proposals) {
  let best = 0;
  proposals.forEach((proposal, place) => {
    if (proposal.spans.length > proposals[best].spans.length) best = place;
  });
  return best;
}
