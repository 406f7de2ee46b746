// The active fact: its text, value and sign, and its warnings.

import { fittingSign, valueFault } from "../lib/values.js";

export class SpanCard {
  #desk;
  #card;
  #value;
  #sign;
  #fault;
  #shown = null;
  // Rejected values by the fact's key, which are shown again when the fact is active again.
  #refused = new Map();

  constructor(root, desk) {
    this.#desk = desk;
    this.#card = root.querySelector("[data-card]");
    this.#value = this.#card.querySelector("[name=value]");
    this.#sign = this.#card.querySelector("[name=sign]");
    this.#fault = this.#card.querySelector("[data-value-fault]");
    for (const name of ["spans", "place"]) desk.addEventListener(name, () => this.#show());
    this.#value.addEventListener("change", () => this.#write());
    this.#sign.addEventListener("change", () => this.#write());
    this.#card.querySelector("[data-derive]").addEventListener("click", () => this.#derive());
    this.#card.addEventListener("keydown", (event) => this.#key(event));
  }

  edit() {
    if (this.#card.hidden || this.#value.disabled) return;
    this.#value.focus();
    this.#value.select();
  }

  /** Shows the server's error for this fact's value. */
  refuse(key, message) {
    this.#desk.activate(key, { reveal: true });
    this.#showFault(message);
  }

  #show() {
    const span = this.#desk.active;
    this.#card.hidden = !span;
    if (!span) {
      this.#shown = null;
      return;
    }
    const reading = this.#desk.readingOf(span);
    const isNew = this.#shown !== span;
    this.#shown = span;
    this.#card.querySelector("[data-part=quote]").textContent = span.quote.replace(/\s+/g, " ");
    const isEditing = this.#card.contains(document.activeElement) && document.activeElement.matches("input, select");
    if (isNew || !isEditing) {
      const typed = this.#refused.get(span.key);
      this.#value.value = typed?.value ?? span.value ?? reading?.value ?? "";
      this.#sign.value = typed?.sign ?? span.sign ?? reading?.sign ?? "";
      this.#showFault(typed?.message ?? "");
    }
    this.#card.querySelector("[data-derive]").hidden = span.value === undefined || !this.#desk.canEdit;
    const warnings = reading?.warnings ?? [];
    this.#card.querySelector("[data-warnings]").replaceChildren(
      ...warnings.map((warning) => this.#warning(span, warning)),
    );
  }

  /** A warning, with a button if another label would resolve it. */
  #warning({ key }, { message, label }) {
    const item = Object.assign(document.createElement("li"), { textContent: `${message} ` });
    if (label && this.#desk.canEdit) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "button small" });
      button.textContent = `Change label to ${label}`;
      button.addEventListener("click", () => this.#desk.edit((list) => list.relabel(key, label)));
      item.append(button);
    }
    return item;
  }

  #write() {
    const span = this.#desk.active;
    if (!span) return;
    const value = this.#value.value.trim();
    const sign = fittingSign(value, this.#sign.value, span.label);
    this.#sign.value = sign;
    const fault = valueFault(value, sign, span.label);
    const message = fault ? `Not saved: ${fault}.` : "";
    if (fault) this.#refused.set(span.key, { value, sign, message });
    else this.#refused.delete(span.key);
    this.#showFault(message);
    const reading = this.#desk.readingOf(span);
    if (fault || (reading?.value === value && reading?.sign === sign)) return;
    this.#desk.edit((list) => list.setValue(span.key, { value, sign }));
  }

  #derive() {
    const span = this.#desk.active;
    if (!span) return;
    this.#refused.delete(span.key);
    this.#desk.edit((list) => list.setValue(span.key, null));
  }

  #key(event) {
    if (event.key === "Escape") {
      if (this.#shown) this.#refused.delete(this.#shown.key);
      this.#shown = null;
      this.#show();
      document.activeElement.blur();
    }
    if (event.key === "Enter" && event.target.matches("input, select")) {
      event.preventDefault();
      this.#write();
      if (!this.#fault.textContent) document.activeElement.blur();
    }
  }

  /** The number of facts with a rejected value. */
  get refusedCount() {
    return [...this.#refused.keys()].filter((key) => this.#desk.list.all.some((span) => span.key === key)).length;
  }

  #showFault(text) {
    this.#fault.textContent = text;
    this.#value.toggleAttribute("aria-invalid", Boolean(text));
    if (text) this.#value.setAttribute("aria-invalid", "true");
  }
}
