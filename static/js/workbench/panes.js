// The panes: their widths, set by mouse or arrow keys, and which are shown. Stored per user.

const LEAST = { page: 260, image: 160, side: 240 };
const STEP = 24;
/** Below this width the panes are stacked (workbench.css). */
const NARROW = 960;

export class Panes {
  #root;
  #frame;
  #name;
  #layout;

  constructor(root, user) {
    this.#root = root;
    this.#frame = root.querySelector("[data-panes]");
    this.#name = `factboard:panes:${user}`;
    this.#layout = this.#remembered();
    for (const bar of root.querySelectorAll("[role=separator]")) {
      bar.addEventListener("pointerdown", (event) => this.#grasp(bar, event));
      bar.addEventListener("keydown", (event) => this.#key(bar, event));
      bar.addEventListener("dblclick", () => this.#resize(bar.dataset.pane, null));
    }
    new ResizeObserver(() => this.#describe()).observe(this.#frame);
    this.#apply();
  }

  toggleImage() {
    if (!this.#root.querySelector("[data-image-pane]")) return;
    this.#layout.hideImage = !this.#layout.hideImage;
    this.#apply();
    this.#remember();
  }

  /** In a narrow window the image is hidden by default, because both panes do not fit. */
  #remembered() {
    const usual = { hideImage: window.innerWidth < NARROW };
    try {
      return JSON.parse(localStorage.getItem(this.#name)) ?? usual;
    } catch {
      return usual;
    }
  }

  #remember() {
    try {
      localStorage.setItem(this.#name, JSON.stringify(this.#layout));
    } catch {
      // A private window may refuse to store it. The layout then lasts until the page is left.
    }
  }

  #apply() {
    const hasImage = Boolean(this.#root.querySelector("[data-image-pane]"));
    const isHidden = !hasImage || Boolean(this.#layout.hideImage);
    this.#root.toggleAttribute("data-hide-image", isHidden);
    this.#root.querySelector("button[data-action=image]")?.setAttribute("aria-pressed", String(!isHidden));
    for (const pane of ["image", "side"]) {
      const width = this.#layout[pane];
      if (Number.isFinite(width)) this.#frame.style.setProperty(`--${pane}-width`, `${width}px`);
      else this.#frame.style.removeProperty(`--${pane}-width`);
    }
    this.#describe();
  }

  #resize(pane, width) {
    this.#layout[pane] = width === null ? undefined : Math.min(this.#most(pane), Math.max(LEAST[pane], Math.round(width)));
    this.#apply();
    this.#remember();
  }

  /** The maximum width that leaves the page its minimum width. */
  #most(pane) {
    const page = this.#root.querySelector("[data-page-pane]");
    return Math.max(LEAST[pane], this.#width(pane) + page.clientWidth - LEAST.page);
  }

  #width(pane) {
    return this.#root.querySelector(`[data-${pane}-pane]`)?.getBoundingClientRect().width ?? 0;
  }

  #grasp(bar, event) {
    if (event.button !== 0) return;
    const { pane } = bar.dataset;
    const from = event.clientX;
    const width = this.#width(pane);
    bar.setPointerCapture(event.pointerId);
    // The iframe would intercept pointer events.
    this.#root.dataset.resizing = "";
    const move = ({ clientX }) => this.#resize(pane, width + from - clientX);
    bar.addEventListener("pointermove", move);
    bar.addEventListener(
      "lostpointercapture",
      () => {
        bar.removeEventListener("pointermove", move);
        delete this.#root.dataset.resizing;
      },
      { once: true },
    );
  }

  #key(bar, event) {
    const { pane } = bar.dataset;
    const width = this.#width(pane);
    const next = {
      ArrowLeft: width + STEP,
      ArrowRight: width - STEP,
      Home: this.#most(pane),
      End: LEAST[pane],
      Enter: null,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.#resize(pane, next);
  }

  #describe() {
    for (const bar of this.#root.querySelectorAll("[role=separator]")) {
      const { pane } = bar.dataset;
      bar.setAttribute("aria-valuemin", String(LEAST[pane]));
      bar.setAttribute("aria-valuemax", String(Math.round(this.#most(pane))));
      bar.setAttribute("aria-valuenow", String(Math.round(this.#width(pane))));
    }
  }
}
