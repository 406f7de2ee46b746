"""Resampling a finished grading: the intervals of its figures, and what entries are compared by."""

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from portal.jobs.models import Job
from portal.jobs.services import enqueue
from scoring.benchmarks.contributions import Observation, replicated, resampled_documents
from scoring.models import Entry, Grading, Phase, Replicate
from scoring.selectors.replicates import told_intervals

from .ranking import queue_ranking
from .revisions import bump_board

if TYPE_CHECKING:
    from scoring.metrics.intervals import Replicates

RESAMPLE_KIND = "resample_grading"
_AT_ONCE = 200
# Gradings of before there were replicates that are taken up in one look.
_MISSING_AT_ONCE = 50


def queue_resampling(grading_id: int) -> None:
    """In the transaction that finishes the grading. A group of its own: nobody waits for it."""
    enqueue(kind=RESAMPLE_KIND, payload={"grading": grading_id}, group=_group(grading_id))


def _group(grading_id: int) -> str:
    return f"resampling:{grading_id}"


def are_being_resampled(gradings: Iterable[Grading]) -> bool:
    """Whether the resampling of any of them waits or is under way."""
    groups = [_group(grading.pk) for grading in gradings]
    return Job.objects.unfinished().filter(kind=RESAMPLE_KIND, group__in=groups).exists()


def resample(grading_id: int) -> "dict[str, Replicates]":
    """The replicates of the figures that are shown or ranked by; none unless it is done.

    Weights are seeded by the release, so that all entries of a board share them.
    """
    related = ("submission__phase__board", "release")
    grading = Grading.objects.select_related(*related).get(pk=grading_id)
    if grading.state != Grading.State.DONE:
        return {}
    spec = grading.submission.phase.board.spec
    rows = list(_observations(grading))
    weights = resampled_documents(rows, itemgetter("stratum"), seed=grading.release.same_gold)
    found = replicated(rows, itemgetter("added"), spec.combined, weights)
    wanted = {
        column.key
        for column in spec.figures_for(grading.options).values()
        # A figure that is not told, such as a mean over tracks that are not all there, has none.
        if (column.headline or column.rank) and grading.scores.get(column.key) is not None
    }
    return {figure: each for figure, each in found.items() if figure in wanted}


def _observations(grading: Grading) -> Iterator[Observation]:
    """What each item adds, and its stratum, instead of its result, which is large.

    Items of one document are drawn together; an item without one is drawn for itself.
    """
    spec = grading.submission.phase.board.spec
    rows: Any = grading.item_scores.order_by("item__position").values_list(
        "item__document__name", "item__name", "result"
    )
    for document, item, result in rows.iterator(chunk_size=_AT_ONCE):
        # An item may be called as another item's document is.
        name = f"document {document}" if document else f"item {item}"
        added = tuple(spec.contributions(result, grading.options))
        yield Observation(name, {"added": added, "stratum": spec.stratum(result)})


@transaction.atomic
def store_replicates(grading_id: int, found: "Mapping[str, Replicates]") -> None:
    """Writes them in place of any that are there; an entry of the grading shows its intervals."""
    Replicate.objects.filter(grading=grading_id).delete()
    Replicate.objects.bulk_create(
        _row(grading_id, figure, found[figure]) for figure in sorted(found)
    )
    entries = Entry.objects.select_for_update(of=("self",)).select_related("phase")
    entry = entries.filter(grading=grading_id).first()
    if entry is not None and entry.phase is not None:
        show_intervals(entry, entry.phase)
        entry.save(update_fields=["intervals"])
        queue_ranking(entry.phase)
        bump_board(entry.board_id)


def show_intervals(entry: Entry, phase: Phase) -> None:
    """Sets the entry's intervals to those of its grading, as far as the phase tells them."""
    entry.intervals = told_intervals(phase, entry.grading_id)


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
    """Queues the resampling of published gradings that have no replicates, as those of before
    there were any; how many. Those whose jobs ended without any are left alone."""
    missing = Entry.objects.filter(kind=Entry.Kind.GRADED).exclude(
        Exists(Replicate.objects.filter(grading=OuterRef("grading")))
    )
    return _queue_unless_tried(
        missing.order_by("pk").values_list("grading", flat=True)[:_MISSING_AT_ONCE]
    )


@transaction.atomic
def ask_for_replicates(gradings: Iterable[Grading]) -> int:
    """Queues the resampling of those without replicates, as far as it is not under way and has not
    failed for good; how many."""
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
