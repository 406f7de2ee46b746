"""Whether a page has what a benchmark of financial facts wants: numbers in tables, notes, dates.

Source of the rule: FinCriticalED, section 3.1 (documents with tables, numerical footnotes and dated
disclosures come first).
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

# So many numbers, in at least two rows, make a table one of numbers.
MIN_NUMBERS = 3
MIN_ROWS = 2

_CELLS = frozenset({"td", "th"})
_YEAR = re.compile(r"\s*(?:19|20)[0-9]{2}\s*")
# Columns made of white space, as plain-text filings have them.
_COLUMN = re.compile(r"\s{2,}")
_FIGURE = re.compile(r"[0-9]")
_AMOUNT = re.compile(r"[$€£¥]\s?[0-9]|[0-9]\s?%")
# A longer cell is a paragraph that a table only lays out.
_MAX_CELL = 200

# Marks in brackets are marks of notes beside a table; elsewhere they number clauses.
_BRACKETED = r"\((?P<mark>[1-9][0-9]?|[a-z])\)"
_SIGN = r"(?P<mark>\*{1,4}|[†‡§¹²³⁴-⁹])"
_RAISED = re.compile(r"\s*\(?([1-9][0-9]?|[a-z]|\*{1,4}|[†‡§])\)?\s*")
# A note has its mark at the beginning of a block or cell, and then text or a cell of text. What
# refers to it stands right behind a word, a number or a bracket. In statements (4) may be minus 4
# before the name of the next row, which is no sentence and short.
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
    """Of an open table: the numbers in its rows so far, and the cell that is being read."""

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
    """Which of CONTENTS a page has. Any canonical HTML is accepted; the time is linear.

    - numeric_table: a table with at least MIN_NUMBERS numbers in at least MIN_ROWS rows, or as many
      lines of a plain-text page with a number in a column; years are no numbers here.
    - footnote: a note that begins with its mark, and the same mark elsewhere: raised, a sign such
      as * or †, or in brackets on a page with a numeric table; or words that refer to the notes of
      the statements.
    - dated_reference: a date, period or year; a mere duration is none.
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
    """Those of `required` that a page lacks, in the order of `required`."""
    found = find_content(canonical_html)
    return [content for content in required if content not in found]


def _is_number(cell: str) -> bool:
    """Whether a cell is a number or has an amount; a bracket may stand in the next cell."""
    written = cell.strip()
    if len(written) > _MAX_CELL or _YEAR.fullmatch(written) or not _FIGURE.search(written):
        return False
    if _AMOUNT.search(written):
        return True
    if written.startswith("(") and not written.endswith(")"):
        written += ")"
    return read_value(written, "Number").value != ""


def _has_numeric_table(html: str) -> bool:
    """Numbers belong to the innermost table: a page laid out by a table is none."""
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
    """How many columns of a line but the first are numbers; a dollar sign may stand apart."""
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
    """The marks inside `<sup>`, with their offsets in the text."""
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
