// Selecting rows of a leaderboard to compare: <button data-compare> in the form of their checkboxes. The button is
// enabled for two to five rows; it stays focusable, so that the keyboard reaches it. Rows that the URL names in
// `entries` are selected at first.

const FEWEST = 2;
const MOST = 5;
const asked = new Set(new URLSearchParams(location.search).get("entries")?.split(","));

function update(button) {
  const count = button.form.querySelectorAll("input[name=entries]:checked").length;
  button.setAttribute("aria-disabled", String(count < FEWEST || count > MOST));
}

function updateAll() {
  document.querySelectorAll("[data-compare]").forEach(update);
}

for (const box of document.querySelectorAll("input[name=entries]")) box.checked ||= asked.has(box.value);
updateAll();
document.addEventListener("change", updateAll);
document.addEventListener("htmx:afterSettle", updateAll);
// A page that the browser restores has its boxes ticked again.
window.addEventListener("pageshow", updateAll);
document.addEventListener("submit", (event) => {
  if (event.target.querySelector("[data-compare]")?.getAttribute("aria-disabled") === "true") event.preventDefault();
});
