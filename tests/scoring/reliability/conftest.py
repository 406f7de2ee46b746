"""A sample of a public submission, whose expert is the stranger."""

import pytest

from portal.accounts.models import User
from scoring.models import Board, JudgeSample, Submission
from scoring.reliability.cases import add_expert, draw_sample
from tests.scoring.factories import first_phase
from tests.worlds import shared


@pytest.fixture
@shared
def sample(board: Board, published: Submission, stranger: User) -> JudgeSample:
    add_expert(board=board, user=stranger, actor=None)
    return draw_sample(phase=first_phase(board), percent=2, actor=None)
