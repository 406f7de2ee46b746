// The workbench: select text, press a label's key, and the mark is painted and saved.

import { Page, loadPage } from "../lib/page.js";
import { Saver } from "../lib/saver.js";
import { sha256 } from "../lib/sha256.js";
import { newKey, overlapping, spanAt, SpanList } from "../lib/spans.js";
import { slice } from "../lib/offsets.js";
import { put, post } from "../lib/http.js";
import { SpanTable } from "./span-table.js";
import { StatusLine } from "./status-line.js";

class Workbench {
  #data;
  #page;
  #list;
  #saver;
  #status;
  #table;
  #activeKey = null;

  constructor(root, data, page) {
    this.#data = data;
    this.#page = page;
    this.#list = new SpanList(data.spans);
    this.#status = new StatusLine(root, {
      onKeepMine: () => this.#settle(true),
      onLoadOther: () => this.#settle(false),
    });
    this.#table = new SpanTable(root, data.labels, {
      onPick: (key) => this.#activate(key, { reveal: true }),
      onRemove: (key) => this.#remove(key),
      readonly: data.readonly,
    });
    this.#saver = new Saver({
      revision: data.revision,
      snapshot: () => this.#list.all,
      send: (body) => put(data.urls.save, { ...body, text_sha256: data.text_sha256 }),
      report: (state, detail) => this.#status.show(state, detail),
      newKey,
    });
    this.#listen(root);
    this.#draw();
  }

  // --- what a person does -------------------------------------------------------------------

  /** Marks the selection, or gives the active span another label. */
  #label(number) {
    const label = this.#data.labels[number]?.name;
    if (!label || this.#data.readonly) return;
    const selected = this.#page.selection();
    if (selected) this.#mark(selected, label);
    else if (this.#activeKey) this.#edit(() => this.#list.relabel(this.#activeKey, label));
    else this.#status.hint("Select some text first, then choose its label.");
  }

  #mark({ start, end }, label) {
    const same = this.#list.all.find((span) => span.start === start && span.end === end);
    if (same) {
      this.#edit(() => this.#list.relabel(same.key, label));
    } else {
      const hindrance = overlapping(this.#list.all, start, end);
      if (hindrance.length) {
        this.#activate(hindrance[0].key);
        this.#status.hint(`This overlaps “${hindrance[0].quote}”. Remove that mark first.`);
        return;
      }
      const span = { key: newKey(), label, start, end, quote: slice(this.#page.index, start, end) };
      this.#edit(() => this.#list.add(span));
      this.#activeKey = span.key;
    }
    this.#page.clearSelection();
    this.#draw();
  }

  #remove(key) {
    if (!key || this.#data.readonly) return;
    this.#activeKey = null;
    this.#edit(() => this.#list.remove(key));
  }

  #step(direction) {
    const { all } = this.#list;
    if (!all.length) return;
    const at = all.findIndex((span) => span.key === this.#activeKey);
    const next = at < 0 ? (direction > 0 ? 0 : all.length - 1) : (at + direction + all.length) % all.length;
    this.#activate(all[next].key, { reveal: true });
  }

  async #submit(dialog) {
    if (!(await this.#saver.flush())) return;
    const answer = await post(this.#data.urls.submit, { base_revision: this.#saver.revision });
    if (answer.status === 200) {
      window.location.assign(answer.body.next ?? this.#data.urls.tasks);
      return;
    }
    dialog.close();
    if (answer.status === 409) this.#status.show("conflict", answer.body);
    else this.#status.hint("Submitting failed; your marks are saved. Please try again.");
  }

  /** A conflict: go on with what is on this page, or with what was saved elsewhere. */
  #settle(keepMine) {
    const other = this.#status.conflict;
    if (!keepMine) {
      this.#list.replace(other.spans);
      this.#activeKey = null;
    }
    this.#saver.resolve(other.revision, { keepMine });
    this.#draw();
  }

  // --- drawing ------------------------------------------------------------------------------

  #edit(change) {
    if (this.#data.readonly) return;
    change();
    this.#saver.touch();
    this.#draw();
  }

  #activate(key, { reveal = false } = {}) {
    this.#activeKey = key;
    this.#draw();
    const span = this.#list.find(key);
    if (span && reveal) this.#page.reveal(span);
  }

  #draw() {
    const groups = Object.fromEntries(this.#data.labels.map((label) => [label.css, []]));
    const cssOf = new Map(this.#data.labels.map((label) => [label.name, label.css]));
    const active = this.#list.find(this.#activeKey);
    for (const span of this.#list.all) groups[cssOf.get(span.label)]?.push(span);
    groups.active = active ? [active] : [];
    this.#page.paint(groups);
    this.#table.show(this.#list.all, this.#activeKey);
    this.#status.history(this.#list.canUndo, this.#list.canRedo, Boolean(active));
  }

  // --- events -------------------------------------------------------------------------------

  #listen(root) {
    for (const target of [document, this.#page.document]) {
      target.addEventListener("keydown", (event) => this.#key(event));
    }
    this.#page.document.addEventListener("click", (event) => this.#click(event));
    root.addEventListener("click", (event) => this.#button(event.target.closest("[data-action]")));
    window.addEventListener("beforeunload", (event) => {
      if (this.#saver.hasUnsaved) event.preventDefault();
    });
    const dialog = root.querySelector("[data-dialog=submit]");
    dialog?.addEventListener("close", () => {
      if (dialog.returnValue === "submit") this.#submit(dialog);
    });
  }

  #click(event) {
    // Links lead nowhere in a page under annotation.
    event.preventDefault();
    if (this.#page.selection()) return;
    const offset = this.#page.offsetAt(event.clientX, event.clientY);
    const span = offset === null ? null : spanAt(this.#list.all, offset);
    this.#activate(span?.key ?? null);
  }

  #key(event) {
    if (event.target.closest?.("input, textarea, select, dialog[open]")) return;
    const action = actionOf(event);
    if (!action) return;
    event.preventDefault();
    this.#do(action);
  }

  #button(element) {
    if (element) this.#do(element.dataset.action, element.dataset.number);
  }

  #do(action, number) {
    const [name, argument = number] = action.split(":");
    const acts = {
      label: () => this.#label(Number(argument)),
      remove: () => this.#remove(this.#activeKey),
      undo: () => this.#edit(() => this.#list.undo()),
      redo: () => this.#edit(() => this.#list.redo()),
      next: () => this.#step(1),
      previous: () => this.#step(-1),
      clear: () => {
        this.#page.clearSelection();
        this.#activate(null);
      },
      submit: () => this.#openSubmit(),
      image: () => this.#toggle("image"),
      keys: () => document.querySelector("[data-dialog=keys]")?.showModal(),
    };
    acts[name]?.();
  }

  #openSubmit() {
    const dialog = document.querySelector("[data-dialog=submit]");
    if (!dialog) return;
    dialog.querySelector("[data-count]").textContent = String(this.#list.all.length);
    dialog.showModal();
  }

  #toggle(pane) {
    const root = document.querySelector("[data-workbench]");
    const hidden = root.toggleAttribute(`data-hide-${pane}`);
    root.querySelector(`[data-action=${pane}]`)?.setAttribute("aria-pressed", String(!hidden));
  }
}

/** The action of a key press, or null. */
function actionOf(event) {
  const command = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (command && key === "z") return event.shiftKey ? "redo" : "undo";
  if (command && key === "y") return "redo";
  if (command || event.altKey) return null;
  if (/^[1-9]$/.test(key)) return `label:${Number(key) - 1}`;
  return (
    { delete: "remove", backspace: "remove", n: "next", p: "previous", escape: "clear", i: "image", "?": "keys" }[key] ?? null
  );
}

async function start(root) {
  const data = JSON.parse(document.getElementById("workbench-data").textContent);
  const page = await loadPage(root.querySelector("iframe"), data.urls.html);
  if (!supportsMarks(page) || sha256(page.text) !== data.text_sha256) {
    fail(root, supportsMarks(page) ? "text" : "browser");
    return;
  }
  new Workbench(root, data, page);
  root.dataset.ready = "true";
}

function supportsMarks(page) {
  return page instanceof Page && "highlights" in (page.document.defaultView.CSS ?? {});
}

/** Labelling must not begin on a text whose offsets would differ from the server's. */
function fail(root, reason) {
  root.querySelector(`[data-fault=${reason}]`).hidden = false;
  root.dataset.ready = "fault";
}

const root = document.querySelector("[data-workbench]");
if (root) start(root);
