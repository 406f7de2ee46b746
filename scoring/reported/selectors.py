"""Rows by organisers, the items of a human run, and the systems on the same items."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from portal.datasets.curation.draws import Unit, draw_stratified
from portal.datasets.releases.publishing.croissant import escape
from portal.datasets.responses import TextFile
from scoring.access import Viewer, board_for
from scoring.benchmarks import Column, deciding_column
from scoring.figures import is_score, show
from scoring.leaderboard.citing import misc_bibtex
from scoring.leaderboard.columns import main_columns
from scoring.models import Board, Entry, Phase, Submission
from scoring.results.training_dates import may_compare_parts, scores_on


def figures_of(board: Board) -> dict[str, Column]:
    """All figures that a row of the board can have, by key: those of the board's own table, then
    those of its views."""
    spec = board.spec
    options = [phase.options for phase in board.phases.order_by("id")] or [{}]
    figures: dict[str, Column] = {}
    for given in map(spec.check_options, options):
        own = {column.key: column for column in spec.columns_for(given)}
        figures |= {**own, **spec.figures_for(given)}
    return figures


def enterable_figures(board: Board) -> dict[str, Column]:
    """The figures that publications state."""
    return {key: column for key, column in figures_of(board).items() if not column.reported}


def entered_rows(board: Board) -> QuerySet[Entry]:
    """The rows that organisers entered, by source and name."""
    return board.entries.filter(is_entered=True).order_by("provenance", "name", "id")


def ungraded_or_human(board: Board) -> QuerySet[Entry]:
    return board.entries.exclude(kind=Entry.Kind.GRADED).order_by("id")


def row_for(user: Viewer, slug: str, pk: int) -> Entry:
    """A reported or human row of a board that the user may see."""
    rows = ungraded_or_human(board_for(user, slug))
    related = ("board", "phase__release__dataset", "grading__submission__phase__board")
    return get_object_or_404(rows.select_related(*related), pk=pk)


def entered_row(board: Board, pk: int) -> Entry:
    """A row that can be edited and withdrawn: one that an organiser entered."""
    return get_object_or_404(entered_rows(board).select_related("board"), pk=pk)


def figure_lines(entry: Entry) -> list[tuple[str, str]]:
    """The figures of a row, as label and text, in the order of the board's columns."""
    return [
        (
            f"{column.group}: {column.label}" if column.group else column.label,
            show(entry.scores[column.key], unit=column.unit, decimals=column.decimals),
        )
        for column in figures_of(entry.board).values()
        if is_score(entry.scores.get(column.key))
    ]


def row_bibtex(entry: Entry, *, url: str, accessed: date) -> TextFile:
    """An `@misc` entry that names the system, the source, the board and the access date."""
    fields = {
        "title": f"{{{escape(f'{entry.name} on {entry.board.title}')}}}",
        "author": f"{{{escape(entry.organisation)}}}" if entry.organisation else "",
        "year": str(entry.published_at.year),
        "howpublished": escape(f"Leaderboard {entry.board.title}"),
        "note": f"Figures: {escape(entry.provenance)}. Accessed {accessed.isoformat()}",
        "url": url,
    }
    slug = entry.board.slug
    # No name of a submission has a dot in its key.
    text = misc_bibtex(f"{slug}.row-{entry.pk}", fields)
    return TextFile(f"{slug}-row-{entry.pk}.bib", "application/x-bibtex", text)


# Fields of gold that divide the items of a benchmark; the first that every item has is used.
_STRATA = ("gold__robustness", "gold__subset", "gold__task", "document__doc_type")


@dataclass(frozen=True)
class ItemSample:
    """A seeded draw of items: their ids, and how many came from each stratum."""

    phase: Phase
    seed: int
    total: int
    names: tuple[str, ...]
    strata: tuple[tuple[str, int, int], ...]
    """Name, drawn and available, by name; the name is empty if nothing divides the items."""

    @property
    def words(self) -> str:
        return sample_words(len(self.names), self.total)


def sample_words(drawn: int, total: int) -> str:
    """
    >>> sample_words(100, 1380)
    '100 of 1,380 items'
    """
    return f"{drawn:,} of {total:,} items"


def draw_items(phase: Phase, *, size: int, seed: int) -> ItemSample:
    """Draw as evenly as possible from the strata of the phase's items: its conditions, subsets,
    tasks or document types. Raises ValueError for a size below 1. One query."""
    rows = list(phase.items.order_by("position").values("name", *_STRATA))
    field = next((stratum for stratum in _STRATA if rows and all(row[stratum] for row in rows)), "")
    units = [Unit(row["name"], (str(row[field]) if field else "",)) for row in rows]
    drawn = draw_stratified(units, seed=seed, size=size, evenly=True)
    names = set(drawn.keys)
    return ItemSample(
        phase=phase,
        seed=seed,
        total=len(rows),
        names=tuple(row["name"] for row in rows if row["name"] in names),
        strata=tuple((part.stratum[0], len(part.drawn), part.available) for part in drawn.strata),
    )


@dataclass(frozen=True)
class SameItemsRow:
    """A row over the items of a human run, with its figures as texts."""

    entry: Entry
    is_run: bool
    cells: tuple[str, ...]


@dataclass(frozen=True)
class SameItems:
    """A human run with the systems on the same items; systems best first."""

    columns: tuple[Column, ...]
    rows: tuple[SameItemsRow, ...]


def same_items(user: Viewer, run: Entry) -> SameItems | None:
    """The systems of the phase, graded on exactly the items of the run.

    None where totals over some of the items would reveal more than the phase shows: if it rounds
    its scores, splits them in parts or does not show them yet. Organisers see it always.
    """
    phase = run.phase
    if phase is None or run.grading is None or not may_compare_parts(user, phase):
        return None
    entries = (
        Entry.objects.filter(
            phase=phase,
            kind=Entry.Kind.GRADED,
            signature=run.signature,
            grading__release=run.grading.release_id,
        )
        .exclude(verdict=Submission.Verdict.DISQUALIFIED)
        .select_related("grading", "board")
        .order_by("id")
    )
    columns = tuple(column for column in main_columns(run.board, phase) if column.headline)
    names = sorted(run.grading.submission.sample_items)
    scored = [(entry, scores_on(entry.grading, names, run.board)) for entry in entries]
    ordered = sorted(scored, key=lambda pair: (_place(pair[1], columns), pair[0].name))
    lines = [(run, run.grading.scores), *ordered]
    rows = [SameItemsRow(entry, entry == run, _cells(columns, scores)) for entry, scores in lines]
    return SameItems(columns, tuple(rows))


def _place(scores: Mapping[str, float | None], columns: Iterable[Column]) -> float:
    """A sort key: the main score, best first, and systems without it last."""
    decides = deciding_column(columns)
    value = scores.get(decides.key)
    return math.inf if value is None else -value if decides.direction == "up" else value


def _cells(columns: Iterable[Column], scores: Mapping[str, float | None]) -> tuple[str, ...]:
    return tuple(
        show(scores.get(column.key), unit=column.unit, decimals=column.decimals)
        for column in columns
    )
