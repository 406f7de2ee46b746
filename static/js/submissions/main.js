// The submit page: a file is taken by dropping it, too, and looked at before it is sent.
//
// Nothing here stops anybody from sending: the server decides, and says more.

import { bytesOf, kindOf, linesOf } from "../lib/json-lines.js";
import { Precheck, sizeInWords, summary } from "../lib/precheck.js";
import { makeDropZone } from "./drop-zone.js";

const MEGABYTE = 1024 * 1024;
const LONGEST_LINE = 16 * MEGABYTE;
/** What is unpacked at the most; a bomb stops here. */
const MOST_BYTES = 512 * MEGABYTE;

const data = JSON.parse(document.getElementById("precheck-data").textContent);
const form = document.getElementById("submit-form");
const input = form.elements.file;
const region = document.getElementById("precheck");
let latest = 0;

/** Shows words, and only once at an end: a live region that talks all the time is no help. */
function show(title, { faults = [], notes = [], isTrouble = false } = {}) {
  const strong = document.createElement("strong");
  strong.textContent = title;
  const first = document.createElement("p");
  first.append(strong);
  const parts = [first];
  if (faults.length) parts.push(listOf(faults));
  for (const note of notes) parts.push(paragraph(note));
  region.className = `notice${isTrouble ? " warning" : ""}`;
  region.replaceChildren(...parts);
}

function paragraph(words) {
  const element = document.createElement("p");
  element.textContent = words;
  return element;
}

function listOf(lines) {
  const list = document.createElement("ul");
  list.className = "faults";
  list.tabIndex = 0;
  list.setAttribute("aria-label", "Faults found before sending");
  for (const line of lines) {
    const item = document.createElement("li");
    item.textContent = line;
    list.append(item);
  }
  return list;
}

function clear() {
  region.className = "";
  region.replaceChildren();
}

/** The ids of the phase's items, or null where they are not told or cannot be had. */
async function idsOf(phase) {
  const url = data.ids[phase];
  if (!url) return null;
  try {
    const answer = await fetch(url, { headers: { Accept: "application/json" } });
    return answer.ok ? (await answer.json()).ids : null;
  } catch {
    return null;
  }
}

/** Reads the file as lines, unless another one was chosen meanwhile. @returns {Promise<boolean>} */
async function readLines(file, kind, check, isCurrent) {
  let read = 0;
  for await (const lines of linesOf(bytesOf(file, kind), LONGEST_LINE)) {
    if (!isCurrent()) return false;
    for (const line of lines) {
      read += line.length + 1;
      check.line(line);
    }
    if (read > MOST_BYTES) {
      check.fault("so much that only its beginning was looked at");
      return true;
    }
  }
  return true;
}

async function look() {
  const turn = (latest += 1);
  const isCurrent = () => turn === latest;
  const file = input.files[0];
  if (!file) {
    clear();
    return;
  }
  const named = `${file.name}, ${sizeInWords(file.size)}`;
  if (file.size > data.limit) {
    show(`${named}: more than the ${sizeInWords(data.limit)} that are taken.`, { isTrouble: true });
    return;
  }
  const kind = kindOf(new Uint8Array(await file.slice(0, 2).arrayBuffer()), file.name);
  if (kind === "zip") {
    show(`${named}.`, { notes: ["What is in a ZIP is checked when you send it."] });
    return;
  }
  show(`Looking at ${named} …`);
  const check = new Precheck({ idKeys: data.idKeys, ids: await idsOf(form.elements.phase.value) });
  try {
    if (!(await readLines(file, kind, check, isCurrent))) return;
  } catch {
    check.fault(kind === "gzip" ? "not a readable gzip file" : "cannot be read", { line: 0 });
  }
  if (!isCurrent()) return;
  const found = check.found();
  if (!found.predictions && !found.faultCount) check.fault("holds no predictions", { line: 0 });
  const said = summary(check.found(), { completenessRule: data.complete[form.elements.phase.value] });
  show(`${named}: ${said.title}`, {
    ...said,
    notes: [...said.notes, "Nothing was sent yet; the site checks the file as a whole."],
  });
}

makeDropZone(form.querySelector("[data-drop-zone]"), (words) => show(words, { isTrouble: true }));
input.addEventListener("change", look);
form.elements.phase.addEventListener("change", look);
// A page that the browser restores may have its file still chosen.
look();
