// Screening by keyboard: i intact, f faulty with 1 to 6 for its faults, u takes the last verdict back.

import { loadPage } from "../lib/page.js";

const TYPED = "textarea, select, input:not([type=checkbox])";

/** Presses what the key stands for; says whether there was something to press. */
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
    // Without a reason nothing is sent: the first press leads there.
    if (reason && reason.value.trim() === "") reason.focus();
    else inForm.requestSubmit();
    event.preventDefault();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.key === "Escape") root.querySelector("[data-faulty]")?.removeAttribute("open");
  else if (!event.target.closest?.(TYPED) && press(root, event.key.toLowerCase())) event.preventDefault();
}

/** One verdict a page: a second press while the first is on its way is none. */
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
    // The verdict needs the page, not its keys: it can be opened by itself.
    root.querySelector("[data-frame-fault]").hidden = false;
    root.dataset.ready = "fault";
  }
}

// A page that comes back from the browser's cache may be judged again.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("main form")) delete form.dataset.sent;
});

const root = document.querySelector("[data-screening]");
if (root) start(root);
