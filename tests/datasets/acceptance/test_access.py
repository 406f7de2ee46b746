"""Only organisers see and inspect batches, on pages and in the API."""

from typing import Any

import pytest
from django.test import Client

from portal.accounts.models import User
from portal.datasets.models import Batch, Inspection
from tests.asking import Wanted, check_answers
from tests.datasets.acceptance.factories import make_batch, receipts
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


BATCHES = "/datasets/receipts/batches/"
API = "/api/v1/datasets/receipts/batches/"
ANONYMOUS = "anonymous"

# URLs of batch 1, which has the document r001 in its sample. For organisers only.
PAGES = ["", "close/", "put-back/", "report/", "inspect/", "inspect/r001/"]
ENDPOINTS = ["", "close/", "put-back/", "report/", "documents/", "documents/r001/"]


def test_batches_are_for_organisers(
    lead: User,
    reviewer: User,
    ann: User,
    researcher: User,
    stranger: User,
    client_of: ClientOf,
    api_of: ApiOf,
) -> None:
    batch = make_batch(receipts(1, visibility="public"), sample=1)
    people = {user.name: user for user in (lead, reviewer, ann, researcher, stranger)}
    pages = {name: client_of(user) for name, user in people.items()} | {ANONYMOUS: client_of(None)}
    endpoints = {name: api_of(user) for name, user in people.items()} | {ANONYMOUS: api_of(None)}
    wanted: dict[tuple[str, str, str], Wanted] = {}
    for name in pages:
        for method in ("get", "post"):
            for path in PAGES:
                wanted[name, method, f"{BATCHES}1/{path}"] = 302 if name == ANONYMOUS else 403
            for path in [*ENDPOINTS, "documents/r001/clear/"]:
                wanted[name, method, f"{API}1/{path}"] = 401 if name == ANONYMOUS else 403
        wanted[name, "put", f"{API}1/documents/r001/"] = 401 if name == ANONYMOUS else 403

    def ask(key: tuple[str, str, str]) -> Any:
        name, method, path = key
        if not path.startswith(API):
            response = getattr(pages[name], method)(path, {"field": "total"})
            assert name != ANONYMOUS or response.url.startswith("/accounts/login/")
        elif method == "put":
            said = {"name": "total", "is_right": True}
            response = endpoints[name].put(path, said, format="json")
        else:
            response = getattr(endpoints[name], method)(path)
        batch.refresh_from_db()
        assert batch.state == Batch.State.OPEN
        assert not Inspection.objects.exists()
        return response

    check_answers(wanted, ask)


def test_posts_need_the_csrf_token(organiser: User) -> None:
    make_batch(receipts(1), sample=1)
    checking = Client(enforce_csrf_checks=True)
    checking.force_login(organiser)
    for path in ("close/", "put-back/", "inspect/r001/"):
        assert checking.post(f"{BATCHES}1/{path}", {}).status_code == 403
    assert checking.post(f"{BATCHES}new/", {}).status_code == 403
