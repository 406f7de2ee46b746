// The annotator's marks compared with gold: painted on the page by outcome, and linked from the list.

import { loadPage } from "../lib/page.js";
import { sha256 } from "../lib/sha256.js";

/** Pages are always light. The line is the second cue besides colour, as in the list. */
const MARKS = `
  ::highlight(right) { background-color: #1b653522; text-decoration: underline solid 2px #1b6535; }
  ::highlight(boundary), ::highlight(label) { background-color: #7d530022; text-decoration: underline dashed 2px #7d5300; }
  ::highlight(value) { background-color: #7d530022; text-decoration: underline dotted 2px #7d5300; }
  ::highlight(missed) { background-color: #b01c1c1f; text-decoration: underline double 2px #b01c1c; }
  ::highlight(extra) { background-color: #b01c1c1f; text-decoration: underline wavy 1px #b01c1c; }
`;

const root = document.querySelector("[data-own-gold]");

function paint(page, facts) {
  page.addStyles(MARKS);
  const groups = {};
  for (const { outcome, start, end } of facts) (groups[outcome] ??= []).push({ start, end });
  page.paint(groups);
  page.document.addEventListener("click", (event) => event.preventDefault());
}

/** Highlights the place of a row and scrolls to it. */
function show(page, fact) {
  const active = page.highlight("active", 1);
  active.clear();
  active.add(page.range(fact.start, fact.end));
  page.reveal(fact);
}

async function start() {
  const only = root.querySelector("[data-only-differing]");
  const list = root.querySelector("[data-facts]");
  const filter = () => list.toggleAttribute("data-differing", only.checked);
  only?.addEventListener("change", filter);
  if (only) filter();
  const data = JSON.parse(document.getElementById("own-gold-data").textContent);
  try {
    const page = await loadPage(root.querySelector("iframe"), data.html);
    if (sha256(page.text) !== data.text_sha256) throw new Error("another text");
    paint(page, data.facts);
    for (const button of root.querySelectorAll("[data-show]")) {
      button.addEventListener("click", () => show(page, data.facts[Number(button.dataset.show)]));
    }
    root.dataset.ready = "true";
  } catch {
    // The list is complete without the marks.
    root.querySelector("[data-fault]").hidden = false;
    root.dataset.ready = "fault";
  }
}

if (root) start();
