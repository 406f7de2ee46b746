// The page image: zoom with Ctrl and the wheel, buttons or keys; move by dragging or scrolling.

const LEAST = 0.25;
const MOST = 6;
const STEP = 1.25;

export class ImagePane {
  #frame;
  #zoom = 1;
  #label;

  constructor(root) {
    this.#frame = root.querySelector("[data-image-frame]");
    this.#label = root.querySelector("[data-zoom]");
    if (!this.#frame) return;
    this.#frame.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.#frame.addEventListener("pointerdown", (event) => this.#grasp(event));
  }

  in() {
    this.#scaleTo(this.#zoom * STEP);
  }

  out() {
    this.#scaleTo(this.#zoom / STEP);
  }

  fit() {
    this.#scaleTo(1);
  }

  /** Zooms around a point, by default the middle. */
  #scaleTo(zoom, point) {
    const frame = this.#frame;
    if (!frame) return;
    const next = Math.min(MOST, Math.max(LEAST, zoom));
    const x = point?.x ?? frame.clientWidth / 2;
    const y = point?.y ?? frame.clientHeight / 2;
    const ratio = next / this.#zoom;
    const left = (frame.scrollLeft + x) * ratio - x;
    const top = (frame.scrollTop + y) * ratio - y;
    this.#zoom = next;
    frame.style.setProperty("--zoom", String(next));
    frame.scrollTo({ left, top, behavior: "instant" });
    this.#label.textContent = `${Math.round(next * 100)}%`;
  }

  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = this.#frame.getBoundingClientRect();
    const point = { x: event.clientX - box.left, y: event.clientY - box.top };
    this.#scaleTo(this.#zoom * Math.exp(-event.deltaY / 300), point);
  }

  #grasp(event) {
    if (event.button !== 0 || event.pointerType === "touch") return;
    event.preventDefault();
    const frame = this.#frame;
    frame.focus({ preventScroll: true });
    const start = { x: event.clientX + frame.scrollLeft, y: event.clientY + frame.scrollTop };
    frame.setPointerCapture(event.pointerId);
    const move = ({ clientX, clientY }) => frame.scrollTo({ left: start.x - clientX, top: start.y - clientY, behavior: "instant" });
    frame.addEventListener("pointermove", move);
    frame.addEventListener("lostpointercapture", () => frame.removeEventListener("pointermove", move), { once: true });
  }
}
