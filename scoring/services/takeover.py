"""A re-grade takes over: entries, phases and what is still being graded, in one transaction."""

from collections.abc import Iterable
from typing import NamedTuple

from django.utils import timezone

from portal.audit.models import record_event
from portal.datasets.models import Release
from scoring.models import Entry, Grading, Phase, RankMove, Regrade, RegradedPhase, Submission
from scoring.selectors.protection import outgrown_settings
from scoring.selectors.standings import Standing, standings

from .entry_figures import FIGURES, set_figures
from .gradings import is_outdated, lock_phase, start_grading
from .notices import queue_notice
from .ranking import queue_ranking, rank_entries, store_ranks
from .revisions import bump_board


class _Moved(NamedTuple):
    """An entry with its new result, and the grading whose result it held."""

    entry: Entry
    submission: int
    before: int
    after: int


def lock_unfinished(phases: Iterable[Phase]) -> list[Grading]:
    """What is being graded in these phases for the submissions themselves, locked: none of it
    becomes done until the transaction ends."""
    live = Grading.objects.live().filter(regrade__isnull=True, submission__phase__in=list(phases))
    return list(live.select_for_update(of=("self",), no_key=True).order_by("pk"))


def take_over(regrade: Regrade, unfinished: Iterable[Grading]) -> None:
    """The batch of a locked re-grade is done: its results count from now on.

    Its phases and `unfinished` are locked. What is still being graded by the former rules begins
    again, so that nothing of them comes in later.
    """
    # Who publishes, withdraws or judges one of them waits, and finds the new result then.
    held = Submission.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
    list(held.filter(pk__in=regrade.gradings.values("submission")).values_list("pk"))
    for part in regrade.phases.select_related("release_after").order_by("phase"):
        _take_over_phase(regrade, part)
    regrade.state, regrade.finished_at = Regrade.State.DONE, timezone.now()
    regrade.save(update_fields=["state", "finished_at"])
    _begin_again(unfinished)
    for grading in _results(regrade).values():
        queue_notice(grading)
    bump_board(regrade.board_id)
    record_event(verb="finish_regrade", subject=regrade, actor=None, rows=regrade.moves.count())


def _results(regrade: Regrade) -> dict[int, Grading]:
    """The batch by submission; what was withdrawn meanwhile is left out."""
    done = regrade.gradings.done().filter(submission__withdrawn_at__isnull=True)
    return {each.submission_id: each for each in done.select_related("submission").order_by("pk")}


def _take_over_phase(regrade: Regrade, part: RegradedPhase) -> None:
    phase = lock_phase(part.phase_id)
    before = _standings_by_tests(phase)
    _protect(phase, part.release_after)
    moved = _move_entries(regrade, phase)
    phase.release = part.release_after
    phase.save(update_fields=["release"])
    after = _standings_by_tests(phase)
    # A ranking that is under way may have read the entries as they were.
    queue_ranking(phase)
    RankMove.objects.bulk_create(
        _move(regrade, phase, each, before[each.entry.pk], after[each.entry.pk]) for each in moved
    )


def _protect(phase: Phase, release: Release) -> None:
    """Before the phase moves to this release: hidden gold is protected, with a line in the log.
    Here no form asks for the settings."""
    changes = outgrown_settings(phase, release, phase.split)
    if not changes:
        return
    before = {name: str(getattr(phase, name)) for name in changes}
    for name, value in changes.items():
        setattr(phase, name, value)
    phase.save(update_fields=list(changes))
    record_event(
        verb="protect_phase", subject=phase.board, actor=None, phase=phase.slug, before=before
    )


def _standings_by_tests(phase: Phase) -> dict[int, Standing]:
    """Ranked now and not by a later job: ranks by tests and ranks by figures alone must not be
    compared with each other."""
    store_ranks(phase.pk, rank_entries(phase.pk))
    return standings(phase.board, phase)


def _move_entries(regrade: Regrade, phase: Phase) -> list[_Moved]:
    """Every row of the phase gets the figures of the batch; card, verdict and pin stay."""
    results, moved = _results(regrade), []
    entries = Entry.objects.filter(phase=phase, kind=Entry.Kind.GRADED).select_related("grading")
    for entry in entries.order_by("pk"):
        assert entry.grading is not None
        former, grading = entry.grading, results.get(entry.grading.submission_id)
        if grading is None:
            continue
        set_figures(entry, phase, grading)
        entry.signature = grading.signature
        entry.save(update_fields=["grading", "signature", *FIGURES])
        moved.append(_Moved(entry, grading.submission_id, former.pk, grading.pk))
    return moved


def _move(
    regrade: Regrade, phase: Phase, moved: _Moved, before: Standing, after: Standing
) -> RankMove:
    return RankMove(
        regrade=regrade,
        phase=phase,
        submission_id=moved.submission,
        grading_before_id=moved.before,
        grading_after_id=moved.after,
        rank_before=before.rank,
        rank_after=after.rank,
        score_before=before.score,
        score_after=after.score,
    )


def _begin_again(unfinished: Iterable[Grading]) -> None:
    """A submission keeps its place in the limits meanwhile, and nobody is told of the first try."""
    for grading in unfinished:
        phase = lock_phase(grading.submission.phase_id)
        if not is_outdated(grading, phase):
            continue
        grading.state, grading.finished_at = Grading.State.CANCELLED, timezone.now()
        grading.error = "The phase was graded again meanwhile; this submission began again."
        grading.save(update_fields=["state", "error", "finished_at"])
        start_grading(submission=grading.submission, actor=None)
