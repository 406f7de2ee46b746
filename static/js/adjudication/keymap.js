// Every key of a page in adjudication, once. What a key does depends on what is asked: a case, a reason, or an edit.

import { byKey } from "../lib/keymap.js";

const DIGITS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

const LOOK = [
  { keys: ["i"], action: "image", says: "show or hide the page image" },
  { keys: ["?"], action: "keys", says: "this list" },
];
const STRETCH = [
  { keys: ["ArrowRight"], action: "token-right", says: "next word" },
  { keys: ["ArrowLeft"], action: "token-left", says: "word before" },
  { keys: ["Shift+ArrowRight"], action: "end-right", says: "end one word later" },
  { keys: ["Shift+ArrowLeft"], action: "end-left", says: "end one word earlier" },
  { keys: ["Alt+Shift+ArrowLeft"], action: "start-left", says: "begin one word earlier" },
  { keys: ["Alt+Shift+ArrowRight"], action: "start-right", says: "begin one word later" },
  { keys: ["Ctrl+Shift+ArrowRight"], action: "end-right-character", says: "end one character later" },
  { keys: ["Ctrl+Shift+ArrowLeft"], action: "end-left-character", says: "end one character earlier" },
  { keys: ["Ctrl+Alt+ArrowLeft"], action: "start-left-character", says: "begin one character earlier" },
  { keys: ["Ctrl+Alt+ArrowRight"], action: "start-right-character", says: "begin one character later" },
];

/** @type {{title: string, mode: "case" | "reason" | "edit" | "any", bindings: import("../lib/keymap.js").Binding[]}[]} */
export const KEYMAP = [
  {
    title: "Go",
    mode: "case",
    bindings: [
      { keys: ["j", "n"], action: "next", says: "next open case, then the next page" },
      { keys: ["k", "p"], action: "previous", says: "open case before" },
      { keys: ["Escape"], action: "clear", says: "drop the selection" },
    ],
  },
  {
    title: "Decide",
    mode: "case",
    bindings: [
      { keys: [...DIGITS, "a", "b", "c", "d"], action: "take", says: "take A, take B, …", several: [["1"], ["a"], ["2"], ["b"], ["…"]] },
      { keys: ["+", "="], action: "both", says: "both, where they fit beside each other", several: [["+"]] },
      { keys: ["m"], action: "majority", says: "what most marked" },
      { keys: ["0"], action: "neither", says: "neither: nothing to mark" },
      { keys: ["e"], action: "edit", says: "edit" },
      { keys: ["o"], action: "reopen", says: "open a decided case again…" },
      { keys: ["s"], action: "correct", says: "open the selected text for a correction…" },
    ],
  },
  {
    title: "Say why",
    mode: "reason",
    bindings: [
      { keys: DIGITS, action: "reason", says: "the reason with this number", several: [["1"], ["…"], ["9"]] },
      { keys: ["Enter"], action: "same", says: "the same reason as last" },
      { keys: ["t"], action: "write", says: "in your own words; Enter decides" },
      { keys: ["Escape"], action: "cancel", says: "choose otherwise" },
    ],
  },
  {
    title: "Edit",
    mode: "edit",
    bindings: [
      { keys: DIGITS, action: "label", says: "label the selection, or label anew" },
      { keys: ["Delete", "Backspace"], action: "remove", says: "remove the mark" },
      { keys: ["n"], action: "next-span", says: "next mark" },
      { keys: ["p"], action: "previous-span", says: "mark before" },
      { keys: ["v"], action: "value", says: "edit value and sign" },
      { keys: ["Ctrl+z"], action: "undo", says: "undo" },
      { keys: ["Ctrl+Shift+z", "Ctrl+y"], action: "redo", says: "redo" },
      { keys: ["Enter"], action: "edited", says: "take the edit" },
      { keys: ["Escape"], action: "cancel", says: "choose otherwise" },
    ],
  },
  { title: "Select and move borders", mode: "any", bindings: STRETCH },
  { title: "Look", mode: "any", bindings: LOOK },
];

/** The bindings that count while this is asked. @param {"case" | "reason" | "edit"} mode */
const ofMode = (mode) => byKey(KEYMAP.filter((group) => group.mode === mode || group.mode === "any"));

export const BY_MODE = { case: ofMode("case"), reason: ofMode("reason"), edit: ofMode("edit") };
