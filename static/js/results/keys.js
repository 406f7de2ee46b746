// Keys of an item's page. Each does what the link does that names it in `aria-keyshortcuts`.

export function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=checkbox]), select, textarea")) return;
  const key = `${event.shiftKey ? "Shift+" : ""}${event.key.toUpperCase()}`;
  document.querySelector(`a[aria-keyshortcuts="${CSS.escape(key)}"]:not([hidden])`)?.click();
}

document.addEventListener("keydown", press);
