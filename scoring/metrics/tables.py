"""TEDS and TEDS-S: the similarity of two HTML tables as trees of rows and cells.

TEDS = 1 - TED / max(elements below the table element), over both tables. Inserting or deleting a
node costs 1. Renaming costs 1 if tag, colspan or rowspan differ, else, for two `td`, the
Levenshtein distance of their contents / the longer length, else 0. TEDS-S ignores the contents.
Source: X. Zhong, E. ShafieiBavani, A. Jimeno Yepes, Image-based table recognition, ECCV 2020, as
CC-OCR's parsing evaluator computes it.

Tables are never expanded, so `colspan="1000000000"` is only a number. lxml truncates nesting of
more than 255 levels. Tables of more cells or text than `trees.MOST_PAIRS`, `trees.MOST_STEPS` and
`limits.MOST_CHARACTER_PAIRS` allow raise TooLargeError.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from lxml import etree
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from scoring.metrics import TooLargeError, check_characters

from .reading import fenced
from .trees import Costs, Floats, Integers, Tree, check_size, tree_edit_distance, tree_of

_OPENING = "<table"
_CLOSING = "</table>"
_BETWEEN_TAGS = re.compile(r">\s+<")
# Full-width forms of the visible ASCII characters.
_HALF_WIDTH = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}

_PARSER = etree.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")

# A tag inside a cell is one character in the cell's content: a lone surrogate, which no text has.
_FIRST_TAG, _LAST_TAG = 0xD800, 0xDFFF


@dataclass(frozen=True)
class TableScores:
    """TEDS and TEDS-S of a table. At most 1, higher is better; can be negative on tiny tables."""

    teds: float
    teds_s: float


class Structure(NamedTuple):
    """Tag and spans of a node. Only those of a `td` are compared; others have none."""

    tag: str
    colspan: int | None = None
    rowspan: int | None = None


class Node(NamedTuple):
    """A node of a table. A `td` has its content, in which every tag is one character."""

    structure: Structure
    content: str = ""


@dataclass(frozen=True, eq=False)
class Table:
    """A table as a tree.

    The tree's kinds number `nodes`, the distinct nodes. `elements` counts the elements below the
    table element.
    """

    tree: Tree
    nodes: tuple[Node, ...]
    elements: int


class Alphabet:
    """Assigns every tag inside cells its own character, the same in both tables."""

    def __init__(self) -> None:
        self._characters: dict[str, str] = {}

    def character(self, tag: str) -> str:
        """Return the tag's character. Raises TooLargeError for more different tags than there are
        characters."""
        if tag not in self._characters:
            code = _FIRST_TAG + len(self._characters)
            if code > _LAST_TAG:
                raise TooLargeError("cells hold too many different tags")
            self._characters[tag] = chr(code)
        return self._characters[tag]


def table_scores(gold: str, response: str) -> TableScores:
    """TEDS and TEDS-S of a model's response against the gold table, both unchanged.

    The response may be in a code fence. If either side has no table, both are 0. Raises
    TooLargeError.

    >>> row = "<table><tr><td>Net sales</td><td>{}</td></tr></table>"
    >>> table_scores(row.format("1,200"), row.format("1.200"))
    TableScores(teds=0.9333333333333333, teds_s=1.0)
    """
    alphabet = Alphabet()
    first = read_table(clean_tables(gold), alphabet)
    second = read_table(clean_tables(fenced(response, "html")), alphabet)
    if first is None or second is None:
        return TableScores(0.0, 0.0)
    return TableScores(teds(first, second), teds_s(first, second))


def check_gold_table(gold: str) -> None:
    """Raise TooLargeError if not even an identical table could be compared with this one."""
    table = read_table(clean_tables(gold), Alphabet())
    if table is not None:
        check_size(table.tree, table.tree)
        characters = sum(len(node.content) for node in table.nodes)
        check_characters(characters, characters)


def clean_tables(text: str) -> str:
    """Return the tables in a text, one after the other, without differences that do not count.

    Removed are the attributes of the table tags, white space between tags, and spaces and newlines
    inside cells; full-width characters become ASCII. An unclosed table is closed.

    >>> clean_tables('So: <table border="1"> <tr><td>1 2\\n3</td></tr>')
    '<table><tr><td>123</td></tr></table>'
    """
    tables = (_without_blanks(table) for table in _tables_in(text))
    return "".join(tables).translate(_HALF_WIDTH)


def _tables_in(text: str) -> list[str]:
    """Return each stretch from a table's opening tag to the next closing one."""
    if _CLOSING not in text:
        text += _CLOSING
    found = []
    position = 0
    while (start := text.find(_OPENING, position)) >= 0:
        opened = text.find(">", start)
        closed = text.find(_CLOSING, opened + 1) if opened >= 0 else -1
        if closed < 0:
            break
        position = closed + len(_CLOSING)
        found.append(text[start:position])
    return found


def _without_blanks(table: str) -> str:
    plain = "\n".join(_with_plain_openings(line) for line in table.split("\n"))
    parts = [part.partition(">") for part in _BETWEEN_TAGS.sub("><", plain).split("<")]
    packed = "<".join(
        f"{tag}{mark}{text.replace(' ', '')}" if mark else tag for tag, mark, text in parts
    )
    return packed.replace("\n", "").strip()


def _with_plain_openings(line: str) -> str:
    """Replace every opening tag of a table by `<table>`. One that continues on the next line keeps
    its attributes, as in the reference."""
    kept = []
    position = 0
    while (start := line.find(_OPENING, position)) >= 0 and (end := line.find(">", start)) >= 0:
        kept += [line[position:start], "<table>"]
        position = end + 1
    return "".join([*kept, line[position:]])


def read_table(markup: str, alphabet: Alphabet) -> Table | None:
    """Parse the first table of cleaned HTML; None if there is none.

    Tables that are compared must be read with the same alphabet. Raises TooLargeError.
    """
    if not markup:
        return None
    document = f"<html><body>{markup}</body></html>".encode("utf-8", "replace")
    table = etree.fromstring(document, parser=_PARSER).find("body/table")
    if table is None:
        return None
    numbers: dict[Node, int] = {}
    kinds: list[int] = []
    parents: list[int] = []
    waiting = [(table, -1)]
    while waiting:
        element, parent = waiting.pop()
        position = len(parents)
        parents.append(parent)
        kinds.append(numbers.setdefault(_node(element, alphabet), len(numbers)))
        if element.tag != "td":
            waiting += [(child, position) for child in reversed(element)]
    elements = sum(1 for _ in table.iterdescendants())
    return Table(tree_of(parents, kinds), tuple(numbers), elements)


def _node(element: etree._Element, alphabet: Alphabet) -> Node:
    tag = str(element.tag)
    if tag != "td":
        return Node(Structure(tag))
    spans = _span(element.get("colspan", "1")), _span(element.get("rowspan", "1"))
    return Node(Structure(tag, *spans), _content(element, alphabet))


def _span(value: str) -> int:
    """Parse a span; 1 if invalid, as in browsers."""
    try:
        return int(value)
    except ValueError:
        return 1


def _content(cell: etree._Element, alphabet: Alphabet) -> str:
    """Return the text of a cell with one character for every tag in it.

    Two quirks of the reference: text after a cell inside a cell is left out, and the element `unk`
    has no closing tag.
    """
    if not len(cell):
        return cell.text or ""
    pieces = [cell.text or ""]
    open_elements = [(cell, iter(cell))]
    while open_elements:
        element, children = open_elements[-1]
        child = next(children, None)
        if child is not None:
            pieces += [alphabet.character(f"<{child.tag}>"), child.text or ""]
            open_elements.append((child, iter(child)))
            continue
        open_elements.pop()
        if open_elements:
            if element.tag != "unk":
                pieces.append(alphabet.character(f"</{element.tag}>"))
            if element.tag != "td":
                pieces.append(element.tail or "")
    return "".join(pieces)


def teds(gold: Table, prediction: Table) -> float:
    """1 - TED / max(elements), at most 1, higher is better; symmetric.

    Two empty tables give 1. Raises TooLargeError. Source: Zhong et al. 2020, equation 5; CC-OCR,
    equation 7.
    """
    check_size(gold.tree, prediction.tree)
    costs = np.ones((len(gold.nodes), len(prediction.nodes)))
    rows, columns = _by_structure(gold), _by_structure(prediction)
    for structure in rows.keys() & columns.keys():
        block = np.ix_(rows[structure], columns[structure])
        if structure.tag == "td":
            costs[block] = _content_distances(
                [gold.nodes[row].content for row in rows[structure]],
                [prediction.nodes[column].content for column in columns[structure]],
            )
        else:
            costs[block] = 0.0
    return _similarity(gold, prediction, gold.tree, prediction.tree, costs)


def teds_s(gold: Table, prediction: Table) -> float:
    """TEDS of the structure alone: the contents of cells cost nothing."""
    first, rows = _structure_tree(gold)
    second, columns = _structure_tree(prediction)
    costs = np.array([[float(row != column) for column in columns] for row in rows])
    return _similarity(gold, prediction, first, second, costs)


def _similarity(gold: Table, prediction: Table, first: Tree, second: Tree, costs: Floats) -> float:
    """1 - TED / max(elements) for two trees of the two tables, with these costs of renaming."""
    rows, columns = costs.shape
    elements = max(gold.elements, prediction.elements)
    if not elements:
        return 1.0
    distance = tree_edit_distance(first, second, Costs(np.ones(rows), np.ones(columns), costs))
    return 1.0 - distance / elements


def _structure_tree(table: Table) -> tuple[Tree, list[Structure]]:
    """Return the tree without contents, and the distinct structures that its kinds number."""
    numbers: dict[Structure, int] = {}
    structures: Integers = np.array(
        [numbers.setdefault(node.structure, len(numbers)) for node in table.nodes], dtype=np.int32
    )
    return Tree(table.tree.leftmost, structures[table.tree.kinds]), list(numbers)


def _by_structure(table: Table) -> dict[Structure, list[int]]:
    found: dict[Structure, list[int]] = {}
    for number, node in enumerate(table.nodes):
        found.setdefault(node.structure, []).append(number)
    return found


def _content_distances(first: Sequence[str], second: Sequence[str]) -> Floats:
    """Levenshtein distance / longer length for every pair, shape (first, second)."""
    check_characters(sum(map(len, first)), sum(map(len, second)))
    return cdist(first, second, scorer=Levenshtein.normalized_distance, dtype=np.float64)
