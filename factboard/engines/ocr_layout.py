"""Converts the word boxes and text boxes of engines to simple HTML, without changing any words.

Tesseract finds blocks, paragraphs, lines and words. In addition, words of a line that are
far apart are different cells, and a block in which most lines have several cells is a table.
RapidOCR finds boxes of text without an order: boxes at one height are a row of cells.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise

CELL_GAP = 1.5  # in heights of the line's tallest word; word gaps of justified prose stay below
WORD_LEVEL = "5"

Cell = list[str]


@dataclass(frozen=True)
class Word:
    """A word of the engine's output with the engine's numbers of its block, paragraph and line."""

    block: int
    paragraph: int
    line: int
    left: int
    right: int
    height: int
    text: str


def read_tsv(tsv: str) -> list[Word]:
    """The words of tesseract's TSV output, blank ones (ruled lines) left out."""
    rows = csv.DictReader(tsv.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        Word(
            int(row["block_num"]),
            int(row["par_num"]),
            int(row["line_num"]),
            int(row["left"]),
            int(row["left"]) + int(row["width"]),
            int(row["height"]),
            row["text"],
        )
        for row in rows
        if row["level"] == WORD_LEVEL and row["text"].strip()
    ]


def cells_of(line: Sequence[Word]) -> list[Cell]:
    """The words of a line, cut where the gap is wide."""
    widest = CELL_GAP * max(word.height for word in line)
    cells = [[line[0].text]]
    for before, word in pairwise(line):
        if word.left - before.right > widest:
            cells.append([])
        cells[-1].append(word.text)
    return cells


def layout_html(words: Sequence[Word]) -> str:
    """A page: its blocks in the engine's order, each a table or paragraphs with line breaks."""
    return html_page(layout_body(words))


def layout_body(words: Sequence[Word]) -> str:
    blocks = (list(block) for _, block in groupby(words, key=lambda word: word.block))
    return "".join(block_html(block) for block in blocks)


def block_html(block: Sequence[Word]) -> str:
    lines = [
        (key[0], cells_of(list(line)))
        for key, line in groupby(block, key=lambda word: (word.paragraph, word.line))
    ]
    tabular = sum(len(cells) > 1 for _, cells in lines)
    if 2 * tabular >= len(lines):
        return table_html([cells for _, cells in lines])
    paragraphs = groupby(lines, key=lambda line: line[0])
    return "".join(paragraph_html([cells for _, cells in group]) for _, group in paragraphs)


def table_html(rows: Sequence[list[Cell]]) -> str:
    body = "".join(
        "<tr>" + "".join(f"<td>{text_of(cell)}</td>" for cell in row) + "</tr>\n" for row in rows
    )
    return f"<table>\n{body}</table>\n"


def paragraph_html(lines: Sequence[list[Cell]]) -> str:
    texts = [" ".join(text_of(cell) for cell in line) for line in lines]
    return "<p>" + "<br>\n".join(texts) + "</p>\n"


@dataclass(frozen=True)
class Box:
    """A box of text on the page, in pixels from the top left."""

    left: float
    top: float
    bottom: float
    text: str

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def boxes_html(boxes: Sequence[Box]) -> str:
    """A page: rows of several boxes are tables, the others lines of paragraphs."""
    return html_page(boxes_body(boxes))


def boxes_body(boxes: Sequence[Box]) -> str:
    rows = [[[box.text] for box in row] for row in rows_of(boxes)]
    parts = groupby(rows, key=lambda row: len(row) > 1)
    return "".join(
        table_html(list(part)) if is_table else paragraph_html(list(part))
        for is_table, part in parts
    )


def rows_of(boxes: Sequence[Box]) -> list[list[Box]]:
    """Boxes from top to bottom, and from left to right if the middle of a box is above the bottom
    of the first one of its row."""
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda box: box.middle):
        if rows and box.middle < rows[-1][0].bottom:
            rows[-1].append(box)
        else:
            rows.append([box])
    return [sorted(row, key=lambda box: box.left) for row in rows]


def text_of(words: Cell) -> str:
    return escape(" ".join(words), quote=False)


def plain_html(text: str) -> str:
    """Plain text as a page, line by line as the engine printed it."""
    return html_page(f"<pre>\n{escape(text, quote=False)}</pre>\n")


def html_page(body: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n{body}</body></html>\n'
    )
