// Elements and texts that several parts of the page use.

import { toUnits } from "../lib/offsets.js";
import { signName } from "../lib/values.js";

/** An element with text and attributes. @param {Record<string, string>} [attributes] */
export function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const CONTEXT = 60;
const SEPARATOR = " · ";

/** The text on both sides of a range, with separators between cells and paragraphs. */
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

/** The value of a span, and its sign unless it is plain. */
export function reading({ value, sign }) {
  if (!value) return "no value";
  return sign && sign !== "plain" ? `${value} (sign: ${signName(sign)})` : value;
}

/** A list of spans as one line of text. */
export function inWords(spans) {
  if (spans.length === 0) return "no fact";
  return spans.map((span) => `“${plain(span.quote)}” as ${span.label}: ${reading(span)}`).join("; ");
}

export const nameOf = (letter) => (letter === "gold" ? "Former gold" : `Annotator ${letter}`);

export const moment = (iso) =>
  new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
