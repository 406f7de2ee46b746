// The legend of the marks on the page: their meanings, counts, and which are shown.

import { countLooks, LOOKS } from "../lib/cases.js";
import { make } from "./parts.js";

export class Legend {
  #list;
  #docket;
  #overlay;
  #rows = new Map();

  constructor(root, docket, overlay) {
    this.#list = root.querySelector("[data-legend]");
    this.#docket = docket;
    this.#overlay = overlay;
    this.#list.replaceChildren(...LOOKS.map(([look, name]) => this.#row(look, name)));
    docket.addEventListener("cases", () => this.show());
  }

  show() {
    const counts = countLooks(this.#docket.data.marks, this.#docket.cases);
    for (const [look, { item, count }] of this.#rows) {
      item.hidden = counts.get(look) === 0;
      count.textContent = counts.get(look).toLocaleString("en");
    }
  }

  #row(look, name) {
    const item = make("li");
    const label = make("label");
    const box = make("input", "", { type: "checkbox" });
    box.checked = true;
    box.addEventListener("change", () => this.#overlay.toggle(look, box.checked));
    const count = make("span", "", { class: "num muted", "data-look-count": look });
    label.append(box, make("span", name, { class: `look look-${look}` }), count);
    item.append(label);
    this.#rows.set(look, { item, count });
    return item;
  }
}
