// The workbench: one annotator's task. Connects the parts, and maps actions to them.

import { getInTheEnd, reasonOf } from "../lib/http.js";
import { equalPlaces } from "../lib/equal.js";
import { actionOf } from "../lib/keymap.js";
import { loadPage } from "../lib/page.js";
import { sha256 } from "../lib/sha256.js";
import { newKey } from "../lib/spans.js";
import { ChoiceDialog } from "./choice-dialog.js";
import { Comments } from "./comments.js";
import { ConflictView } from "./conflict-view.js";
import { Desk } from "./desk.js";
import { Files } from "./files.js";
import { Flag } from "./flag.js";
import { Guidelines } from "./guidelines.js";
import { History } from "./history.js";
import { ImagePane } from "./image-pane.js";
import { ImagePlaces } from "./image-places.js";
import { KeysDialog } from "./keys-dialog.js";
import { Labelling } from "./labelling.js";
import { Moving } from "./moving.js";
import { Panes } from "./panes.js";
import { Pointer } from "./pointer.js";
import { Progress } from "./progress.js";
import { Saving } from "./saving.js";
import { showSideways } from "./sideways.js";
import { SideTabs } from "./side-tabs.js";
import { SpanCard } from "./span-card.js";
import { SpanListView } from "./span-list.js";
import { StatusLine } from "./status-line.js";
import { Submitting } from "./submitting.js";
import { Suggestions } from "./suggestions.js";

class Workbench {
  #root;
  #desk;

  constructor(root, desk) {
    this.#root = root;
    this.#desk = desk;
    this.status = new StatusLine(root, desk);
    this.tabs = new SideTabs(root);
    this.card = new SpanCard(root, desk);
    this.labelling = new Labelling(desk);
    this.moving = new Moving(desk);
    this.choice = new ChoiceDialog(root);
    this.suggestions = new Suggestions(desk, (question) => this.choice.ask(question));
    this.saving = new Saving(desk, { status: this.status, conflict: new ConflictView(root), card: this.card });
    this.progress = new Progress(root, desk, this.saving.time);
    this.panes = new Panes(root, desk.data.user);
    this.image = new ImagePane(root);
    this.places = new ImagePlaces(root, desk);
    this.comments = new Comments(root, desk, () => this.list.show());
    this.list = new SpanListView(root, desk, {
      onRemove: (key) => this.labelling.remove(key),
      onEdit: () => this.card.edit(),
      commentsOf: (key) => this.comments.count(key),
    });
    this.flag = new Flag(root, desk.data);
    this.files = new Files(root, desk, this.saving);
    this.keys = new KeysDialog(root, { canEdit: desk.canEdit, user: desk.data.user });
    this.submitting = new Submitting(root, desk, this.saving, {
      card: this.card,
      comments: this.comments,
      dismissed: () => this.suggestions.dismissed,
    });
    const history = new History(root, desk, this.saving);
    const guidelines = new Guidelines(root, desk.data);
    this.tabs.whenOpened("history", () => history.open());
    this.tabs.whenOpened("guidelines", () => guidelines.open());
    this.acts = this.#acts();
    new Pointer(desk, this.labelling);
    this.#listen();
  }

  /** Fetches data that labelling does not need to wait for. */
  async fetchRest() {
    const { urls } = this.#desk.data;
    // Unsaved work of a former page is saved first, because warnings refer to saved spans.
    await this.saving.saver.flush();
    const asked = [getInTheEnd(urls.facts), getInTheEnd(urls.warnings), this.comments.load()];
    const [facts, warnings] = await Promise.all(asked);
    if (facts.status === 200) {
      const odd = new Set(facts.body.not_annotated);
      const found = facts.body.facts.map(([start, end, kind], at) => ({ start, end, kind, isLabelled: !odd.has(at) }));
      this.#desk.setFacts(found, this.suggestions.offered(facts.body.suggestions));
    } else {
      this.#desk.hint(`Facts could not be loaded, so selections do not snap to whole facts: ${reasonOf(facts)}`);
    }
    if (warnings.status === 200) this.#desk.read(warnings.body.spans, this.saving.saver.base);
    this.#root.dataset.facts = String(facts.status === 200);
    await this.places.load();
  }

  /** @returns {Record<string, (argument?: string) => void>} */
  #acts() {
    const { labelling, moving, image, tabs } = this;
    return {
      label: (number) => labelling.label(Number(number) - 1),
      remove: () => this.suggestions.dismiss() || labelling.removeActive(),
      undo: () => labelling.travel("undo"),
      redo: () => labelling.travel("redo"),
      equal: () => this.#labelEqual(),
      value: () => {
        tabs.open("facts");
        this.card.edit();
      },
      accept: () => this.suggestions.accept(),
      "accept-visible": () => this.suggestions.acceptVisible(),
      next: () => moving.span(1),
      previous: () => moving.span(-1),
      "next-warning": () => moving.warning(),
      "next-candidate": () => moving.candidate(1),
      "previous-candidate": () => moving.candidate(-1),
      "token-right": () => moving.token(1),
      "token-left": () => moving.token(-1),
      "line-down": () => moving.line(1),
      "line-up": () => moving.line(-1),
      ...labelling.borderActs(),
      clear: () => this.#desk.clear(),
      image: () => this.panes.toggleImage(),
      "zoom-in": () => image.in(),
      "zoom-out": () => image.out(),
      "zoom-fit": () => image.fit(),
      guidelines: () => tabs.toggle("guidelines"),
      history: () => tabs.toggle("history"),
      comment: () => {
        tabs.open("comments");
        this.comments.write();
      },
      flag: () => this.flag.open(),
      import: () => this.files.open(),
      keys: () => this.keys.open(),
      submit: () => this.submitting.open(),
      "next-task": () => document.querySelector("[data-next-task]")?.click(),
    };
  }

  async #labelEqual() {
    const desk = this.#desk;
    const { active, page } = desk;
    if (!active) {
      desk.hint("Select a labelled fact first.");
      return;
    }
    const found = equalPlaces(page.index, page.borders, desk.facts, desk.list.all, active);
    if (found.length === 0) {
      desk.hint(`There is no other unlabelled “${active.quote}” in this document.`);
      return;
    }
    const { label, quote } = active;
    const places = found.map((place) => ({ ...place, quote, label }));
    const chosen = await this.choice.ask({ title: `Label all matches of “${quote}”`, verb: "Label", places });
    if (!chosen?.length) return;
    desk.edit((list) => list.addAll(chosen.map(({ start, end }) => ({ key: newKey(), label, start, end, quote }))));
  }

  #listen() {
    for (const target of [document, this.#desk.page.document]) {
      target.addEventListener("keydown", (event) => this.#key(event));
    }
    this.#root.addEventListener("click", (event) => {
      const button = event.target.closest("[data-action]");
      if (button) this.acts[button.dataset.action](button.dataset.number);
    });
  }

  #key(event) {
    const isWithin = (selector) => event.target.closest?.(selector);
    if (event.defaultPrevented || isWithin("input, textarea, select, dialog[open]")) return;
    const found = actionOf(event, { characters: this.keys.hasCharacters });
    // Ignores repeats of a key that is held down.
    if (!found || (event.repeat && found.action === "submit")) return;
    // The focused element has priority: Enter activates a button, arrows scroll a frame.
    if (event.key === "Enter" && !event.ctrlKey && isWithin("button, a, summary")) return;
    if (/^Arrow/.test(event.key) && !event.shiftKey && isWithin("[data-scrolls]")) return;
    event.preventDefault();
    this.acts[found.action](found.argument);
  }
}

async function start(root) {
  const data = JSON.parse(document.getElementById("workbench-data").textContent);
  const page = await loadPage(root.querySelector("iframe"), data.urls.html);
  showSideways(root, page);
  const loaded = performance.now();
  if (!page.supportsMarks || sha256(page.text) !== data.text_sha256) {
    fail(root, page.supportsMarks ? "text" : "browser");
    return;
  }
  performance.measure("workbench: text checked", { start: loaded });
  // Painted in separate frames: the page, its marks, then the list.
  await nextFrame();
  const painting = performance.now();
  const desk = new Desk(data, page);
  await nextFrame();
  performance.measure("workbench: painted", { start: painting });
  const workbench = new Workbench(root, desk);
  desk.read(data.spans, desk.list.all);
  nextFrame().then(() => performance.measure("workbench: listed", { start: painting }));
  await workbench.saving.begin();
  root.dataset.ready = "true";
  await workbench.fetchRest();
}

/** Resolves after the next paint. Hidden tabs are never painted, so there it resolves at once. */
function nextFrame() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    if (document.hidden) resolve();
  });
}

/** Shows an error instead of the workbench, because offsets could differ from the server's. */
function fail(root, reason) {
  root.querySelector(`[data-fault=${reason}]`).hidden = false;
  root.dataset.ready = "fault";
}

const root = document.querySelector("[data-workbench]");
if (root) start(root);
