// Keyboard: y correct, n wrong, j and k next and previous field, [ and ] and u between documents.
// Every verdict is saved at once. The browser asks before it leaves a page with unsaved input.

const root = document.querySelector("[data-inspection]");
const fields = [...root.querySelectorAll("[data-field]")];
const REFUSALS = [400, 409];
const TYPED = "textarea, input:not([type=checkbox]), select";
/** Forms with unsaved input, and forms with a pending request. */
const unsaved = new Set();
const pending = new Set();

function current() {
  return fields.find((field) => field.contains(document.activeElement));
}

function focusField(field) {
  if (!field) return;
  field.focus({ preventScroll: true });
  field.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const at = fields.indexOf(current());
  focusField(at < 0 ? fields[0] : fields[Math.min(fields.length - 1, Math.max(0, at + by))]);
}

function giveVerdict(verdict) {
  const field = current();
  const button = field?.querySelector(`[data-verdict="${verdict}"]`);
  if (!button) return step(0);
  button.click();
  if (verdict === "right") return step(1);
  openCorrection(field);
  return undefined;
}

function openCorrection(field) {
  field.querySelector("details").open = true;
  field.querySelector("[data-correct]").focus();
}

const KEYS = { y: () => giveVerdict("right"), n: () => giveVerdict("wrong"), j: () => step(1), k: () => step(-1) };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") return focusField(current());
  if (event.repeat || event.target.closest?.(TYPED)) return;
  const act = KEYS[event.key];
  const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
  if (!act && !link) return;
  event.preventDefault();
  if (act) act();
  else leaveBy(link);
}

/** Follows the link once all requests are done. */
function leaveBy(link) {
  if (pending.size) setTimeout(leaveBy, 30, link);
  else link.click();
}

function fail(field, reason) {
  const place = field.querySelector(".said");
  place.querySelector(".refused")?.remove();
  const message = document.createElement("span");
  message.className = "refused";
  message.textContent = reason;
  place.append(message);
}

root.addEventListener("htmx:beforeRequest", (event) => {
  unsaved.add(event.target);
  pending.add(event.target);
});
root.addEventListener("input", (event) => unsaved.add(event.target.form));
root.addEventListener("htmx:beforeSwap", ({ detail }) => {
  // These responses contain the error and the current verdict.
  if (!REFUSALS.includes(detail.xhr.status)) return;
  detail.shouldSwap = true;
  detail.isError = false;
});
root.addEventListener("htmx:afterRequest", (event) => {
  const { status } = event.detail.xhr;
  pending.delete(event.target);
  if (status === 200) unsaved.delete(event.target);
  else if (!REFUSALS.includes(status)) {
    fail(event.target.closest("[data-field]"), "Not saved: the server cannot be reached. Try again.");
  }
});
root.addEventListener("click", (event) => {
  const button = event.target.closest('[data-verdict="wrong"]');
  if (button) button.closest("[data-field]").querySelector("details").open = true;
});
window.addEventListener("beforeunload", (event) => {
  if (unsaved.size) event.preventDefault();
});
document.addEventListener("keydown", onKey);
// On narrow screens the image comes first, so the focus stays there.
if (!location.hash && matchMedia("(width >= 60rem)").matches) {
  focusField(fields.find((field) => !field.querySelector(".badge")) ?? fields[0]);
}
root.dataset.ready = "true";
