// Links facts and the page image: the current place is outlined on the image, and a click on the image selects
// the text there. Only rendered images have text boxes.

import { areasOf, offsetNear } from "../lib/boxes.js";
import { getInTheEnd } from "../lib/http.js";
import { touching } from "../lib/snap.js";
import { spanAt } from "../lib/spans.js";

/** Distance that the pointer may move during a click, in pixels. */
const STILL = 4;

export class ImagePlaces {
  #desk;
  #frame;
  /** @type {{sheet: HTMLElement, width: number, height: number, boxes: import("../lib/boxes.js").Box[]}[]} */
  #images = [];
  #pressed = null;

  /** @param {import("./desk.js").Desk} desk */
  constructor(root, desk) {
    this.#desk = desk;
    this.#frame = root.querySelector("[data-image-frame]");
  }

  /** Fetches the text boxes if any image has them. */
  async load() {
    if (!this.#frame?.querySelector("[data-has-boxes]")) return;
    const answer = await getInTheEnd(this.#desk.data.urls.boxes);
    if (answer.status !== 200) return;
    for (const { number, width, height, boxes } of answer.body.images) {
      const sheet = this.#frame.querySelector(`[data-sheet="${number}"]`);
      if (sheet) this.#images.push({ sheet, width, height, boxes });
    }
    this.#desk.addEventListener("place", () => this.#show());
    this.#frame.addEventListener("pointerdown", ({ clientX, clientY }) => {
      this.#pressed = { x: clientX, y: clientY };
    });
    this.#frame.addEventListener("click", (event) => this.#click(event));
    this.#frame.dataset.linked = "";
    this.#show();
  }

  #show() {
    for (const old of this.#frame.querySelectorAll(".image-place")) old.remove();
    const { place } = this.#desk;
    if (!place) return;
    const outlines = this.#images.flatMap((image) => areasOf(image.boxes, place).map((area) => outline(image, area)));
    if (outlines.length) this.#reveal(outlines[0]);
  }

  /** Scrolls only the image, and only if the outline is not in view. */
  #reveal(outlined) {
    const frame = this.#frame;
    const view = frame.getBoundingClientRect();
    const box = outlined.getBoundingClientRect();
    if (view.width === 0) return;
    const left = box.left < view.left || box.right > view.right ? box.left - view.left - view.width / 3 : 0;
    const top = box.top < view.top || box.bottom > view.bottom ? box.top - view.top - view.height / 3 : 0;
    if (left || top) frame.scrollBy({ left, top, behavior: "instant" });
  }

  #click({ clientX, clientY }) {
    const from = this.#pressed;
    if (from && Math.hypot(clientX - from.x, clientY - from.y) > STILL) return;
    for (const { sheet, width, height, boxes } of this.#images) {
      const box = sheet.getBoundingClientRect();
      const x = ((clientX - box.left) / box.width) * width;
      const y = ((clientY - box.top) / box.height) * height;
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      const offset = offsetNear(boxes, x, y);
      if (offset !== null) this.#lookAt(offset, boxes);
      return;
    }
  }

  /** Selects the span, fact or word at the offset, as a click on the page does. */
  #lookAt(offset, boxes) {
    const desk = this.#desk;
    const span = spanAt(desk.list.all, offset);
    if (span) {
      desk.activate(span.key, { reveal: true });
      return;
    }
    const [fact] = touching(desk.facts, offset, offset + 1);
    const [start, end] = boxes.find(([from, to]) => from <= offset && offset < to);
    desk.pickRange(fact ?? { start, end }, { reveal: true });
  }
}

/** Outlines an area. Its position is relative to the image, so that it follows the zoom. */
function outline({ sheet, width, height }, area) {
  const element = document.createElement("span");
  element.className = "image-place";
  element.setAttribute("aria-hidden", "true");
  const percent = (value, whole) => `${(100 * value) / whole}%`;
  element.style.left = percent(area.left, width);
  element.style.top = percent(area.top, height);
  element.style.width = `calc(${percent(area.right - area.left, width)} + 4px)`;
  element.style.height = `calc(${percent(area.bottom - area.top, height)} + 4px)`;
  sheet.append(element);
  return element;
}
