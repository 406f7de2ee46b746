"""Tables of rows as CSV: each line is checked by the form of a row."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import IO, Any

from portal.datasets.imports.opening import Refusal
from portal.datasets.imports.tables import TableRow, read_csv
from portal.datasets.responses import TextFile
from portal.files.tables import csv_text
from portal.files.uploads import archive_limits
from scoring.models import Board
from scoring.models.submissions import CARD_FIELDS

from .forms import FIGURE, RowForm, row_faults
from .selectors import enterable_figures

CARD_COLUMNS = ("kind", "source", "source_url", *CARD_FIELDS)
REQUIRED = ("name", "source")
MOST_ROWS = 1000


@dataclass(frozen=True)
class TableFault:
    """An error and its place: `file:line`, and the column if it is in one."""

    where: str
    column: str
    message: str

    def __str__(self) -> str:
        column = f", column “{self.column}”" if self.column else ""
        return f"{self.where}{column}: {self.message}"


@dataclass(frozen=True)
class CheckedTable:
    """The rows of a table as `RowForm.row` returns them, and all faults."""

    rows: tuple[dict[str, Any], ...]
    faults: tuple[TableFault, ...]


def check_table(board: Board, file: IO[bytes], name: str) -> CheckedTable:
    """Read a table of at most MOST_ROWS rows. Percentages are written as in publications: 65.16."""
    rows: list[dict[str, Any]] = []
    faults: list[TableFault] = []
    places: dict[tuple[str, str], str] = {}
    figures, unknown = set(enterable_figures(board)), set[str]()
    for line in read_csv(file, name, archive_limits()):
        if isinstance(line, Refusal):
            faults.append(TableFault(line.name, "", line.reason))
            continue
        if line.number >= MOST_ROWS:
            message = f"The table has more than {MOST_ROWS:,} rows. Split it into several files."
            faults.append(TableFault(line.where, "", message))
            break
        form = RowForm(_form_data(line, figures), board=board)
        found = [*_unknown(line, figures, unknown), *_form_faults(line, form)]
        if not found:
            rows.append(form.row())
            found = list(_repeated(line, rows[-1], places))
        faults += found
    if not rows and not faults:
        message = "The table has no rows. Add one line per model below the header."
        faults.append(TableFault(name, "", message))
    return CheckedTable(tuple(rows), (*faults, *_rates(board, name, rows)))


def _form_data(line: TableRow, figures: set[str]) -> dict[str, Any]:
    data = {
        f"{FIGURE}{key}" if key in figures else key: value for key, value in line.values.items()
    }
    return {"kind": "reported", "category": "other", **data}


def _unknown(line: TableRow, figures: set[str], named: set[str]) -> Iterator[TableFault]:
    """A fault for each unknown column, at the first row that has a value in it."""
    known = [*CARD_COLUMNS, *sorted(figures)]
    for column in line.values:
        if column not in known and column not in named:
            named.add(column)
            near = get_close_matches(column, known, n=1)
            hint = f" Did you mean “{near[0]}”?" if near else ""
            yield TableFault(line.where, column, f"This board has no such column.{hint}")


def _form_faults(line: TableRow, form: RowForm) -> Iterator[TableFault]:
    for field, message in row_faults(form):
        value = line.values.get(field)
        shown = f" The value is “{value:.40}”." if value else ""
        yield TableFault(line.where, field, f"{message}{shown}")


def _repeated(
    line: TableRow, row: dict[str, Any], places: dict[tuple[str, str], str]
) -> Iterator[TableFault]:
    key = (row["provenance"], row["name"])
    if key in places:
        yield TableFault(
            line.where,
            "name",
            f"“{row['name']}” repeats the row at {places[key]}, which has the same source.",
        )
    places.setdefault(key, line.where)


def _rates(board: Board, name: str, rows: list[dict[str, Any]]) -> Iterator[TableFault]:
    """A table of rates instead of percentages, which would show scores below 1%."""
    columns = enterable_figures(board)
    values = [
        abs(value) for row in rows for key, value in row["scores"].items() if columns[key].unit
    ]
    if values and 0 < max(values) <= 0.01:
        yield TableFault(
            name, "", "All percentages are 1 or less. For 65.16%, enter 65.16, not 0.6516."
        )


def empty_table(board: Board) -> TextFile:
    """The header of a table for this board, with one column per headline figure."""
    figures = [key for key, column in enterable_figures(board).items() if column.headline]
    heads = ["name", "source", *(name for name in CARD_COLUMNS if name not in REQUIRED), *figures]
    return TextFile(f"{board.slug}-rows.csv", "text/csv", csv_text([heads]))
