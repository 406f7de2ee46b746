"""Who may see and inspect batches: organisers alone, by page and by API."""

from collections.abc import Callable

import pytest
from django.test import Client
from rest_framework.test import APIClient

from portal.accounts.models import User
from portal.datasets.models import Batch, Inspection
from tests.datasets.acceptance_factories import make_batch, receipts

pytestmark = pytest.mark.django_db

Clients = Callable[[User | None], Client]
Apis = Callable[[User | None], APIClient]

BATCHES = "/datasets/receipts/batches/"
API = "/api/v1/datasets/receipts/batches/"

# Of the batch 1, with the document r001 in its sample: for organisers alone, like the list.
PAGES = ["", "close/", "put-back/", "report/", "inspect/", "inspect/r001/"]
ENDPOINTS = ["", "close/", "put-back/", "report/", "documents/", "documents/r001/"]


@pytest.mark.parametrize("role", ["lead", "reviewer", "ann", "researcher", "stranger", "anonymous"])
def test_batches_are_for_organisers(
    role: str, request: pytest.FixtureRequest, client_of: Clients, api_of: Apis
) -> None:
    user = None if role == "anonymous" else request.getfixturevalue(role)
    batch = make_batch(receipts(1, visibility="public"), sample=1)
    page, endpoint = client_of(user), api_of(user)
    for method in ("get", "post"):
        for path in PAGES:
            answer = getattr(page, method)(f"{BATCHES}1/{path}", {"field": "total"})
            assert answer.status_code == (302 if user is None else 403), path
            assert user is not None or answer.url.startswith("/accounts/login/")
        for path in [*ENDPOINTS, "documents/r001/clear/"]:
            answer = getattr(endpoint, method)(f"{API}1/{path}")
            assert answer.status_code == (401 if user is None else 403), path
    said = {"name": "total", "is_right": True}
    assert endpoint.put(f"{API}1/documents/r001/", said, format="json").status_code in (401, 403)
    batch.refresh_from_db()
    assert batch.state == Batch.State.OPEN
    assert not Inspection.objects.exists()


def test_posts_need_the_csrf_token(organiser: User) -> None:
    make_batch(receipts(1), sample=1)
    checking = Client(enforce_csrf_checks=True)
    checking.force_login(organiser)
    for path in ("close/", "put-back/", "inspect/r001/"):
        assert checking.post(f"{BATCHES}1/{path}", {}).status_code == 403
    assert checking.post(f"{BATCHES}new/", {}).status_code == 403
