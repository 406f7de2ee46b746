"""Who may see and do what: every page and endpoint, for every role."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import Campaign, Membership
from portal.accounts.models import User
from portal.datasets.models import Dataset, DatasetTask, Document, ImportRun, PageImage, ReleaseItem
from tests.datasets.factories import (
    SECRET,
    SECRET_COMPANY,
    make_release,
    make_world,
    page,
    secret_document,
    zip_upload,
)
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db

Clients = Callable[[User | None], Client]
Apis = Callable[[User | None], APIClient]

ROLES = ["organiser", "lead", "reviewer", "ann", "researcher", "stranger", "anonymous"]
OTHERS = ROLES[1:]

# Visibility of the dataset, and of the release that holds its one document.
WORLDS = [
    ("public", "public"),
    ("public", "gold_hidden"),
    ("public", "private"),
    ("private", "public"),
]

# Status for everybody but organisers, by world; organisers may read all of it.
READING = {
    "/datasets/": (200, 200, 200, 200),
    "/datasets/world/": (200, 200, 200, 404),
    "/datasets/world/documents/": (200, 200, 200, 404),
    "/datasets/world/documents/?year=2024&sort=-year": (200, 200, 200, 404),
    "/datasets/world/documents/secret/": (200, 200, 200, 404),
    "/datasets/world/documents/secret/html/": (200, 404, 404, 404),
    "/datasets/world/documents/secret/images/1/": (200, 200, 200, 404),
    "/datasets/world/documents/secret/images/1/thumbnail/": (200, 200, 200, 404),
    "/datasets/world/releases/1.0.0/": (200, 200, 404, 404),
    "/datasets/world/releases/1.0.0/download/": (200, 404, 404, 404),
    "/datasets/world/releases/1.0.0/download/?images=1": (200, 404, 404, 404),
    "/datasets/world/releases/1.0.0/items/secret/": (200, 200, 404, 404),
    "/datasets/world/releases/": (200, 200, 200, 404),
    "/datasets/world/releases/1.0.0/diff/1.0.0/": (200, 200, 404, 404),
    "/datasets/world/releases/1.0.0/files/gold.jsonl": (200, 404, 404, 404),
    "/datasets/world/releases/1.0.0/files/facts.jsonl": (200, 404, 404, 404),
    "/datasets/world/releases/1.0.0/files/gold.zip": (200, 404, 404, 404),
    "/datasets/world/releases/1.0.0/files/items.parquet": (200, 404, 404, 404),
    "/datasets/world/releases/1.0.0/files/labelstudio.json": (200, 404, 404, 404),
    "/datasets/world/releases/1.0.0/files/croissant.json": (200, 404, 404, 404),
    "/datasets/world/releases/1.0.0/files/citation.bib": (200, 200, 404, 404),
    "/datasets/world/releases/1.0.0/files/CITATION.cff": (200, 200, 404, 404),
    "/api/v1/datasets/world/releases/1.0.0/diff/1.0.0/": (200, 200, 404, 404),
    "/api/v1/datasets/world/releases/1.0.0/files/gold.jsonl": (200, 404, 404, 404),
    "/api/v1/datasets/world/releases/1.0.0/files/croissant.json": (200, 404, 404, 404),
    "/api/v1/datasets/world/releases/1.0.0/files/citation.bib": (200, 200, 404, 404),
    "/datasets/world/disputes/": (200, 200, 200, 404),
    "/datasets/world/variants/": (200, 200, 200, 404),
    "/api/v1/datasets/world/disputes/": (200, 200, 200, 404),
    "/api/v1/datasets/world/variants/": (200, 200, 200, 404),
    "/datasets/world/statistics/": (200, 200, 200, 404),
    "/datasets/world/statistics/?release=1.0.0": (200, 200, 404, 404),
    "/datasets/world/statistics/export/": (200, 200, 200, 404),
    "/datasets/world/statistics/export/?form=latex": (200, 200, 200, 404),
    "/datasets/world/statistics/export/?form=facts": (200, 404, 404, 404),
    "/api/v1/datasets/world/statistics/": (200, 200, 200, 404),
    "/api/v1/datasets/world/statistics/?release=1.0.0": (200, 200, 404, 404),
    "/api/v1/datasets/world/statistics/export/": (200, 200, 200, 404),
    "/api/v1/datasets/world/statistics/export/?form=facts": (200, 404, 404, 404),
    "/api/v1/datasets/": (200, 200, 200, 200),
    "/api/v1/datasets/world/": (200, 200, 200, 404),
    "/api/v1/datasets/world/documents/": (200, 200, 200, 404),
    "/api/v1/datasets/world/documents/secret/": (200, 200, 200, 404),
    "/api/v1/datasets/world/documents/secret/images/1/": (200, 200, 200, 404),
    "/api/v1/datasets/world/documents/secret/images/1/thumbnail/": (200, 200, 200, 404),
    "/api/v1/datasets/world/documents/secret/boxes/": (200, 404, 404, 404),
    "/api/v1/datasets/world/releases/": (200, 200, 200, 404),
    "/api/v1/datasets/world/releases/1.0.0/": (200, 200, 404, 404),
    "/api/v1/datasets/world/releases/1.0.0/items/": (200, 200, 404, 404),
    "/api/v1/datasets/world/releases/1.0.0/download/": (200, 404, 404, 404),
}

# For organisers alone; GET and POST where there is one. {run} is an import's number.
MANAGING_PAGES = [
    ("get", "/datasets/new/"),
    ("post", "/datasets/new/"),
    ("get", "/datasets/world/edit/"),
    ("post", "/datasets/world/edit/"),
    ("post", "/datasets/world/bulk-edit/"),
    ("get", "/datasets/world/documents/secret/edit/"),
    ("post", "/datasets/world/documents/secret/edit/"),
    ("get", "/datasets/world/personal-data/"),
    ("post", "/datasets/world/personal-data/"),
    ("post", "/datasets/world/personal-data/scan/"),
    ("get", "/datasets/world/duplicates/"),
    ("post", "/datasets/world/duplicates/"),
    ("get", "/datasets/world/content/"),
    ("post", "/datasets/world/content/"),
    ("get", "/datasets/world/selections/"),
    ("get", "/datasets/world/selections/new/"),
    ("post", "/datasets/world/selections/new/"),
    ("get", "/datasets/world/batches/"),
    ("get", "/datasets/world/batches/new/"),
    ("post", "/datasets/world/batches/new/"),
    ("get", "/datasets/world/import/"),
    ("post", "/datasets/world/import/"),
    ("get", "/datasets/world/imports/{run}/"),
    ("get", "/datasets/world/imports/{run}/report.csv"),
    ("get", "/datasets/world/imports/{run}/report.jsonl"),
    ("post", "/datasets/world/imports/{run}/cancel/"),
    ("get", "/datasets/world/images/"),
    ("post", "/datasets/world/images/"),
    ("post", "/datasets/world/documents/secret/images/"),
    ("post", "/datasets/world/documents/secret/images/remove/"),
    ("get", "/datasets/world/releases/new/"),
    ("post", "/datasets/world/releases/new/"),
    ("post", "/datasets/world/releases/restore/"),
    ("get", "/datasets/world/variants/new/"),
    ("post", "/datasets/world/variants/new/"),
    ("get", "/datasets/world/tasks/"),
    ("get", "/datasets/world/tasks/{task}/"),
    ("post", "/datasets/world/tasks/{task}/cancel/"),
]
MANAGING_ENDPOINTS = [
    ("post", "/api/v1/datasets/"),
    ("patch", "/api/v1/datasets/world/"),
    ("patch", "/api/v1/datasets/world/documents/secret/"),
    ("post", "/api/v1/datasets/world/bulk-edit/"),
    ("get", "/api/v1/datasets/world/personal-data/"),
    ("post", "/api/v1/datasets/world/personal-data/decide/"),
    ("get", "/api/v1/datasets/world/duplicates/"),
    ("get", "/api/v1/datasets/world/selections/"),
    ("post", "/api/v1/datasets/world/selections/"),
    ("get", "/api/v1/datasets/world/batches/"),
    ("post", "/api/v1/datasets/world/batches/"),
    ("get", "/api/v1/datasets/world/imports/"),
    ("post", "/api/v1/datasets/world/imports/"),
    ("get", "/api/v1/datasets/world/imports/{run}/"),
    ("get", "/api/v1/datasets/world/imports/{run}/items/"),
    ("get", "/api/v1/datasets/world/imports/{run}/items/download/"),
    ("post", "/api/v1/datasets/world/imports/{run}/cancel/"),
    ("post", "/api/v1/datasets/world/documents/secret/images/"),
    ("post", "/api/v1/datasets/world/releases/"),
    ("post", "/api/v1/datasets/world/variants/"),
    ("get", "/api/v1/datasets/world/tasks/"),
    ("post", "/api/v1/datasets/world/tasks/"),
    ("get", "/api/v1/datasets/world/tasks/{task}/"),
    ("post", "/api/v1/datasets/world/tasks/{task}/cancel/"),
]


@pytest.fixture
def cast(
    organiser: User, lead: User, reviewer: User, ann: User, researcher: User, stranger: User
) -> dict[str, User | None]:
    return {
        "organiser": organiser,
        "lead": lead,
        "reviewer": reviewer,
        "ann": ann,
        "researcher": researcher,
        "stranger": stranger,
        "anonymous": None,
    }


def enrol(cast: dict[str, User | None]) -> None:
    """Lead, reviewer and annotator work on a campaign over the dataset, which opens no page."""
    campaign = Campaign.objects.create(slug="c", title="C", dataset=Dataset.objects.get())
    for name, role in (("lead", "lead"), ("reviewer", "reviewer"), ("ann", "annotator")):
        user = cast[name]
        assert user is not None
        Membership.objects.create(campaign=campaign, user=user, role=role)


def body(response: Any) -> bytes:
    """All bytes of a response. The client closes it, a streamed one when it was read to its end."""
    data: bytes = response.getvalue() if response.streaming else response.content
    return data


@pytest.mark.parametrize("world", range(len(WORLDS)))
@pytest.mark.parametrize("role", ROLES)
def test_reading(
    role: str, world: int, cast: dict[str, User | None], client_of: Clients, api_of: Apis
) -> None:
    make_world(*WORLDS[world])
    enrol(cast)
    for path, statuses in READING.items():
        client = (api_of if path.startswith("/api") else client_of)(cast[role])
        response = client.get(path)
        body(response)
        expected = 200 if role == "organiser" else statuses[world]
        assert response.status_code == expected, path


@pytest.mark.parametrize("world", [1, 2])
@pytest.mark.parametrize("role", OTHERS)
def test_hidden_content_leaks_nowhere(
    role: str, world: int, cast: dict[str, User | None], client_of: Clients, api_of: Apis
) -> None:
    document = make_world(*WORLDS[world])
    enrol(cast)
    item = ReleaseItem.objects.get()
    secrets = [
        SECRET,
        SECRET_COMPANY,
        document.source_url,
        "secret/path",
        document.html_sha256,
        document.text_sha256,
        document.source_sha256,
        item.sha256,
        item.release.sha256,
    ]
    for path in [*READING, "/datasets/world/?q=secret", "/datasets/?q=secret"]:
        client = (api_of if path.startswith("/api") else client_of)(cast[role])
        shown = body(client.get(path)).decode(errors="replace")
        assert [secret for secret in secrets if secret in shown] == [], path


@pytest.mark.parametrize("role", ROLES)
def test_hidden_documents_are_not_found_by_what_is_hidden(
    role: str, cast: dict[str, User | None], client_of: Clients, api_of: Apis
) -> None:
    make_world("public", "gold_hidden")
    found = role == "organiser"
    query = SECRET_COMPANY.lower()[:4]
    page_ = client_of(cast[role]).get(f"/datasets/world/?q={query}").content.decode()
    assert ("/datasets/world/documents/secret/" in page_) is found
    answer = api_of(cast[role]).get(f"/api/v1/datasets/world/documents/?q={query}").json()
    assert answer["count"] == int(found)


def test_document_that_is_in_no_release_is_open(client_of: Clients) -> None:
    dataset = empty_dataset(slug="world", visibility="public")
    secret_document(dataset)
    response = client_of(None).get("/datasets/world/documents/secret/html/")
    assert SECRET in response.content.decode()


def test_document_hidden_once_stays_hidden_in_later_hidden_releases(client_of: Clients) -> None:
    document = make_world("public", "gold_hidden")
    make_release(document.dataset, version="1.1.0", visibility="private")
    assert client_of(None).get("/datasets/world/documents/secret/html/").status_code == 404


def test_document_that_a_public_release_shows_is_open(client_of: Clients) -> None:
    document = make_world("public", "gold_hidden")
    make_release(document.dataset, version="1.1.0", visibility="public")
    assert client_of(None).get("/datasets/world/documents/secret/html/").status_code == 200
    assert client_of(None).get("/datasets/world/releases/1.0.0/download/").status_code == 404


def test_hidden_release_hides_its_own_documents_only(client_of: Clients) -> None:
    dataset = empty_dataset(slug="world", visibility="public")
    secret = secret_document(dataset)
    make_document(dataset, "other", "<p>Open 7</p>")
    make_release(dataset, visibility="gold_hidden", documents=[secret])
    client = client_of(None)
    assert client.get("/datasets/world/documents/secret/html/").status_code == 404
    assert client.get("/datasets/world/documents/other/html/").status_code == 200
    listed = {row.name for row in Document.objects.hidden()}
    assert listed == {"secret"}
    open_ = Document.objects.filter(Document.objects.all().open_condition())
    assert [row.name for row in open_] == ["other"]


@pytest.fixture
def run(organiser: User) -> ImportRun:
    from portal.datasets.services.imports import start_import

    document = make_world("public", "public")
    upload = zip_upload({"pages/a.html": page()})
    return start_import(
        dataset=document.dataset, upload=upload, source_name="a.zip", actor=organiser
    )


def numbers(run: ImportRun) -> dict[str, int]:
    """What stands in the addresses: the import's number, and that of a task of its dataset."""
    task, _ = DatasetTask.objects.get_or_create(dataset=run.dataset, kind="render", state="queued")
    return {"run": run.pk, "task": task.pk}


@pytest.mark.parametrize(("method", "path"), MANAGING_PAGES)
@pytest.mark.parametrize("role", ROLES)
def test_managing_pages(
    role: str,
    method: str,
    path: str,
    run: ImportRun,
    cast: dict[str, User | None],
    client_of: Clients,
) -> None:
    address = path.format(**numbers(run))
    before = state()
    response = getattr(client_of(cast[role]), method)(address)
    if role == "anonymous":
        assert response.status_code == 302
        assert response.url.startswith("/accounts/login/")
    elif role == "organiser":
        assert response.status_code in {200, 302, 400}
        return
    else:
        assert response.status_code == 403
    assert state() == before


@pytest.mark.parametrize(("method", "path"), MANAGING_ENDPOINTS)
@pytest.mark.parametrize("role", ROLES)
def test_managing_endpoints(
    role: str,
    method: str,
    path: str,
    run: ImportRun,
    cast: dict[str, User | None],
    api_of: Apis,
) -> None:
    address = path.format(**numbers(run))
    before = state()
    data = {"slug": "x", "title": "X"} if method != "get" else None
    form = "multipart" if path.endswith(("/imports/", "/images/")) else "json"
    response = getattr(api_of(cast[role]), method)(address, data, format=form)
    if role == "organiser":
        assert response.status_code in {200, 201, 202, 400}
        return
    assert response.status_code == (401 if role == "anonymous" else 403)
    assert state() == before


def state() -> tuple[object, ...]:
    """What managing could have changed."""
    return (
        list(Dataset.objects.values()),
        list(ImportRun.objects.values()),
        list(DatasetTask.objects.values()),
        PageImage.objects.count(),
        Document.objects.count(),
    )


def test_import_of_another_dataset_is_not_found(
    run: ImportRun, organiser: User, client_of: Clients, api_of: Apis
) -> None:
    empty_dataset(slug="elsewhere")
    assert client_of(organiser).get(f"/datasets/elsewhere/imports/{run.pk}/").status_code == 404
    path = f"/api/v1/datasets/elsewhere/imports/{run.pk}/"
    assert api_of(organiser).get(path).status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/datasets/world/imports/{run}/cancel/", "/api/v1/datasets/world/imports/{run}/cancel/"],
)
def test_cancelling_by_get_is_refused(
    path: str, run: ImportRun, organiser: User, client_of: Clients
) -> None:
    assert client_of(organiser).get(path.format(run=run.pk)).status_code == 405


def test_posts_need_the_csrf_token(run: ImportRun, organiser: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(organiser)
    for path in (
        "/datasets/new/",
        "/datasets/world/import/",
        f"/datasets/world/imports/{run.pk}/cancel/",
    ):
        assert client.post(path, {}).status_code == 403
