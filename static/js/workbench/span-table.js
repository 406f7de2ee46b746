// The list of marked spans beside the page.

export class SpanTable {
  #body;
  #counts;
  #empty;
  #template;
  #labels;
  #options;

  constructor(root, labels, options) {
    this.#body = root.querySelector("[data-spans]");
    this.#empty = root.querySelector("[data-spans-empty]");
    this.#template = root.querySelector("template[data-span-row]");
    this.#counts = root.querySelectorAll("[data-label-count]");
    this.#labels = new Map(labels.map((label) => [label.name, label]));
    this.#options = options;
  }

  show(spans, activeKey) {
    this.#body.replaceChildren(...spans.map((span) => this.#row(span, span.key === activeKey)));
    this.#empty.hidden = spans.length > 0;
    for (const element of this.#counts) {
      const count = spans.filter((span) => span.label === element.dataset.labelCount).length;
      element.textContent = String(count);
    }
    this.#body.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }

  #row(span, active) {
    const row = this.#template.content.firstElementChild.cloneNode(true);
    const label = this.#labels.get(span.label);
    if (active) row.setAttribute("aria-current", "true");
    const mark = row.querySelector("[data-part=label]");
    mark.textContent = span.label;
    mark.classList.add(label?.css ?? "label-9");
    const pick = row.querySelector("[data-part=pick]");
    pick.textContent = span.quote.replace(/\s+/g, " ");
    pick.addEventListener("click", () => this.#options.onPick(span.key));
    const remove = row.querySelector("[data-part=remove]");
    if (this.#options.readonly) remove.remove();
    else {
      remove.setAttribute("aria-label", `Remove ${span.label} ${span.quote}`);
      remove.addEventListener("click", () => this.#options.onRemove(span.key));
    }
    return row;
  }
}
