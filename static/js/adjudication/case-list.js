// All cases of the page in text order, and the annotators' comments on the whole page.

import { LOOKS, lookOf, rangesOf } from "../lib/cases.js";
import { slice } from "../lib/offsets.js";
import { make, plain } from "./parts.js";

const NAMES = new Map(LOOKS);

export class CaseList {
  #root;
  #list;
  #docket;
  #page;

  constructor(root, docket, page) {
    this.#root = root;
    this.#list = root.querySelector("[data-case-list]");
    this.#docket = docket;
    this.#page = page;
    this.#list.addEventListener("click", (event) => {
      const id = event.target.closest("[data-case]")?.dataset.case;
      if (id) docket.go(docket.find(Number(id)));
    });
    for (const name of ["cases", "current"]) docket.addEventListener(name, () => this.show());
  }

  show() {
    const { cases, current, data } = this.#docket;
    const focused = this.#list.contains(document.activeElement) ? document.activeElement.dataset.case : null;
    this.#list.replaceChildren(...cases.map((one) => this.#row(one, one === current)));
    if (focused) this.#list.querySelector(`[data-case="${focused}"]`)?.focus({ preventScroll: true });
    const remarks = data.remarks.filter((remark) => !this.#isAtCase(remark));
    this.#root.querySelector("[data-page-remarks]").hidden = remarks.length === 0;
    this.#root.querySelector("[data-remark-list]").replaceChildren(...remarks.map(remarkRow));
  }

  #isAtCase({ start, end }) {
    return start !== null && this.#docket.cases.some((one) => start < one.end && one.start < end);
  }

  #row(one, isCurrent) {
    const item = make("li");
    const [range] = rangesOf(one);
    const quote = plain(slice(this.#page.index, range.start, range.end));
    const button = make("button", "", { type: "button", "data-case": String(one.id) });
    if (isCurrent) button.setAttribute("aria-current", "true");
    const look = lookOf(one);
    button.append(
      make("span", quote, { class: `look look-${look}` }),
      make("span", NAMES.get(look), { class: "muted" }),
    );
    item.append(button);
    return item;
  }
}

function remarkRow({ letter, text, quote }) {
  const item = make("li");
  item.append(make("p", `${letter}${quote ? ` on “${plain(quote)}”` : ""}`, { class: "muted" }));
  item.append(make("p", text, { class: "remark" }));
  return item;
}
