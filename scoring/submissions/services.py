"""Stores, publishes, verifies and withdraws submissions."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import IO, Any
from uuid import uuid4

from django.core.files.base import File
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from portal.accounts.emails import how_to_confirm
from portal.accounts.models import Team, User
from portal.audit.models import record_event
from scoring.access import are_scores_due, is_own, may_open_items, may_publish
from scoring.answering.manifest import RunManifest
from scoring.benchmarks import Payload
from scoring.boards.limits import LimitReached, hold_place, lock_team
from scoring.boards.protection import is_gold_hidden
from scoring.grading.selectors import latest_grading
from scoring.grading.services import cancel_grading, lock_phase, retry_grading, start_grading
from scoring.leaderboard.services import bump_board, queue_ranking, set_figures
from scoring.models import Attempt, Entry, Grading, Phase, Prediction, Submission
from scoring.models.boards import moment

from .approvals import awaits_approval, drop_request, request_approval
from .manifests import store_manifest
from .uploads import (
    CheckedUpload,
    SubmissionRefused,
    check_identity,
    check_limits,
    check_newest,
    check_open,
    check_organisation,
    check_rerun,
    check_team,
    check_terms,
    check_waiting,
    file_sha256,
)

PREDICTIONS_AT_ONCE = 200
FILENAME = 200
SUFFIXES = (".jsonl.gz", ".jsonl", ".zip")


def find_submission(*, owner: User, form_key: str) -> Submission | None:
    """The submission that the same form has already created, if it was sent twice."""
    if not form_key:
        return None
    return Submission.objects.filter(owner=owner, form_key=form_key).first()


def create_submission(
    *,
    phase: Phase,
    owner: User,
    card: Mapping[str, Any],
    file: IO[bytes],
    filename: str,
    checked: CheckedUpload,
    form_key: str = "",
    team: Team | None = None,
    replaces: Submission | None = None,
    email_origin: str = "",
    network: str = "",
    is_sample: bool = False,
    sample: tuple[int, Sequence[str]] | None = None,
    accepts_terms: bool = False,
    manifest: RunManifest | None = None,
    rerun_of: Submission | None = None,
) -> Submission:
    """Stores an upload without faults and queues its grading, in one transaction.

    `replaces` is the previous version, of the same team or owner, which is kept. `sample` is the
    seed and the ids of a human run, which a closed phase takes too. `manifest` is checked by
    `check_manifest` and has filled the card. `network` is that of the request, as `network_key`
    gives it. `rerun_of` is the submission that organisers
    repeat. If the form was already sent, its submission is returned. Raises SubmissionRefused, with
    nothing stored, if the upload has faults or lacks required ids, the phase is closed, the board's
    terms are not accepted, the gold is hidden and the owner's email address not confirmed, their
    first submission waits for approval, the owner is not in the team or names another team as the
    organisation, or a limit is used up.
    """
    if rerun_of is not None:
        check_rerun(rerun_of=rerun_of, phase=phase, user=owner)
    elif sample is None:
        check_open(phase=phase, user=owner)
        check_terms(board=phase.board, accepted=accepts_terms)
        check_identity(phase=phase, user=owner)
        check_waiting(phase=phase, user=owner)
    check_team(team=team, user=owner, replaces=replaces)
    check_organisation(organisation=card.get("organisation", ""), user=owner)
    check_limits(phase=phase, user=owner, team=team)
    check_newest(replaces)
    if not checked.can_be_taken(accept_missing=True):
        raise SubmissionRefused(checked.api_detail)
    submission = Submission(
        phase=phase,
        owner=owner,
        team=team,
        filename=filename[-FILENAME:],
        form_key=form_key,
        replaces=replaces,
        email_origin=email_origin,
        version=replaces.version + 1 if replaces else 1,
        is_sample=is_sample,
        accepted_terms=phase.board.terms if accepts_terms else "",
        sample_seed=sample[0] if sample else None,
        sample_items=list(sample[1]) if sample else [],
        rerun_of=rerun_of,
        **card,
    )
    traces = {}
    if is_gold_hidden(phase.release, phase.split):
        traces = {"file_sha256": file_sha256(File(file)), "network": network}
    file.seek(0)
    submission.upload.save(_stored_name(filename), File(file), save=False)
    try:
        with transaction.atomic():
            _store(submission, checked.predictions, manifest, traces)
    except IntegrityError:
        submission.upload.delete(save=False)
        first = find_submission(owner=owner, form_key=form_key)
        if first is None:
            # Someone else submitted a new version of the same submission at the same time.
            check_newest(replaces)
            raise
        return first
    except LimitReached as limit:
        submission.upload.delete(save=False)
        raise SubmissionRefused(str(limit)) from limit
    except BaseException:
        submission.upload.delete(save=False)
        raise
    return submission


def _stored_name(filename: str) -> str:
    """A random name, so that the uploader's filename never becomes part of a path."""
    lowered = PurePosixPath(filename).name.lower()
    return uuid4().hex + next((end for end in SUFFIXES if lowered.endswith(end)), ".bin")


def _store(
    submission: Submission,
    predictions: dict[int, Payload],
    manifest: RunManifest | None,
    traces: Mapping[str, str],
) -> None:
    # Lock first, so that no one leaves or closes the team from here on.
    lock_team(submission)
    check_team(team=submission.team, user=submission.owner, replaces=submission.replaces)
    submission.save()
    Prediction.objects.bulk_create(
        (
            Prediction(submission=submission, item_id=item, payload=payload)
            for item, payload in predictions.items()
        ),
        batch_size=PREDICTIONS_AT_ONCE,
    )
    if manifest is not None:
        store_manifest(submission, manifest)
    record_event(
        verb="submit",
        subject=submission,
        actor=submission.owner,
        phase=submission.phase_id,
        predictions=len(predictions),
    )
    # Lock the phase before the account, as everywhere. A concurrent re-grade waits or is finished.
    lock_phase(submission.phase_id)
    attempt = hold_place(submission=submission, actor=submission.owner)
    if traces:
        Attempt.objects.filter(pk=attempt.pk).update(**traces)
    if awaits_approval(submission.phase, submission.owner):
        # Again, now that the account is locked.
        check_waiting(phase=submission.phase, user=submission.owner)
        request_approval(submission)
    else:
        start_grading(submission=submission, actor=submission.owner)


class PublicationRefused(Exception):
    """The submission cannot be published. The message gives the reason."""


@transaction.atomic
def publish_submission(*, submission: Submission, actor: User | None) -> Entry:
    """Publishes the latest finished grading on the leaderboard. Publishing twice changes nothing.

    Gradings of an unfinished re-grade are ignored; the re-grade updates the entry at its end.

    Raises PublicationRefused without a finished grading, after a withdrawal, before the phase shows
    its scores, and if the actor's email address is not confirmed.
    """
    if actor is not None and not may_publish(actor):
        raise PublicationRefused(
            f"Confirm your email address before you publish a result. {how_to_confirm()}"
        )
    submission = _locked(submission)
    if submission.withdrawn_at is not None:
        raise PublicationRefused("This submission was withdrawn.")
    if submission.rerun_of_id is not None:
        raise PublicationRefused(
            "A re-run cannot be published. See the page of the submission that it repeats."
        )
    if not are_scores_due(submission.phase):
        shown_from = moment(submission.phase, submission.phase.scores_after)
        raise PublicationRefused(f"This phase shows its scores from {shown_from}.")
    grading = submission.gradings.in_force().done().order_by("-id").first()
    if grading is None:
        raise PublicationRefused("Only graded submissions can be published.")
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
    """Copies card and scores, so that the leaderboard reads only its own rows."""
    is_run = submission.is_human_run
    entry = Entry(
        board_id=submission.phase.board_id,
        phase=submission.phase,
        kind=Entry.Kind.HUMAN if is_run else Entry.Kind.GRADED,
        provenance=_sampled(submission, grading) if is_run else "",
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


def _sampled(submission: Submission, grading: Grading) -> str:
    """Which items a human run was graded on: `100 of 1,380 items, drawn with seed 7`."""
    total = submission.phase.items_of(grading.release_id).count()
    return f"{grading.items_total:,} of {total:,} items, drawn with seed {submission.sample_seed}"


@transaction.atomic
def unpublish_submission(*, submission: Submission, actor: User | None) -> Submission:
    """Removes the entry from the leaderboard and makes the result private."""
    submission = _locked(submission)
    if submission.publication == Submission.Publication.PUBLIC:
        _take_down(submission)
        submission.save(update_fields=["publication"])
        record_event(verb="unpublish_submission", subject=submission, actor=actor)
    return submission


@transaction.atomic
def withdraw_submission(*, submission: Submission, actor: User | None) -> Submission:
    """Withdraws a submission. This is final: it leaves the leaderboard and cannot be published
    again. Its attempt stays charged. One that waits for approval is not graded, and its attempt
    counts as failed. Withdrawing twice changes nothing.
    """
    submission = _locked(submission)
    if submission.withdrawn_at is None:
        _take_down(submission)
        drop_request(submission)
        submission.withdrawn_at = timezone.now()
        submission.save(update_fields=["publication", "withdrawn_at"])
        record_event(verb="withdraw_submission", subject=submission, actor=actor)
    return submission


@transaction.atomic
def open_items(*, submission: Submission, has_open_items: bool, actor: User | None) -> Submission:
    """Makes the individual items public while the submission is public, or private again.

    Raises PublicationRefused if `may_open_items` forbids it.
    """
    if has_open_items and not may_open_items(submission.phase, submission.phase.release):
        raise PublicationRefused(
            "The individual items cannot be made public: this phase shows totals only, or its gold "
            "is not public."
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
    """Verifies or disqualifies a submission, or removes the verdict; its entry shows it.

    Disqualifying needs a reason, which is public. Raises PublicationRefused without one, and if the
    actor verifies a submission of their own or of their team.
    """
    reason = reason.strip()
    if verdict == Submission.Verdict.VERIFIED and is_own(submission, actor):
        raise PublicationRefused("You cannot verify your own submission. Ask another organiser.")
    if verdict == Submission.Verdict.DISQUALIFIED and not reason:
        raise PublicationRefused("Enter a reason. The leaderboard shows it.")
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
    """Pins or unpins the entry, such as a baseline. Filters do not hide pinned entries."""
    submission = _locked(submission)
    if submission.is_pinned != is_pinned:
        submission.is_pinned = is_pinned
        submission.save(update_fields=["is_pinned"])
        _change_entries(submission, is_pinned=is_pinned)
        record_event(verb="pin_submission", subject=submission, actor=actor, is_pinned=is_pinned)
    return submission


def cancel_latest(*, submission: Submission, actor: User) -> None:
    """Stops the grading and keeps the scores so far. Raises GradingRefused."""
    cancel_grading(grading=latest_grading(submission), actor=actor)


def retry_latest(*, submission: Submission, actor: User) -> None:
    """Continues a failed or cancelled grading. Raises GradingRefused."""
    retry_grading(grading=latest_grading(submission), actor=actor)


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
    """After the rows of the phase changed: queues a ranking and invalidates caches of the board."""
    queue_ranking(submission.phase)
    bump_board(submission.phase.board_id)
