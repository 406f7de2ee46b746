// Inspecting by keyboard: y right, n wrong, j and k to the next and previous field, [ and ] and u between documents.
// The forms save by themselves, each verdict at once; a page that still has something unsaved asks before it is left.

const root = document.querySelector("[data-inspection]");
const fields = [...root.querySelectorAll("[data-field]")];
const REFUSALS = [400, 409];
const TYPED = "textarea, input:not([type=checkbox]), select";
/** Forms with something typed or said that is not saved yet, and those with a request on its way. */
const unsaved = new Set();
const onTheWay = new Set();

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

function say(verdict) {
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

const KEYS = { y: () => say("right"), n: () => say("wrong"), j: () => step(1), k: () => step(-1) };

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

/** Leaves once everything on its way has arrived. */
function leaveBy(link) {
  if (onTheWay.size) setTimeout(leaveBy, 30, link);
  else link.click();
}

function fail(field, reason) {
  const place = field.querySelector(".said");
  place.querySelector(".refused")?.remove();
  const told = document.createElement("span");
  told.className = "refused";
  told.textContent = reason;
  place.append(told);
}

root.addEventListener("htmx:beforeRequest", (event) => {
  unsaved.add(event.target);
  onTheWay.add(event.target);
});
root.addEventListener("input", (event) => unsaved.add(event.target.form));
root.addEventListener("htmx:beforeSwap", ({ detail }) => {
  // A refusal tells why, and what somebody else said meanwhile.
  if (!REFUSALS.includes(detail.xhr.status)) return;
  detail.shouldSwap = true;
  detail.isError = false;
});
root.addEventListener("htmx:afterRequest", (event) => {
  const { status } = event.detail.xhr;
  onTheWay.delete(event.target);
  if (status === 200) unsaved.delete(event.target);
  else if (!REFUSALS.includes(status)) {
    fail(event.target.closest("[data-field]"), "Not saved: the server cannot be reached. Say it again.");
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
// Where image and fields are below each other, one comes to read and not to type.
if (!location.hash && matchMedia("(width >= 60rem)").matches) {
  focusField(fields.find((field) => !field.querySelector(".badge")) ?? fields[0]);
}
root.dataset.ready = "true";
