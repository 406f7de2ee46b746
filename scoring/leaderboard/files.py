"""A leaderboard's table as files: CSV with six decimals, LaTeX for papers, Markdown.

LaTeX and Markdown have one table per section, since rows of different sections are not comparable.
The best value of each column is bold; in LaTeX the second is underlined. Disqualified rows are left
out of LaTeX and counted. Intervals can be printed with the figures; they are not symmetric, so ±
would be wrong.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from django import forms

from portal.datasets.responses import TextFile
from portal.files.tables import (
    COLUMN_WIDTH,
    LONG_IN_TYPEWRITER,
    PACKAGES,
    TEXT_WIDTH,
    Cell,
    Head,
    Heading,
    Line,
    Table,
    breakable,
    csv_chunks,
    escaped,
)
from portal.files.tables import Row as TableRow
from scoring.models import Entry

from .columns import BoardColumn, head_groups
from .filters import QueryForm
from .rows import Cell as BoardCell
from .rows import Row, RowGroup, Section, best_first, tokens_of
from .selectors import Leaderboard

COLUMN, TEXT = "column", "text"
# Rows of each table in LaTeX and Markdown, unless the reader asks for another number.
PRINTED_ROWS = 200


@dataclass(frozen=True)
class Export:
    """The choices for a file: the keys of its columns and the number of the best rows of each
    section, all of them if these are empty; whether with intervals; and, for LaTeX, whether it is
    as wide as one of two columns or as the text of an article."""

    columns: tuple[str, ...] = ()
    rows: int | None = None
    intervals: bool = False
    width: str = TEXT

    def of(self, table: Leaderboard) -> Leaderboard:
        """Return the table with these columns and rows. Ranks and best figures stay those of the
        whole table."""
        places = [
            at
            for at, column in enumerate(table.columns)
            if not self.columns or column.key in self.columns
        ]
        return replace(
            table,
            columns=tuple(table.columns[at] for at in places),
            sections=tuple(self._section(table, each, places) for each in table.sections),
        )

    def _section(self, table: Leaderboard, section: Section, places: Sequence[int]) -> Section:
        groups = section.groups
        if self.rows:
            ranked = best_first(_shown(section), table.columns)[: self.rows]
            groups = (RowGroup("", tuple(ranked)),)
        return replace(
            section,
            groups=tuple(
                replace(group, rows=tuple(_cut(row, places) for row in group.rows))
                for group in groups
            ),
        )


def _cut(row: Row, places: Sequence[int]) -> Row:
    return replace(row, columns=tuple(row.columns[at] for at in places))


class ExportForm(QueryForm):
    """The choices of an `Export`. Files do not show what is wrong with them, so wrong values are
    refused."""

    width = forms.ChoiceField(
        label="LaTeX table width",
        choices=[(TEXT, "Full width"), (COLUMN, "Single column")],
        required=False,
    )
    rows = forms.IntegerField(
        label="Rows to include",
        min_value=1,
        max_value=1000,
        required=False,
        help_text=f"Default: {PRINTED_ROWS} per LaTeX or Markdown table, all in CSV.",
    )
    intervals = forms.BooleanField(label="Include 95% intervals", required=False)
    columns = forms.MultipleChoiceField(
        label="Columns",
        required=False,
        help_text="Select none to include all columns.",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, data: Any, columns: Sequence[BoardColumn]) -> None:
        super().__init__(data)
        self.fields["columns"].choices = [  # type: ignore[attr-defined]
            (column.key, f"{column.group}: {column.label}" if column.group else column.label)
            for column in columns
        ]

    def export(self) -> Export:
        """Return the choices of a valid form."""
        found = self.cleaned_data
        return Export(
            tuple(found["columns"]), found["rows"], found["intervals"], found["width"] or TEXT
        )


# The same in every table and version. The figures follow under their columns' keys.
CARD_COLUMNS = (
    "name",
    "organisation",
    "size",
    "category",
    "open_weights",
    "architecture",
    "reasoning",
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


def file_stem(table: Leaderboard) -> str:
    """Return the name of the table's files, without extension."""
    parts = [table.board.slug, table.phase.slug if table.phase else ""]
    parts.append(table.view.key if table.view else "")
    return "-".join(part for part in parts if part)


def leaderboard_csv(table: Leaderboard) -> Iterator[str]:
    """Return one line per row, in table order, some at a time. `source` is the signature or
    publication.

    Figures are rates in [0, 1] or numbers, with at most six decimals. The bounds of the 95%
    intervals follow after all figures. Unknown values are empty. An apostrophe is put before text
    that a spreadsheet would run as a formula.
    """
    ends = [f"{column.key}_{end}" for column in _measured(table) for end in ("low", "high")]
    heads = [*COLUMNS, *(column.key for column in table.columns), *ends]
    lines = (_line(table, section, row) for section in table.sections for row in section.rows)
    return csv_chunks(chain([heads], lines))


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


def leaderboard_latex(table: Leaderboard, export: Export = Export()) -> str:
    """Return the tables with figures and intervals rounded as on the page, or a comment if there
    are no rows. In an article with two columns, a table as wide as the text needs `table*`."""
    export = printed(table, export)
    lines = [f"% {escaped(table.board.title)}; needs {PACKAGES}."]
    sections = [section for section in export.of(table).sections if _shown(section)]
    if export.rows:
        lines.append(f"% The top {export.rows} rows of each table.")
        lines.append("% The CSV file has all rows.")
    for number, section in enumerate(sections, start=1):
        lines += ["", *_table(export.of(table), section, number, export)]
    if not sections:
        lines.append("% There are no results yet.")
    return "\n".join(lines) + "\n"


def printed(table: Leaderboard, export: Export) -> Export:
    """Return the export, with a number of rows if a table is too long to be printed."""
    longest = max((section.size for section in table.sections), default=0)
    return export if export.rows or longest <= PRINTED_ROWS else replace(export, rows=PRINTED_ROWS)


def _shown(section: Section) -> list[Row]:
    return [row for row in section.rows if not row.is_disqualified]


def _table(table: Leaderboard, section: Section, number: int, export: Export) -> Iterator[str]:
    with_intervals = export.intervals and section.has_intervals
    if left_out := len(section.rows) - len(_shown(section)):
        yield f"% Disqualified rows left out: {left_out}."
    groups = [label for label, span in head_groups(table.columns) for _ in range(span)]
    heads = [_head(*pair) for pair in zip(table.columns, groups, strict=True)]
    caption = _caption(table, section, with_intervals=with_intervals)
    is_narrow = export.width == COLUMN
    yield from Table(
        # A size may be as long as a column is wide.
        _STUBS[:1] if is_narrow else _STUBS,
        heads,
        list(_lines(table, section, with_intervals=with_intervals, has_size=not is_narrow)),
        room=COLUMN_WIDTH if is_narrow else TEXT_WIDTH,
    ).lines_of_latex(caption, f"{file_stem(table)}-{number}")


def _head(column: BoardColumn, group: str) -> Head:
    """Return the column with an arrow for its direction."""
    arrow = r"$\uparrow$" if column.higher_is_better else r"$\downarrow$"
    return Head(column.label, "" if column.is_rank else arrow, group)


def _lines(
    table: Leaderboard, section: Section, *, with_intervals: bool, has_size: bool
) -> Iterator[Line]:
    is_first = True
    for group in section.groups:
        rows = [row for row in group.rows if not row.is_disqualified]
        if rows and group.heading:
            yield Heading(group.heading, has_rule=not is_first)
        for row in rows:
            is_first = False
            yield _latex_line(row, table, with_intervals=with_intervals, has_size=has_size)


def _latex_line(row: Row, table: Leaderboard, *, with_intervals: bool, has_size: bool) -> TableRow:
    cells = tuple(
        _cell(cell, row.values[column.basis], with_interval=with_intervals)
        for column, cell in zip(table.columns, row.cells, strict=True)
    )
    texts = (row.entry.size or _NOTHING,) if has_size else ()
    return TableRow(row.entry.name, texts, cells)


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
        parts.append(breakable(table.phase.name))
        origin = rf"Signature: \texttt{{{breakable(section.key, longest=LONG_IN_TYPEWRITER)}}}"
    else:
        origin = f"As reported: {breakable(section.key)}"
    below = r" Below each score: its 95\,\% interval over documents." if with_intervals else ""
    return f"{', '.join(parts)}. {origin}.{below}"


_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~&#])")


def markdown_text(text: str) -> str:
    """Return text on one line that Markdown shows as it is, also in a table.

    >>> print(markdown_text("a|b <c>"))
    a\\|b \\<c\\>
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def leaderboard_markdown(table: Leaderboard, export: Export = Export()) -> str:
    """Return the tables, each below its source. They have no sub-headings, so the rows are by rank
    unless the reader chose an order."""
    if not table.sort.key:
        sections = (_by_rank(section, table.columns) for section in table.sections)
        table = replace(table, sections=tuple(sections))
    export = printed(table, export)
    shown = export.of(table)
    parts = [
        "\n".join(_markdown_table(shown, section, with_intervals=export.intervals))
        for section in shown.sections
        if _shown(section)
    ]
    if export.rows:
        parts.append(f"The top {export.rows} rows of each table. The CSV file has all rows.")
    title = f"**{markdown_text(table.board.title)}**"
    return "\n\n".join([title, *(parts or ["There are no results yet."])]) + "\n"


def _by_rank(section: Section, columns: Sequence[BoardColumn]) -> Section:
    return replace(section, groups=(RowGroup("", tuple(best_first(section.rows, columns))),))


def _markdown_table(table: Leaderboard, section: Section, *, with_intervals: bool) -> Iterator[str]:
    yield f"{_source(table, section)}\n"
    groups = {column.group for column in table.columns if not column.is_rank}
    heads = [
        f"{column.group}: {column.label}" if column.is_rank and len(groups) > 1 else column.label
        for column in table.columns
    ]
    yield _markdown_row([*_STUBS, *map(markdown_text, heads)])
    yield _markdown_row([*(":--" for _ in _STUBS), *("--:" for _ in heads)])
    for row in _shown(section):
        cells = [_markdown_cell(cell, with_interval=with_intervals) for cell in row.cells]
        yield _markdown_row(
            [markdown_text(row.entry.name), markdown_text(row.entry.size) or "–", *cells]
        )


def _source(table: Leaderboard, section: Section) -> str:
    if section.kind != Entry.Kind.GRADED or table.phase is None:
        return f"As reported: {markdown_text(section.key)}."
    return f"{markdown_text(table.phase.name)}. Signature: {markdown_text(section.key)}."


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: BoardCell, *, with_interval: bool) -> str:
    text = f"**{cell.text}**" if cell.is_best else cell.text
    return f"{text} ({cell.interval})" if with_interval and cell.interval else text


# The media type and the writer of each format, by the ending of its files.
_FORMATS: dict[str, tuple[str, Callable[[Leaderboard, Export], str]]] = {
    "tex": ("application/x-tex", leaderboard_latex),
    "md": ("text/markdown", leaderboard_markdown),
}


def leaderboard_file(table: Leaderboard, export: Export, ending: str) -> TextFile:
    """Return a file named after board, phase and view, such as `board-test.csv`."""
    media_type, write = _FORMATS[ending]
    return TextFile(f"{file_stem(table)}.{ending}", media_type, write(table, export))
