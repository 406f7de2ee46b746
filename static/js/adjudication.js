// One case: the proposals painted on the page, decided by key, edited by selecting text.

import { loadPage } from "./lib/page.js";
import { slice } from "./lib/offsets.js";
import { sha256 } from "./lib/sha256.js";

/** What the labels' own marks do not say: where the case is, and what is gold around it. */
const MARKS = `
  ::highlight(case) { background-color: #ffe9a8; }
  ::highlight(gold) { text-decoration: underline dotted 1px #555d66; }
`;

class CasePage {
  #data;
  #page;
  #root;
  /** The row of the edit that a selection fills: the one last used. */
  #row;

  constructor(root, data, page) {
    this.#root = root;
    this.#data = data;
    this.#page = page;
    this.#addStyles();
    this.#paint(data.proposals);
    page.reveal(data.case);
    for (const card of root.querySelectorAll("[data-proposal]")) this.#follow(card);
    this.#page.document.addEventListener("click", (event) => event.preventDefault());
    this.#page.document.addEventListener("selectionchange", () => this.#take());
    this.#page.document.addEventListener("keydown", (event) => decideByKey(root, event));
    for (const row of root.querySelectorAll("[data-span-row]")) {
      row.addEventListener("focusin", () => (this.#row = row));
      this.#quote(row);
    }
    this.#row = root.querySelector("[data-span-row]");
    root.addEventListener("input", (event) => {
      const row = event.target.closest("[data-span-row]");
      if (row) this.#quote(row);
    });
  }

  /** Looking at one proposal shows its marks alone. */
  #follow(card) {
    const proposal = this.#data.proposals[Number(card.dataset.proposal) - 1];
    for (const name of ["pointerenter", "focusin"]) {
      card.addEventListener(name, () => this.#paint([proposal]));
    }
    for (const name of ["pointerleave", "focusout"]) {
      card.addEventListener(name, () => this.#paint(this.#data.proposals));
    }
  }

  #paint(proposals) {
    const groups = { case: [this.#data.case], gold: this.#data.gold };
    for (const span of this.#data.proposals.flatMap((proposal) => proposal.spans)) groups[span.css] ??= [];
    for (const span of proposals.flatMap((proposal) => proposal.spans)) groups[span.css].push(span);
    this.#page.paint(groups);
  }

  /** A selection while editing becomes the place of the row last used. */
  #take() {
    const edit = this.#root.querySelector("[data-edit][open]");
    const selected = edit && this.#page.selection();
    if (!selected) return;
    this.#row.querySelector("[name$=-start]").value = selected.start;
    this.#row.querySelector("[name$=-end]").value = selected.end;
    this.#quote(this.#row);
  }

  #quote(row) {
    const start = Number(row.querySelector("[name$=-start]").value);
    const end = Number(row.querySelector("[name$=-end]").value);
    const fits = end > start && end <= this.#data.text_chars;
    row.querySelector("[data-quote]").textContent = fits ? `“${slice(this.#page.index, start, end)}”` : "";
  }

  #addStyles() {
    const sheet = new this.#page.document.defaultView.CSSStyleSheet();
    sheet.replaceSync(MARKS);
    const { document } = this.#page;
    document.adoptedStyleSheets = [sheet, ...document.adoptedStyleSheets];
  }
}

/** 1, 2, … take a proposal, n none; e opens the edit. */
function decideByKey(root, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.("input, textarea, select")) return;
  const key = event.key.toLowerCase();
  const choice = key === "n" ? "none" : /^[1-9]$/.test(key) ? key : null;
  const button = choice && root.querySelector(`button[name=choice][value="${choice}"]`);
  const edit = key === "e" && root.querySelector("[data-edit]");
  if (button) button.click();
  else if (edit) edit.open = true;
  else return;
  event.preventDefault();
}

async function start(root) {
  document.addEventListener("keydown", (event) => decideByKey(root, event));
  const data = JSON.parse(document.getElementById("case-data").textContent);
  try {
    const page = await loadPage(root.querySelector("iframe"), data.html);
    if (sha256(page.text) !== data.text_sha256) throw new Error("another text");
    new CasePage(root, data, page);
    root.dataset.ready = "true";
  } catch {
    // The decision does not need the marks: the proposals stand beside the page with their context.
    root.querySelector("[data-fault]").hidden = false;
    root.dataset.ready = "fault";
  }
}

const root = document.querySelector("[data-case]");
if (root) start(root);
