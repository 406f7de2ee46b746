"""Factories for campaigns, and helpers to label pages."""

from collections.abc import Sequence
from typing import Any

from annotation.adjudication.services import let_pass
from annotation.campaigns.people import add_member
from annotation.campaigns.services import create_campaign, open_campaign
from annotation.models import Assignment, Campaign, CampaignDocument, Comment, Membership
from annotation.workbench.services import Saved, save_spans, submit_assignment
from portal.accounts.models import User
from portal.datasets.models import Dataset
from tests.factories import empty_dataset, make_document, make_documents

# The facts on the page: 1,200 · (310) · March 31, 2025 · 1,200 again.
PAGE = (
    "<p>Net revenue was <b>1,200</b> and the loss (310) as of March 31, 2025.</p>"
    "<table><tr><td>Total</td><td>1,200</td></tr></table><p>Page {number}</p>"
)

Mark = tuple[str, str]


def make_dataset(documents: int = 1, **fields: Any) -> Dataset:
    dataset: Dataset = empty_dataset(**fields)
    numbers = range(1, documents + 1)
    make_documents(dataset, {f"page-{n:03}": PAGE.format(number=n) for n in numbers})
    return dataset


def make_campaign(
    annotators: Sequence[User],
    *,
    lead: User | None = None,
    reviewer: User | None = None,
    documents: int = 1,
    overlap: int = 2,
    opened: bool = True,
    labels: Sequence[str] = ("Number", "Date"),
    title: str = "Spring round",
    **settings: Any,
) -> Campaign:
    """A campaign with its own dataset. Its documents are assigned unless `opened` is false.

    `settings` are fields of the campaign. There is no domain review by default.
    """
    campaign = create_campaign(
        dataset=make_dataset(documents),
        title=title,
        labels=labels,
        overlap=overlap,
        guidelines="Mark **every** fact.",
        actor=None,
    )
    settings = {"review_pages": 0} | settings
    for name, value in settings.items():
        setattr(campaign, name, value)
    campaign.save(update_fields=list(settings))
    roles = [(annotator, Membership.Role.ANNOTATOR) for annotator in annotators]
    roles += [(lead, Membership.Role.LEAD)] if lead else []
    roles += [(reviewer, Membership.Role.REVIEWER)] if reviewer else []
    # The other effects of `add_member` do not apply to a draft without pages.
    Membership.objects.bulk_create(
        Membership(campaign=campaign, user=user, role=role) for user, role in roles
    )
    return open_campaign(campaign=campaign, actor=None) if opened else campaign


def task_over(html: str, user: User, *, uncleaned: str = "") -> Assignment:
    """The user's task in a campaign with this one page."""
    dataset = empty_dataset()
    make_document(dataset, "page", html, uncleaned=uncleaned)
    labels = ["Number", "Date"]
    campaign = create_campaign(
        dataset=dataset, title="One page", labels=labels, overlap=1, guidelines="", actor=None
    )
    add_member(campaign=campaign, user=user, role="annotator", actor=None)
    open_campaign(campaign=campaign, actor=None)
    return Assignment.objects.get(annotator=user)


def document_of(campaign: Campaign, number: int = 1) -> CampaignDocument:
    return CampaignDocument.objects.get(campaign=campaign, document__name=f"page-{number:03}")


def work_of(user: User, campaign: Campaign, number: int = 1) -> Assignment:
    return Assignment.objects.get(annotator=user, campaign_document=document_of(campaign, number))


def text_of(assignment: Assignment) -> str:
    return assignment.campaign_document.document.content.text


def spans_in(text: str, *marks: Mark) -> list[dict[str, Any]]:
    """Spans as a browser sends them. A mark is (label, quote); a repeated quote is the next one."""
    found: list[dict[str, Any]] = []
    behind: dict[str, int] = {}
    for label, quote in marks:
        start = text.index(quote, behind.get(quote, 0))
        behind[quote] = start + 1
        found.append(
            {
                "key": f"{label.lower()}-{start}",
                "label": label,
                "start": start,
                "end": start + len(quote),
                "quote": quote,
            }
        )
    return found


def comment(assignment: Assignment, text: str = "Is this a date?", span_key: str = "") -> Comment:
    """A comment by the assignment's annotator, even on submitted work."""
    return Comment.objects.create(
        assignment=assignment, span_key=span_key, text=text, author=assignment.annotator
    )


def save(assignment: Assignment, *marks: Mark, key: str = "") -> Saved:
    """Saves the marks, based on the current revision."""
    assignment.refresh_from_db()
    return save_spans(
        assignment=assignment,
        base_revision=assignment.revision,
        save_key=key or f"save-{assignment.revision}",
        spans=spans_in(text_of(assignment), *marks),
        author=assignment.annotator,
    )


def submit(assignment: Assignment, *marks: Mark) -> Assignment:
    """Saves the marks, if any, and submits. A page without marks is confirmed as empty."""
    if marks:
        save(assignment, *marks)
    assignment.refresh_from_db()
    return submit_assignment(
        assignment=assignment,
        base_revision=assignment.revision,
        actor=assignment.annotator,
        no_facts=True,
    )


def accept(campaign: Campaign, number: int = 1) -> None:
    """A lead accepts a page in validation, such as one on which no one labelled anything."""
    lead = Membership.objects.filter(campaign=campaign, role=Membership.Role.LEAD).first()
    assert lead
    page = document_of(campaign, number)
    let_pass(campaign_document=page, reason="It has no facts.", actor=lead.user)
