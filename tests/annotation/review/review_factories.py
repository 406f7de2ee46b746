"""Campaigns with gold pages, and reviews of them."""

from collections.abc import Sequence
from typing import Any

from annotation.models import Campaign, GoldSpan, ReviewItem, ReviewRound
from annotation.review.services import decide_item
from portal.accounts.models import User
from tests.annotation.factories import Mark, accept, document_of, make_campaign, submit

# Four facts a page, in text order.
MARKS: tuple[Mark, ...] = (
    ("Number", "1,200"),
    ("Number", "(310)"),
    ("Date", "March 31, 2025"),
    ("Number", "1,200"),
)


def reviewed_campaign(
    annotators: Sequence[User], *, lead: User, reviewer: User, documents: int = 3, **settings: Any
) -> Campaign:
    """An empty campaign with a review after every two pages, by default of half of their facts."""
    settings = {"review_pages": 2, "review_share": 0.5} | settings
    return make_campaign(annotators, lead=lead, reviewer=reviewer, documents=documents, **settings)


def make_gold(campaign: Campaign, number: int, marks: Sequence[Mark] = MARKS) -> None:
    """Submits the same marks for all annotators of the page, so that it becomes gold."""
    page = document_of(campaign, number)
    for assignment in page.assignments.order_by("id"):
        submit(assignment, *marks)
    if not marks:
        accept(campaign, number)
    assert document_of(campaign, number).stage == "gold"


def round_of(campaign: Campaign, number: int = 1) -> ReviewRound:
    return ReviewRound.objects.get(campaign=campaign, number=number)


def item_of(campaign: Campaign, position: int = 1, number: int = 1) -> ReviewItem:
    return ReviewItem.objects.get(round__campaign=campaign, round__number=number, position=position)


def gold_of(item: ReviewItem) -> list[tuple[str, str, str]]:
    """(label, quote, origin) of the page's gold in text order."""
    spans = GoldSpan.objects.filter(campaign_document=item.campaign_document).order_by("start")
    return list(spans.values_list("label", "quote", "origin"))


def accept_all(campaign: Campaign, reviewer: User, number: int = 1) -> None:
    for item in ReviewItem.objects.filter(
        round__campaign=campaign, round__number=number, verdict="pending"
    ):
        decide_item(item=item, verdict="accepted", actor=reviewer)


def drawn_by_hand(campaign: Campaign, number: int = 1) -> ReviewItem:
    """An open review with one fact of the page, which need not be gold."""
    page = document_of(campaign, number)
    gold = page.gold_spans.order_by("start").first()
    assert gold is not None
    found = ReviewRound.objects.create(
        campaign=campaign, number=1, seed=1, share=1, pages=1, facts=1, guidelines_version=1
    )
    fields = ("label", "start", "end", "quote", "value", "sign")
    fact = {name: getattr(gold, name) for name in fields}
    return ReviewItem.objects.create(round=found, position=1, campaign_document=page, **fact)
