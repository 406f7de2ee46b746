// Makes <div data-drop-zone> around a file input accept a dropped file. The input still works by keyboard and without
// this script.

/** @param {HTMLElement} zone @param {(words: string) => void} say */
export function makeDropZone(zone, say) {
  const input = zone.querySelector("input[type=file]");
  for (const hint of zone.querySelectorAll("[data-drop-hint]")) hint.hidden = false;
  let depth = 0;

  // Outside of the box the browser would open the file, and the form would be lost.
  window.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = zone.contains(event.target) ? "copy" : "none";
  });
  window.addEventListener("drop", (event) => {
    if (holdsFiles(event)) event.preventDefault();
  });

  // Moving onto a child leaves and enters: only the outermost counts.
  zone.addEventListener("dragenter", (event) => {
    if (!holdsFiles(event)) return;
    depth += 1;
    zone.classList.add("is-over");
  });
  zone.addEventListener("dragleave", () => {
    depth = Math.max(depth - 1, 0);
    if (depth === 0) zone.classList.remove("is-over");
  });
  zone.addEventListener("drop", (event) => {
    depth = 0;
    zone.classList.remove("is-over");
    const { files } = event.dataTransfer;
    if (files.length !== 1) {
      say(files.length ? "Drop only one file. To submit several files, put them in a ZIP." : "This is not a file. Drop a file here.");
      return;
    }
    input.files = files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

function holdsFiles(event) {
  return event.dataTransfer?.types.includes("Files") ?? false;
}
