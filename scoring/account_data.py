"""What scoring holds about a person, for their export and for the deletion of their account.

Published results stay with their model card; it is what others quote. What nobody but the owner
could see is deleted.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import ProtectedError

from portal.accounts.account_data import Fate, Table, Upload, counted
from portal.accounts.models import User
from portal.jobs.handlers import Retry
from portal.jobs.models import Job
from scoring.models import Grading, Submission
from scoring.services.gradings import GradingRefused, cancel_grading

_AT_ONCE = 100
_UNTIL_STOPPED = timedelta(seconds=10)


class SubmissionData:
    def tables(self, user: User) -> Iterator[Table]:
        yield Table(
            "submissions",
            "What you submitted, with its model card. The figures stand on the site.",
            _submissions(user),
        )

    def uploads(self, user: User) -> Iterator[Upload]:
        for submission in Submission.objects.of(user).order_by("pk").iterator(_AT_ONCE):
            name = submission.upload.name
            if name and default_storage.exists(name):
                suffix = "".join(PurePosixPath(name).suffixes)
                path = f"uploads/submission-{submission.pk}{suffix}"
                yield Upload(path, submission.upload.open("rb"))

    def fate(self, user: User) -> Fate:
        mine = Submission.objects.of(user)
        private = mine.filter(publication=Submission.Publication.PRIVATE).count()
        public = mine.count() - private
        goes, stays = [], []
        if private:
            goes.append(f"{counted(private, 'submission')} that you have not published.")
        if public:
            stays.append(
                f"{counted(public, 'published result')} with model card, without your name. Take "
                "back first what shall not stay."
            )
        return Fate(goes=goes, stays=stays)

    def let_go(self, user: User) -> None:
        """Nothing is to be handed over."""

    def erase(self, user: User) -> None:
        """Raises Retry while a worker is at one of the submissions."""
        private = Submission.objects.of(user).filter(publication=Submission.Publication.PRIVATE)
        submissions = list(private.order_by("pk"))
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


def _delete(submission: Submission) -> None:
    """What something else rests on stays, without a name."""
    name = submission.upload.name
    try:
        with transaction.atomic():
            submission.delete()
    except ProtectedError:
        return
    if name:
        default_storage.delete(name)


def _submissions(user: User) -> Iterator[dict[str, Any]]:
    rows = (
        Submission.objects.of(user)
        .select_related("phase__board")
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
            "publication": row.publication,
            "card": row.card(),
            "gradings": [
                {"state": each.state, "began": each.created_at, "ended": each.finished_at}
                for each in row.gradings.all()
            ],
        }
