"""A leaderboard's table as CSV: what the page shows, with six decimals."""

from typing import Any

from portal.datasets.file_responses import TextFile
from portal.files.tables import csv_text

from .headings import BoardColumn
from .leaderboard_rows import Row
from .leaderboards import Leaderboard, Section
from .output_tokens import tokens_of

# The same in every table and version; the figures follow under the keys of their columns.
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
    """Named after board, phase and view, such as `board-test.csv`."""
    return TextFile(f"{file_stem(table)}.csv", "text/csv", leaderboard_csv(table))


def file_stem(table: Leaderboard) -> str:
    """What a file of the table is called, without its ending."""
    parts = [table.board.slug, table.phase.slug if table.phase else ""]
    parts.append(table.view.key if table.view else "")
    return "-".join(part for part in parts if part)


def leaderboard_csv(table: Leaderboard) -> str:
    """One line per row in the table's order; `source` is its signature or publication.

    Figures are rates in [0, 1], or numbers, with six decimals at most, and so are the ends of their
    95 % intervals, which follow after all figures; what is not known is empty. A text that a
    spreadsheet would calculate has an apostrophe before it.
    """
    ends = [f"{column.key}_{end}" for column in _measured(table) for end in ("low", "high")]
    heads = [*COLUMNS, *(column.key for column in table.columns), *ends]
    lines = (_line(table, section, row) for section in table.sections for row in section.rows)
    return csv_text([heads, *lines])


def _measured(table: Leaderboard) -> list[BoardColumn]:
    """The columns that may have an interval: a rank has none."""
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
