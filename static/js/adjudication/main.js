// A page in adjudication: connects the parts, and maps actions to them.

import { caseAt } from "../lib/cases.js";
import { getInTheEnd, reasonOf } from "../lib/http.js";
import { actionOf } from "../lib/keymap.js";
import { loadPage } from "../lib/page.js";
import { sha256 } from "../lib/sha256.js";
import { ImagePane } from "../workbench/image-pane.js";
import { KeysDialog } from "../workbench/keys-dialog.js";
import { Panes } from "../workbench/panes.js";
import { showSideways } from "../workbench/sideways.js";
import { CaseCard } from "./case-card.js";
import { CaseList } from "./case-list.js";
import { Deciding } from "./deciding.js";
import { Docket } from "./docket.js";
import { Editing } from "./editing.js";
import { BY_MODE, KEYMAP } from "./keymap.js";
import { Legend } from "./legend.js";
import { Overlay } from "./overlay.js";
import { ReasonPanel } from "./reason-panel.js";
import { Reopening } from "./reopening.js";

class Adjudication {
  #root;
  #page;
  #docket;

  constructor(root, page, docket, { user, urls }) {
    this.#root = root;
    this.#page = page;
    this.#docket = docket;
    this.overlay = new Overlay(page, docket);
    this.card = new CaseCard(root, docket, page, this.overlay);
    this.legend = new Legend(root, docket, this.overlay);
    this.list = new CaseList(root, docket, page);
    this.editing = new Editing(root, docket, page, urls.readings);
    this.reasons = new ReasonPanel(root, docket.data.reasons, user);
    const parts = { card: this.card, reasons: this.reasons, editing: this.editing, urls };
    this.deciding = new Deciding(docket, parts);
    this.reopening = new Reopening(root, docket, { editing: this.editing, page, urls });
    this.panes = new Panes(root, user);
    this.image = new ImagePane(root);
    this.keys = new KeysDialog(root, { canEdit: true, user }, KEYMAP);
    this.acts = { ...this.#goingActs(), ...this.#decidingActs(), ...this.#editingActs() };
    this.#listen();
  }

  /** Shows the case of the URL, or the first open one. */
  begin() {
    this.overlay.show();
    this.legend.show();
    this.list.show();
    this.card.show();
    this.#showState();
    this.#docket.go(this.#named() ?? this.#docket.first ?? this.#docket.following(1));
  }

  #named() {
    const [, id] = /^#case-(\d+)$/.exec(window.location.hash) ?? [];
    return id ? this.#docket.find(Number(id)) : null;
  }

  /** @returns {Record<string, (argument?: string) => void>} */
  #goingActs() {
    return {
      next: () => this.#go(1),
      previous: () => this.#go(-1),
      clear: () => this.editing.desk.clear(),
      image: () => this.panes.toggleImage(),
      "zoom-in": () => this.image.in(),
      "zoom-out": () => this.image.out(),
      "zoom-fit": () => this.image.fit(),
      keys: () => this.keys.open(),
    };
  }

  #decidingActs() {
    const { deciding, reopening } = this;
    return {
      take: (key) => deciding.take(key),
      both: () => deciding.both(),
      majority: () => deciding.majority(),
      neither: () => deciding.neither(),
      edit: () => deciding.edit(),
      edited: () => deciding.edited(),
      cancel: () => deciding.cancel(),
      reason: (number) => deciding.numbered(number),
      same: () => deciding.same(),
      write: () => this.reasons.write(),
      confirm: () => deciding.confirm(),
      reopen: () => reopening.askCase(),
      correct: () => reopening.askPlace(),
      "close-reopen": () => reopening.close(),
    };
  }

  #editingActs() {
    const { labelling, moving, card } = this.editing;
    return {
      label: (number) => labelling.label(Number(number) - 1),
      remove: () => labelling.removeActive(),
      "next-span": () => moving.span(1),
      "previous-span": () => moving.span(-1),
      value: () => card.edit(),
      undo: () => labelling.travel("undo"),
      redo: () => labelling.travel("redo"),
      "token-right": () => moving.token(1),
      "token-left": () => moving.token(-1),
      ...labelling.borderActs(),
    };
  }

  #go(direction) {
    const docket = this.#docket;
    const beyond = docket.following(direction, { wraps: false });
    if (!beyond && direction > 0 && docket.next) {
      window.location.assign(docket.next);
      return;
    }
    const following = beyond ?? docket.following(direction);
    if (following) docket.go(following);
    else docket.hint("There are no other open cases.");
  }

  #listen() {
    for (const target of [document, this.#page.document]) {
      target.addEventListener("keydown", (event) => this.#key(event));
    }
    this.#root.addEventListener("click", (event) => {
      const button = event.target.closest("[data-action]");
      if (button) this.acts[button.dataset.action](button.dataset.number);
    });
    this.#page.document.addEventListener("click", (event) => this.#click(event));
    for (const name of ["cases", "current"]) this.#docket.addEventListener(name, () => this.#showState());
    const hint = this.#root.querySelector("[data-hint]");
    this.#docket.addEventListener("hint", (event) => (hint.textContent = event.detail));
    this.#docket.addEventListener("current", () => (hint.textContent = ""));
    window.addEventListener("hashchange", () => {
      const named = this.#named();
      if (named) this.#docket.go(named);
    });
  }

  /** A click on a mark goes to its case, except during an edit. */
  #click(event) {
    event.preventDefault();
    if (this.#docket.mode === "edit" || this.#page.selection()) return;
    const offset = this.#page.offsetAt(event.clientX, event.clientY);
    const one = offset === null ? null : caseAt(this.#docket.cases, offset);
    if (one) this.#docket.go(one);
  }

  #key(event) {
    const isWithin = (selector) => event.target.closest?.(selector);
    if (event.defaultPrevented || isWithin("dialog[open]")) return;
    if (isWithin("[data-reasons] textarea")) {
      this.#keyInReason(event);
      return;
    }
    if (isWithin("input, textarea, select")) return;
    const found = actionOf(event, { characters: this.keys.hasCharacters, actions: BY_MODE[this.#docket.mode] });
    if (!found) return;
    // The focused element has priority: Enter activates a button, arrows scroll a frame.
    if (event.key === "Enter" && isWithin("button, a, summary")) return;
    if (/^Arrow/.test(event.key) && !event.shiftKey && isWithin("[data-scrolls], [role=separator]")) return;
    event.preventDefault();
    this.acts[found.action](found.argument);
  }

  #keyInReason(event) {
    const acts = { Enter: "confirm", Escape: "cancel" };
    const act = event.shiftKey || event.isComposing ? undefined : acts[event.key];
    if (!act) return;
    event.preventDefault();
    this.acts[act]();
  }

  #showState() {
    const { current, cases, openCount, next, data } = this.#docket;
    this.#root.querySelector("[data-open-count]").textContent = `${openCount} of ${cases.length} open`;
    this.#root.querySelector("[data-place]").textContent = current
      ? `Case ${cases.indexOf(current) + 1} of ${cases.length}: ${current.kind_label}, ${current.state}`
      : "";
    document.querySelector("[data-stage]").textContent = data.stage;
    const link = document.querySelector("[data-next-page]");
    link.hidden = !next;
    if (next) link.href = next;
  }
}

async function start(root) {
  const own = JSON.parse(document.getElementById("adjudication-data").textContent);
  const asked = getInTheEnd(own.urls.data + own.urls.query);
  const page = await loadPage(root.querySelector("iframe"), own.urls.html);
  showSideways(root, page);
  const answer = await asked;
  if (answer.status !== 200) {
    root.querySelector("[data-fault-reason]").textContent = reasonOf(answer);
    fail(root, "data");
  } else if (!page.supportsMarks) {
    fail(root, "browser");
  } else if (sha256(page.text) !== answer.body.text_sha256) {
    fail(root, "text");
  } else {
    new Adjudication(root, page, new Docket(own, answer.body), own).begin();
    root.dataset.ready = "true";
  }
}

/** Shows an error instead of marks, whose offsets could differ from the server's. */
function fail(root, reason) {
  root.querySelector(`[data-fault=${reason}]`).hidden = false;
  root.dataset.ready = "fault";
}

const root = document.querySelector("[data-adjudication]");
if (root) start(root);
