// Checks a file of predictions before the upload: faults by line, duplicate, unknown and missing ids.
//
// Pure. The server checks more; a file that passes here may still be refused.

/**
 * @typedef {{line: number, id: string | null, message: string}} Fault   line 0: the file as a whole
 * @typedef {object} Found
 * @property {number} predictions     lines that name an item
 * @property {Fault[]} faults         the first of them
 * @property {number} faultCount
 * @property {string[] | null} missing  known ids without a line; null if the ids are unknown
 */

const FAULTS_KEPT = 20;
const LONGEST_ID = 160;
const BOM = "\ufeff";

/** Reads the lines of one file in order. */
export class Precheck {
  #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #idKeys;
  #answerKeys;
  #known;
  #lineOf = new Map();
  #number = 0;
  #isOther = false;
  #faults = [];
  #faultCount = 0;

  /**
   * @param {object} about
   * @param {string[]} about.idKeys        keys of a line whose values, joined by colons, identify its item
   * @param {string[]} [about.answerKeys]  keys of which a line must have one
   * @param {Iterable<string> | null} [about.ids]   of the items; null if they are unknown
   */
  constructor({ idKeys, answerKeys = [], ids = null }) {
    this.#idKeys = idKeys;
    this.#answerKeys = answerKeys;
    this.#known = ids && new Set(ids);
  }

  /** @param {Uint8Array} bytes */
  line(bytes) {
    this.#number += 1;
    if (this.#isOther) return;
    const { value, fault } = this.#read(bytes);
    if (fault) this.fault(fault);
    else if (value !== undefined) this.#take(value);
  }

  /** Records a fault of the current line, or of the whole file. */
  fault(message, { id = null, line = this.#number } = {}) {
    this.#faultCount += 1;
    if (this.#faults.length < FAULTS_KEPT) this.#faults.push({ line, id, message });
  }

  /** @returns {Found} */
  found() {
    const seen = this.#lineOf;
    return {
      predictions: seen.size,
      faults: this.#faults,
      faultCount: this.#faultCount,
      missing: this.#known && [...this.#known].filter((id) => !seen.has(id)),
    };
  }

  /** The value of a line, undefined for a blank one, or what is wrong with it. */
  #read(bytes) {
    let text;
    try {
      text = this.#decoder.decode(bytes);
    } catch {
      return { fault: "not valid UTF-8" };
    }
    if (this.#number === 1 && text.startsWith(BOM)) text = text.slice(1);
    if (!text.trim()) return {};
    if (this.#number === 1 && notLines(text)) {
      this.#isOther = true;
      return { fault: notLines(text) };
    }
    try {
      return { value: JSON.parse(text) };
    } catch {
      return { fault: "not valid JSON" };
    }
  }

  #take(value) {
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      this.fault("not a JSON object");
      return;
    }
    const problem = this.#idKeys.map((key) => idProblem(value, key)).find(Boolean);
    if (problem) {
      this.fault(problem);
      return;
    }
    // Ids of documents are in this Unicode form.
    const id = this.#idKeys.map((key) => value[key]).join(":").normalize("NFC");
    if (this.#answerKeys.length && !this.#answerKeys.some((key) => Object.hasOwn(value, key))) {
      this.fault(withoutAnswer(this.#answerKeys), { id });
    }
    this.#takeId(id);
  }

  #takeId(id) {
    const before = this.#lineOf.get(id);
    if (before !== undefined) {
      this.fault(`the id was already used on line ${before}`, { id });
      return;
    }
    this.#lineOf.set(id, this.#number);
    if (this.#known && !this.#known.has(id)) this.fault("unknown id", { id });
  }
}

/** Why a file is JSON but not JSON Lines, by its first line, in the words of the server; empty if it may be. */
function notLines(first) {
  const rule = "JSON Lines has one object per line, without brackets or commas";
  if (first.trim().startsWith("[")) return `this is a JSON array; ${rule}`;
  return first.trim() === "{" ? `this is a JSON object on several lines; ${rule}` : "";
}

/** Says that a line has none of these keys, in the words of the server. */
function withoutAnswer(keys) {
  const names = keys.map((key) => `'${key}'`).join(" nor ");
  return keys.length > 1 ? `has neither ${names}` : `has no ${names}`;
}

function idProblem(value, key) {
  if (!Object.hasOwn(value, key)) return `has no '${key}'`;
  const part = value[key];
  if (typeof part !== "string") return `'${key}' must be a string, not ${kindOf(part)}`;
  if (!part.trim()) return `'${key}' must have 1 to ${LONGEST_ID} printable characters`;
  if (part.length > LONGEST_ID) return `'${key}' is longer than ${LONGEST_ID} characters`;
  return null;
}

/** The kind of a JSON value, in the words of the server. */
function kindOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return { boolean: "true or false", number: "a number" }[typeof value] ?? "an object";
}

const MISSING_SHOWN = 5;

/**
 * Describes the result: a title, the faults, and notes.
 *
 * @param {Found} found
 * @param {{completenessRule?: string}} [options] the rule if a file must have a prediction for every item
 * @returns {{isTrouble: boolean, title: string, faults: string[], notes: string[]}}
 */
export function summary(found, { completenessRule = "" } = {}) {
  const faults = found.faults.map(({ line, id, message }) =>
    [line ? `line ${line}:` : "", id === null ? "" : `“${id}”:`, message].filter(Boolean).join(" "),
  );
  const more = found.faultCount - faults.length;
  if (more > 0) faults.push(`and ${counted(more, "more")}`);
  const predictions = counted(found.predictions, "prediction");
  const title = found.faultCount
    ? `${counted(found.faultCount, "error")} in ${predictions}.`
    : `${predictions}, no errors found.`;
  // Of a file without a readable line, nothing is known about single items.
  const isUnread = found.faultCount > 0 && !found.predictions;
  const notes = isUnread ? [] : missingNotes(found.missing ?? [], completenessRule);
  const isTrouble = found.faultCount > 0 || (completenessRule !== "" && notes.length > 0);
  return { isTrouble, title, faults, notes };
}

function missingNotes(missing, completenessRule) {
  if (!missing.length) return [];
  const shown = missing.slice(0, MISSING_SHOWN).join(", ");
  const rest = missing.length - MISSING_SHOWN;
  const names = rest > 0 ? `${shown} and ${counted(rest, "more")}` : shown;
  const meaning = completenessRule || "You will be asked to confirm this.";
  return [`${counted(missing.length, "item")} without a prediction: ${names}. ${meaning}`];
}

/** For example “1 line” or “13,806 lines”. */
export function counted(number, noun) {
  const plural = noun === "more" || number === 1 ? noun : `${noun}s`;
  return `${number.toLocaleString("en")} ${plural}`;
}

/** A size in words: “812 bytes”, “34 kB”, “12.4 MB”. */
export function sizeInWords(bytes) {
  if (bytes < 1024) return counted(bytes, "byte");
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} kB`;
  return `${(bytes / (1024 * 1024)).toFixed(1)} MB`;
}
