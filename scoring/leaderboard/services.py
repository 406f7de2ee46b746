"""Changes to the rows of a leaderboard: intervals, ranks, figures and reported rows.

The rank of an entry is 1 + the number of entries significantly better than it (METRICS §9 of the
design). Entries without a complete score and disqualified entries have no rank and do not affect
others. Every change of the entries queues a new ranking. Ranks record the gradings that they
compare, so outdated ranks are recognised. A phase that rounds its scores or publishes them in parts
stores no ranks, because they would reveal more than it publishes.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, F, OuterRef

from portal.accounts.models import Team, User
from portal.audit.models import record_event
from portal.jobs.models import Job
from portal.jobs.services import enqueue
from scoring.benchmarks import Column, ReportedRow
from scoring.benchmarks.items import Observation, replicated, resampled_documents
from scoring.figures import is_score
from scoring.metrics.text import general_score
from scoring.models import Board, Category, Entry, Grading, Phase, Replicate, Submission

from .columns import board_views
from .disclosure import hides_gold, shown_decimals, shown_parts, shown_scores
from .rows import field_key

if TYPE_CHECKING:
    from scoring.metrics.intervals import PairedTest, Replicates


def bump_board(board_id: int) -> None:
    """Mark the board's leaderboard as changed. Call it in the transaction that writes, changes or
    deletes entries. Not needed for changes of the board and its phases. Lock the board last."""
    Board.objects.filter(pk=board_id).update(revision=F("revision") + 1)


def bump_boards_of_team(instance: Team, **_: Any) -> None:
    """Bump the boards of a team's submissions after the team is saved, since their rows show its
    name."""
    boards = Board.objects.filter(entries__grading__submission__team=instance).values("pk")
    Board.objects.filter(pk__in=boards).update(revision=F("revision") + 1)


ByFigure = Mapping[str, "Replicates"]


def stored_replicates(row: Replicate) -> "Replicates":
    """Restore the stored replicates."""
    # Imports numpy, which most pages do not need.
    import numpy as np

    from scoring.metrics.intervals import Replicates

    return Replicates(row.value, np.frombuffer(bytes(row.values), dtype="<f8"), row.key)


def kept_replicates(gradings: Sequence[Grading]) -> dict[int, ByFigure]:
    """Return the stored replicates by grading key and figure. One query."""
    by_grading: defaultdict[int, dict[str, Replicates]] = defaultdict(dict)
    for row in Replicate.objects.filter(grading__in=gradings):
        by_grading[row.grading_id][row.figure] = stored_replicates(row)
    return dict(by_grading)


def paired_test(first: "Replicates | None", second: "Replicates | None") -> "PairedTest | None":
    """The test of two replicates; None if one is missing or they are of different resamplings."""
    # Imports numpy, which few pages need.
    from scoring.metrics.intervals import paired_bootstrap

    if first is None or second is None or first.key != second.key:
        return None
    return paired_bootstrap(first, second)


def shown_intervals(phase: Phase, grading_id: int | None) -> dict[str, list[float]]:
    """Return the 95% intervals of a grading by figure, as the phase shows them: rounded like
    scores. None on hidden gold, where they would give digits back, and for a phase in parts, whose
    gradings are resampled as a whole. One query."""
    if phase.has_parts or hides_gold(phase):
        return {}
    rows = Replicate.objects.filter(grading=grading_id, low__isnull=False).order_by("figure")
    places = shown_decimals(phase, "")
    ends = {row.figure: (row.low, row.high) for row in rows.defer("values")}
    return {
        figure: [round(low, places), round(high, places)]
        for figure, (low, high) in ends.items()
        if low is not None and high is not None
    }


def grading_stamp(grading: Grading) -> str:
    """Return a text that is unique to this finished grading, even across sites that share
    numbers."""
    at = grading.finished_at
    return f"{grading.pk}-{at.timestamp() if at else 0}"


RANKING_KIND = "rank_entries"


class Ranked(NamedTuple):
    """The ranks of an entry by column, and the gradings they compare."""

    ranks: dict[str, int]
    among: str


def is_ranked_by_replicates(phase: Phase) -> bool:
    return phase.score_decimals is None and not phase.has_parts


@transaction.atomic
def queue_ranking(phase: Phase) -> None:
    """Queue a ranking. Call it in the transaction that changes entries of the phase or their
    replicates."""
    if not is_ranked_by_replicates(phase):
        return
    group = _ranking_group(phase)
    # A running job may have read the entries already; a waiting one has not.
    if not Job.objects.filter(group=group, state=Job.State.QUEUED).exists():
        enqueue(kind=RANKING_KIND, payload={"phase": phase.pk}, group=group)


def _ranking_group(phase: Phase) -> str:
    return f"ranking:{phase.pk}"


def is_being_ranked(phase: Phase) -> bool:
    """Whether a ranking of the phase is waiting or running."""
    return Job.objects.unfinished().filter(group=_ranking_group(phase)).exists()


def rank_entries(phase_id: int) -> dict[int, Ranked]:
    """Return the ranks of all comparable entries of the phase, by entry, including ranks in the
    benchmark's views for figures that have replicates."""
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
    """Group the entries that may be compared: those of the same signature."""
    fields: defaultdict[str, list[Entry]] = defaultdict(list)
    entries = Entry.objects.filter(phase=phase, kind=Entry.Kind.GRADED)
    for entry in entries.exclude(verdict=Submission.Verdict.DISQUALIFIED).order_by("id"):
        if all(is_score(entry.scores.get(column.key)) for column in columns):
            fields[entry.signature].append(entry)
    return list(fields.values())


def _ranks(entries: Sequence[Entry], column: Column) -> Sequence[int | None]:
    """Return the ranks, or None for all if one entry has no replicates yet, since a partial ranking
    would be wrong."""
    # Imports numpy, which the web server does not need.
    from scoring.metrics.intervals import significance_ranks

    rows = Replicate.objects.filter(
        grading__in=[entry.grading_id for entry in entries], figure=column.key
    )
    stored = {row.grading_id: stored_replicates(row) for row in rows}
    if len(stored) < len(entries) or len({replicates.key for replicates in stored.values()}) > 1:
        return [None] * len(entries)
    return significance_ranks(
        [stored[entry.grading_id or 0] for entry in entries], column.direction
    )


@transaction.atomic
def store_ranks(phase_id: int, ranked: Mapping[int, Ranked]) -> None:
    """Store the ranks of the entries that still exist, and invalidate the cached leaderboard."""
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


RESAMPLE_KIND = "resample_grading"
_AT_ONCE = 200
# Number of gradings without replicates queued at a time.
_MISSING_AT_ONCE = 50


def queue_resampling(grading_id: int) -> None:
    """Queue the resampling in the transaction that finishes the grading. Its group is its own,
    because nothing waits for it."""
    enqueue(kind=RESAMPLE_KIND, payload={"grading": grading_id}, group=_group(grading_id))


def _group(grading_id: int) -> str:
    return f"resampling:{grading_id}"


def are_being_resampled(gradings: Iterable[Grading]) -> bool:
    """Whether the resampling of any of them is waiting or running."""
    groups = [_group(grading.pk) for grading in gradings]
    return Job.objects.unfinished().filter(kind=RESAMPLE_KIND, group__in=groups).exists()


def resample(grading_id: int) -> "dict[str, Replicates]":
    """Return the replicates of the figures that are shown or ranked by; empty unless the grading is
    done.

    Weights are seeded by the release, so that all entries of a board share them.
    """
    related = ("submission__phase__board", "release")
    grading = Grading.objects.select_related(*related).get(pk=grading_id)
    if grading.state != Grading.State.DONE:
        return {}
    spec = grading.submission.phase.board.spec
    rows = list(_observations(grading))
    weights = resampled_documents(rows, itemgetter("stratum"), seed=grading.release.same_gold)
    figures = replicated(rows, itemgetter("added"), spec.combined, weights)
    wanted = {
        column.key
        for column in spec.figures_for(grading.options).values()
        # Undefined figures, such as a mean over tracks with one missing, have no replicates.
        if (column.headline or column.rank) and grading.scores.get(column.key) is not None
    }
    return {figure: replicates for figure, replicates in figures.items() if figure in wanted}


def _observations(grading: Grading) -> Iterator[Observation]:
    """Yield each item's contributions and stratum. The full results would need too much memory.

    Items of one document are drawn together; an item without a document is drawn on its own.
    """
    spec = grading.submission.phase.board.spec
    rows: Any = grading.item_scores.order_by("item__position").values_list(
        "item__document__name", "item__name", "result"
    )
    for document, item, result in rows.iterator(chunk_size=_AT_ONCE):
        # The prefixes keep item names and document names apart.
        name = f"document {document}" if document else f"item {item}"
        added = tuple(spec.contributions(result, grading.options))
        yield Observation(name, {"added": added, "stratum": spec.stratum(result)})


@transaction.atomic
def store_replicates(grading_id: int, replicates: "Mapping[str, Replicates]") -> None:
    """Replace the stored replicates of a grading and update the intervals of its entry."""
    Replicate.objects.filter(grading=grading_id).delete()
    Replicate.objects.bulk_create(
        _row(grading_id, figure, replicates[figure]) for figure in sorted(replicates)
    )
    entries = Entry.objects.select_for_update(of=("self",)).select_related("phase")
    entry = entries.filter(grading=grading_id).first()
    if entry is not None and entry.phase is not None:
        show_intervals(entry, entry.phase)
        entry.save(update_fields=["intervals"])
        queue_ranking(entry.phase)
        bump_board(entry.board_id)


def show_intervals(entry: Entry, phase: Phase) -> None:
    """Set the entry's intervals to those of its grading that the phase shows."""
    entry.intervals = shown_intervals(phase, entry.grading_id)


def _row(grading_id: int, figure: str, replicates: "Replicates") -> Replicate:
    interval = replicates.interval()
    return Replicate(
        grading_id=grading_id,
        figure=figure,
        key=replicates.key,
        value=replicates.value,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        values=replicates.values.astype("<f8").tobytes(),
    )


def queue_missing() -> int:
    """Queue the resampling of published gradings that have no replicates; return how many. Gradings
    whose jobs ended without a result are skipped."""
    missing = Entry.objects.filter(grading__isnull=False).exclude(
        Exists(Replicate.objects.filter(grading=OuterRef("grading")))
    )
    return _queue_unless_tried(
        missing.order_by("pk").values_list("grading", flat=True)[:_MISSING_AT_ONCE]
    )


@transaction.atomic
def ask_for_replicates(gradings: Iterable[Grading]) -> int:
    """Queue the resampling of gradings without replicates, unless it is under way or has failed for
    good; return how many."""
    wanted = [grading.pk for grading in gradings]
    known = set(Replicate.objects.filter(grading__in=wanted).values_list("grading", flat=True))
    return _queue_unless_tried(pk for pk in wanted if pk not in known)


def _queue_unless_tried(gradings: Iterable[int | None]) -> int:
    queued = 0
    for grading_id in gradings:
        if grading_id and not Job.objects.filter(group=_group(grading_id)).exists():
            queue_resampling(grading_id)
            queued += 1
    return queued


FIGURES = ("scores", "parts", "intervals")


def set_figures(entry: Entry, phase: Phase, grading: Grading) -> None:
    """Set the figures of an entry. Rounding comes before ranking, because the order would reveal
    further digits. The caller saves FIGURES."""
    entry.grading = grading
    entry.scores, entry.parts = shown_scores(phase, grading), shown_parts(phase, grading)
    show_intervals(entry, phase)


def refresh_shown_scores(phase: Phase, grading: Grading | None = None) -> None:
    """Update the figures of published rows, or of that of a grading, after something changed that
    decides how exactly they are shown, such as the phase's decimals."""
    entries = Entry.objects.select_for_update(of=("self",)).filter(phase=phase)
    entries = entries.filter(grading=grading) if grading else entries.exclude(grading=None)
    for entry in entries.select_related("grading").order_by("pk"):
        assert entry.grading is not None
        set_figures(entry, phase, entry.grading)
        if not is_ranked_by_replicates(phase):
            entry.ranks, entry.ranked_among = {}, ""
        entry.save(update_fields=[*FIGURES, "ranks", "ranked_among"])
    queue_ranking(phase)
    bump_board(phase.board_id)


TEXT_FIGURES = {"r1", "rl", "edit_distance"}


@transaction.atomic
def load_reported(*, board: Board, actor: User | None = None) -> list[Entry]:
    """Make the board's reported entries match those of its benchmark. Running it again changes
    nothing.

    From the benchmark's own tables, only those with exactly the board's figures are taken: a table
    over other fact types measures something else. The rows of its views are taken as they are. Rows
    are identified by source and name; rows that the benchmark no longer has are removed. Rows that
    organisers entered are left alone.
    """
    Board.objects.select_for_update().get(pk=board.pk)
    known = {
        (entry.provenance, entry.name): entry
        for entry in board.entries.filter(kind=Entry.Kind.REPORTED, is_entered=False)
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
    """Return the tables that have exactly the board's headline figures, then the rows of its views.

    A system of such a table may lack some of them, like those that CC-OCR tests on a part of the
    tracks.
    """
    phase, spec = board.phases.order_by("id").first(), board.spec
    options = spec.check_options({} if phase is None else phase.options)
    columns = spec.columns_for(options)
    headline = {column.reported or column.key for column in columns if column.headline}
    known = {column.key for column in columns}
    whole = {row.protocol for row in spec.reported if headline <= row.scores.keys()}
    of_views = [row for view in spec.views_for(options) for row in view.reported]
    # A view may have the rows of a table under the names of its own figures.
    in_views = {(row.provenance, row.name) for row in of_views}
    return [
        row
        for row in spec.reported
        if row.protocol in whole
        and row.scores.keys() <= known
        and (row.provenance, row.name) not in in_views
    ] + of_views


def with_general(scores: Mapping[str, float]) -> dict[str, float]:
    """Add the mean of the text figures, by which papers rank without printing it."""
    if not scores.keys() >= TEXT_FIGURES:
        return dict(scores)
    return {**scores, "general": general_score(**{key: scores[key] for key in TEXT_FIGURES})}


def _write(entry: Entry, row: ReportedRow) -> bool:
    """Update the entry from the row; return whether it changed."""
    wanted = {
        "kind": Entry.Kind.REPORTED,
        "name": row.name,
        "organisation": row.organisation,
        "size": row.size,
        "category": row.category if row.category in Category.values else Category.OTHER,
        "notes": row.notes,
        "architecture": row.architecture,
        "released_on": row.released_on,
        "scores": with_general(row.scores),
        "provenance": row.provenance,
        "provenance_url": row.provenance_url,
    }
    differs = entry.pk is None or any(getattr(entry, key) != wanted[key] for key in wanted)
    for key, value in wanted.items():
        setattr(entry, key, value)
    if differs:
        entry.save()
    return differs
