// The text nodes of a page, and the borders between its blocks and cells.

/** Inline elements; every other element starts a block. */
const INLINE = new Set(
  `a abbr b bdi bdo big cite code del em font i ins kbd mark nobr q s samp small span strike strong sub tt u var
  wbr`
    .split(/\s+/)
    .map((name) => name.toUpperCase()),
);
const PARTING = new Set(["BR", "IMG", "INPUT", "HR"]);

/** All text nodes in document order. @returns {Text[]} */
export function textNodes(body) {
  const walker = body.ownerDocument.createTreeWalker(body, 4 /* NodeFilter.SHOW_TEXT */);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

/**
 * The units at which a new block or table cell begins, ascending: the numbers of two cells are often side by
 * side without white space.
 */
export function bordersOf(body, nodes, units) {
  const parted = nodesAfterParting(body);
  const blocks = new Map();
  const borders = [];
  let before = null;
  nodes.forEach((node, number) => {
    const block = blockOf(node.parentNode, blocks);
    if (number > 0 && units[number] > 0 && (block !== before || parted.has(node))) borders.push(units[number]);
    before = block;
  });
  return borders;
}

function blockOf(element, known) {
  const path = [];
  let at = element;
  while (INLINE.has(at.nodeName) && !known.has(at)) {
    path.push(at);
    at = at.parentNode;
  }
  const block = known.get(at) ?? at;
  for (const inner of path) known.set(inner, block);
  return block;
}

/** The text nodes after a line break, an image or a form field. */
function nodesAfterParting(body) {
  const walker = body.ownerDocument.createTreeWalker(body, 5 /* elements and text */);
  const found = new Set();
  let isParted = false;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.nodeType === 3) {
      if (isParted) found.add(node);
      isParted = false;
    } else if (PARTING.has(node.nodeName)) {
      isParted = true;
    }
  }
  return found;
}
