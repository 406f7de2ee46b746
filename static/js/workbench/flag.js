// Flags a task for the lead or skips it for now, with a reason.

import { put, reasonOf } from "../lib/http.js";

export class Flag {
  #data;
  #dialog;
  #form;
  #note;
  #fault;

  constructor(root, data) {
    this.#data = data;
    this.#dialog = root.querySelector("[data-dialog=flag]");
    this.#note = root.querySelector("[data-flag-note]");
    this.#form = this.#dialog?.querySelector("form");
    this.#fault = this.#dialog?.querySelector("[data-flag-fault]");
    this.#form?.addEventListener("submit", (event) => {
      if (event.submitter?.value === "cancel") return;
      event.preventDefault();
      this.#send();
    });
    this.#show();
  }

  open() {
    if (!this.#dialog) return;
    const { kind, reason } = this.#data.flag;
    this.#form.elements.kind.value = kind || "flagged";
    this.#form.elements.reason.value = reason;
    this.#dialog.querySelector("[data-none]").hidden = !kind;
    this.#fault.textContent = "";
    this.#dialog.showModal();
  }

  async #send() {
    const kind = this.#form.elements.kind.value;
    const reason = kind ? this.#form.elements.reason.value.trim() : "";
    if (kind && !reason) {
      this.#fault.textContent = "Enter a reason for the lead.";
      this.#form.elements.reason.focus();
      return;
    }
    const answer = await put(this.#data.urls.flag, { kind, reason });
    if (answer.status !== 200) {
      this.#fault.textContent = reasonOf(answer);
      return;
    }
    this.#data.flag = answer.body;
    this.#dialog.close();
    this.#show();
  }

  #show() {
    const { kind, reason } = this.#data.flag;
    this.#note.hidden = !kind;
    this.#note.textContent = kind ? `${kind === "skipped" ? "Skipped for now" : "Flagged for the lead"}: ${reason}` : "";
  }
}
