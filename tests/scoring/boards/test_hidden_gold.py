"""No page, endpoint or error of scoring reveals hidden gold."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.datasets.models import Release
from scoring import urls
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Phase, Submission
from scoring.submissions.services import publish_submission
from tests.asking import flat, in_turn
from tests.datasets.releases.worlds import shown_text
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import first_phase, make_board, make_release, make_submission, upload

from .test_permissions import address

pytestmark = pytest.mark.django_db


SECRETS = ("4,711,08", "Veiled Holdings", "secret-source")
GOLD = {
    f"doc-{n}": f"<p>Veiled Holdings {n}: revenue of <Number>4,711,08{n}</Number> dollars.</p>"
    for n in range(6)
}
# A submitter's wrong readings of the images.
GUESS = {name: f"<p>Some company: {n} dollars and no more to be read.</p>" for n, name in
         enumerate(GOLD)}  # fmt: skip


@pytest.fixture
def board(db: None) -> Board:
    release = make_release(GOLD, visibility=Release.Visibility.GOLD_HIDDEN)
    release.dataset.documents.update(
        source_url="https://example.org/secret-source", company="Veiled Holdings"
    )
    board = make_board(
        release,
        diagnostics=Phase.Diagnostics.AGGREGATES,
        public_share=50,
        closes_at=timezone.now() + timedelta(days=1),
    )
    load_reported(board=board)
    return board


@pytest.fixture
def published(
    board: Board, researcher: User, stranger: User, run_jobs: Callable[[], int]
) -> Submission:
    """One of two submissions that are almost the same, so that they are flagged."""
    mine, other = (make_submission(board, user, GUESS) for user in (researcher, stranger))
    run_jobs()
    for submission in (mine, other):
        publish_submission(submission=submission, actor=submission.owner)
    return Submission.objects.get(pk=mine.pk)


def secrets_of(board: Board) -> list[str]:
    phase = first_phase(board)
    found = [*SECRETS, phase.part_salt, phase.release.sha256]
    for item in phase.release.items.select_related("document"):
        assert item.document is not None
        found += [item.sha256, item.document.html_sha256, item.document.text_sha256]
    return found


def answers(submission: Submission, client: Client, api: APIClient) -> Iterator[tuple[str, Any]]:
    """The responses of every URL, read and sent nothing, too much, or wrong data."""
    for root, patterns, asking in (
        ("/", urls.urlpatterns, client),
        ("/api/v1/", urls.api_urlpatterns, api),
    ):
        for pattern in flat(patterns):
            path = address(pattern, root, submission)
            for query in (
                "",
                "?part=private",
                "?sort=gold&view=facts&phase=dev",
                "?page=9&limit=9",
            ):
                yield f"GET {path}{query}", asking.get(path + query)
            if not path.endswith(("/withdraw/", "/unpublish/")):
                yield f"POST {path}", asking.post(path, {"diagnostics": "facts"})
            yield f"PATCH {path}", asking.patch(path, "{}", content_type="application/json")
    for content in (b"{", b'{"id": "doc-1"}\n', b'{"id": "nowhere", "html": ""}\n',
                    json.dumps({"id": "doc-1", "html": "<p>x</p>"}).encode()):  # fmt: skip
        for what in ("check", "submissions"):
            path = f"/api/v1/boards/board/{what}/"
            data = {"name": "Try", "file": upload(content)}
            yield f"{path} {content!r}", api.post(path, data, format="multipart")


def text_of(response: Any) -> str:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return shown_text(body) + str(dict(response.headers))


@pytest.mark.parametrize("is_closed", [False, True], ids=["open", "closed"])
def test_hidden_gold_leaks_nowhere(
    is_closed: bool,
    board: Board,
    published: Submission,
    researcher: User,
    ann: User,
    client_of: ClientOf,
    api_of: ApiOf,
) -> None:
    if is_closed:
        board.phases.update(closes_at=timezone.now())
    secrets = secrets_of(board)
    people = {"nobody": None, "owner": researcher, "stranger": ann}

    def check(role: str) -> None:
        asked = 0
        for what, response in answers(published, client_of(people[role]), api_of(people[role])):
            text = text_of(response)
            assert response.status_code < 500, what
            assert [secret for secret in secrets if secret in text] == [], what
            assert "likeness" not in text.replace("/likenesses/", ""), what
            assert "Similar submissions" not in text, what
            asked += response.status_code == 200
        assert asked > 15

    in_turn(people, check)


def test_organisers_find_what_is_looked_for(
    board: Board, published: Submission, organiser: User, client_of: ClientOf
) -> None:
    """That the search above can find it."""
    client = client_of(organiser)
    assert "4,711,080" in text_of(client.get(f"/submissions/{published.pk}/items/doc-0/"))
    assert first_phase(board).release.sha256 in text_of(client.get("/boards/board/benchmark/"))
    page = text_of(client.get(f"/submissions/{published.pk}/"))
    assert "Similar submissions" in page
    assert "Scores by part" in page
