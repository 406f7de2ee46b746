// The current case: its proposals, the possible choices, and the decision.

import { around, inWords, make, moment, nameOf, plain, reading } from "./parts.js";

export class CaseCard {
  #root;
  #card;
  #template;
  #docket;
  #page;
  #overlay;
  #classOf;
  #none;

  constructor(root, docket, page, overlay) {
    this.#root = root;
    this.#card = root.querySelector("[data-case-card]");
    this.#template = root.querySelector("template[data-template=proposal]");
    this.#none = root.querySelector("[data-no-case]");
    this.#docket = docket;
    this.#page = page;
    this.#overlay = overlay;
    this.#classOf = new Map(docket.data.labels.map((label) => [label.name, label.css]));
    docket.addEventListener("cases", () => this.show());
    docket.addEventListener("current", () => {
      this.showConflict("");
      this.show();
      this.#card.parentElement.scrollTop = 0;
    });
    docket.addEventListener("mode", () => this.#showMode());
  }

  /** Moves the focus to the case, for screen readers and Tab. */
  focus() {
    if (!this.#card.hidden) this.#card.focus({ preventScroll: true });
  }

  /** Shows that another lead decided the case first. */
  showConflict(text) {
    this.#part("conflict").hidden = !text;
    this.#part("conflict").textContent = text;
  }

  show() {
    const { current: one, cases } = this.#docket;
    this.#card.hidden = !one;
    this.#none.hidden = Boolean(one);
    if (!one) {
      this.#none.textContent = cases.length
        ? "All cases of this document are decided. Choose a case to see its decision or to reopen it."
        : "This document has no cases. To correct its gold, select the text and create a case.";
      return;
    }
    this.#part("title").textContent = one.kind_label[0].toUpperCase() + one.kind_label.slice(1);
    this.#part("facts").textContent = this.#facts(one);
    this.#part("note").hidden = !one.note;
    this.#part("note").textContent = one.note ? `Opened because: ${one.note}` : "";
    this.#part("proposals").replaceChildren(...one.proposals.map((proposal, place) => this.#proposal(one, proposal, place)));
    this.#showChoices(one);
    this.#showDecision(one);
    this.#showMode();
  }

  #facts(one) {
    const place = `Case ${this.#docket.cases.indexOf(one) + 1} of ${this.#docket.cases.length}`;
    const measure = one.kind === "boundary" ? "character F1" : "agreement";
    const score = one.score === null ? "" : ` · ${measure} ${one.score.toFixed(2)}`;
    return `${place}${score} · ${one.state}`;
  }

  #showChoices(one) {
    this.#button("both").hidden = !one.both;
    if (one.both) {
      const [first, second] = one.both.letters;
      this.#part("both").textContent = `Accept both: ${first} and ${second}`;
    }
    this.#button("majority").hidden = one.majority === null;
    if (one.majority) this.#part("majority").textContent = `Accept majority: ${inWords(one.majority)}`;
  }

  #showDecision(one) {
    const box = this.#part("decision");
    box.replaceChildren();
    if (one.state === "decided") {
      const who = one.decided_by ?? "the majority rule";
      box.append(make("p", `Decided by ${who} on ${moment(one.decided_at)}: ${inWords(one.decision)}.`));
      if (one.reason) box.append(make("p", `Reason: ${one.reason}`));
    }
    this.#part("past").hidden = one.history.length === 0;
    this.#part("history").replaceChildren(...one.history.map(verdictRow));
  }

  #showMode() {
    const { current: one, mode } = this.#docket;
    if (!one) return;
    const isOpen = one.state === "open";
    const mayDecide = isOpen && !this.#docket.data.obstacle;
    this.#part("decided").hidden = isOpen;
    this.#button("reopen").hidden = Boolean(this.#docket.data.obstacle);
    this.#part("choices").hidden = !mayDecide || mode !== "case";
    this.#part("proposals").hidden = mode === "edit";
    for (const button of this.#card.querySelectorAll("[data-action=take]")) button.hidden = !mayDecide || mode !== "case";
  }

  #proposal(one, { letter, spans }, place) {
    const card = this.#template.content.firstElementChild.cloneNode(true);
    const part = (name) => card.querySelector(`[data-part=${name}]`);
    part("name").textContent = nameOf(letter);
    const button = card.querySelector("[data-action=take]");
    button.dataset.number = String(place + 1);
    button.querySelector("kbd").textContent = String(place + 1);
    button.querySelector("kbd").hidden = place >= 9;
    button.querySelector("span").textContent = letter === "gold" ? "Keep the gold" : `Accept ${letter}`;
    if (spans.length) part("spans").append(...spans.map((span) => this.#span(span)));
    else part("spans").append(make("li", "No label.", { class: "muted" }));
    const remarks = this.#docket.data.remarks.filter((remark) => remark.letter === letter && touches(remark, one));
    part("remarks").append(...remarks.map(({ text }) => make("li", text)));
    part("remarks").hidden = remarks.length === 0;
    for (const name of ["pointerenter", "focusin"]) card.addEventListener(name, () => this.#overlay.look(spans));
    for (const name of ["pointerleave", "focusout"]) card.addEventListener(name, () => this.#overlay.look(null));
    return card;
  }

  /** A mark with the text around it. */
  #span(span) {
    const { before, after } = around(this.#page, span);
    const item = make("li");
    const text = make("p", "", { class: "excerpt" });
    const mark = make("mark", plain(span.quote), { class: this.#classOf.get(span.label) ?? "label-9" });
    text.append(`…${plain(before)}`, mark, `${plain(after)}…`);
    item.append(text, make("p", `${span.label} · ${reading(span)}`, { class: "muted small" }));
    return item;
  }

  #part(name) {
    return this.#card.querySelector(`[data-part=${name}]`);
  }

  #button(action) {
    return this.#card.querySelector(`button[data-action=${action}]`);
  }
}

const touches = (remark, one) => remark.start !== null && remark.start < one.end && one.start < remark.end;

function verdictRow({ choice, letter, spans, reason, decided_by: who, decided_at: when }) {
  const item = make("li");
  const what = choice === "reopened" ? "reopened" : `${letter ? `accepted ${letter}: ` : ""}${inWords(spans)}`;
  item.append(make("p", `${moment(when)}, ${who ?? "the majority rule"}`, { class: "muted" }));
  item.append(make("p", `${what}.${reason ? ` ${reason}` : ""}`, { class: "remark" }));
  return item;
}
