// The styles of marks on a page. Pages are always light, so only the colours of the light scheme are needed
// (components.css). The style of the underline is the second cue besides colour.

const COLOURS = ["#0a57a6", "#9c4700", "#8b2d7c", "#00684c", "#6a4a2c", "#00677a", "#a3143f", "#525d68", "#583db3"];
const LINES = ["solid", "dashed", "dotted", "double", "wavy", "solid", "dashed", "dotted", "double"];

const labels = COLOURS.map((colour, n) => {
  const thickness = n < 5 ? 2 : 4;
  return `::highlight(label-${n + 1}) {
    background-color: ${colour}22;
    text-decoration: underline ${LINES[n]} ${thickness}px ${colour};
  }`;
});

/** A suggestion has a dashed line and no background. */
export const MARK_STYLES = `
  ${labels.join("\n")}
  ::highlight(suggested) { text-decoration: underline dashed 1px #1c2024; }
  ::highlight(pick) { background-color: #ffe08a; color: #1c2024; }
  ::highlight(active) { background-color: #1c2024; color: #ffffff; }
  :root[data-over="border"], :root[data-over="border"] * { cursor: ew-resize !important; }
  :root[data-dragging] { user-select: none; }
`;
