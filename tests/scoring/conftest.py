"""Fixtures of the scoring tests: one board with one page of everything."""

from collections.abc import Callable

import pytest

from portal.accounts.models import User
from scoring.models import Board, Submission

from .factories import FLAWED, make_board, make_submission


@pytest.fixture
def board(db: None) -> Board:
    """Open, with a public release, showing every fact."""
    return make_board()


@pytest.fixture
def queued(board: Board, researcher: User) -> Submission:
    return make_submission(board, researcher, FLAWED)


@pytest.fixture
def graded(queued: Submission, run_jobs: Callable[[], int]) -> Submission:
    """The researcher's, private; four of its six facts are right."""
    run_jobs()
    return queued
