"""Terms, privacy and contact: our texts with the operator's name, or the operator's own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from portal.accounts.models import User

pytestmark = pytest.mark.django_db
PAGES = {"/terms/": "Terms of use", "/privacy/": "Privacy", "/contact/": "Contact"}


@pytest.mark.parametrize(("path", "title"), PAGES.items())
def test_everybody_reads_them(client: Client, path: str, title: str) -> None:
    page = client.get(path).content.decode()
    assert f"<h1>{title}</h1>" in page
    assert "{%" not in page
    assert "{{" not in page
    assert client.post(path).status_code == 405


def test_footer_and_sign_up_lead_to_them(client: Client) -> None:
    footer = client.get("/").content.decode().split("<footer")[1]
    assert [path for path in PAGES if f'href="{path}"' not in footer] == []
    form = client.get("/accounts/signup/").content.decode().split("<form", 1)[1]
    form = form.split("</form>")[0]
    assert "By signing up, you accept" in form
    assert 'href="/terms/"' in form
    assert 'href="/privacy/"' in form


def test_operator_and_address_stand_in_our_texts(client: Client, settings: Any) -> None:
    settings.OPERATOR_NAME, settings.CONTACT_EMAIL = "The Facts Lab", "facts@example.org"
    for path in ("/terms/", "/privacy/", "/contact/"):
        assert "The Facts Lab" in client.get(path).content.decode(), path
    for path in ("/privacy/", "/contact/"):
        assert 'href="mailto:facts@example.org"' in client.get(path).content.decode(), path


def test_without_an_address_contact_says_so(client: Client) -> None:
    page = client.get("/contact/").content.decode()
    assert "has not provided a contact email address" in page
    assert "mailto:" not in page


def test_privacy_names_every_cookie_the_site_sets(
    client: Client, client_of: Callable[[User | None], Client], ann: User
) -> None:
    known = client_of(ann)
    known.post("/account/", {"name": "Ann"})
    known.get("/account/")
    client.get("/accounts/login/")
    names = set(known.cookies) | set(client.cookies)
    assert names >= {"sessionid", "csrftoken"}
    page = client.get("/privacy/").content.decode()
    assert [name for name in names if f"<code>{name}</code>" not in page] == []
    assert "14 days" in page


def test_operators_texts_take_the_place_of_ours(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.LEGAL_DIR = tmp_path
    (tmp_path / "terms.md").write_text("# House rules\n\nBe **kind**.\n", encoding="utf-8")
    (tmp_path / "privacy.md").write_text("<script>x</script> {{ site }}", encoding="utf-8")
    terms = client.get("/terms/").content.decode()
    assert "<h1>House rules</h1>" in terms
    assert "Be <strong>kind</strong>." in terms
    assert "Last changed on" in terms
    privacy = client.get("/privacy/").content.decode()
    assert "<h1>Privacy</h1>" in privacy
    assert "<script>x" not in privacy
    assert "{{ site }}" in privacy
    assert "Other questions" in client.get("/contact/").content.decode()


def test_a_file_that_is_no_text_still_makes_a_page(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.LEGAL_DIR = tmp_path
    (tmp_path / "terms.md").write_bytes(b"\xff\xfe rules")
    assert "rules" in client.get("/terms/").content.decode()
