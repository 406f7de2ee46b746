"""Error pages: in the site's look, and working when little else does."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client, RequestFactory

from portal.home.views import bad_request, forbidden, server_error

pytestmark = pytest.mark.django_db


def test_a_page_that_is_not_there(client: Client) -> None:
    response = client.get("/no/such/page/")
    page = response.content.decode()
    assert response.status_code == 404
    assert "<h1>Page not found</h1>" in page
    assert 'href="/"' in page


def test_a_refusal_gives_its_reason() -> None:
    request = RequestFactory().get("/")
    response = forbidden(request, PermissionDenied("This page is for organisers."))
    assert response.status_code == 403
    assert "This page is for organisers." in response.content.decode()
    assert "does not have the role" in forbidden(request, PermissionDenied()).content.decode()


def test_a_request_that_cannot_be_understood() -> None:
    assert bad_request(RequestFactory().get("/"), ValueError()).status_code == 400


def test_a_fault_is_told_even_when_nobody_can_say_who_is_logged_in() -> None:
    class Broken:
        def __get__(self, *args: Any) -> None:
            raise AssertionError("the error page asked for the user")

    request_class = type("Request", (), {"user": Broken(), "path": "/"})
    response = server_error(request_class())
    assert response.status_code == 500
    assert "Server error" in response.content.decode()


def test_a_form_without_a_valid_token_says_what_to_do() -> None:
    client = Client(enforce_csrf_checks=True)
    response = client.post("/accounts/login/", {"login": "a@example.org", "password": "x"})
    assert response.status_code == 403
    assert "This form has expired" in response.content.decode()
