"""How much each system loses on a stress variant against the normal capture.

Figures are compared only for the same system, pages, gold and signature.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from portal.datasets.models import Release
from scoring.access import Viewer, visible_boards
from scoring.figures import show
from scoring.leaderboard.columns import BoardColumn
from scoring.leaderboard.disclosure import entry_as_shown, shown_columns
from scoring.leaderboard.rows import Row
from scoring.leaderboard.selectors import Leaderboard
from scoring.models import Entry, Phase, Submission

System = tuple[str, str, str]


@dataclass(frozen=True)
class Loss:
    """One figure of a system: its difference to the normal capture and their ratio, as texts.

    `ratio` is empty if the figure of the normal capture is 0, or if the figure is a count.
    """

    difference: str
    ratio: str


@dataclass(frozen=True)
class RelativeRow:
    entry: Entry
    normal: Entry
    losses: tuple[Loss, ...]


@dataclass(frozen=True)
class Relative:
    """The comparison of `simulation` with the release named by `normal`; rows as on the board."""

    simulation: str
    normal: str
    columns: tuple[BoardColumn, ...]
    rows: tuple[RelativeRow, ...]


def relative_results(user: Viewer, table: Leaderboard) -> Relative | None:
    """The losses on a stress variant; None for other datasets, and if no system of the board has a
    result on the original. One query for a variant, none for other datasets."""
    if table.phase is None or table.phase.release.dataset.derived_from_id is None:
        return None
    normal = _normal_entries(user, table.phase)
    shown = shown_columns(table.phase, table.columns)
    columns = tuple(column for column in shown if not column.is_rank)
    rows = [
        RelativeRow(row.entry, known, _losses(row, known, columns))
        for section in table.sections
        if section.kind == Entry.Kind.GRADED
        for row in section.rows
        if not row.is_disqualified and (known := normal.get(_system(row.entry)))
    ]
    if not rows:
        return None
    phase = rows[0].normal.phase
    assert phase is not None
    return Relative(
        simulation=table.phase.release.dataset.simulation,
        normal=f"{phase.release.dataset.title} {phase.release.version}",
        columns=columns,
        rows=tuple(rows),
    )


def _normal_entries(user: Viewer, phase: Phase) -> dict[System, Entry]:
    """The newest result of each system on a release of the original dataset with the same items
    and gold."""
    release = phase.release
    entries = Entry.objects.filter(
        kind=Entry.Kind.GRADED,
        board__in=visible_boards(user),
        phase__release__in=Release.objects.with_gold_of(release).filter(
            dataset=release.dataset.derived_from_id
        ),
    )
    entries = entries.exclude(verdict=Submission.Verdict.DISQUALIFIED)
    related = entries.select_related("phase__release__dataset").order_by("id")
    now = timezone.now()
    return {_system(entry): entry_as_shown(entry, entry.phase, now) for entry in related}


def _system(entry: Entry) -> System:
    """The key of a system: its name and organisation in the model card, and the signature."""
    return entry.name.casefold(), entry.organisation.casefold(), entry.signature


def _losses(row: Row, normal: Entry, columns: Sequence[BoardColumn]) -> tuple[Loss, ...]:
    return tuple(
        _loss(column, row.values[column.basis], normal.scores.get(column.basis))
        for column in columns
    )


def _loss(column: BoardColumn, value: float | None, normal: float | None) -> Loss:
    if value is None or normal is None:
        return Loss(show(None), "")
    text = show(abs(value - normal), unit=column.unit, decimals=column.decimals)
    sign = "" if value == normal else "+" if value > normal else "−"
    ratio = show(value / normal, unit="", decimals=2) if column.unit and normal else ""
    return Loss(f"{sign}{text}", ratio)
