// Opening again what was decided: a case, or a selected place of the page that had none. Both need a reason.

import { slice } from "../lib/offsets.js";
import { post, reasonOf } from "../lib/http.js";
import { inWords, plain } from "./parts.js";

export class Reopening {
  #dialog;
  #docket;
  #editing;
  #page;
  #urls;
  /** Where the reason goes, and what goes with it. @type {{url: string, body: object} | null} */
  #request = null;
  #isSending = false;

  constructor(root, docket, { editing, page, urls }) {
    this.#dialog = root.querySelector("[data-dialog=reopen]");
    this.#docket = docket;
    this.#editing = editing;
    this.#page = page;
    this.#urls = urls;
    this.#dialog.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
  }

  /** The decided case that is looked at. */
  askCase() {
    const { current } = this.#docket;
    if (current?.state !== "decided") {
      this.#docket.hint(current ? "This case is open." : "No case is chosen.");
      return;
    }
    this.#open(`${this.#urls.case}${current.id}/reopen/`, {}, "Open this case again?", `It was decided: ${inWords(current.decision)}.`);
  }

  /** The text that is selected. */
  askPlace() {
    const { pick } = this.#editing.desk;
    if (!pick) {
      this.#docket.hint("Select the text that is wrong or was overlooked first.");
      return;
    }
    const quote = plain(slice(this.#page.index, pick.start, pick.end));
    this.#open(this.#urls.reopen, { ...pick }, "Open this text for a correction?", `“${quote}”`);
  }

  close() {
    this.#dialog.close();
  }

  #open(url, body, title, what) {
    this.#request = { url, body };
    this.#part("title").textContent = title;
    this.#part("what").textContent = what;
    this.#part("fault").textContent = "";
    this.#dialog.querySelector("textarea").value = "";
    this.#dialog.showModal();
  }

  async #send() {
    if (this.#isSending) return;
    this.#isSending = true;
    const reason = this.#dialog.querySelector("textarea").value;
    const answer = await post(this.#request.url, { ...this.#request.body, reason });
    this.#isSending = false;
    if (answer.status !== 200) {
      this.#part("fault").textContent = reasonOf(answer);
      return;
    }
    this.#dialog.close();
    this.#docket.enqueue(answer.body.id);
    const fault = await this.#docket.refresh();
    if (fault) {
      this.#docket.hint(`It is open again, but the page could not be loaded anew: ${fault}`);
      return;
    }
    this.#docket.go(this.#docket.find(answer.body.id));
    this.#docket.hint("Open again: the page is back in adjudication until it is decided.");
  }

  #part(name) {
    return this.#dialog.querySelector(`[data-part=${name}]`);
  }
}
