"""The navigation: who is offered what, and where one is."""

import re

import pytest
from django.test import Client

from portal.accounts.models import User
from tests.fixture_types import ClientOf

from .factories import join, make_campaign

pytestmark = pytest.mark.django_db


def _sections(client: Client, address: str = "/") -> list[str]:
    page = client.get(address).content.decode()
    navigation = page.partition('aria-label="Site"')[2].partition("</ul>")[0]
    return re.findall(r">([^<>]+)</a>", navigation)


def test_the_public_reads(client: Client) -> None:
    assert _sections(client) == ["Boards", "Datasets"]


def test_a_researcher_submits(client_of: ClientOf, researcher: User) -> None:
    assert _sections(client_of(researcher)) == ["Boards", "Datasets", "My submissions"]


@pytest.mark.parametrize("role", ["annotator", "lead", "reviewer"])
def test_members_of_a_campaign_annotate(client_of: ClientOf, ann: User, role: str) -> None:
    join(make_campaign(), ann, role)
    expected = ["Boards", "Datasets", "My tasks", "My submissions", "Campaigns"]
    assert _sections(client_of(ann)) == expected


def test_an_organiser_sees_every_section(client_of: ClientOf, organiser: User) -> None:
    assert "Campaigns" in _sections(client_of(organiser))


def test_the_current_page_is_marked(client: Client, client_of: ClientOf, ann: User) -> None:
    login = client.get("/accounts/login/").content.decode()
    assert '<a href="/accounts/login/" aria-current="page">' in login
    assert 'href="/accounts/signup/" aria-current' not in login
    mfa = client_of(ann).get("/accounts/2fa/").content.decode()
    assert '<a href="/accounts/2fa/" aria-current="page">' in mfa


def test_the_menu_logs_out_by_post_with_a_token(client_of: ClientOf, ann: User) -> None:
    page = client_of(ann).get("/").content.decode()
    form = page.partition('action="/accounts/logout/"')[2].partition("</form>")[0]
    assert "csrfmiddlewaretoken" in form


def test_every_page_tells_the_version(client: Client) -> None:
    assert re.search(r"Version \d+\.\d+\.\d+", client.get("/").content.decode())


def test_no_page_carries_inline_script_or_style(client: Client) -> None:
    response = client.get("/")
    page = response.content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son\w+=", page)
    assert "unsafe-inline" not in response["Content-Security-Policy"]
