// The tabs of the side panel: facts, comments, guidelines, history.

export class SideTabs {
  #tabs;
  #onOpen = new Map();

  constructor(root) {
    this.#tabs = Array.from(root.querySelectorAll("[role=tab]"));
    for (const tab of this.#tabs) tab.addEventListener("click", () => this.open(tab.dataset.tab));
    root.querySelector("[role=tablist]").addEventListener("keydown", (event) => this.#key(event));
  }

  /** Calls `work` whenever this tab opens. */
  whenOpened(name, work) {
    this.#onOpen.set(name, work);
  }

  get current() {
    return this.#tabs.find((tab) => tab.ariaSelected === "true").dataset.tab;
  }

  open(name) {
    for (const tab of this.#tabs) {
      const isCurrent = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", String(isCurrent));
      tab.tabIndex = isCurrent ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !isCurrent;
    }
    this.#onOpen.get(name)?.();
  }

  /** Opens the tab, or the facts if it is already open. */
  toggle(name) {
    this.open(this.current === name ? "facts" : name);
  }

  #key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = this.#tabs.indexOf(document.activeElement);
    const next = this.#tabs[(at + step + this.#tabs.length) % this.#tabs.length];
    this.open(next.dataset.tab);
    next.focus();
  }
}
