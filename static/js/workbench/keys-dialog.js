// The list of keyboard shortcuts, made from the key map, and the switch for single-character shortcuts.

import { KEYMAP, printed } from "../lib/keymap.js";

export class KeysDialog {
  #dialog;
  #groups;
  #canEdit;
  #root;
  #name;
  #switch;

  /** @param {{canEdit: boolean, user: number}} person @param {typeof KEYMAP} groups the keys of the page */
  constructor(root, { canEdit, user }, groups = KEYMAP) {
    this.#root = root;
    this.#groups = groups;
    this.#dialog = root.querySelector("[data-dialog=keys]");
    this.#canEdit = canEdit;
    this.#name = `factboard:character-keys:${user}`;
    this.#switch = this.#dialog.querySelector("[name=character-keys]");
    this.#switch.checked = this.#remembered() !== "off";
    this.#switch.addEventListener("change", () => this.#remember());
    this.#apply();
  }

  /** Whether single-character shortcuts are enabled. */
  get hasCharacters() {
    return this.#switch.checked;
  }

  open() {
    const body = this.#dialog.querySelector("[data-keys]");
    if (body.childElementCount === 0) body.append(...this.#groups.map((group) => this.#group(group)));
    this.#dialog.showModal();
  }

  #remembered() {
    try {
      return localStorage.getItem(this.#name);
    } catch {
      return null;
    }
  }

  #remember() {
    this.#apply();
    try {
      localStorage.setItem(this.#name, this.hasCharacters ? "on" : "off");
    } catch {
      // A private window may refuse to store it. The choice then lasts until the page is left.
    }
  }

  #apply() {
    this.#root.toggleAttribute("data-no-character-keys", !this.hasCharacters);
  }

  #group({ title, bindings }) {
    const shown = bindings.filter((binding) => this.#canEdit || !binding.edits);
    const section = document.createElement("section");
    section.hidden = shown.length === 0;
    const heading = Object.assign(document.createElement("h3"), { textContent: title });
    const list = document.createElement("dl");
    for (const binding of shown) list.append(keysOf(binding), descriptionOf(binding));
    section.append(heading, list);
    return section;
  }
}

function keysOf(binding) {
  const term = document.createElement("dt");
  printed(binding).forEach((parts, number) => {
    if (number > 0) term.append(" ");
    parts.forEach((part, place) => {
      if (place > 0) term.append("+");
      term.append(part === "…" ? part : Object.assign(document.createElement("kbd"), { textContent: part }));
    });
  });
  return term;
}

function descriptionOf(binding) {
  return Object.assign(document.createElement("dd"), { textContent: binding.description });
}
