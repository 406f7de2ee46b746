"""Tables as CSV, and as LaTeX with booktabs.

A LaTeX table fits the text width of a plain article, 345 points, or one of its two columns. Wider
tables are split into blocks below each other, each with the names of the rows, and longer ones
into floats of one number. Widths and heights are estimates, on the large side.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby, islice, pairwise
from typing import NamedTuple

DECIMALS = 6
"""Of every number in a CSV: of a rate in [0, 1], four decimals of its percentage."""

_LINES_AT_ONCE = 500
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def spreadsheet_text(text: str) -> str:
    """Prefix text with an apostrophe if a spreadsheet would evaluate it.

    The characters are those of OWASP's page on CSV injection, wide forms included.

    >>> spreadsheet_text("=1+1"), spreadsheet_text("a=1")
    ("'=1+1", 'a=1')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def csv_text(lines: Iterable[Iterable[object]]) -> str:
    """Format lines as CSV; see `csv_cell`."""
    return "".join(csv_chunks(lines))


def csv_chunks(lines: Iterable[Iterable[object]]) -> Iterator[str]:
    """Format lines as CSV, some at a time."""
    waiting = iter(lines)
    while some := list(islice(waiting, _LINES_AT_ONCE)):
        text = io.StringIO(newline="")
        csv.writer(text).writerows([csv_cell(value) for value in line] for line in some)
        yield text.getvalue()


def csv_cell(value: object) -> object:
    """Format a value as a cell: None is empty, numbers have at most six decimals, and text is safe
    for spreadsheets.

    >>> [csv_cell(value) for value in (None, True, 0.7715000000000001, 3, "=1+1")]
    ['', 'true', '0.7715', 3, "'=1+1"]
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return decimal_text(value)
    return spreadsheet_text(value) if isinstance(value, str) else value


def decimal_text(value: float) -> str:
    """Round to six decimals, without exponent and trailing zeros.

    >>> decimal_text(0.1 + 0.2), decimal_text(1.0), decimal_text(-1e-9), decimal_text(7e9)
    ('0.3', '1', '0', '7000000000')
    """
    text = f"{value:.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        # In LaTeX's default encoding these would print as other characters.
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    }
)
_BREAK = r"\allowbreak{}"
_ENDS = "|:,;/_.=+@()-"
_MARKED = re.compile(rf"[^{re.escape(_ENDS)}]+[{re.escape(_ENDS)}]*|[{re.escape(_ENDS)}]+")
_LONG_WORD = 16
LONG_IN_TYPEWRITER = 20
"""Characters of a word that fit in a line of a caption."""


def escaped(text: str) -> str:
    """Escape text for LaTeX. Line breaks become spaces.

    >>> escaped("R&D, 50 %")
    'R\\\\&D, 50 \\\\%'
    """
    return " ".join(text.split()).translate(_SPECIAL)


def breakable(
    text: str,
    escape: Callable[[str], str] = escaped,
    *,
    longest: int = _LONG_WORD,
    piece: int = _LONG_WORD // 2,
) -> str:
    """The same, with places for a line to end in words longer than `longest`, such as signatures
    and hashes: after punctuation, and after every `piece` characters of longer runs.

    >>> breakable("A short name"), breakable("labels:Number,Date")
    ('A short name', 'labels:\\\\allowbreak{}Number,\\\\allowbreak{}Date')
    """
    return " ".join(
        _BREAK.join(map(escape, _pieces(word, longest, piece))) for word in text.split()
    )


def _pieces(word: str, longest: int, piece: int) -> Iterator[str]:
    for part in _MARKED.findall(word) if len(word) > longest else [word]:
        step = piece if len(part) > longest else longest
        for first in range(0, len(part), step):
            yield part[first : first + step]


PACKAGES = r"\usepackage{array,booktabs}"
# Of an article with one column, and of a column of one with two.
TEXT_WIDTH, COLUMN_WIDTH = 345.0, 200.0
_GAP = 6.0
"""Between two columns: twice the three points on each side of a cell."""
_FEWEST_FOR_NAMES = 75.0
_PIECE_OF_NAME = 7
"""Characters that fit in the narrowest column of names."""
# Of Computer Modern at 10 points.
_NARROW = dict.fromkeys("ijl.,:;'|!()[]ft -", 3.4)
_WIDE = dict.fromkeys("mwMW%&@", 10.3)
_OTHER, _LOWER, _UPPER = 5.0, 5.6, 7.8
# Sizes of an article in relation to 10 points: small type is a little wider than its size says.
_FOOTNOTE, _SCRIPT = 0.86, 0.8
# How much wider small type is than footnotes.
_SMALL = 1.09
_BOLD = 1.17
# Of an article, less a few points; of its lines, by size of type; and of the rules, the heads'
# rules and the space below a block.
_TEXT_HEIGHT = 540.0
_FOOTNOTE_LINE, _SMALL_LINE, _CAPTION_LINE = 9.5, 11.0, 12.0
_RULE, _RULES_OF_HEADS = 6.0, 28.0
_FEWEST_LINES = 5
"""Lines of a table that a float has at least, however long its caption is."""


class Cell(NamedTuple):
    """A cell: `text` is LaTeX that prints as `plain`, `under` is printed below in small type."""

    text: str
    plain: str
    under: str = ""
    is_bold: bool = False


class Head(NamedTuple):
    """A column: its label, a mark in LaTeX one character wide, and its group."""

    label: str
    mark: str = ""
    group: str = ""


class Row(NamedTuple):
    """A row: its name, further texts, and a cell for every column. `mark` is LaTeX printed after
    the name."""

    name: str
    texts: tuple[str, ...]
    cells: tuple[Cell, ...]
    mark: str = ""


class Heading(NamedTuple):
    """A heading of the following rows; `has_rule` draws a line above it."""

    text: str = ""
    has_rule: bool = True


class Overall(NamedTuple):
    """A row with one value for all columns, both in LaTeX."""

    name: str
    text: str


Line = Row | Heading | Overall


@dataclass(frozen=True)
class Table:
    """`stubs` are the headings of the names and of the further texts. `room` is the width of the
    page; all widths are in points of type of the size of footnotes, which is `unit` times that."""

    stubs: tuple[str, ...]
    heads: Sequence[Head]
    lines: Sequence[Line]
    room: float = TEXT_WIDTH
    unit: float = 1.0

    def lines_of_latex(self, caption: str, label: str) -> Iterator[str]:
        r"""Floats of one number, the first with the caption, which is LaTeX: in `\small` if the
        table fits in one block, else in `\footnotesize`."""
        small = replace(self, room=self.room / _SMALL, unit=_SMALL)
        table = small if len(small._blocks) == 1 else self
        floats = table._floats(_TEXT_HEIGHT - _caption_height(caption, self.room))
        for number, blocks in enumerate(floats):
            yield from (r"\begin{table}", r"\centering")
            yield r"\small" if table is small else r"\footnotesize"
            yield r"\setlength{\tabcolsep}{3pt}"
            yield from chain.from_iterable(
                chain([r"\par\medskip"] if at else [], block) for at, block in enumerate(blocks)
            )
            if number:
                yield from (r"\addtocounter{table}{-1}", r"\caption{Continued.}")
            else:
                yield from (rf"\caption{{{caption}}}", rf"\label{{tab:{label}}}")
            yield r"\end{table}"

    # --- heights -----------------------------------------------------------------------------

    def _floats(self, room: float) -> Iterator[list[Iterator[str]]]:
        """The blocks of each float. A block longer than a page is cut between rows."""
        used, blocks = 0.0, list[Iterator[str]]()
        for number, (first, end) in enumerate(self._blocks):
            ends = {"is_first": number == 0, "is_last": number == len(self._blocks) - 1}
            heads = self._heads_height(first, end)
            heights = self._line_heights(first, end, is_first=number == 0)
            for lines in _cut(list(zip(self.lines, heights, strict=True)), room - heads):
                height = heads + sum(each for _, each in lines)
                if blocks and used + height > room:
                    yield blocks
                    used, blocks = 0.0, []
                blocks.append(self._block(first, end, [line for line, _ in lines], **ends))
                used += height
        yield blocks

    @property
    def _line_height(self) -> float:
        return _SMALL_LINE if self.unit > 1.0 else _FOOTNOTE_LINE

    def _heads_height(self, first: int, end: int) -> float:
        lines = self._heads(first, end, 0, self._widths[first:end])
        stacks = [max(cell.count(r"\\") for cell in line[:-2].split(" & ")) for line in lines]
        return (sum(stacks) + len(stacks)) * (self._line_height + 2.0) + _RULES_OF_HEADS

    def _line_heights(self, first: int, end: int, *, is_first: bool) -> list[float]:
        names = self._names_room(first, end, is_first=is_first)
        return [self._height(line, first, end, names) for line in self.lines]

    def _height(self, line: Line, first: int, end: int, names: float) -> float:
        if isinstance(line, Heading):
            return self._line_height * bool(line.text) + _RULE * line.has_rule
        if isinstance(line, Overall):
            return self._line_height * 2
        has_under = any(cell.under for cell in line.cells[first:end])
        rows = _rows_of_name(f"{line.name}{line.mark}", names)
        return self._line_height * (rows + has_under) + 2.0 * has_under

    # --- widths ------------------------------------------------------------------------------

    @property
    def _rows(self) -> list[Row]:
        return [line for line in self.lines if isinstance(line, Row)]

    def _names_width(self) -> float:
        names = [width(f"{row.name}{row.mark}") for row in self._rows]
        names += [width(self.stubs[0])]
        # LaTeX in a name may be wide, so it may wrap.
        names += [_FEWEST_FOR_NAMES for line in self.lines if isinstance(line, Overall)]
        return max(names)

    def _text_widths(self) -> list[float]:
        return [
            max(width(text) for text in (stub, *(row.texts[place] for row in self._rows)))
            for place, stub in enumerate(self.stubs[1:])
        ]

    @cached_property
    def _widths(self) -> list[float]:
        """Widths of the columns, with marks after the labels, or below if that saves a block."""
        roomy, tight = (self._column_widths(with_marks=each) for each in (True, False))
        saves = len(self._blocks_of(tight)) < len(self._blocks_of(roomy))
        return tight if saves else roomy

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        return self._blocks_of(self._widths)

    def _column_widths(self, *, with_marks: bool) -> list[float]:
        return [
            self._column_width(place, _UPPER if with_marks and head.mark else 0.0)
            for place, head in enumerate(self.heads)
        ]

    def _column_width(self, place: int, mark: float) -> float:
        cells = [_cell_width(row.cells[place]) for row in self._rows]
        return max([longest_word(self.heads[place].label) + mark, *cells]) + _GAP

    def _blocks_of(self, widths: Sequence[float]) -> list[tuple[int, int]]:
        """Column ranges of the blocks, `[start, end)`. Groups stay together if they fit."""
        names = min(self._names_width(), _FEWEST_FOR_NAMES) + _GAP
        room = self.room - names - sum(each + _GAP for each in self._text_widths())
        ends = [0]
        for first, end in self._groups():
            wanted = max(sum(widths[first:end]), self._group_width(first))
            used = sum(widths[ends[-1] : first])
            if ends[-1] < first and wanted <= room < used + wanted:
                ends.append(first)
            for place in range(first, end):
                if ends[-1] < place and sum(widths[ends[-1] : place + 1]) > room:
                    ends.append(place)
        return list(pairwise([*ends, len(self.heads)]))

    def _groups(self, first: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """Neighbouring columns of one group."""
        places = range(first, len(self.heads) if end is None else end)
        spans = [list(each) for _, each in groupby(places, lambda at: self.heads[at].group)]
        return [(span[0], span[-1] + 1) for span in spans]

    def _group_width(self, place: int) -> float:
        return longest_word(self.heads[place].group) + _GAP

    # --- text --------------------------------------------------------------------------------

    def _names_room(self, first: int, end: int, *, is_first: bool) -> float:
        texts = self._text_widths() if is_first else []
        columns = self._widths[first:end]
        groups = self._groups(first, end)
        extra = sum(
            max(0.0, self._group_width(start) - sum(columns[start - first : stop - first]))
            for start, stop in groups
        )
        rest = self.room - sum(columns) - sum(each + _GAP for each in texts) - extra
        return min(self._names_width(), rest)

    def _block(
        self, first: int, end: int, lines: Sequence[Line], *, is_first: bool, is_last: bool
    ) -> Iterator[str]:
        texts = len(self.stubs) - 1 if is_first else 0
        columns = self._widths[first:end]
        names = self._names_room(first, end, is_first=is_first) * self.unit
        yield (
            rf"\begin{{tabular}}{{@{{}}>{{\raggedright\arraybackslash}}p{{{names:.0f}pt}}"
            rf"{'l' * texts}{'r' * len(columns)}@{{}}}}"
        )
        yield r"\toprule"
        yield from self._heads(first, end, texts, columns)
        for at, line in enumerate(lines):
            if not at and isinstance(line, Heading):
                # The heads end with a rule.
                line = line._replace(has_rule=False)
            yield from self._line(line, first, end, is_first=is_first, is_last=is_last)
        yield r"\bottomrule"
        yield r"\end{tabular}"

    def _heads(self, first: int, end: int, texts: int, columns: Sequence[float]) -> Iterator[str]:
        groups = self._groups(first, end)
        if any(self.heads[start].group for start, _ in groups):
            cells, rules = [""] * (1 + texts), []
            for start, stop in groups:
                if not self.heads[start].group:
                    cells += [""] * (stop - start)
                    continue
                room = sum(columns[start - first : stop - first]) - _GAP
                label = stacked(self.heads[start].group, room, "c")
                cells.append(rf"\multicolumn{{{stop - start}}}{{c}}{{{label}}}")
                at = 2 + texts + start - first
                rules.append(rf"\cmidrule(lr){{{at}-{at + stop - start - 1}}}")
            yield " & ".join(cells) + r" \\"
            yield " ".join(rules)
        stubs = [escaped(stub) for stub in self.stubs[: 1 + texts]]
        heads = [
            stacked(head.label, room - _GAP, "r", head.mark)
            for head, room in zip(self.heads[first:end], columns, strict=True)
        ]
        yield " & ".join([*stubs, *heads]) + r" \\"
        yield r"\midrule"

    def _line(
        self, line: Line, first: int, end: int, *, is_first: bool, is_last: bool
    ) -> Iterator[str]:
        texts = len(self.stubs) - 1 if is_first else 0
        if isinstance(line, Heading):
            if line.has_rule:
                yield r"\midrule"
            if line.text:
                span = 1 + texts + end - first
                yield rf"\multicolumn{{{span}}}{{@{{}}l}}{{\textit{{{escaped(line.text)}}}}} \\"
        elif isinstance(line, Overall):
            if is_last:
                yield rf"{line.name} & \multicolumn{{{texts + end - first}}}{{c}}{{{line.text}}} \\"
        else:
            cells = line.cells[first:end]
            name = " ".join(map(_name_word, line.name.split())) + line.mark
            stubs = [name, *(escaped(text) for text in line.texts[:texts])]
            yield " & ".join([*stubs, *(cell.text for cell in cells)]) + r" \\"
            if any(cell.under for cell in cells):
                under = [rf"\scriptsize {cell.under}" if cell.under else "" for cell in cells]
                yield " & ".join([*[""] * len(stubs), *under]) + r" \\[2pt]"


def _cut(lines: list[tuple[Line, float]], room: float) -> Iterator[list[tuple[Line, float]]]:
    """Parts of the lines that fit in the room. A heading stays with the row below it."""
    part: list[tuple[Line, float]] = []
    for each in lines:
        used = sum(height for _, height in part)
        if len(part) >= _FEWEST_LINES and used + each[1] > room:
            below = [part.pop()] if isinstance(part[-1][0], Heading) else []
            yield part
            part = below
        part.append(each)
    yield part


def _rows_of_name(name: str, room: float) -> int:
    """The lines that a name takes in a column of this width."""
    rows, used = 1, 0.0
    for word in name.split():
        is_long = width(word) > _FEWEST_FOR_NAMES
        pieces = _pieces(word, _PIECE_OF_NAME, _PIECE_OF_NAME) if is_long else iter([word])
        for piece in pieces:
            if used and used + width(piece) > room:
                rows, used = rows + 1, 0.0
            used += width(piece)
        used += width(" ")
    return rows


_COMMAND = re.compile(r"\\[A-Za-z]+(?:\{\})?|[{}]")


def _caption_height(caption: str, room: float) -> float:
    lines = 2 + int(width(_COMMAND.sub("", caption), 1.1) / room)
    return _CAPTION_LINE * (lines + 1)


def width(text: str, scale: float = _FOOTNOTE) -> float:
    """An estimate in points, on the large side; `scale` is that of the font."""
    return scale * sum(_letter(letter) for letter in text)


def longest_word(text: str) -> float:
    return max(map(width, text.split()), default=0.0)


def stacked(label: str, room: float, side: str, mark: str = "") -> str:
    """The label, wrapped to its column; the mark follows it if it fits."""
    lines: list[str] = []
    for word in label.split():
        together = f"{lines[-1]} {word}" if lines else word
        if lines and width(together) <= room:
            lines[-1] = together
        else:
            lines.append(word)
    words = [escaped(line) for line in lines] or [""]
    if mark and width(lines[-1] if lines else "") + _UPPER <= room:
        words[-1] = f"{words[-1]} {mark}".strip()
    elif mark:
        words.append(mark)
    joined = r"\\".join(words)
    return joined if len(words) == 1 else rf"\shortstack[{side}]{{{joined}}}"


def _name_word(word: str) -> str:
    """Add line-break opportunities if the text does not fit in the narrowest column."""
    if width(word) <= _FEWEST_FOR_NAMES:
        return escaped(word)
    return breakable(word, longest=_PIECE_OF_NAME, piece=_PIECE_OF_NAME)


def _cell_width(cell: Cell) -> float:
    text = width(cell.plain) * (_BOLD if cell.is_bold else 1.0)
    return max(text, width(cell.under.replace("--", "–"), _SCRIPT))


def _letter(letter: str) -> float:
    known = _NARROW.get(letter) or _WIDE.get(letter)
    if known:
        return known
    if not letter.isascii():
        return _OTHER if letter in "–’" else 10.0
    return _LOWER if letter.islower() else _UPPER if not letter.isdigit() else _OTHER
