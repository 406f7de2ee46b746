"""Fixtures of the scoring tests: one board with one page of everything."""

import pytest

from portal.accounts.models import Team, User
from portal.jobs.worker import run_due_jobs
from scoring.leaderboard import pictures as drawings
from scoring.models import Board, Submission
from scoring.submissions.services import publish_submission
from tests.accounts.teams.people import team_of
from tests.worlds import _worlds_end, pytest_fixture_setup, shared

from .factories import FLAWED, make_board, make_submission

__all__ = ["_worlds_end", "pytest_fixture_setup"]


@pytest.fixture
@shared
def board(db: None) -> Board:
    """Open, with a public release, showing every fact."""
    return make_board()


@pytest.fixture
@shared
def queued(board: Board, researcher: User) -> Submission:
    return make_submission(board, researcher, FLAWED)


@pytest.fixture
@shared
def graded(queued: Submission) -> Submission:
    """The researcher's, private; four of its six facts are right."""
    run_due_jobs()
    return queued


@pytest.fixture
@shared
def published(graded: Submission) -> Submission:
    """The same, public: on page 1 a sign, on page 2 the date is wrong."""
    publish_submission(submission=graded, actor=None)
    return graded


@pytest.fixture
@shared
def team(ann: User, researcher: User, ben: User) -> Team:
    """Ann owns it; the researcher and Ben are members."""
    return team_of(ann, researcher, ben)


@pytest.fixture
@shared
def ours(board: Board, team: Team, researcher: User) -> Submission:
    """The researcher's for the team, graded and private."""
    submission = make_submission(board, researcher, team=team)
    run_due_jobs()
    return submission


@pytest.fixture
def empty_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts without anything in them, which takes no process that draws."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="350" height="300"></svg>'
    monkeypatch.setattr(drawings, "draw_svg", lambda _: svg)
