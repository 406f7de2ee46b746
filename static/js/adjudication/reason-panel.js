// The reason of a decision: chosen by number, typed, or repeated. Only a majority decision needs none.

import { make } from "./parts.js";

export class ReasonPanel {
  #panel;
  #text;
  #chips;
  #reasons;
  #name;

  constructor(root, reasons, user) {
    this.#panel = root.querySelector("[data-reasons]");
    this.#text = this.#panel.querySelector("textarea");
    this.#chips = this.#panel.querySelector("[data-part=chips]");
    this.#reasons = reasons;
    this.#name = `factboard:reason:${user}`;
    this.last = this.#remembered();
  }

  /** @param {string} title describes the decision */
  open(title) {
    this.#panel.querySelector("[data-part=asks]").textContent = title;
    this.#text.value = "";
    this.showFault("");
    const same = this.last ? [this.#chip("same", "Enter", `Repeat: ${this.last}`)] : [];
    const rest = this.#reasons.map((reason, n) => this.#chip("reason", n < 9 ? String(n + 1) : "", reason, String(n + 1)));
    this.#chips.replaceChildren(...same, ...rest);
    this.#panel.hidden = false;
    this.#panel.focus();
    this.#panel.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.#panel.hidden = true;
  }

  write() {
    this.#text.focus();
  }

  get written() {
    return this.#text.value.trim();
  }

  /** The reason with this number, from 1. */
  numbered(number) {
    return this.#reasons[number - 1] ?? "";
  }

  /** Stores the reason, so that it can be repeated, also on the next page. */
  remember(reason) {
    if (!reason) return;
    this.last = reason;
    try {
      localStorage.setItem(this.#name, reason);
    } catch {
      // A private window may refuse to store it. The reason then lasts until the page is left.
    }
  }

  showFault(text) {
    this.#panel.querySelector("[data-part=fault]").textContent = text;
    if (text) this.#text.setAttribute("aria-invalid", "true");
    else this.#text.removeAttribute("aria-invalid");
  }

  #remembered() {
    try {
      return localStorage.getItem(this.#name) ?? "";
    } catch {
      return "";
    }
  }

  #chip(action, key, text, number = "") {
    const item = make("li");
    const button = make("button", "", { type: "button", class: "button small", "data-action": action, "data-number": number });
    if (key) button.append(make("kbd", key), " ");
    button.append(make("span", text));
    item.append(button);
    return item;
  }
}
