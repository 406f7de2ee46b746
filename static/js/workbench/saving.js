// Saves the spans, keeps unsaved ones in the browser, and resolves conflicts.

import { ActiveTime } from "../lib/active-time.js";
import { areAlike } from "../lib/compare.js";
import { Drafts } from "../lib/drafts.js";
import { put } from "../lib/http.js";
import { newKey } from "../lib/spans.js";
import { Saver } from "../lib/saver.js";
import { spanOf } from "./desk.js";

const ACTS = ["keydown", "pointerdown", "wheel", "scroll"];

export class Saving {
  #desk;
  #status;
  #conflict;
  #card;
  #drafts;
  /** Records of other pages that are not processed yet. */
  #left = [];
  time = new ActiveTime();

  constructor(desk, { status, conflict, card }) {
    this.#desk = desk;
    this.#status = status;
    this.#conflict = conflict;
    this.#card = card;
    this.saver = new Saver({
      revision: desk.data.revision,
      base: desk.list.all,
      snapshot: () => desk.list.all,
      send: (save) => put(desk.data.urls.save, { ...save, text_sha256: desk.data.text_sha256 }),
      report: (state, detail) => this.#report(state, detail),
      keep: (unsaved) => this.#drafts.keep(unsaved),
      takeSeconds: () => this.time.take(),
      newKey,
    });
  }

  /** Opens the browser's store and continues the unsaved work of former pages. */
  async begin() {
    const { user, assignment, text_sha256 } = this.#desk.data;
    this.#drafts = await Drafts.open({ user, assignment, text_sha256, id: newKey() });
    this.#desk.addEventListener("edit", () => this.saver.touch());
    this.#listen();
    const found = await this.#drafts.takeOver();
    const fitting = found.filter((draft) => this.#desk.canEdit && draft.text_sha256 === text_sha256);
    if (fitting.length < found.length) {
      this.#status.hint("This browser has unsaved labels that can no longer be saved. Contact a lead.");
    }
    this.#left = fitting;
    await this.#resumeNext();
  }

  /** Replaces the spans by another version of the server, such as a restored one. */
  adopt(revision, spans) {
    const own = spans.map(spanOf);
    this.#desk.edit((list) => list.replace(own));
    this.#desk.read(spans, own);
    this.saver.resolve(revision, this.#desk.list.all, { keepMine: false });
  }

  async #resumeNext() {
    const draft = this.#left.pop();
    if (!draft) return;
    this.#desk.begin(draft.spans ?? draft.pending.spans);
    // The former page's record may go only after its work is stored under this page's id.
    await this.saver.resume(draft);
    await this.#drafts.forget(draft.id);
    this.#status.hint("Your unsaved labels were restored.");
  }

  #report(state, detail) {
    if (state === "accepted") {
      this.#desk.read(detail.spans ?? [], this.saver.base);
      return;
    }
    this.#status.show(state, detail);
    if (state === "refused") this.#showRefusal(detail);
    if (state === "conflict") this.#meet(detail);
    if (state === "saved") this.#afterSaved();
  }

  /** A former page's save may have been replaced by a newer one, which is then loaded. */
  #afterSaved() {
    const { data } = this.#desk;
    if (this.saver.revision < data.revision) {
      this.#desk.load(data.spans);
      this.saver.resolve(data.revision, this.#desk.list.all, { keepMine: false });
    }
    data.revision = this.saver.revision;
    this.#resumeNext();
  }

  #showRefusal(detail) {
    const [first] = detail?.errors ?? [];
    if (first?.key) this.#card.refuse(first.key, first.message);
  }

  async #meet(detail) {
    if (detail?.code !== "conflict") {
      const reason = detail?.message ?? "This document can no longer be changed. Reload the page.";
      this.#status.hint(`${reason} Unsaved labels are stored in this browser.`);
      return;
    }
    const theirs = detail.spans.map(spanOf);
    const mine = this.#desk.list.all;
    const isAlike = areAlike(mine, theirs);
    const question = { base: this.saver.base, mine, theirs, savedAt: detail.saved_at };
    const chosen = isAlike ? theirs : await this.#conflict.ask(question);
    if (chosen !== this.#desk.list.all) this.#desk.edit((list) => list.replace(chosen));
    this.#desk.read(detail.spans, theirs);
    this.#desk.data.revision = detail.revision;
    this.saver.resolve(detail.revision, theirs, { keepMine: chosen !== theirs });
    if (chosen === theirs) this.#resumeNext();
  }

  #listen() {
    for (const target of [document, this.#desk.page.document]) {
      for (const name of ACTS) target.addEventListener(name, () => this.time.act(), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) {
        this.time.pause();
        this.saver.retry();
      }
    });
    window.addEventListener("online", () => this.saver.retry());
    window.addEventListener("beforeunload", (event) => {
      if (this.saver.hasUnsaved && !this.#drafts.isReliable) event.preventDefault();
    });
  }
}
