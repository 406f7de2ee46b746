// Reopens a decided case, or opens a selected range of the page that has no case. Both need a reason.

import { slice } from "../lib/offsets.js";
import { post, reasonOf } from "../lib/http.js";
import { inWords, plain } from "./parts.js";

export class Reopening {
  #dialog;
  #docket;
  #editing;
  #page;
  #urls;
  /** The URL and body of the request. @type {{url: string, body: object} | null} */
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

  /** Asks to reopen the current case. */
  askCase() {
    const { current, data } = this.#docket;
    if (data.obstacle) {
      this.#docket.hint(data.obstacle);
      return;
    }
    if (current?.state !== "decided") {
      this.#docket.hint(current ? "This case is already open." : "Choose a case first.");
      return;
    }
    const url = `${this.#urls.case}${current.id}/reopen/`;
    this.#open(url, {}, "Reopen this case?", `Decision: ${inWords(current.decision)}.`, "Reopen case");
  }

  /** Asks to open the selected text. */
  askPlace() {
    const { obstacle } = this.#docket.data;
    const { pick } = this.#editing.desk;
    if (obstacle || !pick) {
      this.#docket.hint(obstacle || "Select the text to correct first.");
      return;
    }
    const quote = plain(slice(this.#page.index, pick.start, pick.end));
    const { start, end } = pick;
    this.#open(this.#urls.reopen, { start, end }, "Create a case from this text?", `“${quote}”`, "Create case");
  }

  close() {
    this.#dialog.close();
  }

  #open(url, body, title, what, verb) {
    this.#request = { url, body };
    this.#part("title").textContent = title;
    this.#part("what").textContent = what;
    this.#part("verb").textContent = verb;
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
      this.#docket.hint(`The case is open, but the document could not be reloaded: ${fault}`);
      return;
    }
    this.#docket.go(this.#docket.find(answer.body.id));
    this.#docket.hint("The case is open. The document stays in adjudication until you decide it.");
  }

  #part(name) {
    return this.#dialog.querySelector(`[data-part=${name}]`);
  }
}
