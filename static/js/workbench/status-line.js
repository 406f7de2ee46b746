// What the workbench tells: saved or not, hints, and a conflict with another tab.

const TEXTS = {
  saved: "Saved",
  dirty: "Not saved yet",
  saving: "Saving…",
  offline: "No connection. Trying again; your marks are kept here",
  refused: "The server refused this state",
  conflict: "Changed elsewhere",
};

export class StatusLine {
  #state;
  #hint;
  #conflict;
  #root;
  /** What the server holds, while the person decides. */
  conflict = null;

  constructor(root, { onKeepMine, onLoadOther }) {
    this.#root = root;
    this.#state = root.querySelector("[data-save-state]");
    this.#hint = root.querySelector("[data-hint]");
    this.#conflict = root.querySelector("[data-conflict]");
    this.#conflict?.querySelector("[data-choice=mine]").addEventListener("click", () => this.#choose(onKeepMine));
    this.#conflict?.querySelector("[data-choice=other]").addEventListener("click", () => this.#choose(onLoadOther));
  }

  show(state, detail) {
    this.#state.dataset.saveState = state;
    this.#state.textContent = TEXTS[state];
    if (state === "refused") this.hint(refusal(detail));
    if (state === "saved") this.hint("");
    if (state === "conflict") this.#showConflict(detail);
  }

  hint(text) {
    this.#hint.textContent = text;
  }

  history(canUndo, canRedo, hasActive) {
    this.#enable("undo", canUndo);
    this.#enable("redo", canRedo);
    this.#enable("remove", hasActive);
  }

  #enable(action, enabled) {
    const button = this.#root.querySelector(`button[data-action=${action}]`);
    if (button) button.disabled = !enabled;
  }

  #showConflict(detail) {
    if (detail?.code !== "conflict") {
      this.hint(detail?.message ?? "This task was submitted in another tab. Reload the page to see it.");
      return;
    }
    this.conflict = detail;
    const count = this.#conflict.querySelector("[data-other-count]");
    count.textContent = String(detail.spans.length);
    this.#conflict.hidden = false;
    this.#conflict.querySelector("[data-choice=mine]").focus();
  }

  #choose(act) {
    this.#conflict.hidden = true;
    act();
    this.conflict = null;
  }
}

function refusal(detail) {
  const first = detail?.errors?.[0]?.message ?? detail?.detail ?? "reload the page and try again";
  return `Not saved: ${first}`;
}
