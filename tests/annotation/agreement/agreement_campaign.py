"""A campaign of several annotators at different levels of skill, labelled and submitted.

Marks are drawn from a seed and are the same in every run.
"""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from annotation.campaigns.people import add_member
from annotation.campaigns.services import create_campaign, open_campaign
from annotation.models import Assignment, Campaign, CampaignDocument, FirstSubmission
from annotation.workbench.services import save_spans, submit_assignment
from portal.accounts.models import User
from portal.datasets.models import DocumentType
from tests.factories import empty_dataset, make_document

ROWS = ("Net revenue", "Cost of sales", "Research", "Interest", "Income taxes", "Dividends")
LABELS = ("Number", "Date")
# How often each annotator, in their order, leaves out a fact or marks it otherwise.
ERRORS = (0.03, 0.06, 0.1, 0.2)
BEGUN = datetime(2026, 3, 2, 9, tzinfo=UTC)

Fact = tuple[str, str]


def labelled_campaign(
    annotators: Sequence[User],
    *,
    lead: User | None = None,
    documents: int = 8,
    overlap: int = 4,
    days: int = 3,
    submitted: int | None = None,
    title: str = "Spring round",
) -> Campaign:
    """Submits the first `submitted` documents, by default all, one every `days` days."""
    dataset = empty_dataset()
    facts: dict[str, list[Fact]] = {}
    for number in range(1, documents + 1):
        name = f"page-{number:03}"
        html, facts[name] = page(number)
        document = make_document(dataset, name, html)
        document.doc_type = DocumentType.values[number % 3]
        document.save()
    campaign = create_campaign(
        dataset=dataset, title=title, labels=LABELS, overlap=overlap, guidelines="", actor=None
    )
    for user in annotators:
        add_member(campaign=campaign, user=user, role="annotator", actor=None)
    if lead:
        add_member(campaign=campaign, user=lead, role="lead", actor=None)
    open_campaign(campaign=campaign, actor=None)
    rows = CampaignDocument.objects.filter(campaign=campaign).order_by("document__name")
    for place, row in enumerate(rows[: documents if submitted is None else submitted]):
        for assignment in row.assignments.all():
            skill = list(annotators).index(assignment.annotator)
            submit_marks(assignment, marks_of(row.document.name, facts, skill))
        completed = BEGUN + timedelta(days=days * place)
        FirstSubmission.objects.filter(assignment__campaign_document=row).update(
            submitted_at=completed
        )
    return campaign


def page(number: int) -> tuple[str, list[Fact]]:
    """A page and its facts in text order, each a label and a quote that occurs once."""
    chance = random.Random(number)
    year = 2020 + number % 5
    facts: list[Fact] = [("Date", f"March {chance.randint(10, 28)}, {year}")]
    cells = []
    for row in ROWS:
        amounts = [f"{chance.randint(1, 99)},{chance.randint(100, 999)}.{n}" for n in (1, 2)]
        shown = [amounts[0], f"({amounts[1]})"]
        facts += [("Number", quote) for quote in shown]
        cells.append(f"<tr><td>{row}</td><td>{shown[0]}</td><td>{shown[1]}</td></tr>")
    facts.append(("Date", f"fiscal {year}"))
    html = (
        f"<h1>Statement {number}</h1><p>As of {facts[0][1]} the figures were these.</p>"
        f"<table>{''.join(cells)}</table><p>Audited in fiscal {year} by an accountant.</p>"
    )
    return html, facts


def marks_of(name: str, facts: Mapping[str, list[Fact]], skill: int) -> list[Fact]:
    """The marks of an annotator of this skill on the page."""
    chance = random.Random(f"{name} {skill}")
    marks: list[Fact] = []
    for label, quote in facts[name]:
        if quote.startswith("fiscal") and skill % 2:
            # Two of the four label a fiscal year as a number.
            marks.append(("Number", quote.removeprefix("fiscal ")))
        elif chance.random() >= ERRORS[skill % len(ERRORS)]:
            marks.append((label, quote))
        elif chance.random() < 0.5 and quote.startswith("("):
            marks.append((label, quote.strip("()")))
    return marks


def submit_marks(assignment: Assignment, marks: Sequence[Fact]) -> None:
    """Saves spans at the quotes, each after the previous one, and submits."""
    text = assignment.campaign_document.document.content.text
    spans: list[dict[str, Any]] = []
    place = 0
    for number, (label, quote) in enumerate(marks):
        start = text.index(quote, place)
        place = start + len(quote)
        at = {"start": start, "end": place, "quote": quote}
        spans.append({"key": f"fact-{number}", "label": label, **at})
    save_spans(
        assignment=assignment,
        base_revision=0,
        save_key="made",
        spans=spans,
        author=assignment.annotator,
    )
    assignment.refresh_from_db()
    submit_assignment(
        assignment=assignment,
        base_revision=assignment.revision,
        actor=assignment.annotator,
        no_facts=True,
    )
