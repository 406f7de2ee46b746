// The facts or fields of an item: one that is chosen in the list, on the page image, in the gold or in the prediction is
// highlighted and scrolled to in all of them. Gold and prediction with facts are frames, those with fields are panes. Without this script, a link with ?fact=… does the same.

import { press } from "./keys.js";

const list = document.querySelector("[data-facts]");
const frames = [...document.querySelectorAll(".linked iframe")];
const panes = [...document.querySelectorAll(".linked .pane")];
const pictures = document.querySelector(".linked .pictures");
const wrong = list.dataset.wrong.split(" ").filter(Boolean).map(Number);
let current = Number(list.querySelector("tr[aria-current]")?.dataset.fact ?? -1);

const rowOf = (n) => list.querySelector(`tr[data-fact="${n}"]`);

/** The documents of the frames that have loaded. */
const sides = () => frames.map((frame) => frame.contentDocument).filter((side) => side?.querySelector("mark"));

/** The wrong fact before or after the current one; undefined at the end. */
const neighbour = (step) => (step === "next" ? wrong.find((n) => n > current) : wrong.findLast((n) => n < current));

function urlOf(n) {
  const query = new URLSearchParams(list.dataset.facts);
  query.set("fact", n);
  return `?${query}`;
}

/** Highlights a fact everywhere. One that is on another page of the list is opened there. */
function choose(n, { focuses = false } = {}) {
  const row = rowOf(n);
  if (!row) {
    location.assign(`${urlOf(n)}#facts`);
    return;
  }
  current = n;
  list.querySelector("tr[aria-current]")?.removeAttribute("aria-current");
  row.setAttribute("aria-current", "true");
  if (focuses) row.querySelector("a").focus({ preventScroll: true });
  for (const link of list.querySelectorAll("[data-step]")) offer(link);
  history.replaceState(history.state, "", urlOf(n));
  show();
}

function offer(link) {
  const n = neighbour(link.dataset.step);
  link.hidden = n === undefined;
  if (n !== undefined) link.href = `${urlOf(n)}#facts`;
}

/** Highlights the current fact on the image and in the frames, and scrolls each of them to it, and the list. */
function show() {
  const row = rowOf(current);
  // With the details below it.
  row?.nextElementSibling?.scrollIntoView({ block: "nearest" });
  row?.scrollIntoView({ block: "nearest" });
  for (const rect of pictures?.querySelectorAll("rect") ?? []) {
    rect.classList.toggle("current", rect.parentElement.dataset.fact === String(current));
  }
  const place = pictures?.querySelector("rect.current");
  if (place) reveal(place, pictures, pictures.getBoundingClientRect());
  for (const side of sides()) showIn(side);
  for (const pane of panes) {
    const target = highlight(pane);
    if (target) reveal(target, pane, pane.getBoundingClientRect());
  }
}

/** Highlights the current fact on one side, and returns its first mark, or the last one before it. */
function highlight(side) {
  for (const mark of side.querySelectorAll("mark.current")) mark.classList.remove("current");
  const marks = side.querySelectorAll(`mark[data-fact~="${current}"]`);
  for (const mark of marks) mark.classList.add("current");
  return marks[0] ?? lastBefore(side);
}

function showIn(side) {
  const target = highlight(side);
  const { clientWidth, clientHeight } = side.documentElement;
  if (target) reveal(target, side.defaultView, { left: 0, top: 0, right: clientWidth, bottom: clientHeight });
}

/** The place near which a fact that was not found should be: that of the last one before it. */
function lastBefore(side) {
  const first = (mark) => Number(mark.dataset.fact.split(" ")[0]);
  const before = [...side.querySelectorAll("mark")].filter((mark) => first(mark) < current);
  return before.reduce((last, mark) => (last && first(last) >= first(mark) ? last : mark), null);
}

/** Scrolls only this pane, and only if the fact is not in view: then it comes to the middle. */
function reveal(element, pane, view) {
  const box = element.getBoundingClientRect();
  const shift = (start, end, from, to) => (start < from || end > to ? (start + end - from - to) / 2 : 0);
  const left = shift(box.left, box.right, view.left, view.right);
  const top = shift(box.top, box.bottom, view.top, view.bottom);
  if (left || top) pane.scrollBy({ left, top, behavior: "instant" });
}

function click(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const step = event.target.closest("a[data-step]")?.dataset.step;
  const found = event.target.closest("[data-fact]");
  if (step) {
    event.preventDefault();
    choose(neighbour(step), { focuses: true });
  } else if (found && !event.target.closest(".fact-details")) {
    event.preventDefault();
    choose(Number(found.dataset.fact.split(" ")[0]));
  }
}

function listen(target) {
  target.addEventListener("click", click);
  target.addEventListener("keydown", press);
}

function connect(frame) {
  listen(frame.contentDocument);
  showIn(frame.contentDocument);
  if (current < 0) return;
  // The fragment of its URL scrolled the whole page, too.
  frame.closest(".sheets").scrollLeft = 0;
  frame.closest(".linked").scrollIntoView({ block: "nearest" });
}

document.addEventListener("click", click);
document.querySelector("[data-enlarge]")?.addEventListener("change", show);
for (const frame of frames) {
  frame.addEventListener("load", () => connect(frame));
  if (frame.contentDocument?.readyState === "complete" && frame.contentDocument.querySelector("mark")) connect(frame);
}
show();
