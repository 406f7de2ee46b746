// Comments on a fact or on the document. Visible to their author and, after all have submitted, to the lead.

import { getInTheEnd, patch, post, reasonOf, remove } from "../lib/http.js";
import { keyName } from "../lib/keymap.js";

const when = (text) => new Date(text).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

export class Comments {
  #desk;
  #list;
  #form;
  #template;
  #fault;
  #all = [];
  #onChange;
  /** The comment that is being edited; null for a new one. */
  #edited = null;

  constructor(root, desk, onChange) {
    this.#desk = desk;
    this.#onChange = onChange;
    const panel = root.querySelector("[data-comments]");
    this.#list = panel.querySelector("[data-comment-list]");
    this.#template = panel.querySelector("template");
    this.#form = panel.querySelector("form");
    this.#fault = panel.querySelector("[data-comment-fault]");
    this.#form?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    this.#form?.elements.text.addEventListener("keydown", (event) => this.#key(event));
    window.addEventListener("beforeunload", (event) => {
      if (this.hasUnsaved) event.preventDefault();
    });
    this.#list.addEventListener("click", (event) => this.#click(event.target));
    desk.addEventListener("place", () => this.#showSubject());
    this.#counter = root.querySelector("[data-comment-count]");
    this.#showSubject();
  }

  #counter;

  async load() {
    const answer = await getInTheEnd(this.#desk.data.urls.comments);
    if (answer.status === 200) this.#take(answer.body);
  }

  /** The number of comments on a span. */
  count(key) {
    return this.#all.filter((comment) => comment.span_key === key).length;
  }

  write() {
    this.#form?.elements.text.focus();
  }

  /** Whether the field has text that is not saved. */
  get hasUnsaved() {
    const text = this.#form?.elements.text.value.trim() ?? "";
    return text !== "" && text !== this.#edited?.text;
  }

  /** Escape goes back to the document and keeps the text; Ctrl+Enter saves it. */
  #key(event) {
    const name = keyName(event);
    if (name === "Escape") event.target.blur();
    if (name !== "Ctrl+Enter") return;
    event.preventDefault();
    if (!event.repeat) this.#form.requestSubmit();
  }

  #take(comments) {
    this.#all = comments;
    this.#counter.textContent = comments.length ? String(comments.length) : "";
    this.#list.replaceChildren(...comments.map((comment) => this.#row(comment)));
    this.#onChange();
  }

  #row(comment) {
    const row = this.#template.content.firstElementChild.cloneNode(true);
    row.dataset.comment = comment.id;
    const span = comment.span_key ? this.#desk.list.find(comment.span_key) : null;
    const subject = row.querySelector("[data-part=subject]");
    subject.textContent = comment.span_key ? (span ? span.quote.replace(/\s+/g, " ") : "a fact that was removed") : "the document";
    subject.disabled = !span;
    row.querySelector("[data-part=text]").textContent = comment.text;
    row.querySelector("[data-part=when]").textContent = `${comment.author}, ${when(comment.created_at)}${comment.edited_at ? ", edited" : ""}`;
    return row;
  }

  #showSubject() {
    const span = this.#edited ? this.#desk.list.find(this.#edited.span_key) : this.#desk.active;
    const subject = this.#form?.querySelector("[data-subject]");
    if (subject) subject.textContent = span ? `“${span.quote.replace(/\s+/g, " ")}”` : "the document";
  }

  async #send() {
    const { comments } = this.#desk.data.urls;
    const text = this.#form.elements.text.value.trim();
    const answer = this.#edited
      ? await patch(`${comments}${this.#edited.id}/`, { text })
      : await post(comments, { span_key: this.#desk.active?.key ?? "", text });
    this.#fault.textContent = answer.status >= 200 && answer.status < 300 ? "" : reasonOf(answer);
    if (this.#fault.textContent) return;
    this.#form.reset();
    const edited = this.#edited;
    this.#edited = null;
    this.#take(edited ? this.#all.map((one) => (one.id === edited.id ? answer.body : one)) : [...this.#all, answer.body]);
    this.#showSubject();
  }

  async #click(target) {
    const id = Number(target.closest("[data-comment]")?.dataset.comment);
    const comment = this.#all.find((one) => one.id === id);
    const part = target.closest("[data-part]")?.dataset.part;
    if (!comment) return;
    if (part === "subject") this.#desk.activate(comment.span_key, { reveal: true });
    if (part === "edit") {
      this.#edited = comment;
      this.#form.elements.text.value = comment.text;
      this.#showSubject();
      this.write();
    }
    if (part === "delete") {
      const answer = await remove(`${this.#desk.data.urls.comments}${id}/`);
      if (answer.status === 204) this.#take(this.#all.filter((one) => one !== comment));
      else this.#fault.textContent = reasonOf(answer);
    }
  }
}
