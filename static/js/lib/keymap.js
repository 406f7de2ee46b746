// All keys of the workbench: their actions, and their descriptions for the list of shortcuts. Pure.

/**
 * @typedef {object} Binding
 * @property {string[]} keys    KeyboardEvent.key after the modifiers "Ctrl+", "Alt+", "Shift+"; in lower case
 * @property {string} action
 * @property {string} description  shown in the list of shortcuts
 * @property {boolean} [edits]  omitted from a read-only task
 * @property {string[][]} [several]  shown instead of the keys
 */

/** Moving the ends of the selection, here and in adjudication. @type {Binding[]} */
export const BORDERS = [
  { keys: ["Shift+ArrowRight"], action: "end-right", description: "end one word later", edits: true },
  { keys: ["Shift+ArrowLeft"], action: "end-left", description: "end one word earlier", edits: true },
  { keys: ["Alt+Shift+ArrowLeft"], action: "start-left", description: "start one word earlier", edits: true },
  { keys: ["Alt+Shift+ArrowRight"], action: "start-right", description: "start one word later", edits: true },
  { keys: ["Ctrl+Shift+ArrowRight"], action: "end-right-character", description: "end one character later", edits: true },
  { keys: ["Ctrl+Shift+ArrowLeft"], action: "end-left-character", description: "end one character earlier", edits: true },
  { keys: ["Ctrl+Alt+ArrowLeft"], action: "start-left-character", description: "start one character earlier", edits: true },
  { keys: ["Ctrl+Alt+ArrowRight"], action: "start-right-character", description: "start one character later", edits: true },
];

/** @type {{title: string, bindings: Binding[]}[]} */
export const KEYMAP = [
  {
    title: "Find",
    bindings: [
      { keys: ["j"], action: "next-candidate", description: "next fact without a label" },
      { keys: ["k"], action: "previous-candidate", description: "previous fact without a label" },
      { keys: ["n"], action: "next", description: "next labelled fact" },
      { keys: ["p"], action: "previous", description: "previous labelled fact" },
      { keys: ["ArrowRight"], action: "token-right", description: "next word" },
      { keys: ["ArrowLeft"], action: "token-left", description: "previous word" },
      { keys: ["ArrowDown"], action: "line-down", description: "word in the line below" },
      { keys: ["ArrowUp"], action: "line-up", description: "word in the line above" },
      { keys: ["w"], action: "next-warning", description: "next fact with a warning" },
      { keys: ["Escape"], action: "clear", description: "clear the selection" },
    ],
  },
  {
    title: "Label",
    bindings: [
      { keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], action: "label", description: "label the selection, or change the label", edits: true },
      ...BORDERS,
      { keys: ["Delete", "Backspace"], action: "remove", description: "remove the label, or dismiss the suggestion", edits: true },
      { keys: ["e"], action: "equal", description: "label all matches…", edits: true },
      { keys: ["v"], action: "value", description: "edit value and sign", edits: true },
      { keys: ["Ctrl+z"], action: "undo", description: "undo", edits: true },
      { keys: ["Ctrl+Shift+z", "Ctrl+y"], action: "redo", description: "redo", edits: true },
    ],
  },
  {
    title: "Suggestions",
    bindings: [
      { keys: ["Enter"], action: "accept", description: "accept the suggestion", edits: true },
      { keys: ["a"], action: "accept-visible", description: "accept all in view…", edits: true },
    ],
  },
  {
    title: "View",
    bindings: [
      { keys: ["i"], action: "image", description: "show or hide the page image" },
      { keys: ["+", "="], action: "zoom-in", description: "zoom in" },
      { keys: ["-"], action: "zoom-out", description: "zoom out" },
      { keys: ["0"], action: "zoom-fit", description: "fit the width" },
      { keys: ["g"], action: "guidelines", description: "show the guidelines" },
      { keys: ["h"], action: "history", description: "show the history" },
      { keys: ["?"], action: "keys", description: "show this list" },
    ],
  },
  {
    title: "Document",
    bindings: [
      { keys: ["c"], action: "comment", description: "comment on the fact or the document" },
      { keys: ["f"], action: "flag", description: "flag or skip the document…" },
      { keys: ["Ctrl+Enter"], action: "submit", description: "submit…", edits: true },
      { keys: ["t"], action: "next-task", description: "go to the next document" },
    ],
  },
];

/** The bindings of these groups by key. @returns {Map<string, Binding>} */
export const byKey = (groups) =>
  new Map(groups.flatMap(({ bindings }) => bindings.flatMap((binding) => binding.keys.map((key) => [key, binding]))));

const ACTIONS = byKey(KEYMAP);

/** The name of a key press in the map; Cmd counts as Ctrl. */
export function keyName({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  const single = key.length === 1;
  const isLetter = single && key.toLowerCase() !== key.toUpperCase();
  // For signs and digits, the keyboard layout decides whether Shift is needed, so it is ignored.
  const shift = shiftKey && (!single || isLetter);
  return [ctrlKey || metaKey ? "Ctrl+" : "", altKey ? "Alt+" : "", shift ? "Shift+" : "", isLetter ? key.toLowerCase() : key].join("");
}

/**
 * The action of a key press with its argument, or null. Without `characters`, single-character keys do nothing,
 * because they can be pressed or spoken by mistake (WCAG 2.1.4).
 * @returns {{action: string, argument: string | undefined} | null}
 */
export function actionOf(event, { characters = true, actions = ACTIONS } = {}) {
  const name = keyName(event);
  if (!characters && name.length === 1) return null;
  const binding = actions.get(name);
  if (!binding) return null;
  return { action: binding.action, argument: binding.action === "label" || binding.several ? name : undefined };
}

const SHOWN = { ArrowRight: "→", ArrowLeft: "←", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };

/** The keys of a binding for display: a list of parts for each. */
export function printed({ keys, action, several }) {
  if (several) return several;
  if (action === "label") return [["1"], ["…"], ["9"]];
  return keys
    .filter((key) => key !== "=")
    .map((key) => key.replace(/\+(?=.)/g, "\u0000").split("\u0000").map((part) => SHOWN[part] ?? part));
}
