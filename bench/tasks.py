"""Makes the tasks that `bench.workbench` works on; runs in the Django of its site."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from annotation.models import Assignment
from annotation.services.campaigns import create_campaign, open_campaign
from annotation.services.members import add_member
from annotation.services.saving import save_spans
from bench.filings import Filing, filing
from portal.accounts.models import User
from portal.accounts.tokens import issue_token
from portal.datasets.models import Dataset, Document, DocumentContent
from portal.facts import canonicalise


def make(pages: int, facts: int, large: Sequence[int]) -> dict[str, Any]:
    """`pages` pages of `facts` facts, and one page for each number of facts in `large`.

    All are labelled and belong to one annotator, whose session and API token come with them.
    """
    user = User.objects.create_user(email="bench@example.org", password=None, name="Bench")
    filings = [filing(f"page-{number:03}", facts, number) for number in range(1, pages + 1)]
    filings += [filing(f"large-{count}", count, count) for count in large]
    dataset = Dataset.objects.create(slug="bench", title="Bench")
    for page in filings:
        _add_document(dataset, page)
    labels = ["Number", "Date"]
    campaign = create_campaign(
        dataset=dataset, title="Bench", labels=labels, overlap=1, guidelines="", actor=None
    )
    add_member(campaign=campaign, user=user, role="annotator", actor=None)
    open_campaign(campaign=campaign, actor=None)
    by_name = {
        assignment.campaign_document.document.name: _labelled(assignment, user, filings)
        for assignment in Assignment.objects.select_related("campaign_document__document")
    }
    return {
        "pages": [by_name[page.name] for page in filings[:pages]],
        "large": [by_name[page.name] for page in filings[pages:]],
        "bytes": [len(page.html.encode()) for page in filings[pages:]],
        "session": _session(user),
        "token": issue_token(user=user, name="bench")[1],
    }


def _add_document(dataset: Dataset, page: Filing) -> None:
    canonical = canonicalise(page.html)
    document = Document.objects.create(
        dataset=dataset,
        name=page.name,
        source_sha256=canonical.html_sha256,
        html_sha256=canonical.html_sha256,
        text_sha256=canonical.text_sha256,
        text_chars=len(canonical.text),
    )
    DocumentContent.objects.create(document=document, html=canonical.html, text=canonical.text)


def _labelled(assignment: Assignment, user: User, filings: Sequence[Filing]) -> int:
    document = assignment.campaign_document.document
    (page,) = (page for page in filings if page.name == document.name)
    save_spans(
        assignment=assignment,
        base_revision=0,
        save_key="made",
        spans=spans_of(document.content.text, page.facts),
        author=user,
    )
    return assignment.pk


def spans_of(text: str, quotes: Sequence[str]) -> list[dict[str, Any]]:
    """The quotes as spans, each behind the one before it."""
    spans = []
    position = 0
    for number, quote in enumerate(quotes):
        start = text.index(quote, position)
        position = start + len(quote)
        place = {"start": start, "end": position, "quote": quote}
        spans.append({"key": f"fact-{number}", "label": "Number", **place})
    return spans


def _session(user: User) -> str:
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return str(session.session_key)
