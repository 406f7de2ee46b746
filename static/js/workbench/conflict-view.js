// Compares two versions of a task, and asks the user to choose one.

import { compare, merge } from "../lib/compare.js";

const GROUPS = ["onlyMine", "onlyTheirs", "changed", "dropped"];

export class ConflictView {
  #root;
  #template;

  constructor(root) {
    this.#root = root.querySelector("[data-conflict]");
    this.#template = this.#root?.querySelector("template");
    // The user must choose a version to continue.
    this.#root?.addEventListener("cancel", (event) => event.preventDefault());
  }

  /**
   * Shows the versions and resolves to the spans of the chosen one: `mine`, `theirs` or both merged.
   * @returns {Promise<object[]>}
   */
  ask({ base, mine, theirs, savedAt }) {
    const both = merge(base, mine, theirs);
    const rows = { ...compare(mine, theirs), dropped: both.dropped };
    this.#root.querySelector("[data-when]").textContent = savedAt ? new Date(savedAt).toLocaleTimeString("en-GB") : "";
    for (const group of GROUPS) this.#fill(group, rows[group]);
    this.#root.showModal();
    this.#root.querySelector("[data-choice=both]").focus();
    return new Promise((resolve) => {
      const choose = (event) => {
        const choice = event.target.closest("[data-choice]")?.dataset.choice;
        if (!choice) return;
        this.#root.removeEventListener("click", choose);
        this.#root.close();
        resolve({ mine, theirs, both: both.spans }[choice]);
      };
      this.#root.addEventListener("click", choose);
    });
  }

  #fill(group, rows) {
    const box = this.#root.querySelector(`[data-group=${group}]`);
    box.hidden = rows.length === 0;
    box.querySelector("[data-count]").textContent = rows.length.toLocaleString("en");
    box.querySelector("ul").replaceChildren(...rows.map((row) => this.#row(row)));
  }

  #row(row) {
    const item = this.#template.content.firstElementChild.cloneNode(true);
    const { mine, theirs } = row.mine ? row : { mine: row, theirs: null };
    item.textContent = theirs ? `${described(mine, theirs)} here, ${described(theirs, mine)} there` : described(mine);
    return item;
  }
}

/** A span as text; compared with another one, also its value if only that differs. */
function described(span, other) {
  const words = `${span.label} “${span.quote.replace(/\s+/g, " ")}”`;
  const isAlike = other && other.label === span.label && other.quote === span.quote;
  return isAlike ? `${words} with ${span.value === undefined ? "the derived value" : `value ${span.value || "none"}`}` : words;
}
