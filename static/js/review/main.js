// One fact of a review round: highlighted on the page, decided by key, corrected by selecting text.

import { loadPage } from "../lib/page.js";
import { slice } from "../lib/offsets.js";
import { sha256 } from "../lib/sha256.js";
import { ImagePane } from "../workbench/image-pane.js";

/** The fact is highlighted; the gold around it keeps the marks of its labels. */
const MARKS = `
  ::highlight(fact) { background-color: #ffe08a; color: #1c2024; text-decoration: underline solid 3px #1c2024; }
`;

const root = document.querySelector("[data-review]");

/** A accepts, C and S open the forms with a reason, N goes to the next fact. Ignores keys in fields. */
function onKey(event) {
  // A key that is held down must not decide the next fact.
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest?.("input, textarea, select")) {
    if (event.key === "Escape") closePanel(event.target.closest("details"));
    return;
  }
  const act = ACTS[event.key.toLowerCase()];
  if (act?.()) event.preventDefault();
}

const ACTS = {
  a: () => click("[data-accept] button"),
  c: () => openPanel("[data-correct]"),
  s: () => openPanel("[data-back]"),
  n: () => click("[data-next]"),
};

function click(selector) {
  const found = document.querySelector(selector);
  found?.click();
  return Boolean(found);
}

function openPanel(selector) {
  const panel = root.querySelector(selector);
  if (!panel) return false;
  panel.open = true;
  panel.querySelector("textarea, select").scrollIntoView({ block: "nearest" });
  // The correction form starts with the label, the other one with the reason.
  (selector === "[data-back]" ? panel.querySelector("textarea") : panel.querySelector("select")).focus();
  return true;
}

function closePanel(panel) {
  if (!panel) return;
  panel.open = false;
  panel.querySelector("summary").focus();
}

/** The fields of the correction, filled from the page's selection. */
class Correction {
  #form;
  #page;
  #chars;

  constructor(panel, page, chars) {
    this.#form = panel.querySelector("form");
    this.#page = page;
    this.#chars = chars;
    page.document.addEventListener("selectionchange", () => panel.open && this.#take());
    for (const name of ["start", "end"]) this.#field(name).addEventListener("input", () => this.#quote());
    // Value and sign belong to the former quote and label; the server derives new ones.
    for (const name of ["start", "end", "label"]) {
      this.#field(name).addEventListener("change", () => this.#forgetValue());
    }
    this.#quote();
  }

  #field(name) {
    return this.#form.querySelector(`[name$="-${name}"]`);
  }

  #take() {
    const selected = this.#page.selection();
    if (!selected) return;
    this.#field("start").value = selected.start;
    this.#field("end").value = selected.end;
    this.#forgetValue();
    this.#quote();
  }

  #forgetValue() {
    this.#field("value").value = "";
    this.#field("sign").value = "";
  }

  #quote() {
    const start = Number(this.#field("start").value);
    const end = Number(this.#field("end").value);
    const fits = end > start && end <= this.#chars;
    this.#form.querySelector("[data-quote]").textContent = fits ? `“${slice(this.#page.index, start, end)}”` : "";
  }
}

function showFact(page, data) {
  page.addStyles(MARKS);
  const groups = {};
  for (const { css, start, end } of data.gold) {
    // Labels that the campaign no longer has are not marked.
    if (css) (groups[css] ??= []).push({ start, end });
  }
  page.paint(groups);
  const fact = page.highlight("fact", 1);
  fact.add(page.range(data.fact.start, data.fact.end));
  page.reveal(data.fact);
  page.document.addEventListener("click", (event) => event.preventDefault());
  page.document.addEventListener("keydown", onKey);
}

async function start() {
  const image = new ImagePane(root);
  for (const [name, act] of [["in", () => image.in()], ["out", () => image.out()], ["fit", () => image.fit()]]) {
    root.querySelector(`[data-zoom-${name}]`)?.addEventListener("click", act);
  }
  const data = JSON.parse(document.getElementById("review-data").textContent);
  try {
    const page = await loadPage(root.querySelector("iframe"), data.html);
    if (sha256(page.text) !== data.text_sha256) throw new Error("another text");
    showFact(page, data);
    const panel = root.querySelector("[data-correct]");
    if (panel) new Correction(panel, page, data.text_chars);
    root.dataset.ready = "true";
  } catch {
    // The panel shows the fact with its context, so a verdict is possible without marks.
    root.querySelector("[data-fault]").hidden = false;
    root.dataset.ready = "fault";
  }
  // Keys work only once the fact is visible.
  document.addEventListener("keydown", onKey);
}

start();
