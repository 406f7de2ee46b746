"""The data that scoring holds about a user, for their export and the deletion of their account.

Published results stay with their model card, because others cite them. Submissions of a team with
other members stay with the team. Data that only the owner could see is deleted.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import file_digest
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Exists, OuterRef, ProtectedError

from portal.accounts.account_data import Fate, Table, Upload, counted
from portal.accounts.emails import person_key
from portal.accounts.models import TeamMember, User
from portal.jobs.handlers import Retry
from portal.jobs.models import Job
from scoring.access import full_minute, sees_exact_times
from scoring.boards.protection import is_gold_hidden
from scoring.grading.services import GradingRefused, cancel_grading
from scoring.models import (
    Approval,
    Attempt,
    Delivery,
    ExpertReview,
    Grading,
    Manifest,
    Phase,
    Submission,
    Webhook,
)
from scoring.models.submissions import SubmissionQuerySet
from scoring.submissions.approvals import drop_request

_AT_ONCE = 100
_UNTIL_STOPPED = timedelta(seconds=10)


class SubmissionData:
    def tables(self, user: User) -> Iterator[Table]:
        yield Table(
            "submissions",
            "Your submissions, with their model cards. Their scores are on the site.",
            _submissions(user),
        )
        yield Table("attempts", "Your attempts that count against limits.", _attempts(user))
        yield Table(
            "approvals", "Organisers' decisions on your access to hidden gold.", _approvals(user)
        )
        yield Table("webhooks", "Your webhooks, without their secrets.", _webhooks(user))
        yield Table("webhook_messages", "Messages sent to your webhooks.", _messages(user))
        yield Table("expert_reviews", "Your reviews as a judge expert.", _reviews(user))

    def uploads(self, user: User) -> Iterator[Upload]:
        for submission in Submission.objects.of(user).order_by("pk").iterator(_AT_ONCE):
            name = submission.upload.name
            if name and default_storage.exists(name):
                suffix = "".join(PurePosixPath(name).suffixes)
                path = f"uploads/submission-{submission.pk}{suffix}"
                yield Upload(path, submission.upload.open("rb"))
            manifest = Manifest.objects.filter(submission=submission).first()
            if manifest is not None:
                path = f"uploads/submission-{submission.pk}-manifest.json"
                yield Upload(path, BytesIO(manifest.as_json()))

    def fate(self, user: User) -> Fate:
        mine = Submission.objects.of(user)
        goes, stays = [], []
        if private := _going(user).count():
            goes.append(f"{counted(private, 'unpublished submission')}.")
        if hooks := Webhook.objects.of(user).count():
            goes.append(f"{counted(hooks, 'webhook')} and their deliveries.")
        if scored := sum(map(_is_on_hidden_gold, _going(user).select_related("phase__release"))):
            stays.append(
                f"For {counted(scored, 'unpublished submission')} to hidden gold: when it was "
                "graded, the hash of its file, and keyed hashes of your email address and network. "
                "They keep the limits of the phase in force if you sign up again."
            )
        if shared := mine.private().count() - private:
            stays.append(
                f"{counted(shared, 'unpublished submission')} of your teams. The teams can still "
                "publish them. To prevent this, withdraw the submissions first."
            )
        public = mine.count() - mine.private().count()
        if public:
            stays.append(
                f"{counted(public, 'published result')}, including the model card. To remove "
                "published results, unpublish them first."
            )
        reviews = ExpertReview.objects.filter(expert=user, submitted_at__isnull=False).count()
        if reviews:
            stays.append(f"Your reviews of {counted(reviews, 'document')} as a judge expert.")
        return Fate(goes=goes, stays=stays)

    def let_go(self, user: User) -> None:
        """Switches off webhooks and deletes draft reviews and approvals of the account. Teams keep
        their submissions.

        Attempts made before they recorded the person record it now, before the email address goes.
        """
        Attempt.objects.filter(user=user, person="").update(person=person_key(user))
        Webhook.objects.of(user).update(is_active=False)
        ExpertReview.objects.filter(expert=user, submitted_at=None).delete()
        Approval.objects.filter(user=user, submission=None).delete()

    def erase(self, user: User) -> None:
        """Raises Retry while a worker is grading one of the submissions."""
        Webhook.objects.of(user).delete()
        submissions = list(_going(user).order_by("pk"))
        gradings = list(Grading.objects.filter(submission__in=submissions))
        for grading in gradings:
            try:
                cancel_grading(grading=grading, actor=None)
            except GradingRefused:
                continue
        groups = [grading.job_group for grading in gradings]
        if Job.objects.filter(group__in=groups).unfinished().exists():
            raise Retry("Gradings of the account are stopping.", _UNTIL_STOPPED)
        for submission in submissions:
            _delete(submission)


def _going(user: User) -> SubmissionQuerySet:
    """The submissions that are deleted with the account: those that no one else can read. The
    result is the same before and after the user leaves their teams."""
    others = TeamMember.objects.filter(team=OuterRef("team")).exclude(user=user)
    return Submission.objects.of(user).private().exclude(Exists(others))


def _delete(submission: Submission) -> None:
    """Deletes a submission and its file, unless other rows refer to it.

    What remains of one on hidden gold is its attempt, with the hash of the file.
    """
    # Re-runs go with it, and their files too.
    reruns = Submission.objects.filter(rerun_of=submission)
    names = [submission.upload.name, *reruns.values_list("upload", flat=True)]
    try:
        with transaction.atomic():
            drop_request(submission)
            _keep_attempt(submission)
            submission.delete()
    except ProtectedError:
        return
    for name in filter(None, names):
        default_storage.delete(name)


def _keep_attempt(submission: Submission) -> None:
    """On hidden gold an attempt stays used when its submission goes; elsewhere it goes too."""
    attempt = Attempt.objects.filter(submission=submission)
    if not _is_on_hidden_gold(submission):
        attempt.delete()
    elif default_storage.exists(str(submission.upload.name)):
        with submission.upload.open("rb") as file:
            attempt.update(file_sha256=file_digest(file, "sha256").hexdigest())


def _is_on_hidden_gold(submission: Submission) -> bool:
    return is_gold_hidden(submission.phase.release, submission.phase.split)


def _submissions(user: User) -> Iterator[dict[str, Any]]:
    rows = (
        Submission.objects.of(user)
        .select_related("phase__board", "phase__release", "team")
        .prefetch_related("gradings")
        .order_by("pk")
    )
    for row in rows.iterator(_AT_ONCE):
        yield {
            "number": row.pk,
            "board": row.phase.board.slug,
            "phase": row.phase.slug,
            "file": row.filename,
            "at": row.created_at,
            "team": row.team.name if row.team else None,
            "version": row.version,
            "publication": row.publication,
            "withdrawn": row.withdrawn_at,
            "verdict": row.verdict,
            "card": row.card(),
            "gradings": [
                {
                    "state": each.state,
                    "began": _shown(user, row.phase, each.created_at),
                    "ended": _shown(user, row.phase, each.finished_at),
                }
                for each in row.gradings.all()
            ],
        }


def _attempts(user: User) -> Iterator[dict[str, Any]]:
    rows = Attempt.objects.filter(user=user).order_by("pk")
    rows = rows.select_related("phase__board", "phase__release", "team")
    for row in rows.iterator(_AT_ONCE):
        yield {
            "submission": row.submission_id,
            "board": row.phase.board.slug,
            "phase": row.phase.slug,
            "team": row.team.name if row.team else None,
            "state": row.state,
            "file_sha256": row.file_sha256,
            "network": row.network,
            "held": _shown(user, row.phase, row.held_at),
            "settled": _shown(user, row.phase, row.settled_at),
        }


def _shown(user: User, phase: Phase, at: datetime | None) -> datetime | None:
    return at if at is None or sees_exact_times(user, phase) else full_minute(at)


def _approvals(user: User) -> Iterator[dict[str, Any]]:
    rows = Approval.objects.filter(user=user).select_related("phase__board").order_by("pk")
    for row in rows.iterator(_AT_ONCE):
        yield {
            "submission": row.submission_id,
            "board": row.phase.board.slug,
            "phase": row.phase.slug,
            "state": row.state,
            "reason": row.reason,
            "requested": row.created_at,
            "decided": row.decided_at,
        }


def _reviews(user: User) -> Iterator[dict[str, Any]]:
    """Facts are given by number, so that hidden gold stays hidden."""
    rows = ExpertReview.objects.filter(expert=user).select_related(
        "case__item", "case__sample__phase__board"
    )
    for row in rows.order_by("pk").iterator(_AT_ONCE):
        yield {
            "board": row.case.sample.phase.board.slug,
            "page": row.case.item.name,
            "facts": row.facts,
            "wrong": row.wrong,
            "structure": row.structure,
            "comment": row.comment,
            "submitted": row.submitted_at,
        }


def _webhooks(user: User) -> Iterator[dict[str, Any]]:
    for row in Webhook.objects.of(user).order_by("pk"):
        yield {"address": row.url, "active": row.is_active, "made": row.created_at}


def _messages(user: User) -> Iterator[dict[str, Any]]:
    rows = Delivery.objects.filter(webhook__user=user).select_related("webhook").order_by("pk")
    for row in rows.iterator(_AT_ONCE):
        yield {
            "address": row.webhook.url,
            "submission": row.submission_id,
            "state": row.state,
            "status": row.status,
            "made": row.created_at,
            "ended": row.ended_at,
        }
