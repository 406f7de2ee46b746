// Keyboard shortcuts of screening: i for intact, f for faulty, 1 to 6 for the faults, u to undo.

import { loadPage } from "../lib/page.js";

const TYPED = "textarea, select, input:not([type=checkbox])";

/** Clicks the control of the key. Returns whether there is one. */
function press(root, key) {
  if (/^[1-9]$/.test(key)) {
    const fault = root.querySelector(`[data-faulty][open] [data-fault="${key}"]`);
    fault?.click();
    return Boolean(fault);
  }
  const faulty = root.querySelector("[data-faulty]");
  if (key === "f" && faulty) {
    faulty.open = true;
    faulty.querySelector("[data-fault]").focus();
    return true;
  }
  const button = document.querySelector(`button[data-key="${key}"]`);
  button?.click();
  return Boolean(button);
}

function onKey(root, event) {
  const inForm = event.target.closest?.("form");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && inForm) {
    const reason = inForm.querySelector("textarea");
    // The form needs a reason: the first press moves the focus there.
    if (reason && reason.value.trim() === "") reason.focus();
    else inForm.requestSubmit();
    event.preventDefault();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.key === "Escape") root.querySelector("[data-faulty]")?.removeAttribute("open");
  else if (!event.target.closest?.(TYPED) && press(root, event.key.toLowerCase())) event.preventDefault();
}

/** Sends the form once: ignores a second press while the first request is running. */
function submitOnce(form) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "true";
  });
}

async function start(root) {
  document.addEventListener("keydown", (event) => onKey(root, event));
  for (const form of document.querySelectorAll("main form")) submitOnce(form);
  const frame = root.querySelector("iframe");
  try {
    const page = await loadPage(frame, frame.dataset.src);
    page.document.addEventListener("keydown", (event) => onKey(root, event));
    page.document.addEventListener("click", (event) => event.preventDefault());
    root.dataset.ready = "true";
  } catch {
    // Without the frame, the page can still be opened by its link.
    root.querySelector("[data-frame-fault]").hidden = false;
    root.dataset.ready = "fault";
  }
}

// A page restored from the browser's cache can be submitted again.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("main form")) delete form.dataset.sent;
});

const root = document.querySelector("[data-screening]");
if (root) start(root);
