"""Uploads, grades and publishes the shipped submissions, on behalf of their owners."""

from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.access import may_open_items
from scoring.models import Grading, Phase, Submission
from scoring.submissions.services import create_submission, open_items, publish_submission
from scoring.submissions.uploads import check_upload

from .parts import SampleError

GRADING_SECONDS = 120
CARD_FIELDS = ("name", "organisation", "size", "category", "link", "notes")


def load_submission(
    phase: Phase, path: Path, card: Mapping[str, Any], *, owner: User, actor: User
) -> None:
    """Upload a file, grade it immediately, and publish the result, with its single items if
    possible."""
    known = Submission.objects.filter(phase=phase, filename=path.name, is_sample=True)
    submission = known.first()
    if submission is None:
        with path.open("rb") as file:
            submission = create_submission(
                phase=phase,
                owner=owner,
                card={field: card[field] for field in CARD_FIELDS},
                file=file,
                filename=path.name,
                checked=check_upload(phase=phase, file=file, filename=path.name),
                is_sample=True,
            )
    _grade(submission)
    publish_submission(submission=submission, actor=actor)
    if may_open_items(phase, phase.release):
        open_items(submission=submission, has_open_items=True, actor=actor)


def _grade(submission: Submission) -> None:
    """Grade in this process; running workers may take part of the work."""
    end = monotonic() + GRADING_SECONDS
    while not (grading := submission.gradings.latest("id")).is_finished:
        if not run_due_jobs():
            sleep(0.2)
        if monotonic() > end:
            raise SampleError(f"{submission.filename}: not graded within {GRADING_SECONDS} s")
    if grading.state != Grading.State.DONE:
        raise SampleError(f"{submission.filename}: {grading.error}")
