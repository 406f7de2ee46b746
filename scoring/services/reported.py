"""Rows that papers report, as entries of a board."""

from collections.abc import Mapping

from django.db import transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from scoring.benchmarks import ReportedRow
from scoring.metrics.text import general_score
from scoring.models import Board, Category, Entry

from .revisions import bump_board

TEXT_FIGURES = {"r1", "rl", "edit_distance"}


@transaction.atomic
def load_reported(*, board: Board, actor: User | None = None) -> list[Entry]:
    """Makes the board's reported entries those of its benchmark; a second run changes nothing.

    Of the benchmark's own table only rows with exactly the board's figures are taken: a table over
    other fact types measures something else. The rows of its views are taken as they are. Rows are
    told apart by source and name; one that the benchmark no longer has is removed.
    """
    Board.objects.select_for_update().get(pk=board.pk)
    known = {
        (entry.provenance, entry.name): entry
        for entry in board.entries.filter(kind=Entry.Kind.REPORTED)
    }
    rows = _comparable_rows(board)
    changed = []
    for row in rows:
        key = (row.provenance, row.name)
        changed.append(_write(known.pop(key) if key in known else Entry(board=board), row))
    for outdated in known.values():
        outdated.delete()
    if any(changed) or known:
        bump_board(board.pk)
        record_event(
            verb="load_reported", subject=board, actor=actor, rows=len(rows), removed=len(known)
        )
    return list(board.entries.filter(kind=Entry.Kind.REPORTED).order_by("id"))


def _comparable_rows(board: Board) -> list[ReportedRow]:
    """The rows whose accuracies are those of the board, with all its headline figures and no
    others; then those of its views."""
    phase, spec = board.phases.order_by("id").first(), board.spec
    options = spec.check_options({} if phase is None else phase.options)
    columns = spec.columns_for(options)
    headline = {column.key for column in columns if column.headline}
    known = {column.key for column in columns}
    rows = [row for row in spec.reported if headline <= row.scores.keys() <= known]
    return rows + [row for view in spec.views_for(options) for row in view.reported]


def _with_general(scores: Mapping[str, float]) -> dict[str, float]:
    """The scores with the mean of the text figures, by which papers rank without printing it."""
    if not scores.keys() >= TEXT_FIGURES:
        return dict(scores)
    return {**scores, "general": general_score(**{key: scores[key] for key in TEXT_FIGURES})}


def _write(entry: Entry, row: ReportedRow) -> bool:
    """Makes the entry say what the row says; whether it said anything else before."""
    wanted = {
        "kind": Entry.Kind.REPORTED,
        "name": row.name,
        "organisation": row.organisation,
        "size": row.size,
        "category": row.category if row.category in Category.values else Category.OTHER,
        "notes": row.notes,
        "scores": _with_general(row.scores),
        "provenance": row.provenance,
        "provenance_url": row.provenance_url,
    }
    differs = entry.pk is None or any(getattr(entry, key) != wanted[key] for key in wanted)
    for key, value in wanted.items():
        setattr(entry, key, value)
    if differs:
        entry.save()
    return differs
