"""Making a submission's result public, and taking it back."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from scoring.access import is_time_to_tell, may_open_items, may_publish
from scoring.models import Entry, Grading, Submission
from scoring.models.boards import moment

from .entry_figures import set_figures
from .ranking import queue_ranking
from .revisions import bump_board

UNCONFIRMED = (
    "Confirm your email address before you publish a result: open the link in the email that you "
    "got. Under Account, Email you can have it sent again (POST /api/v1/account/confirmation/)."
)


class PublicationRefused(Exception):
    """The submission has nothing that could stand on a leaderboard. The message says why."""


@transaction.atomic
def publish_submission(*, submission: Submission, actor: User | None) -> Entry:
    """Puts the latest finished grading on the leaderboard. Publishing twice changes nothing.

    A grading of a re-grade that is under way does not count yet: its batch takes the entry along.

    Raises PublicationRefused while there is no finished grading: nothing without a complete score
    is ever shown among the ranked. Also for what was withdrawn, before the phase tells scores, and
    to an account whose email address is not confirmed.
    """
    if actor is not None and not may_publish(actor):
        raise PublicationRefused(UNCONFIRMED)
    submission = _locked(submission)
    if submission.withdrawn_at is not None:
        raise PublicationRefused("This submission was withdrawn.")
    if not is_time_to_tell(submission.phase):
        told_from = moment(submission.phase, submission.phase.scores_after)
        raise PublicationRefused(f"The scores of this phase are told from {told_from}.")
    grading = submission.gradings.in_force().done().order_by("-id").first()
    if grading is None:
        raise PublicationRefused("Only a submission whose grading is done can be published.")
    entry = _entries(submission).first()
    if entry is not None and entry.grading_id == grading.pk:
        return entry
    if entry is not None:
        entry.delete()
    entry = _make_entry(submission, grading)
    _changed(submission)
    submission.publication = Submission.Publication.PUBLIC
    submission.save(update_fields=["publication"])
    record_event(verb="publish_submission", subject=submission, actor=actor, grading=grading.pk)
    return entry


def _make_entry(submission: Submission, grading: Grading) -> Entry:
    """The card and the scores are copied: the leaderboard is read from its own rows alone."""
    entry = Entry(
        board_id=submission.phase.board_id,
        phase=submission.phase,
        kind=Entry.Kind.GRADED,
        signature=grading.signature,
        is_sample=submission.is_sample,
        verdict=submission.verdict,
        verdict_reason=submission.verdict_reason,
        is_pinned=submission.is_pinned,
        **submission.card(),
    )
    set_figures(entry, submission.phase, grading)
    entry.save()
    return entry


@transaction.atomic
def unpublish_submission(*, submission: Submission, actor: User | None) -> Submission:
    """Takes the entry off the leaderboard and makes the summary private again."""
    submission = _locked(submission)
    if submission.publication == Submission.Publication.PUBLIC:
        _take_down(submission)
        submission.save(update_fields=["publication"])
        record_event(verb="unpublish_submission", subject=submission, actor=actor)
    return submission


@transaction.atomic
def withdraw_submission(*, submission: Submission, actor: User | None) -> Submission:
    """Takes a submission back for good: off the leaderboard, never published again.

    What it used of the limits stays used. A second time changes nothing.
    """
    submission = _locked(submission)
    if submission.withdrawn_at is None:
        _take_down(submission)
        submission.withdrawn_at = timezone.now()
        submission.save(update_fields=["publication", "withdrawn_at"])
        record_event(verb="withdraw_submission", subject=submission, actor=actor)
    return submission


@transaction.atomic
def open_items(*, submission: Submission, has_open_items: bool, actor: User | None) -> Submission:
    """Lets everybody read the single items while the submission is public, or no longer.

    Raises PublicationRefused to open those of a phase whose items cannot be: see `may_open_items`.
    """
    if has_open_items and not may_open_items(submission.phase, submission.phase.release):
        raise PublicationRefused(
            "Single items of this phase cannot be opened: it shows totals only, or its gold is not "
            "public."
        )
    submission = _locked(submission)
    if submission.has_open_items != has_open_items:
        submission.has_open_items = has_open_items
        submission.save(update_fields=["has_open_items"])
        record_event(
            verb="open_items", subject=submission, actor=actor, has_open_items=has_open_items
        )
        if submission.publication == Submission.Publication.PUBLIC:
            bump_board(submission.phase.board_id)
    return submission


@transaction.atomic
def judge_submission(
    *, submission: Submission, verdict: Submission.Verdict, reason: str, actor: User
) -> Submission:
    """Verifies a submission, disqualifies it, or takes either back; its entry says so.

    Whoever disqualifies gives a reason, which is public. Raises PublicationRefused without one.
    """
    reason = reason.strip()
    if verdict == Submission.Verdict.DISQUALIFIED and not reason:
        raise PublicationRefused("Give the reason: it is shown on the leaderboard.")
    submission = _locked(submission)
    before = {"verdict": submission.verdict, "reason": submission.verdict_reason}
    if before != {"verdict": verdict, "reason": reason}:
        submission.verdict, submission.verdict_reason = verdict, reason
        submission.save(update_fields=["verdict", "verdict_reason"])
        _change_entries(submission, verdict=verdict, verdict_reason=reason)
        record_event(
            verb="judge_submission", subject=submission, actor=actor, before=before, verdict=verdict
        )
    return submission


@transaction.atomic
def pin_submission(*, submission: Submission, is_pinned: bool, actor: User) -> Submission:
    """Keeps the entry in sight whatever is filtered, such as a baseline; or no longer."""
    submission = _locked(submission)
    if submission.is_pinned != is_pinned:
        submission.is_pinned = is_pinned
        submission.save(update_fields=["is_pinned"])
        _change_entries(submission, is_pinned=is_pinned)
        record_event(verb="pin_submission", subject=submission, actor=actor, is_pinned=is_pinned)
    return submission


def _locked(submission: Submission) -> Submission:
    submissions = Submission.objects.select_for_update(of=("self",)).select_related("phase")
    return submissions.get(pk=submission.pk)


def _entries(submission: Submission) -> QuerySet[Entry]:
    return Entry.objects.filter(grading__submission=submission)


def _change_entries(submission: Submission, **fields: Any) -> None:
    if _entries(submission).update(**fields):
        _changed(submission)


def _take_down(submission: Submission) -> None:
    """Deletes the entry; the caller saves the submission."""
    _entries(submission).delete()
    _changed(submission)
    submission.publication = Submission.Publication.PRIVATE


def _changed(submission: Submission) -> None:
    """The rows of the phase are others now: they are ranked anew, and readers are told."""
    queue_ranking(submission.phase)
    bump_board(submission.phase.board_id)
