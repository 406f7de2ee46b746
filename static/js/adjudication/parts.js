// Small pieces of the page that several parts make.

import { toUnits } from "../lib/offsets.js";
import { signName } from "../lib/values.js";

/** An element with text and children. @param {Record<string, string>} [attributes] */
export function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const CONTEXT = 60;
const SEPARATOR = " · ";

/** The words on both sides of a stretch, with the cells and paragraphs set apart that the text runs together. */
export function around(page, { start, end }) {
  const { index, borders } = page;
  const from = toUnits(index, start);
  const to = toUnits(index, end);
  const read = (first, last) => {
    const parts = [first, ...borders.filter((border) => first < border && border < last), last];
    const pieces = parts.slice(1).map((part, n) => index.text.slice(parts[n], part));
    return pieces.filter((piece) => piece.trim()).join(SEPARATOR);
  };
  const before = read(Math.max(0, from - CONTEXT), from);
  const after = read(to, Math.min(index.text.length, to + CONTEXT));
  const isParted = (unit, text) => text.trim() && borders.includes(unit);
  return {
    before: isParted(from, before) ? before + SEPARATOR : before,
    after: isParted(to, after) ? SEPARATOR + after : after,
  };
}

export const plain = (text) => text.replace(/\s+/g, " ");

/** What a span means, in words: its value, and how its sign is written unless plainly. */
export function reading({ value, sign }) {
  if (!value) return "no value";
  return sign && sign !== "plain" ? `${value}, ${signName(sign)}` : value;
}

/** Spans in one line. */
export function inWords(spans) {
  if (spans.length === 0) return "nothing to mark";
  return spans.map((span) => `“${plain(span.quote)}” as ${span.label} (${reading(span)})`).join(", ");
}

export const nameOf = (letter) => (letter === "gold" ? "Gold as it was" : `Annotator ${letter}`);

export const moment = (iso) =>
  new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
