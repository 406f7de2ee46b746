"""A page for the fact matchers: its visible text, the tagged facts in it, and its table cells.

The text is exactly that of `portal.facts.visible_text`. This reader walks the same tokens and also
records the positions of fact tags, cells and line ends in that text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from itertools import accumulate

from portal.facts.markup import Kind, Token, tokens
from portal.facts.page_text import HIDDEN_NESTING, is_shown_raw, track_hidden
from portal.facts.spans import KNOWN_LABELS, Fact
from portal.facts.tags import identity_of

from .layout import Line, LineReader
from .normalise import Normalised, normalise

# Elements that begin and end a line, including those of tables.
BLOCKS = frozenset(
    "article aside blockquote body br caption center dd div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody td "
    "tfoot th thead tr ul".split()
) | {"address"}
# Those of them that are between tables of lines, and in none.
_PARTS = frozenset({"table", "hr"})


_SPAN = r"\s{name}\s*=\s*[\"']?\s*(\d{{1,4}})"
_COLSPAN = re.compile(_SPAN.format(name="colspan"), re.IGNORECASE)
_ROWSPAN = re.compile(_SPAN.format(name="rowspan"), re.IGNORECASE)
_MOST_COLUMNS = 1000
# Cells that reach into later rows, per table. Further ones end in their row.
_MOST_REACHING = 200
# Nested tables: at most this many around a text are followed.
_MOST_NESTED = 8


@dataclass(frozen=True)
class Cell:
    """A table cell with text.

    It fills columns `[column, column + columns)` of a row that has `row_columns`, and holds
    `[start, end)` of the page's visible text.
    """

    table: int
    row: int
    column: int
    columns: int
    row_columns: int
    start: int
    end: int


@dataclass
class _OpenCell:
    table: int
    row: int
    column: int
    columns: int
    start: int = -1
    end: int = -1


@dataclass
class _Table:
    """A table being read. `reaching` holds `[first column, end column, rows left]` of cells with a
    rowspan."""

    number: int
    row: int = -1
    column: int = 0
    cell: _OpenCell | None = None
    reaching: list[list[int]] = field(default_factory=list)


class TableReader:
    """Follows the table tags of a page as leniently as a browser: end tags may be missing."""

    def __init__(self) -> None:
        self._tables: list[_Table] = []
        self._count = 0
        self._cells: list[_OpenCell] = []
        self._row_columns: dict[tuple[int, int], int] = {}

    @property
    def in_cell(self) -> bool:
        """Whether the text that follows belongs to a table cell."""
        return bool(self._tables) and self._tables[-1].cell is not None

    def start(self, name: str, tag: str) -> None:
        if name == "table":
            self._tables.append(_Table(self._count))
            self._count += 1
        elif not self._tables:
            return
        elif name == "tr":
            self._next_row(self._tables[-1])
        elif name in {"td", "th"}:
            self._next_cell(self._tables[-1], tag)

    def end(self, name: str) -> None:
        if not self._tables:
            return
        if name == "table":
            self._tables.pop()
        elif name in {"td", "th", "tr"}:
            self._tables[-1].cell = None

    def text(self, start: int, end: int) -> None:
        """Add text `[start, end)` of the page to every cell that is open around it."""
        for table in self._tables[-_MOST_NESTED:]:
            if table.cell is not None:
                if table.cell.start < 0:
                    table.cell.start = start
                table.cell.end = end

    def cells(self) -> tuple[Cell, ...]:
        """The cells that hold text, in document order."""
        return tuple(
            Cell(
                cell.table,
                cell.row,
                cell.column,
                cell.columns,
                self._row_columns[cell.table, cell.row],
                cell.start,
                cell.end,
            )
            for cell in self._cells
            if cell.start >= 0
        )

    def _next_row(self, table: _Table) -> None:
        table.row += 1
        table.column = 0
        table.cell = None
        for reach in table.reaching:
            reach[2] -= 1
        table.reaching = [reach for reach in table.reaching if reach[2] > 0]

    def _next_cell(self, table: _Table, tag: str) -> None:
        if table.row < 0:
            self._next_row(table)
        columns = _span(_COLSPAN, tag)
        column = table.column
        while reach := next((r for r in table.reaching if r[0] <= column < r[1]), None):
            column = reach[1]
        rows = _span(_ROWSPAN, tag)
        if rows > 1 and len(table.reaching) < _MOST_REACHING:
            table.reaching.append([column, column + columns, rows])
        table.column = column + columns
        self._row_columns[table.number, table.row] = table.column
        table.cell = _OpenCell(table.number, table.row, column, columns)
        self._cells.append(table.cell)


def _span(pattern: re.Pattern[str], tag: str) -> int:
    match = pattern.search(tag)
    return min(max(int(match[1]), 1), _MOST_COLUMNS) if match else 1


# Noncharacters: no text uses them on purpose, and no entity decodes to one.
_MARKS = "".join(map(chr, range(0xFDD0, 0xFDF0)))


class FactTagError(ValueError):
    """Fact tags that do not delimit a fact; `line` counts from 1 in the HTML."""

    def __init__(self, reason: str, html: str, offset: int) -> None:
        self.reason = reason
        self.line = html.count("\n", 0, offset) + 1
        super().__init__(f"line {self.line}: {reason}")


@dataclass(frozen=True)
class Page:
    """Visible text, facts in document order, table cells with text, and the lines outside of
    tables.

    A line is the text between two blocks or line breaks, as `[start, end)` of the visible text.
    `layout` has the same text as it was written: by lines of the source, with their columns.
    """

    text: str
    facts: tuple[Fact, ...]
    cells: tuple[Cell, ...]
    lines: tuple[tuple[int, int], ...]
    layout: tuple[Line, ...] = ()

    @cached_property
    def normalised(self) -> Normalised:
        """The normalised visible text, made once."""
        return normalise(self.text)


def read_page(html: str, labels: Sequence[str] = KNOWN_LABELS) -> Page:
    """Read gold: HTML with fact tags.

    Tags named by `labels` (ignoring case) mark facts; consecutive tags with the same `id` are parts
    of one fact. Raises FactTagError for tags that are nested, unpaired or hold no visible text.
    Linear time.

    >>> page = read_page("<p>Net <Number>(1,200)</Number> &amp; <b>more</b></p>")
    >>> page.text, page.facts
    ('Net (1,200) & more', (Fact(n=0, type='Number', value='(1,200)', start=4, end=11),))
    """
    return _read(html, labels, tagged=True)


def read_prediction(html: str, labels: Sequence[str] = KNOWN_LABELS) -> Page:
    """Read a model's output: any string, HTML or plain text. Never raises, linear time.

    Tags of `labels` are unwrapped, as in `visible_text`, but mark no facts.
    """
    return _read(html, labels, tagged=False)


def _read(html: str, labels: Sequence[str], *, tagged: bool) -> Page:
    if "<" not in html or ">" not in html:
        return _plain_page(html)
    reader = _Reader(html, labels, tagged=tagged)
    for token in tokens(html):
        reader.take(token)
    return reader.finish()


def _plain_page(text: str) -> Page:
    lines: list[tuple[int, int]] = []
    layout = LineReader()
    position = 0
    for line in text.splitlines():
        places = _places(line.split(), position)
        layout.text(f"{line}\n", places)
        if places:
            lines.append((position, places[-1][1]))
            position = places[-1][1] + 1
    return Page(" ".join(text.split()), (), (), tuple(lines), layout.lines())


def _places(words: Sequence[str], start: int) -> list[tuple[int, int]]:
    """Return the places of words that follow each other with single spaces from `start` on."""
    ends = accumulate(len(word) + 1 for word in words)
    return [
        (start + end - len(word) - 1, start + end - 1)
        for word, end in zip(words, ends, strict=True)
    ]


@dataclass
class _Tagged:
    """A fact as read so far; `start` is -1 until its first visible character."""

    label: str
    identity: str
    offset: int
    start: int = -1
    end: int = -1


class _Reader:
    """Takes the tokens of a page one by one.

    Raises FactTagError at the first invalid fact tag. A fact tag puts a mark into the text node
    around it, which is removed again when the node is complete.
    """

    def __init__(self, html: str, labels: Sequence[str], *, tagged: bool) -> None:
        self._html = html
        self._labels = {label.lower(): label for label in labels}
        # Tags of other known labels are not markup either: they are unwrapped, but mark no facts.
        self._unwrapped = {label.lower() for label in KNOWN_LABELS} | self._labels.keys()
        self._marking = tagged
        self._mark = next((mark for mark in _MARKS if mark not in html), "")
        self._hidden: list[str] = []
        self._words: list[str] = []
        self._length = 0
        self._pieces: list[str] = []
        self._tagged: list[_Tagged] = []
        self._open: _Tagged | None = None  # as in the tags
        self._events: list[_Tagged | None] = []  # the meaning of the marks in the node, in order
        self._inside: _Tagged | None = None  # as in the text
        self._tables = TableReader()
        self._lines: list[tuple[int, int]] = []
        self._line_start = 0
        self._layout = LineReader()

    def take(self, token: Token) -> None:
        if token.kind is Kind.TEXT or is_shown_raw(token):
            if not self._hidden:
                self._pieces.append(self._html[token.start : token.end])
        elif token.name in self._unwrapped:
            if self._marking and token.name in self._labels:
                self._take_fact_tag(token)
        else:
            self._end_node()
            self._take_other_tag(token)

    def finish(self) -> Page:
        self._end_node()
        if self._open is not None:
            raise self._fault(f"<{self._open.label}> is never closed", self._open.offset)
        text = " ".join(self._words)
        facts = []
        for n, tagged in enumerate(self._tagged):
            if tagged.start < 0:
                raise self._fault(f"<{tagged.label}> contains no visible text", tagged.offset)
            value = text[tagged.start : tagged.end]
            facts.append(Fact(n, tagged.label, value, tagged.start, tagged.end))
        self._end_line()
        return Page(
            text, tuple(facts), self._tables.cells(), tuple(self._lines), self._layout.lines()
        )

    def _fault(self, reason: str, offset: int) -> FactTagError:
        return FactTagError(reason, self._html, offset)

    def _take_other_tag(self, token: Token) -> None:
        if token.name in HIDDEN_NESTING:
            track_hidden(self._hidden, token)
        elif token.name in BLOCKS:
            if not self._tables.in_cell:
                self._end_line()
                if token.name in _PARTS:
                    self._layout.part()
                else:
                    self._layout.end(is_break=token.name == "br")
            if token.kind is Kind.START:
                self._tables.start(token.name, self._html[token.start : token.end])
            else:
                self._tables.end(token.name)

    def _end_line(self) -> None:
        """Text outside of tables since the last line's end is a line; text in cells belongs to
        their rows."""
        end = self._length - 1
        if end > self._line_start and not self._tables.in_cell:
            self._lines.append((self._line_start, end))
        self._line_start = max(self._length, 0)

    def _take_fact_tag(self, token: Token) -> None:
        label = self._labels[token.name]
        if not self._mark:
            raise self._fault("the page uses every noncharacter of Unicode", token.start)
        if token.kind is Kind.START:
            if self._open is not None:
                raise self._fault(f"<{label}> inside <{self._open.label}>", token.start)
            self._open = self._begun(label, token)
        else:
            if self._open is None or self._open.label != label:
                raise self._fault(f"</{label}> closes nothing", token.start)
            self._open = None
        self._pieces.append(self._mark)
        self._events.append(self._open)

    def _begun(self, label: str, token: Token) -> _Tagged:
        """Return the fact that this tag begins, or continues if it has the same id."""
        identity = identity_of(self._html, token)
        last = self._tagged[-1] if self._tagged else None
        if last is not None and identity and (last.label, last.identity) == (label, identity):
            return last
        self._tagged.append(_Tagged(label, identity, token.start))
        return self._tagged[-1]

    def _end_node(self) -> None:
        if not self._pieces:
            return
        text = unescape("".join(self._pieces))
        words = text.split()
        self._pieces.clear()
        first = self._length
        if self._events or self._inside:
            places = []
            for k, marked in enumerate(words):
                start = self._length
                words[k] = self._place(marked)
                places.append((start, start + len(words[k])))
            words = list(filter(None, words))
            self._events.clear()
        else:
            places = _places(words, first)
            self._length = places[-1][1] + 1 if places else first
        if self._tables.in_cell:
            self._line_start = self._length
        else:
            self._layout.text(text, places)
        if words:
            self._words.extend(words)
            self._tables.text(first, self._length - 1)

    def _place(self, marked: str) -> str:
        """Remove the marks of a word, and record which fact each part of it belongs to.

        `_length` is where the next word begins: the text so far and one space.
        """
        if self._inside is None and self._mark not in marked:
            self._length += len(marked) + 1
            return marked
        parts = marked.split(self._mark)
        position = self._length
        for number, part in enumerate(parts):
            if number:
                self._inside = self._events.pop(0)
            if part and self._inside is not None:
                self._extend(self._inside, position, position + len(part))
            position += len(part)
        if position > self._length:
            self._length = position + 1
        return "".join(parts)

    def _extend(self, fact: _Tagged, start: int, end: int) -> None:
        """Add the visible text `[start, end)` to a fact.

        Its parts must touch, or follow each other as words: `_length` is where this word begins.
        """
        if fact.start < 0:
            fact.start = start
        elif start != fact.end and (start, start) != (fact.end + 1, self._length):
            reason = f"there is other text between the parts of <{fact.label} id={fact.identity!r}>"
            raise self._fault(reason, fact.offset)
        fact.end = end
