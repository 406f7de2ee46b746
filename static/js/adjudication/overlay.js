// All annotators' marks on the page. Line styles show how they agree, so that colour is never the only cue. The
// current case shows the first annotator's marks with a line below and the second's with a line above.

import { lookOf, lookOfMark, rangesOf } from "../lib/cases.js";
import { Marks } from "../lib/marks.js";

/** Pages are always light, so these are the light scheme's colours. adjudication.css has those of the legend. */
const STYLES = `
  ::highlight(look-agreed) { text-decoration: underline solid 1px #555d66; }
  ::highlight(look-gold) { text-decoration: underline dotted 2px #555d66; }
  ::highlight(look-only-a) { background-color: #0a57a61f; text-decoration: underline dashed 2px #0a57a6; }
  ::highlight(look-only-b) { background-color: #9c47001f; text-decoration: overline dashed 2px #9c4700; }
  ::highlight(look-some) { background-color: #8b2d7c1f; text-decoration: underline overline dotted 2px #8b2d7c; }
  ::highlight(look-boundary) { background-color: #00677a1f; text-decoration: underline wavy 2px #00677a; }
  ::highlight(look-label) { background-color: #a3143f1f; text-decoration: underline double 3px #a3143f; }
  ::highlight(look-value) { background-color: #583db31f; text-decoration: underline dotted 4px #583db3; }
  ::highlight(look-doubtful) { background-color: #7d53001f; text-decoration: underline wavy 2px #7d5300; }
  ::highlight(look-review) { background-color: #7d53001f; text-decoration: underline overline solid 2px #7d5300; }
  ::highlight(look-decided) { text-decoration: underline solid 3px #1b6535; }
  ::highlight(look-rejected) { text-decoration: line-through solid 1px #555d66; }
  ::highlight(current) { background-color: #ffe08a; color: #1c2024; }
  ::highlight(current-first) { text-decoration: underline solid 3px #0a57a6; }
  ::highlight(current-second) { text-decoration: overline solid 3px #9c4700; }
`;
const CURRENT = { current: 2, "current-first": 3, "current-second": 3, active: 4 };

export class Overlay {
  #page;
  #docket;
  #marks;
  #hidden = new Set();
  /** The painted pieces by range and look. Reused objects are not painted again. */
  #pieces = new Map();

  constructor(page, docket) {
    this.#page = page;
    this.#docket = docket;
    page.addStyles(STYLES);
    this.#marks = new Marks(page, (look) => `look-${look}`);
    for (const name of ["cases", "current", "mode"]) docket.addEventListener(name, () => this.show());
    docket.addEventListener("current", () => docket.current && page.reveal(docket.current));
  }

  /** Shows or hides everything of one look. */
  toggle(look, isShown) {
    if (isShown) this.#hidden.delete(look);
    else this.#hidden.add(look);
    this.show();
  }

  show() {
    const { data, cases, current } = this.#docket;
    const found = data.marks.map((mark) => this.#piece(mark, lookOfMark(mark)));
    for (const one of cases) {
      if (one !== current) found.push(...rangesOf(one).map((range) => this.#piece(range, lookOf(one))));
    }
    const shown = found.filter(({ label }) => !this.#hidden.has(label));
    this.#marks.set(shown.sort((a, b) => a.start - b.start));
    this.#showCurrent();
  }

  /** Shows only one proposal's marks; null shows all again. */
  look(spans) {
    if (!spans) {
      this.#showCurrent();
      return;
    }
    this.#paint("active", spans);
    for (const name of ["current-first", "current-second"]) this.#paint(name, []);
  }

  #piece({ start, end }, look) {
    const name = `${start}-${end}-${look}`;
    if (!this.#pieces.has(name)) this.#pieces.set(name, { start, end, label: look });
    return this.#pieces.get(name);
  }

  #showCurrent() {
    const { current, mode } = this.#docket;
    const isShown = current && mode !== "edit";
    const isOpen = isShown && current.state === "open";
    this.#paint("active", []);
    this.#paint("current", isShown ? [current] : []);
    this.#paint("current-first", isOpen ? current.proposals[0].spans : isShown ? current.decision : []);
    this.#paint("current-second", isOpen ? (current.proposals[1]?.spans ?? []) : []);
  }

  #paint(name, spans) {
    const highlight = this.#page.highlight(name, CURRENT[name]);
    highlight.clear();
    for (const { start, end } of spans) highlight.add(this.#page.range(start, end));
  }
}
