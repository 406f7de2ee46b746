// A preview of several places, each of which can be deselected.

export class ChoiceDialog {
  #dialog;
  #list;
  #template;
  #count;
  #confirm;

  constructor(root) {
    this.#dialog = root.querySelector("[data-dialog=choice]");
    this.#list = this.#dialog.querySelector("[data-places]");
    this.#template = this.#dialog.querySelector("template");
    this.#count = this.#dialog.querySelector("[data-chosen]");
    this.#confirm = this.#dialog.querySelector("button[value=confirm]");
    this.#list.addEventListener("change", () => this.#tally());
    this.#dialog.querySelector("[data-all]").addEventListener("change", (event) => {
      for (const box of this.#boxes) box.checked = event.target.checked;
      this.#tally();
    });
  }

  /**
   * Asks the user to choose places.
   * @param {{title: string, verb: string, places: {before: string, quote: string, after: string, label: string}[]}} question
   * @returns {Promise<object[] | null>}   null if the user cancels
   */
  ask({ title, verb, places }) {
    this.#dialog.querySelector("[data-title]").textContent = title;
    this.#dialog.querySelector("[data-all]").checked = true;
    this.#dialog.querySelector("[data-total]").textContent = places.length.toLocaleString("en");
    this.#list.replaceChildren(...places.map((place) => this.#row(place)));
    this.#confirm.dataset.verb = verb;
    this.#tally();
    this.#dialog.showModal();
    this.#confirm.focus();
    return new Promise((resolve) => {
      this.#dialog.addEventListener(
        "close",
        () => {
          const chosen = places.filter((_, number) => this.#boxes[number].checked);
          resolve(this.#dialog.returnValue === "confirm" ? chosen : null);
          this.#dialog.returnValue = "";
        },
        { once: true },
      );
    });
  }

  get #boxes() {
    return Array.from(this.#list.querySelectorAll("input"));
  }

  #row({ before, quote, after, label }) {
    const row = this.#template.content.firstElementChild.cloneNode(true);
    row.querySelector("[data-part=before]").textContent = before.replace(/\s+/g, " ");
    row.querySelector("[data-part=quote]").textContent = quote.replace(/\s+/g, " ");
    row.querySelector("[data-part=after]").textContent = after.replace(/\s+/g, " ");
    row.querySelector("[data-part=label]").textContent = label;
    return row;
  }

  #tally() {
    const count = this.#boxes.filter((box) => box.checked).length;
    this.#count.textContent = count.toLocaleString("en");
    this.#confirm.disabled = count === 0;
    this.#confirm.textContent = `${this.#confirm.dataset.verb} ${count.toLocaleString("en")}`;
  }
}
