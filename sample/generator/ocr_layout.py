"""Converts tesseract's word boxes to simple HTML, without changing any words.

Tesseract finds blocks, paragraphs, lines and words. In addition, words of a line that are
far apart are different cells, and a block in which most lines have several cells is a table.
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
    blocks = (list(block) for _, block in groupby(words, key=lambda word: word.block))
    return html_page("".join(block_html(block) for block in blocks))


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


def text_of(words: Cell) -> str:
    return escape(" ".join(words), quote=False)


def plain_html(text: str) -> str:
    """Plain text as a page, line by line as the engine printed it."""
    return html_page(f"<pre>\n{escape(text, quote=False)}</pre>\n")


def html_page(body: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n{body}</body></html>\n'
    )
