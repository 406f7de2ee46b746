// The dialog that submits a page: its labels, warnings, and the confirmation of an empty page.

import { post, reasonOf } from "../lib/http.js";

/** Only this number of warnings is listed. */
const LISTED = 8;

export class Submitting {
  #desk;
  #saving;
  #card;
  #dialog;
  #confirm;
  #noFacts;
  #dismissed;
  #comments;

  /** @param {{card: object, comments: object, dismissed: () => object[]}} parts   `dismissed`: see suggestions.js */
  constructor(root, desk, saving, { card, comments, dismissed }) {
    this.#dismissed = dismissed;
    this.#comments = comments;
    this.#desk = desk;
    this.#saving = saving;
    this.#card = card;
    this.#dialog = root.querySelector("[data-dialog=submit]");
    if (!this.#dialog) return;
    this.#confirm = this.#dialog.querySelector("button[value=submit]");
    this.#noFacts = this.#dialog.querySelector("[name=no-facts]");
    this.#noFacts.addEventListener("change", () => this.#allow());
    // The key that opened the dialog may still be held down.
    this.#dialog.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.repeat) event.preventDefault();
    });
    // Warnings arrive with the response to a save, which may be under way.
    desk.addEventListener("spans", () => {
      if (this.#dialog.open) this.#describe();
    });
    this.#dialog.addEventListener("close", () => {
      if (this.#dialog.returnValue === "submit") this.#submit();
      this.#dialog.returnValue = "";
    });
  }

  open() {
    if (!this.#dialog || this.#dialog.open) return;
    const count = this.#desk.list.all.length;
    this.#part("labelled").hidden = count === 0;
    this.#part("empty").hidden = count > 0;
    this.#dialog.querySelector("[data-count]").textContent = `${count.toLocaleString("en")} ${count === 1 ? "fact" : "facts"}`;
    this.#noFacts.checked = false;
    this.#allow();
    this.#describe();
    this.#saving.saver.flush();
    this.#dialog.showModal();
    // On an empty page, pressing the same key again closes the dialog.
    (count ? this.#confirm : this.#dialog.querySelector("button[value=cancel]")).focus();
  }

  #part(name) {
    return this.#dialog.querySelector(`[data-part=${name}]`);
  }

  get #isEmpty() {
    return this.#desk.list.all.length === 0;
  }

  #allow() {
    this.#confirm.disabled = this.#isEmpty && !this.#noFacts.checked;
  }

  #describe() {
    const desk = this.#desk;
    const warned = desk.list.all.flatMap((span) => {
      const [first] = desk.readingOf(span)?.warnings ?? [];
      return first ? [`${span.quote.replace(/\s+/g, " ")} (${span.label}): ${first.message}`] : [];
    });
    const untaken = this.#card.refusedCount;
    const notes = [
      untaken ? `${untaken} with an invalid value` : "",
      this.#comments.hasUnsaved ? "your comment is not saved" : "",
      desk.openSuggestions.length ? `${desk.openSuggestions.length} suggestions not accepted` : "",
      desk.openCandidates ? `${desk.openCandidates.toLocaleString("en")} possible ${desk.openCandidates === 1 ? "fact" : "facts"} not labelled` : "",
      desk.page.isSeen ? "" : "you have not scrolled to the end",
      warned.length ? `${warned.length} with a warning` : "",
    ].filter(Boolean);
    this.#dialog.querySelector("[data-notes]").textContent = notes.length ? `Note: ${notes.join("; ")}.` : "";
    const list = this.#dialog.querySelector("[data-warned]");
    list.hidden = warned.length === 0;
    list.replaceChildren(...warned.slice(0, LISTED).map(listed));
    if (warned.length > LISTED) list.append(listed(`and ${warned.length - LISTED} more. Press w to see them.`));
  }

  async #submit() {
    const { saver } = this.#saving;
    if (!(await saver.flush())) return;
    const { urls } = this.#desk.data;
    const body = {
      base_revision: saver.revision,
      active_seconds: this.#saving.time.take(),
      no_facts: this.#isEmpty && this.#noFacts.checked,
      dismissed: this.#dismissed(),
    };
    const answer = await post(urls.submit, body);
    if (answer.status === 200) window.location.assign(answer.body.next ?? urls.tasks);
    else this.#desk.hint(`Not submitted: ${reasonOf(answer)} Your labels are saved.`);
  }
}

function listed(text) {
  const item = document.createElement("li");
  item.textContent = text;
  return item;
}
