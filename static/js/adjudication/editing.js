// Edits the marks of a case with the workbench's tools: drag borders, move them by word, change the label, enter value
// and sign. The desk holds the marks of the edited case; outside of an edit it is empty.

import { fullest } from "../lib/cases.js";
import { post } from "../lib/http.js";
import { newKey } from "../lib/spans.js";
import { Desk } from "../workbench/desk.js";
import { Labelling } from "../workbench/labelling.js";
import { Moving } from "../workbench/moving.js";
import { Pointer } from "../workbench/pointer.js";
import { SpanCard } from "../workbench/span-card.js";
import { make, plain } from "./parts.js";

/** Milliseconds without a change after which the server derives the values. */
const PAUSE = 250;

export class Editing {
  #box;
  #docket;
  #url;
  #timer;
  #data;

  constructor(root, docket, page, url) {
    this.#box = root.querySelector("[data-edit]");
    this.#docket = docket;
    this.#url = url;
    this.#data = { labels: docket.data.labels, spans: [], readonly: true };
    this.desk = new Desk(this.#data, page);
    this.desk.setFacts(docket.data.facts.map(([start, end, kind]) => ({ start, end, kind })), []);
    this.labelling = new Labelling(this.desk);
    this.moving = new Moving(this.desk);
    this.card = new SpanCard(root, this.desk);
    new Pointer(this.desk, this.labelling);
    this.#addLabels();
    this.desk.addEventListener("spans", () => this.#showSpans());
    this.desk.addEventListener("place", () => this.#showSpans());
    this.desk.addEventListener("edit", () => this.#readSoon());
    this.desk.addEventListener("hint", (event) => docket.hint(event.detail));
    this.#box.querySelector("[data-edit-spans]").addEventListener("click", (event) => {
      const { key } = event.target.closest("[data-key]")?.dataset ?? {};
      if (!key) return;
      if (event.target.closest("[data-remove]")) this.labelling.remove(key);
      else this.desk.activate(key, { reveal: true });
    });
  }

  /** Starts an edit with the proposal that has the most marks. */
  begin() {
    const { proposals } = this.#docket.current;
    const { spans } = proposals[fullest(proposals)];
    this.#data.readonly = false;
    // The API refuses other fields of a proposal's spans.
    this.desk.begin(
      spans.map(({ label, start, end, quote, value, sign }) => ({ key: newKey(), label, start, end, quote, value, sign })),
    );
    if (this.desk.list.all.length) this.desk.activate(this.desk.list.all[0].key, { reveal: true });
    this.showFault("");
    this.#box.hidden = false;
    this.#docket.ask("edit");
    this.#box.scrollIntoView({ block: "nearest" });
    this.#read();
  }

  /** Returns from the reason to the edit. */
  resume() {
    this.#data.readonly = false;
    this.#box.hidden = false;
    this.#docket.ask("edit");
  }

  /** Keeps the marks while the reason is entered. */
  pause() {
    this.#data.readonly = true;
    this.#box.hidden = true;
  }

  end() {
    clearTimeout(this.#timer);
    this.pause();
    this.desk.clear();
    this.desk.begin([]);
  }

  /** The marks as the server expects them, or null if one is invalid. */
  get answer() {
    const { all } = this.desk.list;
    if (this.card.refusedCount) {
      this.showFault("A value is invalid. Correct it, or press Escape in its field to discard it.");
      return null;
    }
    if (all.length === 0) {
      this.showFault("Add at least one span, or reject all if there is no fact.");
      return null;
    }
    return all.map((span) => {
      const { value, sign } = span.value === undefined ? (this.desk.readingOf(span) ?? {}) : span;
      return { label: span.label, start: span.start, end: span.end, value, sign };
    });
  }

  showFault(text) {
    this.#box.querySelector("[data-edit-fault]").textContent = text;
  }

  #addLabels() {
    const buttons = this.#data.labels.map((label) => {
      const button = make("button", "", { type: "button", class: "button small", "data-action": "label", "data-number": label.key });
      button.append(make("kbd", label.key), " ", make("span", label.name, { class: label.css }));
      return button;
    });
    this.#box.querySelector("[data-edit-labels]").replaceChildren(...buttons);
  }

  #showSpans() {
    const { active } = this.desk;
    const rows = this.desk.list.all.map((span) => {
      const item = make("li", "", { "data-key": span.key });
      const pick = make("button", `${plain(span.quote)} · ${span.label}`, { type: "button" });
      if (span === active) pick.setAttribute("aria-current", "true");
      item.append(pick, make("button", "✕", { type: "button", "data-remove": "", "aria-label": `Remove ${span.quote}` }));
      return item;
    });
    this.#box.querySelector("[data-edit-spans]").replaceChildren(...rows);
  }

  #readSoon() {
    this.showFault("");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#read(), PAUSE);
  }

  /** Fetches the derived values. The desk ignores a late response, which is for other marks. */
  async #read() {
    const sent = this.desk.list.all;
    if (sent.length === 0) return;
    const answer = await post(this.#url, { spans: sent });
    if (answer.status === 200) this.desk.read(answer.body.spans, sent);
  }
}
