// The guidelines in the side panel, marked if they changed since the user last opened them.

import { post } from "../lib/http.js";

export class Guidelines {
  #data;
  #mark;

  constructor(root, data) {
    this.#data = data;
    this.#mark = root.querySelector("[data-guidelines-changed]");
    this.#mark.hidden = !this.#isNew;
  }

  get #isNew() {
    const { version, seen_version } = this.#data.guidelines;
    return seen_version < version;
  }

  async open() {
    if (!this.#isNew) return;
    const { guidelines, urls } = this.#data;
    const answer = await post(urls.guidelines_seen, { version: guidelines.version });
    if (answer.status !== 200) return;
    guidelines.seen_version = answer.body.seen_version;
    this.#mark.hidden = !this.#isNew;
  }
}
