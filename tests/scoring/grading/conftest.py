"""Three public results that a re-grade moves."""

import pytest

from portal.accounts.models import User
from scoring.models import Board
from tests.scoring.regrading import Results, three_results
from tests.worlds import shared


@pytest.fixture
@shared
def results(board: Board, researcher: User) -> Results:
    return three_results(board, researcher)
