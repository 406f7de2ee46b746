// The progress of a document: counts, the current place, and the active time.

const clock = (seconds) => {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return hours ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
};

export class Progress {
  #root;
  #desk;
  #time;
  #counts;
  #total;
  #open;
  #place;
  #clock;
  #before;
  #buttons;
  #scheduled = false;

  constructor(root, desk, time) {
    this.#root = root;
    this.#desk = desk;
    this.#time = time;
    this.#counts = root.querySelectorAll("[data-label-count]");
    this.#total = root.querySelector("[data-span-count]");
    this.#open = root.querySelector("[data-open-count]");
    this.#place = root.querySelector("[data-place]");
    this.#clock = document.querySelector("[data-clock]");
    this.#buttons = (action) => root.querySelectorAll(`button[data-action=${action}]`);
    this.#before = desk.data.active_seconds;
    for (const name of ["spans", "facts"]) desk.addEventListener(name, () => this.#soon());
    desk.addEventListener("place", () => this.#soon());
    setInterval(() => this.#tick(), 15_000);
    this.#tick();
  }

  #soon() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#show();
    });
  }

  #show() {
    const desk = this.#desk;
    const counts = new Map();
    for (const { label } of desk.list.all) counts.set(label, (counts.get(label) ?? 0) + 1);
    for (const element of this.#counts) element.textContent = String(counts.get(element.dataset.labelCount) ?? 0);
    this.#total.textContent = desk.list.all.length.toLocaleString("en");
    const open = desk.openCandidates;
    if (this.#open) this.#open.textContent = desk.facts.length ? `${open.toLocaleString("en")} possible ${open === 1 ? "fact" : "facts"} not labelled` : "";
    this.#place.textContent = this.#placeText();
    const suggestions = desk.openSuggestions.length;
    const state = {
      undo: desk.list.canUndo,
      redo: desk.list.canRedo,
      remove: Boolean(desk.active),
      equal: Boolean(desk.active),
      "accept-visible": suggestions > 0,
    };
    for (const [action, isEnabled] of Object.entries(state)) {
      for (const button of this.#buttons(action)) button.disabled = !isEnabled;
    }
  }

  #placeText() {
    const { active, pick } = this.#desk;
    const quote = (place) => this.#desk.quote(place.start, place.end).replace(/\s+/g, " ").slice(0, 80);
    if (active) return `${active.label}: ${quote(active)}`;
    if (!pick) return "";
    const suggestion = this.#desk.suggestionAt(pick);
    if (suggestion) {
      const filed = suggestion.details ? ` (filed as ${suggestion.details})` : "";
      return `${quote(pick)}: ${suggestion.label} suggested${filed}. Press Enter to accept.`;
    }
    const keys = `, press 1 to ${Math.min(9, this.#desk.data.labels.length)}`;
    return `${quote(pick)}: no label yet${this.#root.hasAttribute("data-no-character-keys") ? "" : keys}`;
  }

  #tick() {
    this.#clock.textContent = clock(this.#before + this.#time.seconds);
  }
}
