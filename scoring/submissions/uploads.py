"""Checks of an upload before it is stored, and the messages of a refused one.

All faults of a file are reported, not only the first.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO

from django.contrib.auth.models import AnonymousUser
from django.core.files.base import File
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.accounts.emails import how_to_confirm
from portal.accounts.models import Team, TeamMember, User
from portal.accounts.teams.selectors import team_called
from portal.files.uploads import archive_limits
from scoring.access import Viewer, may_open_release, may_publish
from scoring.benchmarks import Payload, ReadFault, ReadLimits, check_predictions
from scoring.benchmarks.answer_notes import answer_notes
from scoring.boards.limits import refusal_for
from scoring.boards.protection import is_gold_hidden
from scoring.models import Board, Phase, Submission, Window
from scoring.models.boards import moment

from .approvals import is_approved, waiting_request

# The most that a page or API response lists; the rest is counted.
FAULTS_SHOWN = 200
MISSING_SHOWN = 20
# The most missing ids that a sentence names.
_NAMED = 5


@dataclass(frozen=True)
class CheckedUpload:
    """The content of an upload: predictions by the ReleaseItem's key, faults, and missing ids.

    An upload with faults is refused. Missing ids must be accepted by the submitter, and are refused
    if there is a `completeness_rule`. They are counted but not named if the ids of the release are
    not public.
    """

    predictions: dict[int, Payload]
    faults: tuple[ReadFault, ...]
    fault_count: int
    missing: tuple[str, ...]
    completeness_rule: str = ""
    names_missing: bool = True
    phase: Phase | None = None

    def can_be_taken(self, *, accept_missing: bool) -> bool:
        if self.fault_count:
            return False
        return not self.missing or (accept_missing and self.offers_missing)

    @cached_property
    def notes(self) -> list[str]:
        """Which answers will score nothing and why, without gold. Reads every answer."""
        if self.phase is None:
            return []
        spec = self.phase.board.spec
        options = spec.check_options(self.phase.options)
        return answer_notes(spec.key, self.predictions.values(), options)

    @property
    def offers_missing(self) -> bool:
        """Whether it can be submitted without the missing ids."""
        return not self.completeness_rule

    @property
    def api_detail(self) -> str:
        """Why it was refused, in words for the API."""
        if self.fault_count:
            return f"Errors in the file: {self.fault_count}. Nothing was submitted."
        named = ", ".join(self.missing[:_NAMED]) if self.names_missing else ""
        rest = ", …" if named and self.missing_count > _NAMED else ""
        lacking = f"Items without a prediction: {self.missing_count}"
        lacking += f" ({named}{rest})." if named else "."
        if self.completeness_rule:
            return f"{lacking} {self.completeness_rule} Nothing was submitted."
        return (
            f"{lacking} Nothing was submitted. To submit anyway, send accept_missing=true "
            "(on the command line: --accept-missing)."
        )

    @property
    def missing_count(self) -> int:
        return len(self.missing)

    @property
    def shows_missing(self) -> bool:
        """Whether to show which items are missing: of a file that cannot be read, all are."""
        return bool(self.predictions and self.missing)

    @property
    def shown_faults(self) -> Sequence[ReadFault]:
        return self.faults[:FAULTS_SHOWN]

    @property
    def hidden_fault_count(self) -> int:
        return self.fault_count - len(self.shown_faults)

    @property
    def shown_missing(self) -> Sequence[str]:
        return self.missing[:MISSING_SHOWN] if self.names_missing else ()

    @property
    def hidden_missing_count(self) -> int:
        return len(self.missing) - len(self.shown_missing)


def check_upload(
    *,
    phase: Phase,
    file: IO[bytes],
    filename: str,
    user: Viewer | None = None,
    only: Collection[str] | None = None,
    rule: str = "",
) -> CheckedUpload:
    """Checks the file against the ids of the phase's release, without reading gold.

    `user` is the reader of the result; without one, only public ids are named. `only` are the ids
    of a human run, and `rule` is its completeness rule.
    """
    items = phase.items if only is None else phase.items.filter(name__in=only)
    ids = dict(items.order_by("position").values_list("name", "pk"))
    limits = ReadLimits(archive=archive_limits())
    lines = phase.board.spec.read_predictions(file, limits=limits)
    check = check_predictions(lines, ids, name=filename)
    return CheckedUpload(
        predictions={ids[name]: line.payload for name, line in check.lines.items()},
        faults=check.faults,
        fault_count=len(check.faults) + check.faults_left_out,
        missing=check.missing,
        completeness_rule=rule or phase.completeness_rule,
        names_missing=may_open_release(user or AnonymousUser(), phase.release),
        phase=phase,
    )


# The newest submissions whose files are compared with an upload.
_COMPARED = 50


def identical_submission(
    *, phase: Phase, user: User, team: Team | None, file: "UploadedFile[bytes]"
) -> Submission | None:
    """The newest submission of the user or team to the phase with exactly this file, if any.
    Withdrawn ones and re-runs do not count."""
    owned = Submission.objects.filter(team=team) if team else Submission.objects.of(user)
    known = owned.filter(phase=phase, withdrawn_at=None, rerun_of=None).order_by("-id")
    return next((each for each in known[:_COMPARED] if _is_identical(each, file)), None)


def _is_identical(submission: Submission, file: "UploadedFile[bytes]") -> bool:
    try:
        if submission.upload.size != file.size:
            return False
        with submission.upload.open("rb") as stored:
            return file_sha256(stored) == file_sha256(file)
    except FileNotFoundError:
        return False


def file_sha256(file: "File[bytes]") -> str:
    """Of an open file, from its beginning."""
    digest = hashlib.sha256()
    for block in file.chunks():
        digest.update(block)
    return digest.hexdigest()


class SubmissionRefused(Exception):
    """The phase is closed, or this submission is not accepted. The message gives the reason."""


def check_open(*, phase: Phase, user: User) -> None:
    """Raises SubmissionRefused if the phase is closed. Organisers can submit to a draft."""
    board = phase.board
    if board.state == Board.State.ARCHIVED:
        raise SubmissionRefused("This board is archived and no longer accepts submissions.")
    if board.state == Board.State.DRAFT and not is_organiser(user):
        raise SubmissionRefused("This board is not open yet.")
    window = phase.window(timezone.now())
    if window == Window.UPCOMING:
        raise SubmissionRefused(f"“{phase.title}” opens on {moment(phase, phase.opens_at)}.")
    if window == Window.CLOSED:
        raise SubmissionRefused(f"“{phase.title}” closed on {moment(phase, phase.closes_at)}.")


def identity_refusal(user: User, phases: Collection[Phase]) -> str:
    """Why the user must confirm the email address to submit to some of these phases, or empty: on
    hidden gold, a person with many accounts would have many attempts. An organiser's approval is
    enough. At most one query if the email address is confirmed."""
    hidden = [phase for phase in phases if is_gold_hidden(phase.release, phase.split)]
    if not hidden or may_publish(user):
        return ""
    hidden = [phase for phase in hidden if not is_approved(phase, user)]
    if not hidden:
        return ""
    titles = ", ".join(f"“{phase.title}”" for phase in hidden)
    return (
        f"The gold of {titles} is hidden, so submissions need a confirmed email address. "
        f"{how_to_confirm()} Organisers can also approve your account without it."
    )


def check_identity(*, phase: Phase, user: User) -> None:
    """Raises SubmissionRefused if the user must confirm the email address first."""
    if refusal := identity_refusal(user, [phase]):
        raise SubmissionRefused(refusal)


def check_waiting(*, phase: Phase, user: User) -> None:
    """Raises SubmissionRefused while the user's first submission waits for an organiser."""
    waiting = waiting_request(phase, user) if phase.approves_first else None
    if waiting is not None:
        raise SubmissionRefused(
            f"Your first submission ({waiting.submission_id}) waits for approval by an organiser. "
            "Wait for the decision, or withdraw it to submit another file."
        )


def check_team(*, team: Team | None, user: User, replaces: Submission | None = None) -> None:
    """Raises SubmissionRefused if the user is not in the team, or if the previous version belongs
    to another team."""
    if team is not None and not TeamMember.objects.filter(team=team, user=user).exists():
        raise SubmissionRefused(f"You are not in the team “{team.name}”.")
    if replaces is not None and replaces.team_id != (team.pk if team else None):
        raise SubmissionRefused("A new version must belong to the same team as the previous one.")


def check_organisation(*, organisation: str, user: User) -> None:
    """Raises SubmissionRefused for the name of a team that the user is not in, because readers
    would take the result for the team's. Any other name is shown as unverified."""
    team = team_called(organisation)
    if team is None or is_organiser(user):
        return
    if not TeamMember.objects.filter(team=team, user=user).exists():
        raise SubmissionRefused(
            f"“{organisation}” is the name of a team that you are not in. Ask its owner to invite "
            "you, or enter another organisation."
        )


def check_terms(*, board: Board, accepted: bool) -> None:
    """Raises SubmissionRefused if the board has terms that are not accepted."""
    if board.terms and not accepted:
        raise SubmissionRefused("Accept the terms of this board to submit (accept_terms).")


def check_newest(replaces: Submission | None) -> None:
    """Raises SubmissionRefused if the previous version already has a newer one."""
    if replaces is not None and Submission.objects.filter(replaces=replaces).exists():
        raise SubmissionRefused(f"Submission {replaces.pk} already has a newer version.")


def check_rerun(*, rerun_of: Submission, phase: Phase, user: User) -> None:
    """Raises SubmissionRefused unless an organiser repeats a submission to this phase, which may be
    closed."""
    if not is_organiser(user):
        raise SubmissionRefused("Only organisers can re-run a submission.")
    if rerun_of.phase_id != phase.pk or rerun_of.rerun_of_id is not None:
        raise SubmissionRefused(f"Submission {rerun_of.pk} cannot be re-run in this phase.")


def check_limits(*, phase: Phase, user: User, team: Team | None = None) -> None:
    """Raises SubmissionRefused if the limits of the user or team are used up.

    This avoids useless work. The attempt itself is held with the submission, under a lock.
    """
    if not is_organiser(user) and (refusal := refusal_for(phase, user, team)):
        raise SubmissionRefused(refusal)
