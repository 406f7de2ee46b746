// Buttons that copy the text of another element: <button data-copy="ID" hidden>. They stay hidden
// without this script or a clipboard.

const SHOWN_FOR = 2000;

function words(button) {
  button.dataset.words ??= button.textContent;
  return button.dataset.words;
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  const label = words(button);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not copied";
  }
  setTimeout(() => {
    button.textContent = label;
  }, SHOWN_FOR);
}

function offer(part) {
  for (const button of part.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
  }
}

if (navigator.clipboard) {
  offer(document);
  document.addEventListener("htmx:load", (event) => offer(event.target));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-copy]");
    if (button) copy(button);
  });
}
