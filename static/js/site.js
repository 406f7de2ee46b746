/* Enhancements of every page. Pages work without them. */

/** Disables a form's buttons while it is sent, so that a second click does not submit it twice. */
function guardAgainstSecondClick(event) {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  // Deferred: a button that is disabled now would not be part of the submitted form.
  setTimeout(() => {
    for (const control of form.elements) {
      if (control.type !== "submit" || control.disabled) continue;
      control.disabled = true;
      control.dataset.guarded = "";
    }
  });
}

/** The browser may restore a page with its buttons still disabled. */
function releaseButtons() {
  for (const control of document.querySelectorAll("[data-guarded]")) {
    control.disabled = false;
    delete control.dataset.guarded;
  }
}

function closeMenus(except) {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (menu !== except) menu.open = false;
  }
}

/** Makes frames of wide tables focusable, so that the arrow keys can scroll them. */
function makeFrameReachable(frame) {
  if (frame.scrollWidth <= frame.clientWidth) {
    frame.removeAttribute("tabindex");
    return;
  }
  frame.tabIndex = 0;
  if (!frame.hasAttribute("aria-label")) {
    const caption = frame.querySelector("caption")?.textContent.trim();
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", caption || "Table");
  }
}

/** Watches frame and table, because either may change its size. */
function watchFrames(root) {
  for (const frame of root.querySelectorAll(".table-frame")) {
    makeFrameReachable(frame);
    sizes.observe(frame);
    for (const child of frame.children) sizes.observe(child);
  }
}

const sizes = new ResizeObserver((entries) => {
  const frames = new Set(entries.map((entry) => entry.target.closest(".table-frame")));
  for (const frame of frames) if (frame) makeFrameReachable(frame);
});

document.addEventListener("submit", guardAgainstSecondClick);
window.addEventListener("pageshow", releaseButtons);
document.addEventListener("click", (event) => closeMenus(event.target.closest("details[data-menu]")));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenus(null);
});
document.addEventListener("htmx:load", (event) => watchFrames(event.target));
watchFrames(document);

/** Scrolls the link of the current page into view if the row is wider than the screen. */
for (const row of document.querySelectorAll(".subnav ul")) {
  const current = row.querySelector("[aria-current]");
  if (current) row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
}
