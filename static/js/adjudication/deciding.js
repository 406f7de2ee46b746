// The steps of a decision: the choice, its reason, and the next case.

import { get, post, reasonOf } from "../lib/http.js";
import { inWords } from "./parts.js";

export class Deciding {
  #docket;
  #card;
  #reasons;
  #editing;
  #urls;
  /** The choice that needs a reason. @type {{choice: string, proposal?: string, spans?: object[]} | null} */
  #chosen = null;
  #isSending = false;

  constructor(docket, { card, reasons, editing, urls }) {
    this.#docket = docket;
    this.#card = card;
    this.#reasons = reasons;
    this.#editing = editing;
    this.#urls = urls;
    docket.addEventListener("current", () => this.#drop());
  }

  /** Accepts one proposal. @param {string} key a number from 1, or a character from a */
  take(key) {
    const one = this.#open();
    const place = /\d/.test(key) ? Number(key) - 1 : key.charCodeAt(0) - "a".charCodeAt(0);
    const proposal = one?.proposals[place];
    if (!one) return;
    if (!proposal) {
      this.#docket.hint(`This case has ${one.proposals.length} proposals.`);
      return;
    }
    const name = proposal.letter === "gold" ? "Keep the gold" : `Accept ${proposal.letter}`;
    this.#ask({ choice: "proposal", proposal: proposal.letter }, `${name}: ${inWords(proposal.spans)}. Why?`);
  }

  both() {
    const one = this.#open();
    if (!one) return;
    if (one.both) this.#ask({ choice: "both" }, `Both: ${inWords(one.both.spans)}. Why?`);
    else this.#docket.hint("No two proposals of this case can be combined.");
  }

  /** Accepts the majority, which needs no reason. */
  majority() {
    const one = this.#open();
    if (!one) return;
    if (one.majority === null) {
      this.#docket.hint("This case has no majority.");
      return;
    }
    this.#chosen = { choice: "majority" };
    this.#send("");
  }

  neither() {
    if (this.#open()) this.#ask({ choice: "neither" }, "Neither is a fact. Why?");
  }

  edit() {
    if (this.#open()) this.#editing.begin();
  }

  edited() {
    const spans = this.#editing.answer;
    if (!spans) return;
    const shown = this.#editing.desk.list.all;
    this.#editing.pause();
    this.#ask({ choice: "edit", spans }, `Edited: ${shown.map((span) => `“${span.quote}” as ${span.label}`).join(", ")}. Why?`);
  }

  /** Goes one step back: from the reason to the edit, or from the edit to the choice. */
  cancel() {
    const wasEdit = this.#docket.mode === "reason" && this.#chosen?.choice === "edit";
    this.#reasons.close();
    this.#chosen = null;
    if (wasEdit) {
      this.#editing.resume();
      return;
    }
    this.#editing.end();
    this.#docket.ask("case");
    this.#card.focus();
  }

  numbered(number) {
    const reason = this.#reasons.numbered(Number(number));
    if (reason) this.#send(reason);
  }

  same() {
    if (this.#reasons.last) this.#send(this.#reasons.last);
    else this.#reasons.showFault("Press a number to choose a reason, or t to enter one.");
  }

  confirm() {
    if (this.#reasons.written) this.#send(this.#reasons.written);
    else this.#reasons.showFault("Enter a reason, or press a number to choose one.");
  }

  /** The current case if it is open; otherwise shows a hint and returns null. */
  #open() {
    const { current } = this.#docket;
    if (!current) this.#docket.hint("Choose a case, or press j for the next open case.");
    else if (this.#docket.data.obstacle) this.#docket.hint(this.#docket.data.obstacle);
    else if (current.state === "decided") this.#docket.hint("This case is decided. Press o to reopen it.");
    else return current;
    return null;
  }

  #ask(chosen, title) {
    this.#chosen = chosen;
    this.#docket.ask("reason");
    this.#reasons.open(title);
  }

  async #send(reason) {
    if (!this.#chosen || this.#isSending) return;
    this.#isSending = true;
    const { current } = this.#docket;
    const answer = await post(`${this.#urls.case}${current.id}/decide/${this.#urls.query}`, { ...this.#chosen, reason });
    this.#isSending = false;
    if (answer.status === 200) this.#decided(answer.body, reason);
    else if (answer.body?.code === "decided") await this.#overtaken(current.id, answer.body.message);
    else this.#refused(reasonOf(answer));
  }

  #decided({ case: one, stage, next, open_cases: left }, reason) {
    this.#reasons.remember(reason);
    this.#docket.next = next;
    this.#docket.replace(one, stage);
    this.#drop();
    const following = this.#docket.following(1);
    if (following) {
      this.#docket.go(following);
      this.#docket.hint(`Decision saved. Open cases: ${this.#docket.openCount} in this document, ${left} in the campaign.`);
      this.#card.focus();
    } else if (next) {
      window.location.assign(next);
    } else {
      this.#docket.go(null);
      this.#docket.hint(left ? "No more open cases match the filter." : "All cases of this campaign have been decided.");
    }
  }

  /** Another lead decided first: shows that decision and drops this one. */
  async #overtaken(id, message) {
    const answer = await get(`${this.#urls.case}${id}/`);
    this.#drop();
    if (answer.status === 200) this.#docket.replace(answer.body);
    this.#card.showConflict(message);
    this.#card.focus();
  }

  #refused(message) {
    if (this.#chosen.choice === "edit") {
      this.cancel();
      this.#editing.showFault(`Not saved: ${message}`);
    } else if (this.#docket.mode === "reason") {
      this.#reasons.showFault(`Not saved: ${message}`);
    } else {
      this.#docket.hint(`Not saved: ${message}`);
    }
  }

  #drop() {
    this.#chosen = null;
    this.#reasons.close();
    this.#editing.end();
    if (this.#docket.mode !== "case") this.#docket.ask("case");
  }
}
