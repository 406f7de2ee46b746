// The list of labelled facts. Only visible rows exist, so that thousands of facts are as fast as ten.

import { signName } from "../lib/values.js";

/** The height of a row in pixels, as in the style sheet. */
const ROW = 46;
const MARGIN = 8;

export class SpanListView {
  #desk;
  #frame;
  #list;
  #empty;
  #template;
  #classOf;
  #onRemove;
  #onEdit;
  #commentsOf;
  #scheduled = false;
  #shown = null;

  constructor(root, desk, { onRemove, onEdit, commentsOf }) {
    this.#desk = desk;
    this.#frame = root.querySelector("[data-span-frame]");
    this.#list = root.querySelector("[data-spans]");
    this.#empty = root.querySelector("[data-spans-empty]");
    this.#template = root.querySelector("template[data-span-row]");
    this.#classOf = new Map(desk.data.labels.map((label) => [label.name, label.css]));
    this.#onRemove = onRemove;
    this.#onEdit = onEdit;
    this.#commentsOf = commentsOf;
    this.#frame.addEventListener("scroll", () => this.#soon(), { passive: true });
    new ResizeObserver(() => this.#soon()).observe(this.#frame);
    this.#list.addEventListener("click", (event) => this.#click(event));
    desk.addEventListener("spans", () => this.#soon());
    desk.addEventListener("place", () => this.#soon());
  }

  /** Updates the list at most once per frame. */
  #soon() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.show();
    });
  }

  show() {
    const { all } = this.#desk.list;
    const { active } = this.#desk;
    this.#empty.hidden = all.length > 0;
    this.#list.style.height = `${all.length * ROW}px`;
    if (active && active !== this.#shown) this.#scrollTo(all.indexOf(active));
    this.#shown = active;
    const first = Math.max(0, Math.floor(this.#frame.scrollTop / ROW) - MARGIN);
    const last = Math.min(all.length, Math.ceil((this.#frame.scrollTop + this.#frame.clientHeight) / ROW) + MARGIN);
    const focused = document.activeElement?.closest?.("[data-key]")?.dataset.key;
    const rows = all.slice(first, last).map((span, n) => this.#row(span, first + n, all.length, span === active));
    this.#list.replaceChildren(...rows);
    if (focused) this.#list.querySelector(`[data-key="${focused}"] [data-part=pick]`)?.focus({ preventScroll: true });
  }

  #scrollTo(number) {
    const top = number * ROW;
    const { scrollTop, clientHeight } = this.#frame;
    if (top < scrollTop || top + ROW > scrollTop + clientHeight) this.#frame.scrollTop = top - clientHeight / 3;
  }

  #row(span, number, total, isActive) {
    const row = this.#template.content.firstElementChild.cloneNode(true);
    row.dataset.key = span.key;
    row.style.top = `${number * ROW}px`;
    row.setAttribute("aria-setsize", String(total));
    row.setAttribute("aria-posinset", String(number + 1));
    if (isActive) row.setAttribute("aria-current", "true");
    const part = (name) => row.querySelector(`[data-part=${name}]`);
    part("label").textContent = span.label;
    part("label").classList.add(this.#classOf.get(span.label) ?? "label-9");
    part("pick").textContent = span.quote.replace(/\s+/g, " ");
    this.#fillReading(row, span);
    const comments = this.#commentsOf(span.key);
    part("comments").hidden = comments === 0;
    part("comments").textContent = comments === 1 ? "1 comment" : `${comments} comments`;
    if (this.#desk.canEdit) part("remove").setAttribute("aria-label", `Remove ${span.label} ${span.quote}`);
    else part("remove").remove();
    return row;
  }

  #fillReading(row, span) {
    const reading = this.#desk.readingOf(span);
    const value = row.querySelector("[data-part=value]");
    value.textContent = reading ? reading.value || "no value" : "…";
    value.classList.toggle("muted", !reading?.value);
    value.setAttribute("aria-label", `Value of ${span.quote}: ${value.textContent}. Edit`);
    const hasSign = reading?.sign && reading.sign !== "plain";
    row.querySelector("[data-part=sign]").textContent = hasSign ? signName(reading.sign) : "";
    row.querySelector("[data-part=edited]").hidden = !reading?.edited;
    const warning = row.querySelector("[data-part=warning]");
    warning.hidden = !reading?.warnings.length;
    warning.textContent = reading?.warnings.map(({ message }) => message).join(" · ") ?? "";
    warning.title = warning.textContent;
  }

  #click(event) {
    const { key } = event.target.closest("[data-key]")?.dataset ?? {};
    if (!key) return;
    const part = event.target.closest("[data-part]")?.dataset.part;
    if (part === "remove") this.#onRemove(key);
    else {
      this.#desk.activate(key, { reveal: true });
      if (part === "value") this.#onEdit();
    }
  }
}
