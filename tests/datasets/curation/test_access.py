"""Only organisers see pairs and selections, and only in the right dataset."""

from typing import Any

import pytest

from portal.accounts.models import User
from portal.datasets.curation.services import DrawSpec, create_selection
from portal.datasets.models import NearDuplicate, Selection
from tests.asking import Wanted, check_answers
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


def test_for_organisers_alone(
    numbers: dict[str, int], organiser: User, researcher: User, client_of: Any, api_of: Any
) -> None:
    decided = []

    def check(user: User | None, slug: str, pages: Wanted, endpoints: Wanted) -> None:
        page, endpoint = client_of(user), api_of(user)

        def ask(key: tuple[str, str]) -> Any:
            method, path = key
            client = endpoint if path.startswith("/api") else page
            # The data of a GET would be its query string, which refuses unknown parameters.
            body = {} if method == "get" else {"decision": "kept"}
            response = getattr(client, method)(path.format(slug=slug, **numbers), body)
            if NearDuplicate.objects.get().decision != "open":
                decided.append((user, key))
            return response

        check_answers(dict.fromkeys(PATHS, pages) | dict.fromkeys(ENDPOINTS, endpoints), ask)

    check(researcher, "world", 403, 403)
    check(None, "world", 302, 401)
    check(organiser, "elsewhere", 404, 404)
    assert decided == []
    check(organiser, "world", {200, 302}, {200, 302})
    assert decided == [(organiser, PATHS[1]), (organiser, ENDPOINTS[1])]
    assert Selection.objects.count() == 1
