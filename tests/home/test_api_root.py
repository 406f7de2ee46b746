"""The root of the API, and its page: every list can be reached, and the examples work."""

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver

from portal.accounts.access import issue_token
from portal.accounts.models import User
from portal.urls import api_urlpatterns
from scoring.models import Board

from .factories import make_board

pytestmark = pytest.mark.django_db


def _lists() -> set[str]:
    """The names of all endpoints with one path segment and no parameter."""
    found = set()
    for pattern in api_urlpatterns:
        inner = pattern.url_patterns if isinstance(pattern, URLResolver) else [pattern]
        for each in inner:
            if isinstance(each, URLPattern) and re.fullmatch(r"\w+/", str(each.pattern)):
                found.add(str(each.name))
    return found - {"schema", "docs"}


def test_root_lists_every_collection(client: Client) -> None:
    root = client.get("/api/v1/").json()
    assert set(root["collections"]) == _lists()
    assert root["documentation"] == "http://testserver/api/v1/docs/"
    assert client.get(root["schema"]).status_code == 200


def test_every_url_of_the_root_works_with_an_account(client: Client, researcher: User) -> None:
    client.force_login(researcher)
    for url in client.get("/api/v1/").json()["collections"].values():
        assert client.get(url).status_code == 200, url


def test_examples_of_the_page_work(client: Client, researcher: User) -> None:
    make_board("Draft", state=Board.State.DRAFT)
    make_board("Open")
    _, secret = issue_token(user=researcher, name="example")
    page = unescape(client.get("/api/v1/docs/").content.decode())
    commands = re.findall(r"<code id=\"\w+-command\">curl (.*?)(http://\S+)</code>", page)
    assert len(commands) == 3
    for options, url in commands:
        headers = {"Authorization": f"Bearer {secret}"} if "$TOKEN" in options else {}
        assert client.get(url, headers=headers).status_code == 200, url


def test_page_without_a_board_has_the_other_examples(client: Client) -> None:
    page = client.get("/api/v1/docs/").content.decode()
    assert page.count("<code id=") == 2
    assert 'href="/boards/"' in page
