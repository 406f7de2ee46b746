"""Whatever depends on hidden gold differs between two sites that differ only in it.

So no page, endpoint, file, header, error, email, webhook or export that a reader without access to
the gold receives may differ between them: in its values, counts, order or size.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from rest_framework.test import APIClient

from portal.accounts.account_data import sources
from portal.accounts.models import User
from scoring.models import Delivery, Webhook
from tests.asking import rolled_back
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import upload

from .twins import TWINS, Answer, Cast, alone, answer_of, difference, make_site, queries, urls

pytestmark = pytest.mark.django_db

Answers = dict[tuple[str, str], Any]
Ask = Callable[[str, User | None], Iterator[tuple[str, Any]]]


@pytest.fixture
def cast(organiser: User, researcher: User, ann: User) -> Cast:
    return Cast(organiser, researcher, ann)


@pytest.fixture
def ask(client_of: ClientOf, api_of: ApiOf) -> Ask:
    """Yields what a user receives; the last argument is the number of queries of each URL."""

    def asked(what: str, user: User | None) -> Iterator[tuple[str, Any]]:
        page, endpoint = client_of(user), api_of(user)
        for url in urls():
            answer = _get(page, endpoint, url)
            yield url, answer
            if what == "queries" and answer.status == 200:
                yield from ((query, _get(page, endpoint, query)) for query in queries(url))

    return asked


def _get(page: Client, endpoint: APIClient, url: str) -> Answer:
    with rolled_back():
        return answer_of((endpoint if url.startswith("/api/") else page).get(url))


def differing(answers: list[Answers]) -> list[str]:
    one, other = answers
    assert one.keys() == other.keys()
    return [
        f"{' '.join(key)}: {difference(one[key], other[key])}"
        for key in one
        if one[key] != other[key]
    ]


def on_both(cast: Cast, receive: Callable[[], Answers]) -> list[Answers]:
    answers = []
    for gold in TWINS:
        with alone():
            make_site(gold, cast)
            answers.append(receive())
    return answers


ROLES = pytest.mark.parametrize(
    ("what", "role"),
    [
        ("urls", "researcher"),
        pytest.param("queries", "anonymous", marks=pytest.mark.slow),
        pytest.param("queries", "researcher", marks=pytest.mark.slow),
        pytest.param("queries", "stranger", marks=pytest.mark.slow),
    ],
)


@ROLES
def test_no_response_depends_on_hidden_gold(
    what: str, role: str, cast: Cast, stranger: User, ask: Ask
) -> None:
    user = {"anonymous": None, "researcher": cast.researcher, "stranger": stranger}[role]

    def receive() -> Answers:
        answers: Answers = {(role, url): answer for url, answer in ask(what, user)}
        assert sum(answer.status == 200 for answer in answers.values()) > 50
        return answers

    found = differing(on_both(cast, receive))
    # pytest shortens a long list, but not a message.
    assert not found, "\n".join(found)


@pytest.mark.slow
def test_organisers_see_the_differences(cast: Cast, ask: Ask) -> None:
    """The sites do differ, and the comparison finds it."""

    def receive() -> Answers:
        return {("organiser", url): answer for url, answer in ask("urls", cast.organiser)}

    found = "\n".join(differing(on_both(cast, receive)))
    for path in (
        "/statistics/",
        "/releases/1.1.0/diff/1.0.0/",
        "/files/gold.jsonl",
        "/items/page-2/",
    ):
        assert path in found


FILES = (
    b"{",
    b'{"id": "nowhere", "html": "4,711,080"}\n',
    json.dumps({"id": "page-1", "html": "<p>4,711,081</p>"}).encode(),
    b"".join(
        json.dumps({"id": f"page-{n}", "html": f"<p>4,711,08{n}</p>"}).encode() + b"\n"
        for n in range(6)
    ),
)


def test_no_error_email_webhook_or_export_depends_on_hidden_gold(cast: Cast, api_of: ApiOf) -> None:
    Webhook.objects.create(user=cast.researcher, url="https://example.org/hook", secret="0" * 64)

    def receive() -> Answers:
        answers: Answers = {}
        endpoint = api_of(cast.researcher)
        for number, content in enumerate(FILES):
            for path in ("check", "submissions"):
                with rolled_back():
                    data = {"name": "Try", "file": upload(content)}
                    posted = endpoint.post(
                        f"/api/v1/boards/board/{path}/", data, format="multipart"
                    )
                answers[path, str(number)] = answer_of(posted)
        answers["emails", ""] = [(email.subject, email.body) for email in mail.outbox]
        answers["webhooks", ""] = [delivery.body for delivery in Delivery.objects.order_by("pk")]
        for source in sources():
            for table in source.tables(cast.researcher):
                answers["export", table.name] = list(table.rows)
        assert answers["emails", ""]
        assert answers["webhooks", ""]
        mail.outbox.clear()
        return answers

    found = differing(on_both(cast, receive))
    # pytest shortens a long list, but not a message.
    assert not found, "\n".join(found)
