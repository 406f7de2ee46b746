"""The ranks of a phase's entries: 1 + the number of entries significantly better than each.

Source of the rule: METRICS §9 of the design. Entries without a complete score, and those that are
disqualified, have no rank and count for no other. What changes the entries queues a new ranking.
Ranks say among which gradings they are, so that old ones are never taken for present ones.

Of a phase that rounds its scores or tells them in parts no ranks are kept: they would tell what is
not told.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db import transaction

from portal.jobs.models import Job
from portal.jobs.services import enqueue
from scoring.benchmarks import Column
from scoring.models import Board, Entry, Phase, Replicate, Submission
from scoring.selectors.ranking import field_key, is_score
from scoring.selectors.replicates import stored_replicates
from scoring.selectors.table_frames import board_views

from .revisions import bump_board

RANKING_KIND = "rank_entries"


class Ranked(NamedTuple):
    """The ranks of an entry by column, and which gradings they compare."""

    ranks: dict[str, int]
    among: str


def is_ranked_by_replicates(phase: Phase) -> bool:
    return phase.score_decimals is None and not phase.has_parts


@transaction.atomic
def queue_ranking(phase: Phase) -> None:
    """In the transaction that changes entries of the phase, or their replicates."""
    if not is_ranked_by_replicates(phase):
        return
    group = f"ranking:{phase.pk}"
    # One that runs may have read the entries already; one that waits has not.
    if not Job.objects.filter(group=group, state=Job.State.QUEUED).exists():
        enqueue(kind=RANKING_KIND, payload={"phase": phase.pk}, group=group)


def rank_entries(phase_id: int) -> dict[int, Ranked]:
    """The ranks of all entries of the phase that can be compared, by entry; those in the
    benchmark's views too, as far as their figures have replicates."""
    phase = Phase.objects.select_related("board").get(pk=phase_id)
    if not is_ranked_by_replicates(phase):
        return {}
    needed = [column for column in phase.columns if column.rank]
    in_views = [column for view in board_views(phase.board, phase) for column in view.columns]
    columns = {column.key: column for column in (*in_views, *needed) if column.rank}
    ranked: dict[int, Ranked] = {}
    for entries in _fields(phase, needed):
        among = field_key(entry.grading_id for entry in entries)
        by_column = {key: _ranks(entries, column) for key, column in columns.items()}
        for place, entry in enumerate(entries):
            ranks = {key: ranks[place] for key, ranks in by_column.items()}
            known = {key: rank for key, rank in ranks.items() if rank is not None}
            if known:
                ranked[entry.pk] = Ranked(known, among)
    return ranked


def _fields(phase: Phase, columns: Sequence[Column]) -> list[list[Entry]]:
    """The entries that may be compared with each other: those of the same signature."""
    fields: defaultdict[str, list[Entry]] = defaultdict(list)
    entries = Entry.objects.filter(phase=phase, kind=Entry.Kind.GRADED)
    for entry in entries.exclude(verdict=Submission.Verdict.DISQUALIFIED).order_by("id"):
        if all(is_score(entry.scores.get(column.key)) for column in columns):
            fields[entry.signature].append(entry)
    return list(fields.values())


def _ranks(entries: Sequence[Entry], column: Column) -> Sequence[int | None]:
    """None for all where one has no replicates yet: a rank among some would be a wrong one."""
    # With it comes scipy, which the web server does without.
    from scoring.metrics.intervals import significance_ranks

    rows = Replicate.objects.filter(
        grading__in=[entry.grading_id for entry in entries], figure=column.key
    )
    found = {row.grading_id: stored_replicates(row) for row in rows}
    if len(found) < len(entries) or len({each.key for each in found.values()}) > 1:
        return [None] * len(entries)
    return significance_ranks([found[entry.grading_id or 0] for entry in entries], column.direction)


@transaction.atomic
def store_ranks(phase_id: int, ranked: Mapping[int, Ranked]) -> None:
    """Writes them to the entries that are still there; the board's readers get them at once."""
    entries = Entry.objects.select_for_update().filter(phase=phase_id).order_by("pk")
    changed = []
    for entry in entries:
        now = ranked.get(entry.pk, Ranked({}, ""))
        if (entry.ranks, entry.ranked_among) != now:
            entry.ranks, entry.ranked_among = now
            changed.append(entry)
    if changed:
        Entry.objects.bulk_update(changed, ["ranks", "ranked_among"], batch_size=200)
        bump_board(Board.objects.values_list("pk", flat=True).get(phases=phase_id))
