"""Tables as grids of cells, in whatever form they are written.

`read_grids` finds the tables of a page: HTML tables, Markdown pipe tables, LaTeX rows, text columns
made by tabs or spaces, and lines of a label and its values. Cells lie on an axis of their table
(columns, fields or characters), as `[left, right)`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise, zip_longest

from .headers import split_header
from .layout import LEADER, LEADING, Line, Word
from .normalise import CURRENCY, INVISIBLE
from .page import Cell, Page


@dataclass(frozen=True)
class GridCell:
    """A cell with text: `[left, right)` of the table's axis, `[start, end)` of the visible text.

    `field` counts the tabs before it in a line of text.
    """

    left: int
    right: int
    start: int
    end: int
    text: str
    field: int = 0


Row = tuple[GridCell, ...]


@dataclass(frozen=True)
class Grid:
    """A table: its rows, from the top down, each from left to right.

    `is_aligned` is whether cells of one column overlap on the axis. Otherwise only their order
    shows the columns. `is_spaced` is whether only spaces separate the cells. `odd` has the rows of
    another width than most: their cells may be anywhere.
    """

    rows: tuple[Row, ...]
    is_aligned: bool
    is_spaced: bool = False
    odd: frozenset[int] = frozenset()

    def transposed(self) -> "Grid":
        """Return the same table with its columns as rows."""
        columns: defaultdict[int, list[GridCell]] = defaultdict(list)
        for number, row in enumerate(self.rows):
            for cell in row:
                columns[cell.left].append(replace(cell, left=number, right=number + 1))
        rows = tuple(tuple(cells) for _, cells in sorted(columns.items()))
        return Grid(rows, is_aligned=True)


def read_grids(page: Page) -> list[Grid]:
    """Return the tables of a page. Linear time, up to sorting."""
    return [*_html_grids(page), *_line_grids(page)]


# A backslash before a sign that LaTeX and Markdown use for themselves.
_ESCAPE = re.compile(r"\\(?=[$%&#_{}|*~])")


def _cell(text: str, left: int, right: int, start: int, end: int) -> GridCell | None:
    """Return the cell `[start, end)`; None if nothing in it is visible."""
    content = text[start:end]
    if not content.isascii():
        content = INVISIBLE.sub("", content)
    content = _ESCAPE.sub("", content).strip()
    return GridCell(left, right, start, end, content) if content else None


def _single(text: str, left: int, right: int, start: int, end: int) -> Iterator[GridCell]:
    """Yield the cell `[start, end)`, or each value of a cell that holds several."""
    cell = _cell(text, left, right, start, end)
    if cell is None:
        return
    words = list(_words(text, start, end))
    content = [text[word.start : word.end] for word in words]
    if (
        len(words) == 1
        or _GROUPS.search(cell.text)
        or _NOTE.search(cell.text)
        or not all(map(_is_value_or_scrap, content))
    ):
        yield cell
        return
    for part in _joined_marks(text, words):
        if value := _cell(text, left, right, part[0].start, part[-1].end):
            yield value


def _words(text: str, start: int, end: int) -> Iterator[Word]:
    """Yield the words of a cell, between spaces and leaders."""
    has_leaders = LEADER.search(text, start, end)
    for stretch in _WORD.finditer(text, start, end):
        at = stretch.start()
        if not has_leaders:
            yield Word(at, stretch.end(), at, 0)
            continue
        for leader in [*LEADER.finditer(text, *stretch.span()), None]:
            stop = leader.start() if leader else stretch.end()
            if at < stop:
                yield Word(at, stop, at, 0)
            at = leader.end() if leader else stop


# --- HTML --------------------------------------------------------------------------------------
# Share of the rows of a table that must have the same number of columns for these to be aligned.
_REGULAR = 0.9


def _html_grids(page: Page) -> Iterator[Grid]:
    tables: defaultdict[int, list[Cell]] = defaultdict(list)
    for cell in _innermost(page.cells):
        tables[cell.table].append(cell)
    for cells in tables.values():
        rows: defaultdict[int, list[Cell]] = defaultdict(list)
        for cell in cells:
            rows[cell.row].append(cell)
        in_order = [row for _, row in sorted(rows.items())]
        yield _grid(
            [
                tuple(k for c in row for k in _single(page.text, *_span(c), c.start, c.end))
                for row in in_order
            ],
            [row[0].row_columns for row in in_order],
        )


def _grid(rows: Sequence[Row], widths: Sequence[int]) -> Grid:
    """Return the grid of rows that have so many columns, with the empty ones."""
    counts = Counter(width for row, width in zip(rows, widths, strict=True) if len(row) > 1)
    usual, count = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    odd = frozenset(k for k, width in enumerate(widths) if width != usual and len(rows[k]) > 1)
    return Grid(tuple(rows), count >= _REGULAR * counts.total(), odd=odd)


def _span(cell: Cell) -> tuple[int, int]:
    return cell.column, cell.column + cell.columns


def _innermost(cells: Sequence[Cell]) -> Iterator[Cell]:
    """Yield the cells that hold no cell of another table, in the order of the text."""
    ordered = sorted(cells, key=lambda cell: (cell.start, -cell.end, cell.table))
    for cell, after in zip_longest(ordered, ordered[1:]):
        if after is None or after.start >= cell.end or after.table == cell.table:
            yield cell


# --- lines -------------------------------------------------------------------------------------
# Each begins with its sign, which is fast to search.
_PIPE = re.compile(r"\|(?<!\\\|)")
_AMPERSAND = re.compile(r"&(?<!\\&)")
_ROW_END = re.compile(r"\\\\(?:\[[^\]]*\])?|\\(?:tabularnewline|cr)\b")
_RULE = re.compile(r"[\s|:+=-]*-[\s|:+=-]*")
_LATEX_COMMAND = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|cmidrule|cline|begin|end|centering|small|footnotesize)"
    r"(?:\([^)]*\))?(?:\[[^\]]*\])?(?:\{[^}]*\})*"
)
_MULTICOLUMN = re.compile(r"\s*\\multicolumn\s*\{\s*(\d{1,2})\s*\}\s*\{[^}]*\}")
# Spaces between words that separate two columns.
GAP = 2
# A line without values that is longer ends a table: it is prose.
_LONGEST_LABEL = 160
# A line of more words is no row of a table.
_MOST_WORDS = 1000


def _line_grids(page: Page) -> Iterator[Grid]:
    short = (line if len(line) <= _MOST_WORDS else () for line in page.layout)
    has_row_ends = bool(_ROW_END.search(page.text))
    for separator, lines in groupby(
        short, lambda line: _separator(page.text, line, has_row_ends=has_row_ends)
    ):
        if separator is None:
            yield from _spaced_grids(page.text, list(lines))
        else:
            rows = list(lines)
            # Without outer pipes, a first pipe follows an empty cell.
            opening = sum(page.text.startswith("|", line[0].start) for line in rows)
            is_framed = 2 * opening > len(rows)
            found = [
                row for line in rows for row in _separated(page.text, line, separator, is_framed)
            ]
            if any(len(row) > 1 for row, _ in found):
                yield _grid([row for row, _ in found], [width for _, width in found])


def _separator(text: str, line: Line, *, has_row_ends: bool) -> re.Pattern[str] | None:
    """Return what separates the cells of a line, None for spaces. `has_row_ends` is whether the
    page has rows of LaTeX: elsewhere an ampersand separates values only."""
    if not line:
        return None
    content = text[line[0].start : line[-1].end]
    if _AMPERSAND.search(content) and (
        _ROW_END.search(content)
        or ("|" not in content and " & " in content and (has_row_ends or _has_values(content)))
    ):
        return _AMPERSAND
    if _PIPE.search(content):
        return _PIPE
    is_latex = _LATEX_COMMAND.fullmatch(content.strip()) or _MULTICOLUMN.match(content)
    return _AMPERSAND if is_latex else None


def _has_values(content: str) -> bool:
    """Whether each ampersand of a line has a value behind it."""
    return all(map(is_value_word, _AMPERSAND.split(content)[1:]))


def _separated(
    text: str, line: Line, separator: re.Pattern[str], is_framed: bool
) -> Iterator[tuple[Row, int]]:
    """Yield the rows of a line whose cells are separated by a character, and their columns."""
    start, end = line[0].start, line[-1].end
    if separator is _PIPE:
        if not _RULE.fullmatch(text, start, end):
            framed = is_framed and text.startswith("|", start)
            yield _cells(text, start + framed, end, separator)
        return
    for match in [*_ROW_END.finditer(text, start, end), None]:
        stop = match.start() if match else end
        row, width = _cells(text, start, stop, separator)
        if row:
            yield row, width
        start = match.end() if match else end


def _cells(text: str, start: int, end: int, separator: re.Pattern[str]) -> tuple[Row, int]:
    cells: list[GridCell] = []
    column = 0
    for match in [*separator.finditer(text, start, end), None]:
        stop = match.start() if match else end
        width = 1
        if separator is _AMPERSAND:
            if command := _LATEX_COMMAND.match(text, start + _blanks(text, start, stop), stop):
                start = command.end()
            if wide := _MULTICOLUMN.match(text, start, stop):
                width, start = max(int(wide[1]), 1), wide.end()
        first = start + _blanks(text, start, stop)
        last = first + len(text[first:stop].rstrip())
        cells += _single(text, column, column + width, first, last)
        column += width
        start = match.end() if match else end
    return tuple(cells), column


def _blanks(text: str, start: int, end: int) -> int:
    content = text[start:end]
    return len(content) - len(content.lstrip())


def _spaced_grids(text: str, lines: list[Line]) -> Iterator[Grid]:
    """Yield the tables among lines whose columns are made by spaces or tabs."""
    block: list[list[GridCell]] = []
    values = 0
    for line in [*lines, None]:
        cells = _split_line(text, line) if line else []
        has_values = any(is_value(cell.text) for cell in cells)
        if line is not None and (len(cells) > 1 or has_values or _is_short(line)):
            block.append(cells)
            values += has_values and len(cells) > 1
            continue
        if values:
            yield from _blocks(block)
        block, values = [], 0


def _is_short(line: Line) -> bool:
    return not line or line[-1].end - line[0].start <= _LONGEST_LABEL


def _blocks(rows: list[list[GridCell]]) -> Iterator[Grid]:
    """Yield a table for each block of lines between blank lines, with the blocks before it that
    have no values."""
    pending: list[Row] = []
    for is_blank, group in groupby(rows, lambda row: not row):
        if is_blank:
            continue
        for block in _stacked([tuple(row) for row in group]):
            pending += block
            if any(map(_values_in, block)):
                yield _lined_grid(pending)
                pending = []


def _lined_grid(rows: Sequence[Row]) -> Grid:
    """Return the grid of lines: their fields show the columns if each value of rows with as many
    values is in fields of its own, and their characters otherwise."""
    places = [[cell.field for cell in row[1:] if is_value(cell.text)] for row in rows]
    sizes = Counter(len(fields) for fields in places if len(fields) > 1)
    most = max(sizes, key=lambda size: (sizes[size], size), default=0)
    columns = list(zip(*(fields for fields in places if len(fields) == most), strict=True))
    if not most or not all(max(one) < min(other) for one, other in pairwise([(0,), *columns])):
        return Grid(tuple(rows), is_aligned=False, is_spaced=True)
    return Grid(tuple(tuple(map(_in_field, row)) for row in rows), is_aligned=True)


def _in_field(cell: GridCell) -> GridCell:
    return replace(cell, left=cell.field, right=cell.field + 1)


def _stacked(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the tables of lines without a blank one between them: headers of another number of
    columns begin the next."""
    table: list[Row] = []
    columns = 0
    head: list[Row] = []
    for has_values, group in groupby(rows, lambda row: _values_in(row) > 0):
        run = list(group)
        if not has_values:
            head = run
            continue
        counts = Counter(map(_values_in, run))
        own = max(counts, key=lambda count: (counts[count], count))
        if columns and _begins_table(head, own, columns):
            yield table
            table = []
        table += [*head, *run]
        columns, head = own, []
    yield [*table, *head]


def _begins_table(head: Sequence[Row], count: int, before: int) -> bool:
    """Whether rows between values begin a table of `count` columns, behind one of `before`."""
    if not head:
        return False
    if count != before:
        return any(len(split_header(_texts(row), count)) == count for row in head)
    return (
        len(head) > 1
        and count > 2
        and len(split_header(_texts(head[-1]), count, by_words=True)) > 0
    )


def _texts(row: Row) -> list[str]:
    return [cell.text for cell in row]


def _values_in(row: Row) -> int:
    return sum(is_value(cell.text) for cell in row[1:])


def _split_line(text: str, line: Line) -> list[GridCell]:
    """Return the cells of a line: words that are one space apart are one cell, except a value
    behind its label or another value."""
    cells: list[list[Word]] = []
    reached, last_field = -GAP, 0
    for word in line:
        start, end, column, field = word
        if text[start] in LEADING and LEADER.fullmatch(text, start, end):
            reached = -GAP
            continue
        if column - reached >= GAP or field != last_field:
            cells.append([word])
        else:
            cells[-1].append(word)
        reached, last_field = column + end - start, field
    backwards = range(len(cells) - 1, -1, -1)
    last_value = next((k for k in backwards if _is_apart(text, cells[k])), -1)
    parts = (
        part
        for k, cell in enumerate(cells)
        for part in _values_apart(text, cell, has_more=k < last_value)
    )
    return [cell for part in parts if (cell := _cell_of(text, part))]


def _cell_of(text: str, words: Sequence[Word]) -> GridCell | None:
    first, last = words[0], words[-1]
    right = last.column + last.end - last.start
    cell = _cell(text, first.column, right, first.start, last.end)
    return cell and replace(cell, field=first.field)


def _is_apart(text: str, words: list[Word]) -> bool:
    return all(is_value_word(text[word.start : word.end]) for word in words)


def _values_apart(text: str, words: list[Word], *, has_more: bool) -> Iterator[list[Word]]:
    """Divide a cell into its label and the values at its end. In a row with `has_more` values a
    small number behind words is the mark of a note."""
    if len(words) == 1:
        yield words
        return
    at = len(words)
    while at and is_value_word(text[words[at - 1].start : words[at - 1].end]):
        at -= 1
    note = _SMALL if has_more else _FOOTNOTE
    if at == len(words) - 1 and note.fullmatch(text, words[at].start, words[at].end):
        at += 1
    while 0 < at < len(words) and _goes_on(
        text[words[0].start : words[at - 1].end], text[words[at].start : words[at].end]
    ):
        at += 1
    label, values = words[:at], words[at:]
    if label:
        yield label
    yield from _joined_marks(text, values)


def _goes_on(label: str, word: str) -> bool:
    """Whether a number belongs to the words before it: it closes their parenthesis, or is the day
    of a date."""
    is_open = label.count("(") > label.count(")")
    return (is_open and "(" not in word) or bool(_DAY.search(f"{label} {word}"))


def _joined_marks(text: str, words: list[Word]) -> Iterator[list[Word]]:
    """Join signs, currency marks and closing parentheses to their number."""
    part: list[Word] = []
    for word in words:
        content = text[word.start : word.end]
        is_closing = not content.strip(")%]")
        if part and not is_closing and not is_mark(text[part[-1].start : part[-1].end]):
            yield part
            part = []
        part.append(word)
    if part:
        yield part


# --- values ------------------------------------------------------------------------------------
_MARKS = f"{CURRENCY}()[]%+-–—−△▲*†‡ \u00a0"
_YEAR = r"[(]?(?:FY|fy|[QH][1-4] )?\s?'?(?:19|20)\d\d[):.,;]?"
_YEARS = re.compile(rf"{_YEAR}(?:\s+{_YEAR})*")
_DATE = re.compile(
    r"(?i)(?<![a-z])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? ?\d"
    r"|\d ?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
    r"|\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}|(?<!\d)\d{1,2}, ?(?:19|20)\d\d(?!\d)"
)
_DAY = re.compile(
    r"(?i)(?:^|[^a-z])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2},?$"
)
_WORD = re.compile(r"[^ ]+")
# Digits in groups between spaces are one number.
_GROUPS = re.compile(r"(?<!\d)\d{1,3} \d{3}(?!\d)")
_NIL = re.compile(rf"[{CURRENCY}]? ?\(?[-–—−]+\)? ?%?|[Nn]/?[AaMm]|[Nn]il|NIL")
_SCRAP = 2
# A mark of a note, or something in brackets, behind a value.
_NOTE = re.compile(r"\d \(\w{1,2}\)$|\d \[")
_FOOTNOTE = re.compile(r"\(\w{1,2}\)")
_SMALL = re.compile(r"\(?\w{1,2}\)?")


def is_mark(text: str) -> bool:
    """Whether a cell holds only signs that belong to the number next to it, such as `$` or `)`."""
    return not text.strip(_MARKS) and not _NIL.fullmatch(text)


def is_value(text: str) -> bool:
    """Whether a cell holds a value rather than words: a number, or a dash for none; not a year or a
    date, which are headers."""
    # Only cells of ordinary length are cached, so that junk cannot fill the memory.
    return _cached_is_value(text) if len(text) <= _CACHED_LENGTH else _is_value(text)


def _is_value(text: str) -> bool:
    text = text.strip()
    if _NIL.fullmatch(text):
        return True
    letters = sum(map(str.isalpha, text))
    digits = sum(map(str.isdigit, text))
    return digits > 2 * letters and not _YEARS.fullmatch(text) and not _DATE.search(text)


_CACHED_LENGTH = 400
_cached_is_value = lru_cache(maxsize=20_000)(_is_value)


def _is_value_or_scrap(word: str) -> bool:
    """Whether a word is one of a cell of values, or perhaps a misread mark."""
    return is_value_word(word) or (len(word) <= _SCRAP and not any(map(str.isdigit, word)))


def is_value_word(text: str) -> bool:
    return is_mark(text) or is_value(text)
