"""Permissions: every URL and method, as every role."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern

from portal.accounts.models import User
from scoring import urls
from scoring.boards.services import set_board_state
from scoring.models import Board, Submission
from scoring.submissions.services import publish_submission
from tests.asking import Wanted, check_answers, flat
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

Cast = list[User | None]

# Statuses in this order: anonymous, a stranger, the owner of the submission, an organiser.
ANYBODY = (200, 200, 200, 200)
ACCOUNTS = (302, 200, 200, 200)
ORGANISERS = (302, 403, 403, 200)
KEEPERS = (404, 404, 200, 200)
NOBODY = (404, 404, 404, 404)
KEEPERS_LOGGED_IN = (302, 404, 200, 200)
ONLY_GET = (405, 405, 405, 405)
ONLY_POST = (405, 405, 405, 405)
# A page that is only for people with an account asks for it first.
ONLY_POST_LOGGED_IN = (302, 405, 405, 405)
ONLY_GET_LOGGED_IN = (302, 405, 405, 405)
ONLY_POST_ORGANISERS = (302, 403, 403, 405)
# A change that is made, or refused for the state things are in, leads back to the page.
KEEPERS_POST = (302, 404, 302, 302)
ORGANISERS_POST = (302, 403, 403, 302)

GET_PAGES = {
    "boards": ANYBODY,
    "board-new": ORGANISERS,
    "board": ANYBODY,
    "submit": ACCOUNTS,
    "board-benchmark": ANYBODY,
    "board-take-part": ANYBODY,
    # Only a sample board has a file to be tried with: see test_examples.
    "board-example": NOBODY,
    "board-manage": ORGANISERS,
    "board-state": ONLY_POST_ORGANISERS,
    "submissions": ACCOUNTS,
    "submission": KEEPERS,
    "submission-file": KEEPERS_LOGGED_IN,
    # It has no manifest: see test_provenance.
    "submission-manifest": (302, 404, 404, 404),
    "submission-cancel": ONLY_POST_LOGGED_IN,
    "submission-retry": ONLY_POST_LOGGED_IN,
    "submission-publish": ONLY_POST_LOGGED_IN,
    "submission-unpublish": ONLY_POST_LOGGED_IN,
    "submission-open-items": ONLY_POST_LOGGED_IN,
    "submission-withdraw": ONLY_POST_LOGGED_IN,
    "submission-judge": ONLY_POST_ORGANISERS,
    "submission-pin": ONLY_POST_ORGANISERS,
    "submission-approve": ONLY_POST_ORGANISERS,
    "submission-refuse": ONLY_POST_ORGANISERS,
    "approve-person": ONLY_POST_ORGANISERS,
    "board-settings": ORGANISERS,
    "phase-new": ORGANISERS,
    "phase-edit": ORGANISERS,
    "webhooks": ACCOUNTS,
    "webhook-remove": ONLY_POST_LOGGED_IN,
    "submission-reruns": KEEPERS,
    "submission-item": KEEPERS,
    "submission-item-rendered": KEEPERS,
    "board-csv": ANYBODY,
    "board-latex": ANYBODY,
    "board-markdown": ANYBODY,
    "board-cite": ANYBODY,
    "board-bibtex": ANYBODY,
    "board-embed": ANYBODY,
    # Of published submissions only: see test_citing.
    "submission-badge": NOBODY,
    "board-charts": ANYBODY,
    "chart": ANYBODY,
    # No version of the library has this name: see test_charts.
    "chart-library": NOBODY,
    "submission-scores": KEEPERS,
    "submission-bibtex": KEEPERS,
    # The fixtures' benchmark has no task tree: see test_task_trees.
    "board-tasks": NOBODY,
    "board-changes": ANYBODY,
    # Says how to choose entries: see test_comparisons.
    "board-compare": ANYBODY,
    # Without entries: see test_fact_pairs.
    "board-compare-facts": (400, 400, 400, 400),
    "regrade-start": ORGANISERS,
    # No re-grade has the number of the submission.
    "regrade": (302, 403, 403, 404),
    "regrade-cancel": ONLY_POST_ORGANISERS,
    "board-judge": ANYBODY,
    "judge-manage": ORGANISERS,
    "judge-expert-remove": ONLY_POST_ORGANISERS,
    "judge-sample-new": ONLY_POST_ORGANISERS,
    "judge-sample-close": ONLY_POST_ORGANISERS,
    "judge-run-new": ONLY_POST_ORGANISERS,
    "judge-run-cancel": ONLY_POST_ORGANISERS,
    "judge-endpoint": ORGANISERS,
    "judge-endpoint-remove": ONLY_POST_ORGANISERS,
    "judge-endpoint-try": ONLY_POST_ORGANISERS,
    "model-endpoint": ORGANISERS,
    "model-endpoint-remove": ONLY_POST_ORGANISERS,
    "model-endpoint-try": ONLY_POST_ORGANISERS,
    "model-runs": ORGANISERS,
    # No run has the number of the submission: see tests/scoring/running.
    "model-run": (302, 403, 403, 404),
    "model-run-cancel": ONLY_POST_ORGANISERS,
    "model-run-continue": ONLY_POST_ORGANISERS,
    "model-run-submit": ONLY_POST_ORGANISERS,
    # No one here is an expert of the board, and no case has this number: see test_judging.
    "judge-cases": (302, 403, 403, 403),
    "judge-review": (302, 403, 403, 403),
    "judge-case": (302, 404, 404, 404),
    "judge-opinion": ONLY_GET_LOGGED_IN,
    "judge-image": (302, 404, 404, 404),
    "judge-rendered": (302, 404, 404, 404),
    "board-training": ANYBODY,
    "rows": ORGANISERS,
    "row-new": ORGANISERS,
    "rows-template": ORGANISERS,
    # No reported or human row has the number of the submission: see test_entered_rows.
    "row": NOBODY,
    "row-edit": (302, 403, 403, 404),
    "row-withdraw": ONLY_POST_ORGANISERS,
    "row-bibtex": NOBODY,
    "human-run": ORGANISERS,
    # It draws nothing unless the query names a phase, a size and a seed.
    "human-run-items": (302, 403, 403, 400),
}
POST_PAGES = {
    "boards": ONLY_GET,
    # A form sent empty is shown again to who may send it.
    "board-new": (302, 403, 403, 400),
    "board": ONLY_GET,
    "submit": (302, 400, 400, 400),
    "board-benchmark": ONLY_GET,
    "board-example": ONLY_GET,
    "board-manage": (302, 403, 403, 405),
    "board-state": ORGANISERS_POST,
    "submissions": ONLY_GET_LOGGED_IN,
    "submission": ONLY_GET,
    "submission-file": ONLY_GET_LOGGED_IN,
    "submission-manifest": ONLY_GET_LOGGED_IN,
    "submission-cancel": KEEPERS_POST,
    "submission-retry": KEEPERS_POST,
    "submission-publish": KEEPERS_POST,
    "submission-unpublish": KEEPERS_POST,
    "submission-open-items": KEEPERS_POST,
    "submission-withdraw": KEEPERS_POST,
    "submission-judge": ORGANISERS_POST,
    "submission-pin": ORGANISERS_POST,
    "submission-approve": ORGANISERS_POST,
    "submission-refuse": ORGANISERS_POST,
    "approve-person": ORGANISERS_POST,
    "board-settings": (302, 403, 403, 400),
    "phase-new": (302, 403, 403, 400),
    "phase-edit": (302, 403, 403, 400),
    "webhooks": (302, 400, 400, 400),
    # No webhook has the number of the submission.
    "webhook-remove": (302, 404, 404, 404),
    # A file is missing: only organisers add re-runs.
    "submission-reruns": (302, 404, 403, 400),
    "submission-item": ONLY_GET,
    "submission-item-rendered": ONLY_GET,
    "board-csv": ONLY_GET,
    "board-latex": ONLY_GET,
    "board-markdown": ONLY_GET,
    "board-cite": ONLY_GET,
    "board-bibtex": ONLY_GET,
    "board-embed": ONLY_GET,
    "submission-badge": ONLY_GET,
    "board-charts": ONLY_GET,
    "chart": ONLY_GET,
    "chart-library": ONLY_GET,
    "submission-scores": ONLY_GET,
    "submission-bibtex": ONLY_GET,
    "board-tasks": ONLY_GET,
    "board-take-part": ONLY_GET,
    "board-changes": ONLY_GET,
    "board-compare": ONLY_GET,
    "board-compare-facts": ONLY_GET,
    "regrade-start": ORGANISERS_POST,
    "regrade": (302, 403, 403, 405),
    "regrade-cancel": (302, 403, 403, 404),
    "board-judge": ONLY_GET,
    "judge-manage": (302, 403, 403, 400),
    "judge-expert-remove": (302, 403, 403, 404),
    "judge-sample-new": (302, 403, 403, 400),
    "judge-sample-close": (302, 403, 403, 404),
    "judge-run-new": (302, 403, 403, 400),
    "judge-run-cancel": (302, 403, 403, 404),
    "judge-endpoint": (302, 403, 403, 400),
    "judge-endpoint-remove": ORGANISERS_POST,
    # The tests' settings name no judge: it says so.
    "judge-endpoint-try": ORGANISERS_POST,
    "model-endpoint": (302, 403, 403, 400),
    "model-endpoint-remove": ORGANISERS_POST,
    "model-endpoint-try": ORGANISERS_POST,
    "model-runs": (302, 403, 403, 400),
    "model-run": (302, 403, 403, 405),
    "model-run-cancel": (302, 403, 403, 404),
    "model-run-continue": (302, 403, 403, 404),
    "model-run-submit": (302, 403, 403, 404),
    "judge-cases": ONLY_GET_LOGGED_IN,
    "judge-review": (302, 403, 403, 403),
    "judge-case": ONLY_GET_LOGGED_IN,
    "judge-opinion": (302, 403, 403, 403),
    "judge-image": ONLY_GET_LOGGED_IN,
    "judge-rendered": ONLY_GET_LOGGED_IN,
    "board-training": ONLY_GET,
    "rows": (302, 403, 403, 400),
    "row-new": (302, 403, 403, 400),
    "rows-template": ONLY_POST_ORGANISERS,
    "row": ONLY_GET,
    "row-edit": (302, 403, 403, 404),
    "row-withdraw": (302, 403, 403, 404),
    "row-bibtex": ONLY_GET,
    "human-run": (302, 403, 403, 400),
    "human-run-items": ONLY_POST_ORGANISERS,
}

API_ACCOUNTS = (401, 200, 200, 200)
API_ORGANISERS = (401, 403, 403, 200)
API_KEEPERS_LOGGED_IN = (401, 404, 200, 200)
API_NO_GET = (401, 405, 405, 405)
API_NO_GET_ORGANISERS = (401, 403, 403, 405)
API_NO_POST = (401, 405, 405, 405)
# The grading of the submission is done: it can be neither cancelled nor taken up again.
API_CONFLICT = (401, 404, 409, 409)
GET_API = {
    "boards": ANYBODY,
    "board": ANYBODY,
    "leaderboard": ANYBODY,
    "cite": ANYBODY,
    "charts": ANYBODY,
    "chart": ANYBODY,
    "board-submissions": (401, 403, 403, 200),
    "submissions": API_ACCOUNTS,
    "submission": KEEPERS,
    "submission-file": API_KEEPERS_LOGGED_IN,
    "submission-manifest": (401, 404, 404, 404),
    "submission-items": KEEPERS,
    "submission-reruns": KEEPERS,
    "submission-item": KEEPERS,
    "submission-cancel": API_NO_GET,
    "submission-retry": API_NO_GET,
    "submission-publish": API_NO_GET,
    "submission-unpublish": API_NO_GET,
    "submission-open-items": API_NO_GET,
    "submission-withdraw": API_NO_GET,
    "submission-judge": API_NO_GET_ORGANISERS,
    "submission-pin": API_NO_GET_ORGANISERS,
    "submission-approve": API_NO_GET_ORGANISERS,
    "submission-refuse": API_NO_GET_ORGANISERS,
    "board-check": API_NO_GET,
    "board-likenesses": (401, 403, 403, 200),
    "board-signs": (401, 403, 403, 200),
    "board-hidden-scores": (401, 403, 403, 200),
    "board-approvals": (401, 403, 403, 200),
    "board-judge": ANYBODY,
    # The board has none of its own: see test_judge_endpoint_api.
    "judge-endpoint": (401, 403, 403, 404),
    "judge-endpoint-try": API_NO_GET_ORGANISERS,
    "model-endpoint": (401, 403, 403, 404),
    "model-endpoint-try": API_NO_GET_ORGANISERS,
    "model-runs": API_ORGANISERS,
    "model-run": (401, 403, 403, 404),
    "model-run-cancel": API_NO_GET_ORGANISERS,
    "model-run-continue": API_NO_GET_ORGANISERS,
    "model-run-submit": API_NO_GET_ORGANISERS,
    "phases": API_NO_GET_ORGANISERS,
    "phase": ANYBODY,
    "phase-limits": API_ACCOUNTS,
    # Of a public release.
    "phase-ids": ANYBODY,
    "webhooks": API_ACCOUNTS,
    "webhook": API_NO_GET,
    "board-changes": ANYBODY,
    # Without entries.
    "board-compare": (400, 400, 400, 400),
    "board-compare-facts": (400, 400, 400, 400),
    "regrades": API_ORGANISERS,
    "regrade": (401, 403, 403, 404),
    "regrade-cancel": API_NO_GET_ORGANISERS,
    "board-training": ANYBODY,
    "rows": ANYBODY,
    "row-table": API_NO_GET_ORGANISERS,
    "row": NOBODY,
    "row-same-items": NOBODY,
    "human-runs": API_NO_GET_ORGANISERS,
    "human-run-sample": (401, 403, 403, 400),
}
POST_API = {
    "boards": (401, 403, 403, 400),
    "board": (401, 403, 403, 405),
    "leaderboard": API_NO_POST,
    "cite": API_NO_POST,
    "charts": API_NO_POST,
    "chart": API_NO_POST,
    "board-submissions": (401, 400, 400, 400),
    "submissions": API_NO_POST,
    "submission": API_NO_POST,
    "submission-file": API_NO_POST,
    "submission-manifest": API_NO_POST,
    "submission-items": API_NO_POST,
    "submission-reruns": (401, 403, 403, 400),
    "submission-item": API_NO_POST,
    "submission-cancel": API_CONFLICT,
    "submission-retry": API_CONFLICT,
    "submission-publish": (401, 404, 200, 200),
    "submission-unpublish": (401, 404, 200, 200),
    "submission-open-items": (401, 404, 200, 200),
    "submission-withdraw": (401, 404, 200, 200),
    "submission-judge": (401, 403, 403, 400),
    "submission-pin": (401, 403, 403, 200),
    "submission-approve": (401, 403, 403, 409),
    "submission-refuse": (401, 403, 403, 400),
    "board-check": (401, 400, 400, 400),
    "board-likenesses": (401, 403, 403, 405),
    "board-signs": (401, 403, 403, 405),
    "board-hidden-scores": (401, 403, 403, 405),
    "board-approvals": (401, 403, 403, 400),
    "board-judge": API_NO_POST,
    "judge-endpoint": (401, 403, 403, 405),
    "judge-endpoint-try": (401, 403, 403, 409),
    "model-endpoint": (401, 403, 403, 405),
    "model-endpoint-try": (401, 403, 403, 409),
    "model-runs": (401, 403, 403, 400),
    "model-run": (401, 403, 403, 405),
    "model-run-cancel": (401, 403, 403, 404),
    "model-run-continue": (401, 403, 403, 404),
    "model-run-submit": (401, 403, 403, 404),
    "phases": (401, 403, 403, 400),
    "phase": (401, 403, 403, 405),
    "phase-limits": API_NO_POST,
    "phase-ids": API_NO_POST,
    "webhooks": (401, 400, 400, 400),
    "webhook": API_NO_POST,
    "board-changes": API_NO_POST,
    "board-compare": API_NO_POST,
    "board-compare-facts": API_NO_POST,
    "regrades": (401, 403, 403, 201),
    "regrade": (401, 403, 403, 405),
    "regrade-cancel": (401, 403, 403, 404),
    "board-training": API_NO_POST,
    "rows": (401, 403, 403, 400),
    "row-table": (401, 403, 403, 400),
    "row": (401, 403, 403, 405),
    "row-same-items": API_NO_POST,
    "human-runs": (401, 403, 403, 400),
    "human-run-sample": (401, 403, 403, 405),
}


@pytest.fixture
def cast(stranger: User, researcher: User, organiser: User) -> Cast:
    return [None, stranger, researcher, organiser]


def address(pattern: URLPattern, root: str, submission: Submission) -> str:
    """The pattern's URL for the fixtures' board, submission and first item."""
    route = str(pattern.pattern)
    for part, value in {
        "<slug:slug>": submission.phase.board.slug,
        "<int:pk>": submission.pk,
        "<str:name>": "page-1",
        "<slug:phase>": "test",
        "<slug:chart>": "ranks",
        "<slug:form>": "csv",
        "<slug:version>": "0",
        "<str:side>": "gold",
        "<int:number>": 1,
    }.items():
        route = route.replace(part, str(value))
    return root + route


Check = Callable[..., None]


@pytest.fixture
def check(cast: Cast, client_of: ClientOf, api_of: ApiOf) -> Check:
    """`check({url: statuses})` asks each page or endpoint as each of the cast."""
    pages, endpoints = [client_of(user) for user in cast], [api_of(user) for user in cast]

    def asked(table: Mapping[str, tuple[int, ...]], method: str = "get", **sent: Any) -> None:
        def ask(key: tuple[str, int]) -> Any:
            url, place = key
            client = (endpoints if url.startswith("/api/") else pages)[place]
            return getattr(client, method)(url, **sent)

        assert {len(statuses) for statuses in table.values()} == {len(cast)}
        wanted: dict[tuple[str, int], Wanted] = {
            (url, place): status
            for url, statuses in table.items()
            for place, status in enumerate(statuses)
        }
        check_answers(wanted, ask)

    return asked


PAGES = {str(pattern.name): pattern for pattern in flat(urls.urlpatterns)}
ENDPOINTS = {str(pattern.name): pattern for pattern in flat(urls.api_urlpatterns)}


def test_every_address_is_in_the_tables() -> None:
    assert set(PAGES) == set(GET_PAGES) == set(POST_PAGES)
    assert set(ENDPOINTS) == set(GET_API) == set(POST_API)


def filled(
    table: Mapping[str, tuple[int, ...]],
    patterns: Mapping[str, URLPattern],
    root: str,
    graded: Submission,
) -> dict[str, tuple[int, ...]]:
    """The table by URL."""
    found = {address(patterns[name], root, graded): wanted for name, wanted in table.items()}
    assert len(found) == len(table)
    return found


def test_reading_pages(check: Check, graded: Submission) -> None:
    check(filled(GET_PAGES, PAGES, "/", graded))


def test_posting_to_pages(check: Check, graded: Submission) -> None:
    check(filled(POST_PAGES, PAGES, "/", graded), "post")


def test_reading_the_api(check: Check, graded: Submission) -> None:
    check(filled(GET_API, ENDPOINTS, "/api/v1/", graded))


def test_posting_to_the_api(check: Check, graded: Submission) -> None:
    wanted = filled(POST_API, ENDPOINTS, "/api/v1/", graded)
    boards = "/api/v1/boards/"
    check({boards: wanted.pop(boards)}, "post", data={})
    check(wanted, "post", data={}, format="multipart")


def test_changing_a_board_by_the_api(check: Check, graded: Submission) -> None:
    wanted = {"/api/v1/boards/board/": (401, 403, 403, 200)}
    check(wanted, "patch", data={"state": "archived"})


def test_a_draft_board_exists_for_organisers_alone(check: Check, board: Board) -> None:
    set_board_state(board=board, state=Board.State.DRAFT, actor=None)
    hidden = [
        "/boards/board/",
        "/boards/board/leaderboard.csv",
        "/boards/board/leaderboard.tex",
        "/boards/board/charts/",
        "/boards/board/charts/ranks.csv",
        "/boards/board/changes/",
        "/boards/board/compare/",
        "/api/v1/boards/board/",
        "/api/v1/boards/board/leaderboard/",
        "/api/v1/boards/board/charts/",
        "/api/v1/boards/board/charts/ranks/",
        "/api/v1/boards/board/changes/",
        "/api/v1/boards/board/judge/",
    ]
    wanted = dict.fromkeys(hidden, (404, 404, 404, 200))
    check(wanted | {"/boards/board/submit/": (302, 404, 404, 200)})


@pytest.mark.parametrize("path", ["/boards/", "/api/v1/boards/"])
def test_a_draft_board_is_listed_for_organisers_alone(
    client_of: ClientOf, board: Board, cast: Cast, path: str
) -> None:
    set_board_state(board=board, state=Board.State.DRAFT, actor=None)
    listed = [board.title in client_of(user).get(path).content.decode() for user in cast]
    assert listed == [False, False, False, True]


def test_the_summary_of_a_published_submission_is_public(check: Check, graded: Submission) -> None:
    publish_submission(submission=graded, actor=None)
    path = f"submissions/{graded.pk}/"
    check({f"/{path}": ANYBODY, f"/api/v1/{path}": ANYBODY})


def test_items_and_file_of_a_published_submission_stay_private(
    check: Check, graded: Submission
) -> None:
    publish_submission(submission=graded, actor=None)
    path = f"submissions/{graded.pk}"
    wanted = {
        f"/{path}/items/page-1/": KEEPERS,
        f"/{path}/items/page-1/gold/": KEEPERS,
        f"/{path}/items/page-1/prediction/": KEEPERS,
        f"/{path}/file/": (302, 403, 200, 200),
        f"/api/v1/{path}/items/": KEEPERS,
        f"/api/v1/{path}/items/page-1/": KEEPERS,
        f"/api/v1/{path}/file/": (401, 403, 200, 200),
    }
    check(wanted)


def test_a_published_submission_of_a_board_made_draft_again_is_hidden(
    check: Check, graded: Submission
) -> None:
    publish_submission(submission=graded, actor=None)
    set_board_state(board=graded.phase.board, state=Board.State.DRAFT, actor=None)
    check({f"/submissions/{graded.pk}/": KEEPERS})


@pytest.mark.parametrize("act", ["cancel", "retry", "publish", "unpublish"])
def test_acts_need_a_csrf_token(organiser: User, graded: Submission, act: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(organiser, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert client.post(f"/submissions/{graded.pk}/{act}/").status_code == 403
