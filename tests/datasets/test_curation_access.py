"""Pages and endpoints of one pair and one selection: for organisers alone, of their dataset."""

from typing import Any

import pytest

from portal.accounts.models import User
from portal.datasets.models import NearDuplicate, Selection
from portal.datasets.services.selections import DrawSpec, create_selection
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db

PATHS = [
    ("get", "/datasets/{slug}/duplicates/{pair}/"),
    ("post", "/datasets/{slug}/duplicates/{pair}/"),
    ("get", "/datasets/{slug}/selections/{selection}/"),
    ("get", "/datasets/{slug}/selections/{selection}/download/"),
]
ENDPOINTS = [
    ("get", "/api/v1/datasets/{slug}/duplicates/{pair}/"),
    ("patch", "/api/v1/datasets/{slug}/duplicates/{pair}/"),
    ("get", "/api/v1/datasets/{slug}/selections/{selection}/"),
    ("get", "/api/v1/datasets/{slug}/selections/{selection}/check/"),
]


@pytest.fixture
def numbers(organiser: User) -> dict[str, int]:
    dataset = empty_dataset(slug="world", visibility="public")
    empty_dataset(slug="elsewhere", visibility="public")
    first, second = (make_document(dataset, name, f"<p>{name}</p>") for name in "ab")
    pair = NearDuplicate.objects.create(first=first, second=second, similarity=1)
    spec = DrawSpec(strata=("doc_type",), size=1)
    selection = create_selection(dataset=dataset, title="S", spec=spec, seed=1, actor=organiser)
    return {"pair": pair.pk, "selection": selection.pk}


@pytest.mark.parametrize(("method", "path"), [*PATHS, *ENDPOINTS])
def test_for_organisers_alone(
    method: str,
    path: str,
    numbers: dict[str, int],
    organiser: User,
    researcher: User,
    client_of: Any,
    api_of: Any,
) -> None:
    is_api = path.startswith("/api")
    make = api_of if is_api else client_of

    def status(user: User | None, slug: str) -> int:
        call = getattr(make(user), method)
        # A GET's data would be its query, and no parameter is called so.
        body = {} if method == "get" else {"decision": "kept"}
        found: int = call(path.format(slug=slug, **numbers), body).status_code
        return found

    assert status(researcher, "world") == 403
    assert status(None, "world") == (401 if is_api else 302)
    assert NearDuplicate.objects.get().decision == "open"
    assert status(organiser, "elsewhere") == 404
    assert status(organiser, "world") in {200, 302}
    assert Selection.objects.count() == 1
