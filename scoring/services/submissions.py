"""Taking a submission: all of it, or nothing."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import IO, Any
from uuid import uuid4

from django.core.files.base import File
from django.db import IntegrityError, transaction
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.accounts.models import Team, TeamMember, User
from portal.accounts.teams.selectors import team_called
from portal.audit.models import record_event
from scoring.benchmarks import Payload
from scoring.models import Board, Phase, Prediction, Submission, Window
from scoring.models.boards import moment
from scoring.selectors.limits import refusal_for

from .gradings import lock_phase, start_grading
from .limits import LimitReached, hold_place, lock_team
from .validation import CheckedUpload

PREDICTIONS_AT_ONCE = 200
FILENAME = 200
SUFFIXES = (".jsonl.gz", ".jsonl", ".zip")


class SubmissionRefused(Exception):
    """The phase takes no submission now, or this one cannot be taken. The message says why."""


def check_open(*, phase: Phase, user: User) -> None:
    """Raises SubmissionRefused while the phase takes nothing; organisers may try out a draft."""
    board = phase.board
    if board.state == Board.State.ARCHIVED:
        raise SubmissionRefused("This board is archived and takes no submissions any more.")
    if board.state == Board.State.DRAFT and not is_organiser(user):
        raise SubmissionRefused("This board is not open yet.")
    window = phase.window(timezone.now())
    if window == Window.UPCOMING:
        raise SubmissionRefused(f"“{phase.title}” opens on {moment(phase, phase.opens_at)}.")
    if window == Window.CLOSED:
        raise SubmissionRefused(f"“{phase.title}” closed on {moment(phase, phase.closes_at)}.")


def check_team(*, team: Team | None, user: User, replaces: Submission | None = None) -> None:
    """Raises SubmissionRefused for a team that the user cannot submit for, or for a new version
    that would belong to somebody else than the version before."""
    if team is not None and not TeamMember.objects.filter(team=team, user=user).exists():
        raise SubmissionRefused(f"You are not in the team “{team.name}”.")
    if replaces is not None and replaces.team_id != (team.pk if team else None):
        raise SubmissionRefused("A new version belongs to whom the version before belongs to.")


def check_organisation(*, organisation: str, user: User) -> None:
    """Raises SubmissionRefused for the name of a team that the user is not in: readers would take
    the result for the team's. Any other name is the submitter's word, and shown as that."""
    team = team_called(organisation)
    if team is None or is_organiser(user):
        return
    if not TeamMember.objects.filter(team=team, user=user).exists():
        raise SubmissionRefused(
            f"“{organisation}” is the name of a team here, and you are not in it. Ask its owner to "
            "invite you, or name another organisation."
        )


def check_newest(replaces: Submission | None) -> None:
    """Raises SubmissionRefused for the version before, if it has a newer one already."""
    if replaces is not None and Submission.objects.filter(replaces=replaces).exists():
        raise SubmissionRefused(f"There is a newer version of submission {replaces.pk} already.")


def check_limits(*, phase: Phase, user: User, team: Team | None = None) -> None:
    """Raises SubmissionRefused where the limits of the user, or of the team they submit for, are
    spent, before work is done in vain.

    The place itself is taken with the submission, where two tabs cannot both get the last one.
    """
    if not is_organiser(user) and (refusal := refusal_for(phase, user, team)):
        raise SubmissionRefused(refusal)


def find_submission(*, owner: User, form_key: str) -> Submission | None:
    """What this form has sent already, if a second click or a reload sends it again."""
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
    letter_origin: str = "",
    is_sample: bool = False,
) -> Submission:
    """Stores a faultless upload and queues its grading, in one transaction.

    `team` is the team it belongs to, if it is not the owner's alone. `replaces` is the version
    before, of the same team or owner, which stays as it is. The same form sent twice gives one
    submission: the second call returns the first's. Raises SubmissionRefused, with nothing stored,
    if the upload has faults, lacks ids that it must name, the phase takes nothing, the owner is not
    in the team, names another team as the organisation, or the limits of either are spent.
    """
    check_open(phase=phase, user=owner)
    check_team(team=team, user=owner, replaces=replaces)
    check_organisation(organisation=card.get("organisation", ""), user=owner)
    check_limits(phase=phase, user=owner, team=team)
    check_newest(replaces)
    if not checked.can_be_taken(accept_missing=True):
        raise SubmissionRefused(checked.detail)
    submission = Submission(
        phase=phase,
        owner=owner,
        team=team,
        filename=filename[-FILENAME:],
        form_key=form_key,
        replaces=replaces,
        letter_origin=letter_origin,
        version=replaces.version + 1 if replaces else 1,
        is_sample=is_sample,
        **card,
    )
    file.seek(0)
    submission.upload.save(_stored_name(filename), File(file), save=False)
    try:
        with transaction.atomic():
            _store(submission, checked.predictions)
    except IntegrityError:
        submission.upload.delete(save=False)
        first = find_submission(owner=owner, form_key=form_key)
        if first is None:
            # Somebody else sent a new version of the same submission at this moment.
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
    """A name of ours: what somebody called a file never becomes a path."""
    lowered = PurePosixPath(filename).name.lower()
    return uuid4().hex + next((end for end in SUFFIXES if lowered.endswith(end)), ".bin")


def _store(submission: Submission, predictions: dict[int, Payload]) -> None:
    # Before anything refers to the team: nobody leaves or closes it from here on.
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
    record_event(
        verb="submit",
        subject=submission,
        actor=submission.owner,
        phase=submission.phase_id,
        predictions=len(predictions),
    )
    # Before the account, as everywhere: a re-grade waits, or this finds the gold that it left.
    lock_phase(submission.phase_id)
    hold_place(submission=submission, actor=submission.owner)
    start_grading(submission=submission, actor=submission.owner)
