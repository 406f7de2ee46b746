"""Makes the tasks that `bench.workbench` works on; runs in the Django of its site."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.test import Client

from annotation.campaigns.people import add_member
from annotation.campaigns.services import create_campaign, open_campaign
from annotation.models import Assignment
from annotation.workbench.services import save_spans
from bench.filings import Filing, filing, filings, spans_of
from bench.pages import add_document
from bench.timing import best_of
from portal.accounts.access import issue_token
from portal.accounts.models import User
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentType,
    Release,
    ReleaseItem,
)


def make(pages: int, facts: int, large: Sequence[int]) -> dict[str, Any]:
    """`pages` pages of `facts` facts, and one page for each number of facts in `large`.

    All are labelled and belong to one annotator, whose session and API token come with them.
    """
    user = User.objects.create_user(email="bench@example.org", password=None, name="Bench")
    made = filings(pages, facts) + [filing(f"large-{count}", count, count) for count in large]
    dataset = Dataset.objects.create(slug="bench", title="Bench")
    for page in made:
        add_document(dataset, page)
    labels = ["Number", "Date"]
    campaign = create_campaign(
        dataset=dataset, title="Bench", labels=labels, overlap=1, guidelines="", actor=None
    )
    add_member(campaign=campaign, user=user, role="annotator", actor=None)
    open_campaign(campaign=campaign, actor=None)
    by_name = {
        assignment.campaign_document.document.name: _labelled(assignment, user, made)
        for assignment in Assignment.objects.select_related("campaign_document__document")
    }
    return {
        "pages": [by_name[page.name] for page in made[:pages]],
        "large": [by_name[page.name] for page in made[pages:]],
        "bytes": [len(page.html.encode()) for page in made[pages:]],
        "session": _session(user),
        "token": issue_token(user=user, name="bench")[1],
    }


def _labelled(assignment: Assignment, user: User, made: Sequence[Filing]) -> int:
    document = assignment.campaign_document.document
    (page,) = (page for page in made if page.name == document.name)
    save_spans(
        assignment=assignment,
        base_revision=0,
        save_key="made",
        spans=spans_of(document.content.text, page.facts),
        author=user,
    )
    return assignment.pk


def _session(user: User) -> str:
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return str(session.session_key)


def document_pages(count: int, queries: Sequence[str]) -> dict[str, list[float]]:
    """Seconds to answer each page of the document table, of so many documents.

    Under "organiser" for one, under "public" for a reader who has not signed in, from whom a
    release hides every second document.
    """
    dataset = Dataset.objects.create(
        slug="large", title="Large", visibility=Dataset.Visibility.PUBLIC
    )
    for start in range(0, count, 5_000):
        numbers = range(start, min(start + 5_000, count))
        Document.objects.bulk_create(_described(dataset, number) for number in numbers)
    _hide_every_second(dataset)
    with connection.cursor() as cursor:
        # As PostgreSQL does on its own some time after so many new rows.
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    user = User.objects.create_user(
        email="olga@example.org", password=None, name="Olga", is_organiser=True
    )
    organiser, public = (Client(headers={"host": "127.0.0.1"}) for _ in range(2))
    organiser.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return {
        "organiser": [_seconds(organiser, query) for query in queries],
        "public": [_seconds(public, query) for query in queries],
    }


def _seconds(client: Client, query: str) -> float:
    path = f"/datasets/large/documents/?{query}"
    if (status := client.get(path).status_code) != 200:
        raise RuntimeError(f"{path} answered {status}")
    return best_of(lambda: client.get(path))[0]


def _hide_every_second(dataset: Dataset) -> None:
    """A release with hidden gold of half of the documents; no table reads its gold."""
    half = dataset.documents.order_by("name").values_list("pk", "name")[::2]
    release = Release(
        dataset=dataset, version="1.0.0", sha256="0" * 64, item_count=len(half), fact_count=0
    )
    release.save()
    items = (
        ReleaseItem(
            release=release, position=position, name=name, document_id=pk, gold={}, sha256="0" * 64
        )
        for position, (pk, name) in enumerate(half)
    )
    ReleaseItem.objects.bulk_create(items, batch_size=5_000)


def _described(dataset: Dataset, number: int) -> Document:
    """A document without content, which no list reads."""
    return Document(
        dataset=dataset,
        name=f"page-{number:06}",
        doc_type=DocumentType.values[number % 6],
        company=f"Company {number % 100} of Somewhere",
        form_type="10-K",
        fiscal_year=2000 + number % 20,
        source=f"source-{number % 5}.example",
        language=("en", "zh")[number % 2],
        fact_count=None if number % 3 == 0 else number % 30,
        text_chars=1_000 + number * 7 % 9_000,
        metadata={"cik": number, "accession": f"{number:018}", "note": "x" * 100},
        source_sha256=f"{number:064}",
        html_sha256=f"{number:064}",
        text_sha256=f"{number:064}",
    )
