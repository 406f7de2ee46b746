// Imports the spans of a file as one save, which can be undone.

import { post, reasonOf } from "../lib/http.js";
import { newKey } from "../lib/spans.js";

export class Files {
  #desk;
  #saving;
  #dialog;
  #form;
  #fault;

  constructor(root, desk, saving) {
    this.#desk = desk;
    this.#saving = saving;
    this.#dialog = root.querySelector("[data-dialog=import]");
    this.#form = this.#dialog?.querySelector("form");
    this.#fault = this.#dialog?.querySelector("[data-import-fault]");
    this.#form?.addEventListener("submit", (event) => {
      if (event.submitter?.value === "cancel") return;
      event.preventDefault();
      this.#send();
    });
  }

  open() {
    this.#form?.reset();
    if (this.#fault) this.#fault.textContent = "";
    this.#dialog?.showModal();
  }

  async #send() {
    const [file] = this.#form.elements.file.files;
    if (!file) {
      this.#fault.textContent = "Choose a file.";
      return;
    }
    if (!(await this.#saving.saver.flush())) {
      this.#fault.textContent = "Your labels are not saved yet. Try again in a moment.";
      return;
    }
    const body = new FormData();
    body.set("file", file);
    body.set("base_revision", String(this.#saving.saver.revision));
    body.set("save_key", newKey());
    const answer = await post(this.#desk.data.urls.import, body);
    if (answer.status !== 200) {
      this.#fault.textContent = reasonOf(answer);
      return;
    }
    this.#saving.adopt(answer.body.revision, answer.body.spans);
    this.#dialog.close();
    this.#desk.hint(`Imported ${file.name}. Undo to restore the previous labels.`);
  }
}
