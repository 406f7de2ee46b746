"""Making a submission's result public, and taking it back."""

from django.db import transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from scoring.models import Entry, Grading, Submission


class PublicationRefused(Exception):
    """The submission has nothing that could stand on a leaderboard. The message says why."""


@transaction.atomic
def publish_submission(*, submission: Submission, actor: User | None) -> Entry:
    """Puts the latest finished grading on the leaderboard. Publishing twice changes nothing.

    Raises PublicationRefused while there is no finished grading: nothing without a complete score
    is ever shown among the ranked.
    """
    submission = Submission.objects.select_for_update().get(pk=submission.pk)
    grading = submission.gradings.filter(state=Grading.State.DONE).order_by("-id").first()
    if grading is None:
        raise PublicationRefused("Only a submission whose grading is done can be published.")
    entry = Entry.objects.filter(grading__submission=submission).first()
    if entry is not None and entry.grading_id == grading.pk:
        return entry
    if entry is not None:
        entry.delete()
    entry = _make_entry(submission, grading)
    submission.publication = Submission.Publication.PUBLIC
    submission.save(update_fields=["publication"])
    record_event(verb="publish_submission", subject=submission, actor=actor, grading=grading.pk)
    return entry


def _make_entry(submission: Submission, grading: Grading) -> Entry:
    """The card and the scores are copied: the leaderboard is read from its own rows alone."""
    return Entry.objects.create(
        board_id=submission.phase.board_id,
        phase=submission.phase,
        kind=Entry.Kind.GRADED,
        grading=grading,
        scores=grading.scores,
        signature=grading.signature,
        is_sample=submission.is_sample,
        **submission.card(),
    )


@transaction.atomic
def unpublish_submission(*, submission: Submission, actor: User | None) -> Submission:
    """Takes the entry off the leaderboard and makes the summary private again."""
    submission = Submission.objects.select_for_update().get(pk=submission.pk)
    Entry.objects.filter(grading__submission=submission).delete()
    if submission.publication == Submission.Publication.PUBLIC:
        submission.publication = Submission.Publication.PRIVATE
        submission.save(update_fields=["publication"])
        record_event(verb="unpublish_submission", subject=submission, actor=actor)
    return submission
