// Shows the chosen version and visibility next to the button that freezes a release.

const form = document.querySelector("[data-freezing]");

for (const shown of form?.querySelectorAll("[data-shows]") ?? []) {
  const field = form.elements[shown.dataset.shows];
  const show = () => {
    shown.textContent = field.selectedOptions?.[0]?.textContent ?? field.value;
  };
  field.addEventListener("input", show);
  show();
}
