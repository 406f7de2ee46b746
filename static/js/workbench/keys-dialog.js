// The list of all keys, made from the map that the keys are looked up in.

import { KEYMAP, printed } from "../lib/keymap.js";

export class KeysDialog {
  #dialog;
  #canEdit;

  constructor(root, canEdit) {
    this.#dialog = root.querySelector("[data-dialog=keys]");
    this.#canEdit = canEdit;
  }

  open() {
    const body = this.#dialog.querySelector("[data-keys]");
    if (body.childElementCount === 0) body.append(...KEYMAP.map((group) => this.#group(group)));
    this.#dialog.showModal();
  }

  #group({ title, bindings }) {
    const shown = bindings.filter((binding) => this.#canEdit || !binding.edits);
    const section = document.createElement("section");
    section.hidden = shown.length === 0;
    const heading = Object.assign(document.createElement("h3"), { textContent: title });
    const list = document.createElement("dl");
    for (const binding of shown) list.append(keysOf(binding), says(binding));
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

function says(binding) {
  return Object.assign(document.createElement("dd"), { textContent: binding.says });
}
