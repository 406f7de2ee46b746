// All keys of a page in adjudication. The action of a key depends on the step: case, reason, or edit.

import { BORDERS, byKey } from "../lib/keymap.js";

const DIGITS = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

const LOOK = [
  { keys: ["i"], action: "image", description: "show or hide the page image" },
  { keys: ["?"], action: "keys", description: "show this list" },
];
const MOVES = [
  { keys: ["ArrowRight"], action: "token-right", description: "next word" },
  { keys: ["ArrowLeft"], action: "token-left", description: "previous word" },
  ...BORDERS,
];

/** @type {{title: string, mode: "case" | "reason" | "edit" | "any", bindings: import("../lib/keymap.js").Binding[]}[]} */
export const KEYMAP = [
  {
    title: "Go",
    mode: "case",
    bindings: [
      { keys: ["j", "n"], action: "next", description: "next open case, or next document" },
      { keys: ["k", "p"], action: "previous", description: "previous open case" },
      { keys: ["Escape"], action: "clear", description: "clear the selection" },
    ],
  },
  {
    title: "Adjudicate",
    mode: "case",
    bindings: [
      { keys: [...DIGITS, "a", "b", "c", "d"], action: "take", description: "accept proposal A, B, …", several: [["1"], ["a"], ["2"], ["b"], ["…"]] },
      { keys: ["+", "="], action: "both", description: "accept both, if they can be combined", several: [["+"]] },
      { keys: ["m"], action: "majority", description: "accept the majority" },
      { keys: ["0"], action: "neither", description: "reject all (no fact)" },
      { keys: ["e"], action: "edit", description: "edit the spans" },
      { keys: ["o"], action: "reopen", description: "reopen a decided case…" },
      { keys: ["s"], action: "correct", description: "create a case from the selection…" },
    ],
  },
  {
    title: "Give a reason",
    mode: "reason",
    bindings: [
      { keys: DIGITS, action: "reason", description: "choose the reason with this number", several: [["1"], ["…"], ["9"]] },
      { keys: ["Enter"], action: "same", description: "repeat the last reason" },
      { keys: ["t"], action: "write", description: "enter another reason (Enter saves)" },
      { keys: ["Escape"], action: "cancel", description: "go back" },
    ],
  },
  {
    title: "Edit",
    mode: "edit",
    bindings: [
      { keys: DIGITS, action: "label", description: "label the selection, or change the label" },
      { keys: ["Delete", "Backspace"], action: "remove", description: "remove the span" },
      { keys: ["n"], action: "next-span", description: "next span" },
      { keys: ["p"], action: "previous-span", description: "previous span" },
      { keys: ["v"], action: "value", description: "edit value and sign" },
      { keys: ["Ctrl+z"], action: "undo", description: "undo" },
      { keys: ["Ctrl+Shift+z", "Ctrl+y"], action: "redo", description: "redo" },
      { keys: ["Enter"], action: "edited", description: "use these spans" },
      { keys: ["Escape"], action: "cancel", description: "go back" },
    ],
  },
  { title: "Select text, and move the start or end", mode: "any", bindings: MOVES },
  { title: "View", mode: "any", bindings: LOOK },
];

/** The bindings of a step. @param {"case" | "reason" | "edit"} mode */
const ofMode = (mode) => byKey(KEYMAP.filter((group) => group.mode === mode || group.mode === "any"));

export const BY_MODE = { case: ofMode("case"), reason: ofMode("reason"), edit: ofMode("edit") };
