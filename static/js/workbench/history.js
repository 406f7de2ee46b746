// All saves of this task. Restoring one adds a save and removes none.

import { get, post, reasonOf } from "../lib/http.js";
import { newKey } from "../lib/spans.js";

const when = (text) => new Date(text).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export class History {
  #desk;
  #saving;
  #list;
  #more;
  #template;
  #fault;
  #next = null;

  constructor(root, desk, saving) {
    this.#desk = desk;
    this.#saving = saving;
    const panel = root.querySelector("[data-history]");
    this.#list = panel.querySelector("[data-revisions]");
    this.#more = panel.querySelector("[data-more]");
    this.#template = panel.querySelector("template");
    this.#fault = panel.querySelector("[data-history-fault]");
    this.#more.addEventListener("click", () => this.#load(this.#next));
    this.#list.addEventListener("click", (event) => this.#click(event.target));
  }

  async open() {
    // Includes a save that is under way.
    await this.#saving.saver.flush();
    this.#list.replaceChildren();
    await this.#load(this.#desk.data.urls.revisions);
  }

  async #load(url) {
    const answer = await get(url);
    this.#fault.textContent = answer.status === 200 ? "" : reasonOf(answer);
    if (answer.status !== 200) return;
    this.#list.append(...answer.body.results.map((revision) => this.#row(revision)));
    this.#next = answer.body.next;
    this.#more.hidden = !this.#next;
  }

  #row({ number, saved_at, author, added, removed, note }) {
    const row = this.#template.content.firstElementChild.cloneNode(true);
    row.dataset.revision = number;
    row.querySelector("[data-part=number]").textContent = `#${number}`;
    row.querySelector("[data-part=when]").textContent = when(saved_at);
    row.querySelector("[data-part=who]").textContent = author;
    row.querySelector("[data-part=changes]").textContent = `+${added} −${removed}`;
    row.querySelector("[data-part=note]").textContent = note;
    const isNewest = number === this.#saving.saver.revision;
    row.querySelector("[data-part=restore]").hidden = isNewest || !this.#desk.canEdit;
    return row;
  }

  async #click(target) {
    const number = target.closest("[data-revision]")?.dataset.revision;
    const part = target.closest("[data-part]")?.dataset.part;
    if (part === "look") await this.#look(target.closest("[data-revision]"), number);
    if (part === "restore") await this.#restore(number);
  }

  /** Shows the changes of the save below its row. */
  async #look(row, number) {
    const details = row.querySelector("[data-part=details]");
    const button = row.querySelector("[data-part=look]");
    if (details.childElementCount === 0) {
      const answer = await get(`${this.#desk.data.urls.revisions}${number}/`);
      if (answer.status !== 200) {
        this.#fault.textContent = reasonOf(answer);
        return;
      }
      const line = (sign) => (span) =>
        Object.assign(document.createElement("li"), { textContent: `${sign} ${span.label} “${span.quote.replace(/\s+/g, " ")}”` });
      details.append(...answer.body.removed_spans.map(line("−")), ...answer.body.added_spans.map(line("+")));
    } else {
      details.hidden = !details.hidden;
    }
    button.setAttribute("aria-expanded", String(!details.hidden));
  }

  async #restore(number) {
    if (!(await this.#saving.saver.flush())) return;
    const body = { base_revision: this.#saving.saver.revision, save_key: newKey() };
    const answer = await post(`${this.#desk.data.urls.revisions}${number}/restore/`, body);
    if (answer.status !== 200) {
      this.#fault.textContent = reasonOf(answer);
      return;
    }
    this.#saving.adopt(answer.body.revision, answer.body.spans);
    await this.open();
    this.#desk.hint(`Restored version ${number}.`);
  }
}
