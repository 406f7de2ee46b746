// The status line of the workbench: the state of saving, and hints.

import { reasonOf } from "../lib/http.js";

const TEXTS = {
  saved: "Saved",
  dirty: "Not saved yet",
  saving: "Saving…",
  offline: "Offline. Your labels are stored in this browser until you reconnect.",
  refused: "Not saved",
  conflict: "Changed elsewhere",
};

/** Users who are logged out can log in after a reload. The browser then sends the stored work. */
function refusal(detail) {
  if (detail?.status === 401 || detail?.status === 403) {
    return "You are logged out. Reload the page to log in. Your labels are stored in this browser.";
  }
  if (detail?.status === 404) {
    return "Not saved: this document is no longer assigned to you. Unsaved labels are stored in this browser.";
  }
  return `Not saved: ${reasonOf({ status: detail?.status, body: detail })}`;
}

export class StatusLine {
  #state;
  #hint;

  constructor(root, desk) {
    this.#state = root.querySelector("[data-save-state]");
    this.#hint = root.querySelector("[data-hint]");
    desk.addEventListener("hint", (event) => this.hint(event.detail));
    desk.addEventListener("edit", () => this.hint(""));
  }

  show(state, detail) {
    this.#state.dataset.saveState = state;
    this.#state.textContent = TEXTS[state];
    if (state === "refused") this.hint(refusal(detail));
  }

  hint(text) {
    this.#hint.textContent = text;
  }
}
