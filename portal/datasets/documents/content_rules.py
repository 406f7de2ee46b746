"""Find tables of numbers, footnotes and dates, which pages for a benchmark of facts need.

Source: FinCriticalED, section 3.1 (prefers documents with tables, numerical footnotes and dated
disclosures).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Literal, TypeAlias, get_args

from portal.facts import canonical_text, find_facts, read_value, text_borders
from portal.facts.grammar import CELL, with_borders
from portal.facts.markup import Kind, tokens

Content: TypeAlias = Literal["numeric_table", "footnote", "dated_reference"]
CONTENTS: tuple[Content, ...] = get_args(Content)

# The least numbers and rows of a numeric table.
MIN_NUMBERS = 3
MIN_ROWS = 2

_CELLS = frozenset({"td", "th"})
_YEAR = re.compile(r"\s*(?:19|20)[0-9]{2}\s*")
# Columns separated by white space, as in plain-text filings.
_COLUMN = re.compile(r"\s{2,}")
_FIGURE = re.compile(r"[0-9]")
_AMOUNT = re.compile(r"[$€£¥]\s?[0-9]|[0-9]\s?%")
# A longer cell is a paragraph in a layout table.
_MAX_CELL = 200

# Marks in brackets are footnote marks on pages with a table; elsewhere they number clauses.
_BRACKETED = r"\((?P<mark>[1-9][0-9]?|[a-z])\)"
_SIGN = r"(?P<mark>\*{1,4}|[†‡§¹²³⁴-⁹])"
_RAISED = re.compile(r"\s*\(?([1-9][0-9]?|[a-z]|\*{1,4}|[†‡§])\)?\s*")
# A note has its mark at the beginning of a block or cell, followed by text or a cell of text. A
# reference comes right after a word, a number or a bracket. In statements, (4) may be minus 4
# before the name of the next row, which is short and not a sentence.
_NOTE = rf"{CELL}\s*{{mark}}[\s{CELL}]*(?=[A-Z“\"]{{more}})"
_REFERENCE = rf"(?<=[\w%)\].,:;’”])[ \xa0]?{CELL}?{{mark}}"
_SENTENCE = rf"(?:[^{CELL}]{{60}}|[^{CELL}]{{0,59}}\.)"
_PATTERNS = {
    mark: (re.compile(_NOTE.format(mark=mark, more=more)), re.compile(_REFERENCE.format(mark=mark)))
    for mark, more in ((_BRACKETED, _SENTENCE), (_SIGN, ""))
}
_NOTES_ELSEWHERE = re.compile(
    r"(?i:accompanying\s+notes|notes\s+to\s+(?:the\s+)?(?:\w+\s+){0,4}financial\s+statements)"
    r"|\b(?:[Ss]ee|[Ii]n|[Tt]o)\s+(?:[Ff]oot)?[Nn]otes?\s+[0-9A-Z(]"
)


@dataclass
class _Table:
    """The numbers in the rows of an open table so far, and the current cell."""

    numbers: int = 0
    rows: int = 0
    in_row: int = 0
    cell: list[str] | None = None

    def close_cell(self) -> None:
        if self.cell is not None and _is_number("".join(self.cell)):
            self.in_row += 1
        self.cell = None

    def close_row(self) -> None:
        self.close_cell()
        self.numbers += self.in_row
        self.rows += self.in_row > 0
        self.in_row = 0

    @property
    def is_numeric(self) -> bool:
        return self.numbers >= MIN_NUMBERS and self.rows >= MIN_ROWS


def find_content(canonical_html: str) -> frozenset[Content]:
    """Return the CONTENTS of a page, in linear time.

    - numeric_table: a table with at least MIN_NUMBERS numbers in at least MIN_ROWS rows, or the
      same in the columns of a plain-text page. Years do not count as numbers.
    - footnote: a note that begins with a mark, and the same mark elsewhere: raised, a sign such as
      * or †, or in brackets on a page with a numeric table; or words that refer to the notes of the
      statements.
    - dated_reference: a date, period or year, but not a duration alone.
    """
    text = canonical_text(canonical_html)
    borders = text_borders(canonical_html)
    found: set[Content] = set()
    if _has_numeric_table(canonical_html) or _has_columns(canonical_html, text):
        found.add("numeric_table")
    if _has_footnote(canonical_html, text, borders, has_table="numeric_table" in found):
        found.add("footnote")
    if _has_date(text, borders):
        found.add("dated_reference")
    return frozenset(found)


def missing_content(canonical_html: str, required: Sequence[Content]) -> list[Content]:
    """Return the `required` contents that a page lacks, in their order."""
    found = find_content(canonical_html)
    return [content for content in required if content not in found]


def _is_number(cell: str) -> bool:
    """Whether a cell is a number or has an amount; its closing bracket may be in the next cell."""
    written = cell.strip()
    if len(written) > _MAX_CELL or _YEAR.fullmatch(written) or not _FIGURE.search(written):
        return False
    if _AMOUNT.search(written):
        return True
    if written.startswith("(") and not written.endswith(")"):
        written += ")"
    return read_value(written, "Number").value != ""


def _has_numeric_table(html: str) -> bool:
    """Whether a table has numbers. They count for the innermost table, not for layout tables."""
    tables: list[_Table] = []
    for token in tokens(html):
        table = tables[-1] if tables else None
        if token.name == "table":
            if token.kind is Kind.START:
                tables.append(_Table())
            elif table and _closes_numeric(tables):
                return True
        elif table is None:
            continue
        elif token.kind is Kind.TEXT:
            if table.cell is not None:
                table.cell.append(unescape(html[token.start : token.end]))
        elif token.name in _CELLS:
            table.close_cell()
            table.cell = [] if token.kind is Kind.START else None
        elif token.name == "tr":
            table.close_row()
    return False


def _closes_numeric(tables: list[_Table]) -> bool:
    table = tables.pop()
    table.close_row()
    return table.is_numeric


def _has_columns(html: str, text: str) -> bool:
    if "<pre" not in html:
        return False
    counts = [_numbers_in_columns(line) for line in text.split("\n")]
    return sum(counts) >= MIN_NUMBERS and sum(count > 0 for count in counts) >= MIN_ROWS


def _numbers_in_columns(line: str) -> int:
    """Count the columns after the first that are numbers; `$` may be followed by a space."""
    columns = _COLUMN.split(line.strip().replace("$ ", "$"))
    return sum(_is_number(column) for column in columns[1:])


def _has_footnote(html: str, text: str, borders: Sequence[int], *, has_table: bool) -> bool:
    if _NOTES_ELSEWHERE.search(text) or _has_raised_note(html, text, borders):
        return True
    marked = with_borders(
        text.replace(CELL, " "), [(0, CELL), *((at, CELL) for at in borders if 0 < at < len(text))]
    )
    for mark, (note, reference) in _PATTERNS.items():
        if mark == _BRACKETED and not has_table:
            continue
        notes = {match.start("mark"): match["mark"] for match in note.finditer(marked)}
        known = frozenset(notes.values())
        if any(
            m["mark"] in known and m.start("mark") not in notes for m in reference.finditer(marked)
        ):
            return True
    return False


def _has_raised_note(html: str, text: str, borders: Sequence[int]) -> bool:
    """Whether a raised mark begins a block, and the same one is raised elsewhere."""
    beginnings = {0, *borders}
    notes: set[str] = set()
    references: set[str] = set()
    for start, mark in _raised(html):
        is_first = start in beginnings and not text[start - 1 : start].isdigit()
        (notes if is_first else references).add(mark)
    return not notes.isdisjoint(references)


def _raised(html: str) -> Iterator[tuple[int, str]]:
    """Yield the marks inside `<sup>` with their offsets in the text."""
    position = depth = 0
    for token in tokens(html):
        if token.kind is Kind.TEXT:
            piece = unescape(html[token.start : token.end])
            if depth and (mark := _RAISED.fullmatch(piece)):
                yield position, mark[1]
            position += len(piece)
        elif token.name == "sup":
            depth = max(depth + (1 if token.kind is Kind.START else -1), 0)


def _has_date(text: str, borders: Sequence[int]) -> bool:
    dates = (fact for fact in find_facts(text, borders) if fact.kind == "date")
    values = (read_value(text[fact.start : fact.end], "Date").value for fact in dates)
    return any(value and not value.startswith("P") for value in values)
