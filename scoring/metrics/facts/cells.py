"""The cells of the tables on a page: which row and columns they fill, and which text they hold."""

import re
from dataclasses import dataclass, field

_SPAN = r"\s{name}\s*=\s*[\"']?\s*(\d{{1,4}})"
_COLSPAN = re.compile(_SPAN.format(name="colspan"), re.IGNORECASE)
_ROWSPAN = re.compile(_SPAN.format(name="rowspan"), re.IGNORECASE)
_MOST_COLUMNS = 1000
# Cells that reach into later rows, per table: more of them than this are taken to end in their row.
_MOST_REACHING = 200
# Tables inside tables: only so many around a text are followed.
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
    """A table being read. `reaching` holds `[first column, end column, rows left]` of cells with
    a rowspan."""

    number: int
    row: int = -1
    column: int = 0
    cell: _OpenCell | None = None
    reaching: list[list[int]] = field(default_factory=list)


class TableReader:
    """Follows the table tags of a page, with the leniency of a browser: end tags may be missing."""

    def __init__(self) -> None:
        self._tables: list[_Table] = []
        self._count = 0
        self._cells: list[_OpenCell] = []
        self._row_columns: dict[tuple[int, int], int] = {}

    @property
    def in_cell(self) -> bool:
        """Whether text that follows belongs to a table cell."""
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
        """Text `[start, end)` of the page belongs to every cell that is open around it."""
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
