// The submit page: drag and drop, and a check of the file before it is uploaded.
//
// The check never blocks an upload; the server checks the file in full.

import { HEAD, bytesOf, kindOf, linesOf, mistakenKind } from "../lib/json-lines.js";
import { Precheck, sizeInWords, summary } from "../lib/precheck.js";
import { makeDropZone } from "./drop-zone.js";

const MEGABYTE = 1024 * 1024;
const LONGEST_LINE = 16 * MEGABYTE;
/** The most unpacked bytes, as a protection against decompression bombs. */
const MOST_BYTES = 512 * MEGABYTE;

const data = JSON.parse(document.getElementById("precheck-data").textContent);
const form = document.getElementById("submit-form");
const input = form.elements.file;
const region = document.getElementById("precheck");
let latest = 0;

/** Shows the result of the check in one step, because screen readers announce every change. */
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
  list.setAttribute("aria-label", "Errors found before uploading");
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

/** The ids of the phase's items, or null if they are not public or cannot be loaded. */
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

/** Reads the file as lines, until another one is selected. @returns {Promise<boolean>} */
async function readLines(file, kind, check, isCurrent) {
  let read = 0;
  for await (const lines of linesOf(bytesOf(file, kind), LONGEST_LINE)) {
    if (!isCurrent()) return false;
    for (const line of lines) {
      read += line.length + 1;
      check.line(line);
    }
    if (read > MOST_BYTES) {
      check.fault("too long: only the beginning was checked");
      return true;
    }
  }
  return true;
}

async function checkFile() {
  const turn = (latest += 1);
  const isCurrent = () => turn === latest;
  const file = input.files[0];
  if (!file) {
    clear();
    return;
  }
  const named = `${file.name}, ${sizeInWords(file.size)}`;
  if (file.size > data.limit) {
    show(`${named}: too large. The limit is ${sizeInWords(data.limit)}.`, { isTrouble: true });
    return;
  }
  const head = new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
  const kind = kindOf(head, file.name);
  if (kind === "zip") {
    show(`${named}.`, { notes: ["A ZIP file is checked after the upload."] });
    return;
  }
  const mistaken = kind === "lines" ? mistakenKind(head) : "";
  if (mistaken) {
    show(`${named}: looks like ${mistaken}. Select a file of JSON Lines in UTF-8, gzipped or not, or a ZIP.`, {
      isTrouble: true,
    });
    return;
  }
  show(`Checking ${named} …`);
  const { idKeys, answerKeys } = data;
  const check = new Precheck({ idKeys, answerKeys, ids: await idsOf(form.elements.phase.value) });
  try {
    if (!(await readLines(file, kind, check, isCurrent))) return;
  } catch {
    check.fault(kind === "gzip" ? "not a readable gzip file" : "cannot be read", { line: 0 });
  }
  if (!isCurrent()) return;
  const found = check.found();
  if (!found.predictions && !found.faultCount) check.fault("contains no predictions", { line: 0 });
  const said = summary(check.found(), { completenessRule: data.complete[form.elements.phase.value] });
  show(`${named}: ${said.title}`, {
    ...said,
    notes: [...said.notes, "The file has not been uploaded yet. The site checks it in full after the upload."],
  });
}

makeDropZone(form.querySelector("[data-drop-zone]"), (words) => show(words, { isTrouble: true }));
input.addEventListener("change", checkFile);
form.elements.phase.addEventListener("change", checkFile);
// A page that the browser restores may still have its file selected.
checkFile();
