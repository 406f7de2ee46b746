"""A leaderboard's table as files: CSV with six decimals, and LaTeX for papers.

LaTeX has one table per section, since rows of different sections are not comparable. The best value
of each column is bold, the second underlined. Disqualified rows are left out and counted. Intervals
can be printed below the figures; they are not symmetric, so ± would be wrong.
"""

from collections.abc import Iterator
from typing import Any

from portal.datasets.responses import TextFile
from portal.files.tables import (
    LONG_IN_TYPEWRITER,
    PACKAGES,
    Cell,
    Head,
    Heading,
    Line,
    Table,
    breakable,
    csv_text,
    escaped,
)
from portal.files.tables import Row as TableRow
from scoring.models import Entry

from .columns import BoardColumn, head_groups
from .rows import Cell as BoardCell
from .rows import Row, tokens_of
from .selectors import Leaderboard, Section

# The same in every table and version. The figures follow under their columns' keys.
CARD_COLUMNS = (
    "name",
    "organisation",
    "size",
    "category",
    "open_weights",
    "architecture",
    "licence",
    "released_on",
    "output_tokens",
    "cost",
    "link",
    "code_link",
)
COLUMNS = (
    "kind",
    "source",
    *CARD_COLUMNS,
    "verdict",
    "verdict_reason",
    "is_pinned",
    "is_sample",
    "submission",
    "output_tokens_per_item",
    "output_tokens_from",
)


def leaderboard_file(table: Leaderboard) -> TextFile:
    """Return a file named after board, phase and view, such as `board-test.csv`."""
    return TextFile(f"{file_stem(table)}.csv", "text/csv", leaderboard_csv(table))


def file_stem(table: Leaderboard) -> str:
    """Return the name of the table's files, without extension."""
    parts = [table.board.slug, table.phase.slug if table.phase else ""]
    parts.append(table.view.key if table.view else "")
    return "-".join(part for part in parts if part)


def leaderboard_csv(table: Leaderboard) -> str:
    """Return one line per row, in table order. `source` is the signature or publication.

    Figures are rates in [0, 1] or numbers, with at most six decimals. The bounds of the 95 %
    intervals follow after all figures. Unknown values are empty. An apostrophe is put before text
    that a spreadsheet would run as a formula.
    """
    ends = [f"{column.key}_{end}" for column in _measured(table) for end in ("low", "high")]
    heads = [*COLUMNS, *(column.key for column in table.columns), *ends]
    lines = (_line(table, section, row) for section in table.sections for row in section.rows)
    return csv_text([heads, *lines])


def _measured(table: Leaderboard) -> list[BoardColumn]:
    """Return the columns that may have an interval. Ranks have none."""
    return [column for column in table.columns if not column.is_rank]


def _line(table: Leaderboard, section: Section, row: Row) -> list[Any]:
    entry = row.entry
    tokens = tokens_of(entry)
    known = {
        "kind": section.kind,
        "source": section.key,
        "submission": row.submission_id,
        "output_tokens_per_item": tokens and tokens.per_item,
        "output_tokens_from": tokens and tokens.source,
    }
    words = [known[name] if name in known else getattr(entry, name) for name in COLUMNS]
    figures: list[float | None] = [
        row.ranks[column.key] if column.is_rank else row.values[column.basis]
        for column in table.columns
    ]
    for column in _measured(table):
        figures += entry.intervals.get(column.basis) or (None, None)
    return words + figures


_NOTHING = "--"
_STUBS = ("Model", "Size")


def leaderboard_latex_file(table: Leaderboard, *, with_intervals: bool = False) -> TextFile:
    """Return a file named after board, phase and view, such as `board-test.tex`."""
    text = leaderboard_latex(table, with_intervals=with_intervals)
    return TextFile(f"{file_stem(table)}.tex", "application/x-tex", text)


def leaderboard_latex(table: Leaderboard, *, with_intervals: bool = False) -> str:
    """Return the tables with figures and intervals rounded as on the page, or a comment if there
    are no rows."""
    lines = [f"% {escaped(table.board.title)}; needs {PACKAGES}."]
    sections = [section for section in table.sections if _shown(section)]
    for number, section in enumerate(sections, start=1):
        lines += ["", *_table(table, section, number, with_intervals=with_intervals)]
    if not sections:
        lines.append("% There are no rows yet.")
    return "\n".join(lines) + "\n"


def _shown(section: Section) -> list[Row]:
    return [row for row in section.rows if not row.is_disqualified]


def _table(
    table: Leaderboard, section: Section, number: int, *, with_intervals: bool
) -> Iterator[str]:
    with_intervals = with_intervals and section.has_intervals
    if left_out := len(section.rows) - len(_shown(section)):
        yield f"% Left out: {left_out} disqualified."
    groups = [group.label for group in head_groups(table.columns) for _ in range(group.span)]
    heads = [_head(*pair) for pair in zip(table.columns, groups, strict=True)]
    lines = list(_lines(table, section, with_intervals=with_intervals))
    caption = _caption(table, section, with_intervals=with_intervals)
    label = f"{file_stem(table)}-{number}"
    yield from Table(_STUBS, heads, lines).lines_of_latex(caption, label)


def _head(column: BoardColumn, group: str) -> Head:
    """Return the column with an arrow for its direction."""
    arrow = r"$\uparrow$" if column.higher_is_better else r"$\downarrow$"
    return Head(column.label, "" if column.is_rank else arrow, group)


def _lines(table: Leaderboard, section: Section, *, with_intervals: bool) -> Iterator[Line]:
    is_first = True
    for group in section.groups:
        rows = [row for row in group.rows if not row.is_disqualified]
        if rows and group.heading:
            yield Heading(group.heading, has_rule=not is_first)
        for row in rows:
            is_first = False
            yield _latex_line(row, table, with_intervals=with_intervals)


def _latex_line(row: Row, table: Leaderboard, *, with_intervals: bool) -> TableRow:
    cells = tuple(
        _cell(cell, row.values[column.basis], with_interval=with_intervals)
        for column, cell in zip(table.columns, row.cells, strict=True)
    )
    return TableRow(row.entry.name, (row.entry.size or _NOTHING,), cells)


def _cell(cell: BoardCell, value: float | None, *, with_interval: bool) -> Cell:
    text = _NOTHING if value is None or cell.text == "–" else escaped(cell.text)
    plain = text
    if cell.is_best:
        text = rf"\textbf{{{text}}}"
    elif cell.is_second:
        text = rf"\underline{{{text}}}"
    under = cell.interval.replace("–", "--") if with_interval else ""
    return Cell(text, plain, under, is_bold=cell.is_best)


def _caption(table: Leaderboard, section: Section, *, with_intervals: bool) -> str:
    parts = [breakable(table.board.title)]
    if table.view:
        parts.append(breakable(table.view.title))
    if section.kind == Entry.Kind.GRADED and table.phase:
        parts.append(f"phase {breakable(table.phase.title)}")
        origin = rf"Signature: \texttt{{{breakable(section.key, longest=LONG_IN_TYPEWRITER)}}}"
    else:
        origin = f"As reported: {breakable(section.key)}"
    below = r" Below: 95\,\% intervals over documents." if with_intervals else ""
    return f"{', '.join(parts)}. {origin}.{below}"
