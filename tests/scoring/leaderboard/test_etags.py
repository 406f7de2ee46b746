"""Conditional requests: one query for a reader with a current copy, and no access to others'
data."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from portal.accounts.access import issue_token
from portal.accounts.models import User
from portal.accounts.teams.services import change_team, make_team
from portal.datasets.models import Dataset
from portal.jobs.worker import run_due_jobs
from portal.web.requests import etag_of
from scoring.boards.protection import NewPhase
from scoring.boards.services import add_phase, edit_board, set_board_state
from scoring.grading.regrades import start_regrade
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Submission
from scoring.submissions.services import (
    judge_submission,
    pin_submission,
    publish_submission,
    unpublish_submission,
    withdraw_submission,
)
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import (
    first_phase,
    make_board,
    make_entry,
    make_release,
    make_submission,
)
from tests.scoring.regrading import next_release, release_of, three_results

pytestmark = pytest.mark.django_db

Budget = Any
JSON = "/api/v1/boards/board/leaderboard/"
PAGE = "/boards/board/"


def etag(client: Any, path: str) -> str:
    return str(client.get(path)["ETag"])


def status(client: Any, path: str, known: str) -> int:
    return int(client.get(path, headers={"if-none-match": known}).status_code)


@pytest.mark.parametrize("path", [JSON, PAGE, f"{JSON}?sort=-ffa", f"{PAGE}?sort=ffa"])
@pytest.mark.parametrize("entries", [1, 30])
def test_an_unchanged_leaderboard_costs_one_query(
    client_of: ClientOf,
    board: Board,
    researcher: User,
    path: str,
    entries: int,
    django_assert_num_queries: Budget,
) -> None:
    for number in range(entries):
        make_entry(board, researcher, name=f"Reader {number}")
    client = client_of(None)
    known = etag(client, path)
    with django_assert_num_queries(1):
        response = client.get(path, headers={"if-none-match": known})
    assert (response.status_code, response.content) == (304, b"")
    assert response["ETag"] == known
    assert "Content-Security-Policy" not in response
    assert "Cookie" in response["Vary"]


def acts(organiser: User) -> list[Callable[[Board, Submission], object]]:
    """Every change that affects a leaderboard."""
    return [
        lambda _, graded: publish_submission(submission=graded, actor=organiser),
        lambda _, graded: judge_submission(
            submission=graded, verdict=Submission.Verdict.VERIFIED, reason="", actor=organiser
        ),
        lambda _, graded: pin_submission(submission=graded, is_pinned=True, actor=organiser),
        lambda _, graded: unpublish_submission(submission=graded, actor=organiser),
        lambda _, graded: publish_submission(submission=graded, actor=organiser),
        lambda _, graded: withdraw_submission(submission=graded, actor=organiser),
        lambda board, _: load_reported(board=board),
        lambda board, _: edit_board(board=board, changes={"title": "New"}, actor=organiser),
        lambda board, _: edit_board(
            board=board, changes={"column_groups": ["Fact-level"]}, actor=organiser
        ),
        lambda board, _: add_phase(
            board=board, phase=NewPhase("dev", "Dev", make_release()), actor=organiser
        ),
        lambda board, _: Dataset.objects.update(title="Another"),
        lambda board, _: board.phases.update(closes_at=timezone.now()),
        lambda board, _: set_board_state(board=board, state=Board.State.ARCHIVED, actor=organiser),
    ]


def test_every_change_gives_another_etag(
    client_of: ClientOf, graded: Submission, organiser: User
) -> None:
    client, board = client_of(None), graded.phase.board
    for number, act in enumerate(acts(organiser)):
        before = {path: etag(client, path) for path in (JSON, PAGE)}
        act(board, graded)
        for path, known in before.items():
            assert status(client, path, known) == 200, (number, path)
            assert etag(client, path) != known, (number, path)


def test_grading_again_and_renaming_a_team_give_another_etag(
    client_of: ClientOf, board: Board, researcher: User, organiser: User
) -> None:
    team = make_team(name="Readers", actor=researcher)
    made = three_results(board, researcher, team=team)
    client = client_of(None)

    def changes(act: Callable[[], object]) -> None:
        known = {path: etag(client, path) for path in (JSON, PAGE)}
        act()
        assert {path: status(client, path, tag) for path, tag in known.items()} == {
            JSON: 200,
            PAGE: 200,
        }

    renamed = {"name": "Scribes", "about": "", "link": ""}
    changes(lambda: change_team(team=team, actor=researcher, **renamed))
    assert "Scribes" in client.get(PAGE).content.decode()
    release = next_release(release_of(board))
    start_regrade(board=board, release=release, actor=organiser)
    changes(run_due_jobs)
    assert made["Flawed"].gradings.count() == 2


def test_nothing_but_a_change_gives_another(
    client_of: ClientOf, graded: Submission, organiser: User
) -> None:
    publish_submission(submission=graded, actor=organiser)
    client = client_of(None)
    known = etag(client, JSON)
    publish_submission(submission=graded, actor=organiser)
    load_reported(board=make_board(first_phase(graded.phase.board).release, slug="other"))
    assert status(client, JSON, known) == 304


def test_time_alone_changes_it_where_time_changes_the_page(client_of: ClientOf) -> None:
    make_board(scores_after=timezone.now() + timedelta(days=1))
    board = Board.objects.get()
    known = etag(client_of(None), PAGE)
    later = board.phases.get().scores_after
    board.phases.update(scores_after=later)
    assert status(client_of(None), PAGE, known) == 304
    board.phases.update(scores_after=timezone.now() - timedelta(days=1))
    assert status(client_of(None), PAGE, known) == 200


def test_no_etag_opens_a_draft(client_of: ClientOf, api_of: ApiOf, organiser: User) -> None:
    make_board(state=Board.State.DRAFT)
    known = etag(api_of(organiser), JSON)
    for user in (None,):
        assert status(api_of(user), JSON, known) == 404
        assert status(client_of(user), PAGE, known) == 404
        assert status(api_of(user), JSON, "*") == 404


def test_organisers_and_others_never_share_an_answer(
    api_of: ApiOf, board: Board, organiser: User, researcher: User
) -> None:
    known = etag(api_of(organiser), JSON)
    assert status(api_of(researcher), JSON, known) == 200
    assert status(api_of(researcher), JSON, etag(api_of(None), JSON)) == 304


def test_pages_of_people_with_an_account_have_none(
    client_of: ClientOf, board: Board, researcher: User
) -> None:
    """They contain private data: tokens of forms, navigation."""
    response = client_of(researcher).get(PAGE)
    assert "ETag" not in response
    known = etag(client_of(None), PAGE)
    assert status(client_of(researcher), PAGE, known) == 200


def test_every_read_of_the_api_is_conditional(
    api_of: ApiOf, client_of: ClientOf, graded: Submission, researcher: User, stranger: User
) -> None:
    release = first_phase(graded.phase.board).release
    base = f"/api/v1/datasets/{release.dataset.slug}"
    paths = ["/api/v1/boards/", "/api/v1/boards/board/", "/api/v1/boards/board/phases/test/",
             f"{base}/", f"{base}/releases/", f"{base}/releases/1.0.0/",
             f"{base}/releases/1.0.0/items/", f"{base}/statistics/", "/api/v1/datasets/",
             f"/api/v1/submissions/{graded.pk}/", f"/api/v1/submissions/{graded.pk}/items/",
             "/api/v1/submissions/"]  # fmt: skip
    mine = api_of(researcher)
    for path in paths:
        response = mine.get(path)
        assert response["Cache-Control"] == "private, no-cache", path
        assert {"Authorization", "Cookie"} <= set(response["Vary"].split(", ")), path
        assert status(mine, path, response["ETag"]) == 304, path
    # Readers without access get 404, even with a known ETag.
    for path in (f"/api/v1/submissions/{graded.pk}/", f"/api/v1/submissions/{graded.pk}/items/"):
        known = etag(mine, path)
        assert status(api_of(stranger), path, known) == 404
        assert status(api_of(None), path, known) == 404
    assert status(api_of(None), "/api/v1/submissions/", etag(mine, "/api/v1/submissions/")) == 401


def test_a_token_asks_as_a_session_does(board: Board, researcher: User) -> None:
    _, secret = issue_token(user=researcher, name="program")
    client = Client(headers={"authorization": f"Bearer {secret}"})
    assert status(client, JSON, etag(client, JSON)) == 304


def test_an_etag_is_of_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    assert etag_of({"a": 1, "b": [2]}) == etag_of({"b": [2], "a": 1})
    assert etag_of(1, 2) != etag_of(12)
    before = etag_of(1)
    monkeypatch.setattr("portal.web.requests.build", lambda: "another build")
    assert etag_of(1) != before


def test_changes_are_visible_at_once(api_of: ApiOf, board: Board, researcher: User) -> None:
    """An ETag never prevents sending other content."""
    submission = make_submission(board, researcher)
    answer = api_of(researcher).post(
        f"/api/v1/submissions/{submission.pk}/withdraw/", headers={"if-none-match": "*"}
    )
    assert answer.status_code == 200
