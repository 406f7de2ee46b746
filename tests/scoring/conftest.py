"""Fixtures of the scoring tests: one board with one page of everything."""

from collections.abc import Callable

import pytest

from portal.accounts.models import Team, User
from scoring.models import Board, Submission
from scoring.selectors import drawings
from tests.accounts.teams import team_of

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


@pytest.fixture
def team(ann: User, researcher: User, ben: User) -> Team:
    """Ann owns it; the researcher and Ben are members."""
    return team_of(ann, researcher, ben)


@pytest.fixture
def ours(board: Board, team: Team, researcher: User, run_jobs: Callable[[], int]) -> Submission:
    """The researcher's for the team, graded and private."""
    submission = make_submission(board, researcher, team=team)
    run_jobs()
    return submission


@pytest.fixture
def empty_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts without anything in them, which takes no process that draws."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="350" height="300"></svg>'
    monkeypatch.setattr(drawings, "draw_svg", lambda specs: [svg] * len(specs))
