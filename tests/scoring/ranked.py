"""Rows of a leaderboard with known differences, some of them significant."""

from typing import Any

import numpy as np

from portal.accounts.models import User
from portal.jobs.worker import run_due_jobs
from scoring.leaderboard.services import store_replicates
from scoring.metrics.intervals import Replicates
from scoring.models import Board, Entry, Submission
from scoring.submissions.services import publish_submission

from .factories import FLAWED, PERFECT, latest_grading, make_submission


def graded(
    board: Board, owner: User, name: str = "Reader", predictions: Any = FLAWED
) -> Submission:
    submission = make_submission(board, owner, predictions, name=name)
    run_due_jobs()
    return submission


def published(board: Board, owner: User, **means: float) -> dict[str, Submission]:
    """Graded and published submissions whose figures were resampled around these means, each by
    draws of its own that are narrow: a hundredth up or down."""
    made = {name: graded(board, owner, name, PERFECT) for name in means}
    for seed, (name, mean) in enumerate(means.items()):
        submission = made[name]
        publish_submission(submission=submission, actor=None)
        noise = np.random.default_rng(seed).uniform(-0.01, 0.01, 1000)
        figures = {
            figure: Replicates(mean, mean + noise, "drawn alike") for figure in ("ffa", "general")
        }
        store_replicates(latest_grading(submission).pk, figures)
        grading = latest_grading(submission)
        Entry.objects.filter(grading=grading).update(scores={**grading.scores, "ffa": mean})
    run_due_jobs()
    return made
