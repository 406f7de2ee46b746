// Every key of the workbench, once: what it does is looked up here, and the list of keys is made from it. Pure.

/**
 * @typedef {object} Binding
 * @property {string[]} keys    KeyboardEvent.key with modifiers before it: "Ctrl+", "Alt+", "Shift+"; letters small
 * @property {string} action
 * @property {string} says      what the list of keys tells
 * @property {boolean} [edits]  has no place in a task that is read only
 * @property {string[][]} [several]  printed instead of the keys, which say how far or which
 */

/** @type {{title: string, bindings: Binding[]}[]} */
export const KEYMAP = [
  {
    title: "Find",
    bindings: [
      { keys: ["j"], action: "next-candidate", description: "next fact without a label" },
      { keys: ["k"], action: "previous-candidate", description: "fact without a label before" },
      { keys: ["n"], action: "next", description: "next labelled fact" },
      { keys: ["p"], action: "previous", description: "labelled fact before" },
      { keys: ["ArrowRight"], action: "token-right", description: "next word" },
      { keys: ["ArrowLeft"], action: "token-left", description: "word before" },
      { keys: ["ArrowDown"], action: "line-down", description: "word in the line below" },
      { keys: ["ArrowUp"], action: "line-up", description: "word in the line above" },
      { keys: ["w"], action: "next-warning", description: "next fact with a warning" },
      { keys: ["Escape"], action: "clear", description: "drop the selection" },
    ],
  },
  {
    title: "Label",
    bindings: [
      { keys: ["1", "2", "3", "4", "5", "6", "7", "8", "9"], action: "label", description: "label the selection, or label anew", edits: true },
      { keys: ["Shift+ArrowRight"], action: "end-right", description: "end one word later", edits: true },
      { keys: ["Shift+ArrowLeft"], action: "end-left", description: "end one word earlier", edits: true },
      { keys: ["Alt+Shift+ArrowLeft"], action: "start-left", description: "begin one word earlier", edits: true },
      { keys: ["Alt+Shift+ArrowRight"], action: "start-right", description: "begin one word later", edits: true },
      { keys: ["Ctrl+Shift+ArrowRight"], action: "end-right-character", description: "end one character later", edits: true },
      { keys: ["Ctrl+Shift+ArrowLeft"], action: "end-left-character", description: "end one character earlier", edits: true },
      { keys: ["Ctrl+Alt+ArrowLeft"], action: "start-left-character", description: "begin one character earlier", edits: true },
      { keys: ["Ctrl+Alt+ArrowRight"], action: "start-right-character", description: "begin one character later", edits: true },
      { keys: ["Delete", "Backspace"], action: "remove", description: "remove the label, or dismiss the suggestion", edits: true },
      { keys: ["e"], action: "equal", description: "label all equal…", edits: true },
      { keys: ["v"], action: "value", description: "edit value and sign", edits: true },
      { keys: ["Ctrl+z"], action: "undo", description: "undo", edits: true },
      { keys: ["Ctrl+Shift+z", "Ctrl+y"], action: "redo", description: "redo", edits: true },
    ],
  },
  {
    title: "Suggestions",
    bindings: [
      { keys: ["Enter"], action: "accept", description: "accept the suggestion", edits: true },
      { keys: ["a"], action: "accept-visible", description: "accept all that are in view…", edits: true },
    ],
  },
  {
    title: "Look",
    bindings: [
      { keys: ["i"], action: "image", description: "show or hide the page image" },
      { keys: ["+", "="], action: "zoom-in", description: "enlarge the image" },
      { keys: ["-"], action: "zoom-out", description: "shrink the image" },
      { keys: ["0"], action: "zoom-fit", description: "image as wide as its pane" },
      { keys: ["g"], action: "guidelines", description: "guidelines" },
      { keys: ["h"], action: "history", description: "history" },
      { keys: ["?"], action: "keys", description: "this list" },
    ],
  },
  {
    title: "Task",
    bindings: [
      { keys: ["c"], action: "comment", description: "comment on the fact or the document" },
      { keys: ["f"], action: "flag", description: "flag or skip the task…" },
      { keys: ["Ctrl+Enter"], action: "submit", description: "submit…", edits: true },
      { keys: ["t"], action: "next-task", description: "next task" },
    ],
  },
];

/** The binding of each key of these groups. @returns {Map<string, Binding>} */
export const byKey = (groups) =>
  new Map(groups.flatMap(({ bindings }) => bindings.flatMap((binding) => binding.keys.map((key) => [key, binding]))));

const ACTIONS = byKey(KEYMAP);

/** The name of a key press as it stands in the map; Cmd counts as Ctrl. */
export function keyName({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  const single = key.length === 1;
  const isLetter = single && key.toLowerCase() !== key.toUpperCase();
  // With signs and digits the layout decides whether Shift is needed; it is part of the sign.
  const shift = shiftKey && (!single || isLetter);
  return [ctrlKey || metaKey ? "Ctrl+" : "", altKey ? "Alt+" : "", shift ? "Shift+" : "", isLetter ? key.toLowerCase() : key].join("");
}

/**
 * The action of a key press with its argument, or null. Without `characters` those of one letter, digit or sign
 * alone do nothing: they can be pressed, or spoken to a speech program, by mistake (WCAG 2.1.4).
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

/** The keys of a binding as they are printed: one list of parts for each. */
export function printed({ keys, action, several }) {
  if (several) return several;
  if (action === "label") return [["1"], ["…"], ["9"]];
  return keys
    .filter((key) => key !== "=")
    .map((key) => key.replace(/\+(?=.)/g, "\u0000").split("\u0000").map((part) => SHOWN[part] ?? part));
}
