"""Django's admin shows the rows of the dataset manager and protects immutable ones."""

from collections.abc import Callable

import pytest
from django.test import Client

from portal.accounts.models import User
from portal.datasets.models import ImportRun, Release, ReleaseItem
from tests.conftest import make_user
from tests.datasets.factories import make_world

pytestmark = pytest.mark.django_db

MODELS = [
    "dataset",
    "document",
    "pageimage",
    "importrun",
    "importitem",
    "release",
    "releaseitem",
]


@pytest.fixture
def client(client_of: Callable[[User | None], Client]) -> Client:
    return client_of(make_user("Root", is_staff=True, is_superuser=True))


@pytest.mark.parametrize("model", MODELS)
def test_lists_can_be_read_and_searched(model: str, client: Client) -> None:
    document = make_world("public", "public")
    run = ImportRun.objects.create(dataset=document.dataset, source_name="x")
    run.items.create(name="pages/a.html", outcome="imported")
    assert client.get(f"/admin/datasets/{model}/").status_code == 200
    assert client.get(f"/admin/datasets/{model}/?q=secret").status_code == 200


@pytest.mark.parametrize("model", MODELS)
def test_nothing_can_be_added(model: str, client: Client) -> None:
    assert client.get(f"/admin/datasets/{model}/add/").status_code == 403


def test_frozen_rows_cannot_be_changed_or_deleted(client: Client) -> None:
    make_world("public", "public")
    for row in (Release.objects.get(), ReleaseItem.objects.get()):
        path = f"/admin/datasets/{row._meta.model_name}/{row.pk}"
        assert client.get(f"{path}/change/").status_code == 200
        assert client.post(f"{path}/change/", {"version": "9.9.9"}).status_code == 403
        assert client.post(f"{path}/delete/", {"post": "yes"}).status_code == 403
    assert Release.objects.get().version == "1.0.0"
