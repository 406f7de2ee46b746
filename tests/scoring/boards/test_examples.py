"""The file to try a sample board with: only what a sample published where the gold is open."""

from typing import Any

import pytest

from portal.accounts.models import User
from portal.datasets.models import Release
from portal.jobs.worker import run_due_jobs
from scoring.boards.protection import NewPhase
from scoring.boards.selectors import example_file
from scoring.boards.services import add_phase
from scoring.models import Board, Submission
from scoring.submissions.services import publish_submission, withdraw_submission
from tests.fixture_types import ClientOf
from tests.scoring.factories import FLAWED, lines_of, make_board, make_release, make_submission

pytestmark = pytest.mark.django_db

URL = "/boards/board/example/"


def made_sample(board: Board, owner: User, **card: Any) -> Submission:
    """A graded and published submission of a sample board."""
    Board.objects.filter(pk=board.pk).update(is_sample=True)
    submission = make_submission(board, owner, FLAWED, **card)
    Submission.objects.filter(pk=submission.pk).update(is_sample=True)
    run_due_jobs()
    publish_submission(submission=submission, actor=None)
    return submission


def test_anybody_downloads_the_sample_file_and_sees_whose_it_is(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    made_sample(board, researcher, name="Sample reader")
    client = client_of(None)
    answer = client.get(URL)
    assert answer.getvalue() == lines_of(FLAWED)
    assert 'filename="board-predictions.jsonl"' in answer["Content-Disposition"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    page = client.get("/boards/board/").content.decode()
    assert f'href="{URL}"' in page
    assert "Sample reader" in page
    assert f'href="{URL}"' in client_of(researcher).get("/boards/board/submit/").content.decode()


def test_what_is_private_or_no_sample_is_not_offered(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    submission = made_sample(board, researcher)
    client = client_of(researcher)
    Submission.objects.filter(pk=submission.pk).update(is_sample=False)
    assert client.get(URL).status_code == 404
    Submission.objects.filter(pk=submission.pk).update(is_sample=True)
    Board.objects.filter(pk=board.pk).update(is_sample=False)
    assert client.get(URL).status_code == 404
    assert f'href="{URL}"' not in client.get("/boards/board/").content.decode()
    Board.objects.filter(pk=board.pk).update(is_sample=True)
    withdraw_submission(submission=submission, actor=researcher)
    assert client.get(URL).status_code == 404


def test_outputs_for_hidden_gold_are_never_given_away(
    client_of: ClientOf, researcher: User
) -> None:
    """They are close to the gold; of two phases the open one's file is offered."""
    hidden = make_release(visibility=Release.Visibility.GOLD_HIDDEN)
    board = make_board(hidden)
    made_sample(board, researcher)
    assert client_of(None).get(URL).status_code == 404
    assert f'href="{URL}"' not in client_of(None).get("/boards/board/").content.decode()

    opened = make_release()
    phase = add_phase(
        board=board, phase=NewPhase(slug="dev", title="Development", release=opened), actor=None
    )
    late = made_sample(make_board(opened, slug="other"), researcher)
    Submission.objects.filter(pk=late.pk).update(phase=phase)
    offered = example_file(Board.objects.get(pk=board.pk))
    assert offered is not None
    assert offered.submission == late


def test_a_draft_shows_its_file_to_organisers_alone(
    client_of: ClientOf, board: Board, researcher: User, organiser: User
) -> None:
    made_sample(board, researcher)
    Board.objects.filter(pk=board.pk).update(state=Board.State.DRAFT)
    assert client_of(researcher).get(URL).status_code == 404
    assert client_of(organiser).get(URL).getvalue() == lines_of(FLAWED)


def test_an_organiser_is_told_of_no_limit(
    client_of: ClientOf, researcher: User, organiser: User
) -> None:
    make_board(per_day=2)
    assert "2 of 2" in client_of(researcher).get("/boards/board/submit/").content.decode()
    assert "2 of 2" not in client_of(organiser).get("/boards/board/submit/").content.decode()
