"""Scores before and after a system's training date, as a sign of contamination.

The date of a system is that of its newest training data, else its release date. A system from after
the release of the gold can have seen all of it. Its score on documents up to its date is compared
with the score on later ones, which it cannot have seen. The date of a document is that of its
filing or publication if its metadata have one, else its fiscal year.
"""

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.core.cache import cache

from portal.accounts.access import is_organiser
from scoring.access import Viewer, are_scores_shown
from scoring.benchmarks import Column, deciding_column
from scoring.figures import show
from scoring.leaderboard.columns import main_columns
from scoring.leaderboard.services import grading_stamp
from scoring.models import Board, Entry, Grading, ItemScore, Phase, Submission

# Keys of a document's metadata, in the order in which they are used.
DATE_KEYS = ("filing_date", "filed_on", "filed", "publication_date", "published_on", "published")
_YEAR_MONTH_DAY = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})(?:[T ].*)?")
_KEPT_SECONDS = 24 * 3600


def may_compare_parts(user: Viewer, phase: Phase) -> bool:
    """Whether totals over some of the items may be shown. They would reveal more than a phase shows
    that rounds its scores, splits them in parts or does not show them yet."""
    is_plain = phase.score_decimals is None and not phase.has_parts
    return is_organiser(user) or (is_plain and are_scores_shown(user, phase))


def scores_on(
    grading: Grading | None, names: Collection[str], board: Board
) -> Mapping[str, float | None]:
    """The scores of a grading over these items alone. Kept in the cache, since a finished grading
    does not change."""
    assert grading is not None
    digest = hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:32]
    key = f"scores-on:{grading_stamp(grading)}:{digest}"
    known: Mapping[str, float | None] | None = cache.get(key)
    if known is None:
        rows = ItemScore.objects.filter(grading=grading, item__name__in=names)
        results = rows.order_by("item__position").values_list("result", flat=True)
        known = board.spec.aggregate(results.iterator(chunk_size=200), grading.options).scores
        cache.set(key, known, _KEPT_SECONDS)
    return known


@dataclass(frozen=True)
class DocumentDate:
    """The day of a document's filing or publication, or only its fiscal year."""

    year: int
    day: date | None = None

    def is_until(self, moment: date) -> bool:
        """Whether the document is from up to this date. A fiscal year counts as a whole."""
        return self.day <= moment if self.day else self.year <= moment.year


def document_date(
    metadata: Mapping[str, Any] | None, fiscal_year: int | None
) -> DocumentDate | None:
    """The date of a document: the first of DATE_KEYS that is a date, else its fiscal year.

    >>> document_date({"filing_date": "2024-02-29"}, 2023)
    DocumentDate(year=2024, day=datetime.date(2024, 2, 29))
    >>> document_date({"filed": "spring"}, 2023), document_date(None, None)
    (DocumentDate(year=2023, day=None), None)
    """
    for key in DATE_KEYS:
        if day := _read_day((metadata or {}).get(key)):
            return DocumentDate(day.year, day)
    return None if fiscal_year is None else DocumentDate(fiscal_year)


def _read_day(value: Any) -> date | None:
    """Read 2024-02-29, 20240229 as in EDGAR's headers, or a time of that day."""
    match = _YEAR_MONTH_DAY.fullmatch(str(value).strip())
    try:
        return date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


@dataclass(frozen=True)
class DatedRow:
    """A model with its date, and its main score on items up to that date and after it, as
    texts; both empty where no item has a date."""

    entry: Entry
    until: date | None
    before: str
    after: str


@dataclass(frozen=True)
class DatedGroup:
    title: str
    rows: tuple[DatedRow, ...]


@dataclass(frozen=True)
class TrainingDates:
    """The models of a phase by their dates. `dated` of all `total` items have a date, and `by_day`
    of these the day of their filing or publication; the others have a fiscal year."""

    phase: Phase
    released: date
    column: Column
    dated: int
    by_day: int
    total: int
    groups: tuple[DatedGroup, ...]


_TITLES = {
    "before": "Training cutoff before gold release",
    "after": "Training cutoff on or after gold release",
    "unknown": "No training cutoff stated",
}


def training_dates(user: Viewer, board: Board, phase: Phase | None) -> TrainingDates | None:
    """None without a phase, and where `may_compare_parts` forbids it."""
    if phase is None or not may_compare_parts(user, phase):
        return None
    released = phase.release.frozen_at.date()
    dates = _document_dates(phase)
    column = deciding_column(main_columns(board, phase))
    entries = (
        Entry.objects.filter(phase=phase, kind=Entry.Kind.GRADED)
        .exclude(verdict=Submission.Verdict.DISQUALIFIED)
        .select_related("grading")
        .order_by("name", "id")
    )
    groups: dict[str, list[DatedRow]] = {key: [] for key in _TITLES}
    for entry in entries:
        row = _row(entry, board, column, dates)
        key = "unknown" if row.until is None else "before" if row.until < released else "after"
        groups[key].append(row)
    return TrainingDates(
        phase=phase,
        released=released,
        column=column,
        dated=len(dates),
        by_day=sum(dated.day is not None for dated in dates.values()),
        total=phase.items.count(),
        groups=tuple(DatedGroup(_TITLES[key], tuple(rows)) for key, rows in groups.items() if rows),
    )


def _document_dates(phase: Phase) -> dict[str, DocumentDate]:
    """The dates of the items that have one."""
    fields = ("name", "document__metadata", "document__fiscal_year")
    dates = {
        name: document_date(metadata, year)
        for name, metadata, year in phase.items.values_list(*fields).iterator(chunk_size=1000)
    }
    return {name: dated for name, dated in dates.items() if dated is not None}


def _row(entry: Entry, board: Board, column: Column, dates: Mapping[str, DocumentDate]) -> DatedRow:
    until = entry.training_until or entry.released_on
    if until is None:
        return DatedRow(entry, None, "", "")
    sides = (
        [name for name, dated in dates.items() if dated.is_until(until)],
        [name for name, dated in dates.items() if not dated.is_until(until)],
    )
    before, after = (_score(entry, names, board, column) for names in sides)
    return DatedRow(entry, until, before, after)


def _score(entry: Entry, names: list[str], board: Board, column: Column) -> str:
    if not names:
        return ""
    value = scores_on(entry.grading, names, board).get(column.key)
    return show(value, unit=column.unit, decimals=column.decimals)
