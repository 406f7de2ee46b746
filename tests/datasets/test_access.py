"""Permissions for every page and endpoint by role."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.test import Client

from annotation.models import Campaign, Membership
from portal.accounts.models import User
from portal.datasets.models import Dataset, DatasetTask, Document, ImportRun, PageImage, ReleaseItem
from tests.asking import Wanted, check_answers
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
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


# The member is lead, reviewer and annotator of campaigns with the dataset.
ROLES = ["organiser", "member", "stranger", "anonymous"]
OTHERS = ROLES[1:]

# Visibility of the dataset, and of the release with its only document.
WORLDS = [
    ("public", "public"),
    ("public", "gold_hidden"),
    ("public", "private"),
    ("private", "public"),
]
# The worlds with hidden gold in a public dataset.
HIDING = {1, 2}
SEARCHES = ["/datasets/world/?q=secret", "/datasets/?q=secret"]

# Status by world for everyone except organisers, who may read everything.
READING = {
    "/datasets/": (200, 200, 200, 200),
    "/datasets/world/": (200, 200, 200, 404),
    "/datasets/world/documents/": (200, 200, 200, 404),
    "/datasets/world/documents/?fiscal_year=2024&sort=-year": (200, 200, 200, 404),
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

# For organisers only, with GET and POST if available. {run} is the number of an import.
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
def cast(organiser: User, lead: User, stranger: User) -> dict[str, User | None]:
    return {"organiser": organiser, "member": lead, "stranger": stranger, "anonymous": None}


def enrol(cast: dict[str, User | None]) -> None:
    """The member has each role in a campaign with the dataset. None gives access to a page."""
    dataset, user = Dataset.objects.get(), cast["member"]
    assert user is not None
    for role in Membership.Role.values:
        campaign = Campaign.objects.create(slug=role, title=role, dataset=dataset)
        Membership.objects.create(campaign=campaign, user=user, role=role)


def body(response: Any) -> bytes:
    """Return all bytes of a response. The client closes a stream that was read completely."""
    data: bytes = response.getvalue() if response.streaming else response.content
    return data


def opened(cast: dict[str, User | None], client_of: ClientOf, api_of: ApiOf) -> Callable[..., Any]:
    """`get(role, path)` requests a page or an endpoint; every role is logged in once."""
    pages = {role: client_of(user) for role, user in cast.items()}
    endpoints = {role: api_of(user) for role, user in cast.items()}

    def get(role: str, path: str) -> Any:
        clients = endpoints if path.startswith("/api") else pages
        return clients[role].get(path)

    return get


@pytest.mark.parametrize("world", range(len(WORLDS)))
def test_reading(
    world: int, cast: dict[str, User | None], client_of: ClientOf, api_of: ApiOf
) -> None:
    """Read access by role. In worlds with hidden gold, no response contains any of it."""
    document = make_world(*WORLDS[world])
    enrol(cast)
    secrets = secrets_of(document) if world in HIDING else []
    get = opened(cast, client_of, api_of)
    wanted = {
        (role, path): 200 if role == "organiser" else statuses[world]
        for role in ROLES
        for path, statuses in READING.items()
    }
    if world in HIDING:
        wanted |= {(role, path): 200 for role in OTHERS for path in SEARCHES}
    leaks = {}

    def ask(key: tuple[str, str]) -> Any:
        role, _ = key
        response = get(*key)
        shown = body(response).decode(errors="replace")
        if role != "organiser" and any(secret in shown for secret in secrets):
            leaks[key] = [secret for secret in secrets if secret in shown]
        return response

    check_answers(wanted, ask)
    assert leaks == {}
    assert len(wanted) == len(ROLES) * len(READING) + 2 * len(OTHERS) * (world in HIDING)


def secrets_of(document: Document) -> list[str]:
    """Strings that only a reader of the gold may see."""
    item = ReleaseItem.objects.get()
    return [
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


def test_hidden_documents_are_not_found_by_hidden_data(
    cast: dict[str, User | None], client_of: ClientOf, api_of: ApiOf
) -> None:
    make_world("public", "gold_hidden")
    query = SECRET_COMPANY.lower()[:4]
    found = {}
    for role, user in cast.items():
        page_ = client_of(user).get(f"/datasets/world/?q={query}").content.decode()
        answer = api_of(user).get(f"/api/v1/datasets/world/documents/?q={query}").json()
        found[role] = ("/datasets/world/documents/secret/" in page_, answer["count"])
    assert found == dict.fromkeys(OTHERS, (False, 0)) | {"organiser": (True, 1)}


def test_document_that_is_in_no_release_is_open(client_of: ClientOf) -> None:
    dataset = empty_dataset(slug="world", visibility="public")
    secret_document(dataset)
    response = client_of(None).get("/datasets/world/documents/secret/html/")
    assert SECRET in response.content.decode()


def test_document_hidden_once_stays_hidden_in_later_hidden_releases(client_of: ClientOf) -> None:
    document = make_world("public", "gold_hidden")
    make_release(document.dataset, version="1.1.0", visibility="private")
    assert client_of(None).get("/datasets/world/documents/secret/html/").status_code == 404


def test_document_that_a_public_release_shows_is_open(client_of: ClientOf) -> None:
    document = make_world("public", "gold_hidden")
    make_release(document.dataset, version="1.1.0", visibility="public")
    assert client_of(None).get("/datasets/world/documents/secret/html/").status_code == 200
    assert client_of(None).get("/datasets/world/releases/1.0.0/download/").status_code == 404


def test_hidden_release_hides_its_own_documents_only(client_of: ClientOf) -> None:
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
    from portal.datasets.imports.services import start_import

    document = make_world("public", "public")
    upload = zip_upload({"pages/a.html": page()})
    return start_import(
        dataset=document.dataset, upload=upload, source_name="a.zip", actor=organiser
    )


def numbers(run: ImportRun) -> dict[str, int]:
    """The numbers in the URLs: those of the import and of a task of its dataset."""
    task, _ = DatasetTask.objects.get_or_create(dataset=run.dataset, kind="render", state="queued")
    return {"run": run.pk, "task": task.pk}


def check_managing(
    role: str,
    wanted: Iterable[tuple[str, str]],
    statuses: dict[str, Wanted],
    send: Callable[[str, str], Any],
) -> None:
    """Roles without a status of their own get 403, and only organisers change anything."""
    before, changed = state(), []

    def ask(key: tuple[str, str]) -> Any:
        response = send(*key)
        if role != "organiser" and state() != before:
            changed.append(key)
        return response

    check_answers(dict.fromkeys(wanted, statuses.get(role, 403)), ask)
    assert changed == []


@pytest.mark.parametrize("role", ROLES)
def test_managing_pages(
    role: str, run: ImportRun, cast: dict[str, User | None], client_of: ClientOf
) -> None:
    enrol(cast)
    places, client = numbers(run), client_of(cast[role])

    def send(method: str, path: str) -> Any:
        response = getattr(client, method)(path.format(**places))
        if role == "anonymous":
            assert response.url.startswith("/accounts/login/")
        return response

    check_managing(role, MANAGING_PAGES, {"organiser": {200, 302, 400}, "anonymous": 302}, send)


@pytest.mark.parametrize("role", ROLES)
def test_managing_endpoints(
    role: str, run: ImportRun, cast: dict[str, User | None], api_of: ApiOf
) -> None:
    enrol(cast)
    places, client = numbers(run), api_of(cast[role])
    statuses: dict[str, Wanted] = {"organiser": {200, 201, 202, 400}, "anonymous": 401}

    def send(method: str, path: str) -> Any:
        data = {"slug": "x", "title": "X"} if method != "get" else None
        form = "multipart" if path.endswith(("/imports/", "/images/")) else "json"
        return getattr(client, method)(path.format(**places), data, format=form)

    check_managing(role, MANAGING_ENDPOINTS, statuses, send)


def state() -> tuple[object, ...]:
    """The state that managing could change."""
    return (
        list(Dataset.objects.values()),
        list(ImportRun.objects.values()),
        list(DatasetTask.objects.values()),
        PageImage.objects.count(),
        Document.objects.count(),
    )


def test_import_of_another_dataset_is_not_found(
    run: ImportRun, organiser: User, client_of: ClientOf, api_of: ApiOf
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
    path: str, run: ImportRun, organiser: User, client_of: ClientOf
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
