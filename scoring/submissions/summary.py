"""The summary of a submission: its largest losses, and its place on the leaderboard."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.cache import cache
from django.utils import timezone

from scoring.benchmarks import Benchmark, Column, View, deciding_column
from scoring.figures import Figure, figure, is_score
from scoring.leaderboard.disclosure import shown_part
from scoring.leaderboard.selectors import ranked_scores
from scoring.models import Entry, Grading, Phase, Submission

MOST_LOSSES = 3
_RANKS_SECONDS = 600


@dataclass(frozen=True)
class Losses:
    """The worst figures of a kind, worst first."""

    title: str
    unit: str
    figures: list[Figure]


@dataclass(frozen=True)
class Place:
    """A rank on the leaderboard, and the number of ranked rows."""

    rank: int
    of: int


def largest_losses(
    spec: Benchmark, columns: Sequence[Column], views: Sequence[View], done: Grading
) -> list[Losses]:
    """Return the most frequent kinds of errors, and the parts with the lowest scores.

    The benchmark's charts define which figures these are; without a chart of parts, those of its
    first view, or those next to the deciding figure.
    """
    known = {column.key: column for view in views for column in view.columns}
    known |= {column.key: column for column in columns}
    errors = next((chart.figures for chart in spec.charts if chart.kind == "shares"), ())
    title, parts = _parts(spec, columns, views)
    found = [
        _worst("Most frequent errors", [known[key] for key in errors if key in known], done),
        _worst(f"Lowest {title}", [known[key] for key in parts if key in known], done),
    ]
    return [losses for losses in found if losses.figures]


def _parts(
    spec: Benchmark, columns: Sequence[Column], views: Sequence[View]
) -> tuple[str, list[str]]:
    """Return a title in lower case and the keys of figures that break the deciding figure down."""
    deciding = deciding_column(columns)
    for chart in spec.charts:
        if chart.kind == "profile" and chart.reference is None:
            return chart.title.lower(), list(chart.figures)
    if views:
        keys = [column.key for column in views[0].columns if column.key != deciding.key]
        return f"score by {spec.part_name.lower() or 'part'}", keys
    near = [column.key for column in columns if column.group == deciding.group]
    return f"figures: {deciding.group}", [key for key in near if key != deciding.key]


def _worst(title: str, columns: Sequence[Column], done: Grading) -> Losses:
    """Return the figures furthest from perfect, without perfect ones. A perfect error rate is 0."""
    lost = []
    for column in columns:
        value = done.scores.get(column.key)
        if is_score(value):
            lost.append((value if column.direction == "down" else 1 - value, column))
    lost.sort(key=lambda pair: -pair[0])
    worst = [column for loss, column in lost if loss > 0][:MOST_LOSSES]
    unit = "%" if all(column.unit == "%" for column in worst) else ""
    return Losses(title, unit, [figure(column, done.scores, done.counts) for column in worst])


def place_of(submission: Submission, entry: Entry | None, done: Grading | None) -> Place | None:
    """At most one query."""
    if entry is None or done is None or entry.grading_id != done.pk:
        return None
    ranks = _kept_ranks(submission.phase)
    return Place(ranks[entry.pk], len(ranks)) if entry.pk in ranks else None


def _kept_ranks(phase: Phase) -> dict[int, int]:
    """Return the ranks of the ranked entries, cached until the board changes."""
    board, part = phase.board, shown_part(phase, timezone.now())
    stamp = f"{board.pk}-{board.created_at.timestamp()}-{board.revision}"
    key = f"scoring:ranks:1:{stamp}:{phase.pk}:{part}"
    kept: dict[int, int] | None = cache.get(key)
    if kept is None:
        found = ranked_scores(board, phase)
        kept = {entry: each.rank for entry, each in found.items() if each.rank is not None}
        cache.set(key, kept, _RANKS_SECONDS)
    return kept
