"""The effect of a verdict on the item, the gold, the page and the round."""

from typing import Any

import pytest

from annotation.adjudication.services import decide_case
from annotation.campaigns.people import add_member
from annotation.campaigns.services import edit_guidelines
from annotation.errors import InvalidSpans, Refused
from annotation.models import Campaign, Case, GoldSpan, ReviewItem
from annotation.review.services import AlreadyReviewed, decide_item
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import document_of, submit, work_of
from tests.worlds import shared

from .review_factories import accept_all, gold_of, item_of, make_gold, reviewed_campaign, round_of

pytestmark = pytest.mark.django_db

AGREED = [
    ("Number", "1,200", "agreed"),
    ("Number", "(310)", "agreed"),
    ("Date", "March 31, 2025", "agreed"),
    ("Number", "1,200", "agreed"),
]


@pytest.fixture
@shared
def campaign(ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    """Two gold pages with all facts drawn. Items 1 to 4 are of the first page."""
    found = reviewed_campaign([ann, ben], lead=lead, reviewer=reviewer, documents=2, review_share=1)
    make_gold(found, 1)
    make_gold(found, 2)
    return found


def correct(
    item: ReviewItem, actor: User, reason: str = "The sign belongs to it.", **to: Any
) -> Any:
    place = {"label": item.label, "start": item.start, "end": item.end}
    return decide_item(
        item=item, verdict="corrected", correction=place | to, reason=reason, actor=actor
    )


def test_accepting_leaves_the_gold(campaign: Campaign, reviewer: User) -> None:
    item = decide_item(item=item_of(campaign, 2), verdict="accepted", actor=reviewer)
    item.refresh_from_db()
    assert (item.verdict, item.reviewer, item.guidelines_version) == ("accepted", reviewer, 1)
    assert gold_of(item) == AGREED
    assert round_of(campaign).state == "open"


def test_verdict_keeps_the_guidelines_in_force(
    campaign: Campaign, reviewer: User, lead: User
) -> None:
    edit_guidelines(campaign=campaign, text="Brackets belong to the number.", actor=lead)
    decide_item(item=item_of(campaign), verdict="accepted", actor=reviewer)
    assert item_of(campaign).guidelines_version == 2
    assert round_of(campaign).guidelines_version == 1


def test_last_verdict_closes_the_round(campaign: Campaign, reviewer: User) -> None:
    accept_all(campaign, reviewer)
    found = round_of(campaign)
    assert found.state == "done"
    assert found.closed_at is not None
    event = Event.objects.get(verb="close_review_round")
    assert event.data == {"verdicts": {"accepted": 8}}


def test_correction_replaces_the_gold(campaign: Campaign, reviewer: User) -> None:
    item = item_of(campaign, 2)
    correct(item, reviewer, start=item.start + 1, end=item.end - 1)
    item.refresh_from_db()
    assert gold_of(item) == [AGREED[0], ("Number", "310", "reviewed"), *AGREED[2:]]
    assert item.correction == {
        "label": "Number",
        "start": item.start + 1,
        "end": item.end - 1,
        "quote": "310",
        "value": "310",
        "sign": "plain",
    }
    assert (item.quote, item.reason) == ("(310)", "The sign belongs to it.")
    assert document_of(campaign).stage == "gold"


def test_correction_of_label_and_value(campaign: Campaign, reviewer: User) -> None:
    item = item_of(campaign, 1)
    correct(item, reviewer, label="Date", value="1200-01-01")
    gold = GoldSpan.objects.get(campaign_document=item.campaign_document, start=item.start)
    assert (gold.label, gold.value, gold.sign, gold.origin) == (
        "Date",
        "1200-01-01",
        "",
        "reviewed",
    )


def test_correction_can_remove_the_fact(campaign: Campaign, reviewer: User) -> None:
    item = item_of(campaign, 1)
    decide_item(item=item, verdict="corrected", reason="A heading.", actor=reviewer)
    item.refresh_from_db()
    assert gold_of(item) == AGREED[1:]
    assert (item.verdict, item.correction) == ("corrected", None)


@pytest.mark.parametrize(
    ("to", "code"),
    [
        ({"label": "Money"}, "label"),
        ({"start": 5, "end": 5}, "range"),
        ({"start": 0, "end": 99_999}, "range"),
        ({"start": 0, "end": 3}, "outside"),
        ({"start": 16, "end": 60}, "overlaps_gold"),
        ({"value": "twelve"}, "value"),
        ({"value": "12", "sign": "red"}, "value"),
    ],
)
def test_correction_that_cannot_be_gold_changes_nothing(
    campaign: Campaign, reviewer: User, to: dict[str, Any], code: str
) -> None:
    item = item_of(campaign, 1)
    with pytest.raises(InvalidSpans) as refused:
        correct(item, reviewer, **to)
    assert refused.value.errors[0]["code"] == code
    assert (gold_of(item), item_of(campaign).verdict) == (AGREED, "pending")


def test_correction_without_a_change_is_refused(campaign: Campaign, reviewer: User) -> None:
    with pytest.raises(Refused, match="the same as the current gold"):
        correct(item_of(campaign), reviewer)


@pytest.mark.parametrize("verdict", ["corrected", "sent_back"])
@pytest.mark.parametrize("reason", ["", "  \n", "x" * 2001])
def test_changes_need_a_reason(
    campaign: Campaign, reviewer: User, verdict: str, reason: str
) -> None:
    with pytest.raises(Refused) as refused:
        decide_item(item=item_of(campaign), verdict=verdict, reason=reason, actor=reviewer)
    assert refused.value.code == "reason"
    assert gold_of(item_of(campaign)) == AGREED


@pytest.mark.parametrize("verdict", ["pending", "", "maybe"])
def test_unknown_verdict_is_refused(campaign: Campaign, reviewer: User, verdict: str) -> None:
    with pytest.raises(Refused, match="accepted, corrected or sent_back"):
        decide_item(item=item_of(campaign), verdict=verdict, reason="So.", actor=reviewer)


def test_second_verdict_is_refused_with_the_first(campaign: Campaign, reviewer: User) -> None:
    item = item_of(campaign)
    decide_item(item=item, verdict="accepted", actor=reviewer)
    with pytest.raises(AlreadyReviewed, match="Fact 1 was accepted by Rita on ") as refused:
        decide_item(item=item, verdict="sent_back", reason="Hm.", actor=reviewer)
    assert refused.value.code == "decided"
    assert document_of(campaign).stage == "gold"


# --- sending back --------------------------------------------------------------------------------


def test_sending_back_opens_a_case_with_the_gold_as_it_was(
    campaign: Campaign, reviewer: User
) -> None:
    item = item_of(campaign, 2)
    decide_item(item=item, verdict="sent_back", reason="Which unit?", actor=reviewer)
    page = document_of(campaign)
    assert (page.stage, page.gold_at, page.review_round) == ("adjudication", None, item.round)
    assert gold_of(item) == [AGREED[0], *AGREED[2:]]
    case = page.cases.get()
    assert (case.kind, case.state, case.start, case.end) == ("review", "open", item.start, item.end)
    (proposal,) = case.proposals
    assert (proposal["assignment"], proposal["reason"]) == (None, "Which unit?")
    assert proposal["spans"] == [
        {
            "label": "Number",
            "start": item.start,
            "end": item.end,
            "quote": "(310)",
            "value": "-310",
            "sign": "parentheses",
        }
    ]
    reopened = case.decisions.get()
    assert (reopened.choice, reopened.reason) == ("reopened", "Which unit?")


def test_page_that_was_sent_back_becomes_gold_again(
    campaign: Campaign, reviewer: User, lead: User
) -> None:
    decide_item(item=item_of(campaign), verdict="sent_back", reason="No.", actor=reviewer)
    case = document_of(campaign).cases.get()
    decide_case(case=case, choice="neither", reason="It is no fact.", actor=lead)
    assert document_of(campaign).stage == "gold"
    assert campaign.review_rounds.count() == 1


def test_other_facts_of_a_page_that_went_back_can_be_reviewed(
    campaign: Campaign, reviewer: User
) -> None:
    for position, verdict in ((1, "sent_back"), (2, "sent_back"), (3, "accepted")):
        decide_item(item=item_of(campaign, position), verdict=verdict, reason="So.", actor=reviewer)
    assert document_of(campaign).cases.count() == 2


@pytest.fixture
@shared
def disputed(campaign: Campaign, ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    """A campaign on whose first page Lea decided a case at `(310)`."""
    found = reviewed_campaign(
        [ann, ben], lead=lead, reviewer=reviewer, documents=1, review_share=1, title="Disputed"
    )
    submit(work_of(ann, found), ("Number", "(310)"))
    submit(work_of(ben, found), ("Number", "310"))
    case = document_of(found).cases.get()
    decide_case(case=case, choice="proposal", proposal=0, reason="The sign.", actor=lead)
    return found


def test_fact_of_a_case_opens_that_case_again(disputed: Campaign, reviewer: User) -> None:
    case = document_of(disputed).cases.get()
    decide_item(item=item_of(disputed), verdict="sent_back", reason="No sign.", actor=reviewer)
    (again,) = document_of(disputed).cases.all()
    assert (again.pk, again.state, again.kind, again.decided_by) == (
        case.pk,
        "open",
        "review",
        None,
    )
    assert [p["assignment"] is None for p in again.proposals] == [False, False, True]
    assert not again.gold_spans.exists()


def test_sent_back_twice_has_one_proposal_for_the_gold(
    disputed: Campaign, reviewer: User, lead: User
) -> None:
    item = item_of(disputed)
    case = document_of(disputed).cases.get()
    for _ in range(2):
        decide_item(item=item, verdict="sent_back", reason="No sign.", actor=reviewer)
        decide_case(case=case, choice="proposal", proposal=0, reason="It stays.", actor=lead)
        pending = {"verdict": "pending", "decided_at": None, "reason": "", "reviewer": None}
        ReviewItem.objects.filter(pk=item.pk).update(**pending)
    case.refresh_from_db()
    assert len(case.proposals) == 3


def test_correction_stays_with_its_case(disputed: Campaign, reviewer: User) -> None:
    item = item_of(disputed)
    correct(item, reviewer, start=item.start + 1, end=item.end - 1)
    assert document_of(disputed).gold_spans.get().case == document_of(disputed).cases.get()


# --- gold that changed since the draw ------------------------------------------------------------


def change_gold(item: ReviewItem, **to: Any) -> None:
    GoldSpan.objects.filter(campaign_document=item.campaign_document, start=item.start).update(**to)


def test_changed_gold_cannot_be_accepted(campaign: Campaign, reviewer: User) -> None:
    item = item_of(campaign)
    change_gold(item, label="Date")
    with pytest.raises(Refused, match="has changed since"):
        decide_item(item=item, verdict="accepted", actor=reviewer)


def test_correction_may_confirm_changed_gold(campaign: Campaign, reviewer: User) -> None:
    item = item_of(campaign)
    change_gold(item, label="Date", value="", sign="")
    correct(item, reviewer, label="Date")
    assert item_of(campaign).correction["label"] == "Date"  # type: ignore[index]


def test_fact_that_is_gone_can_be_confirmed_as_none(campaign: Campaign, reviewer: User) -> None:
    item = item_of(campaign)
    GoldSpan.objects.filter(campaign_document=item.campaign_document, start=item.start).delete()
    decide_item(item=item, verdict="corrected", reason="Right so.", actor=reviewer)
    assert item_of(campaign).verdict == "corrected"


def test_fact_under_an_open_case_waits(campaign: Campaign, reviewer: User) -> None:
    item = item_of(campaign)
    Case.objects.create(
        campaign_document=item.campaign_document, start=item.start, end=item.end,
        kind="review", proposals=[],
    )  # fmt: skip
    with pytest.raises(Refused, match="was reopened") as refused:
        decide_item(item=item, verdict="accepted", actor=reviewer)
    assert refused.value.code == "in_work"


def test_correction_into_an_open_case_is_refused(campaign: Campaign, reviewer: User) -> None:
    item = item_of(campaign)
    Case.objects.create(
        campaign_document=item.campaign_document, start=item.end + 1, end=item.end + 4,
        kind="review", proposals=[],
    )  # fmt: skip
    with pytest.raises(InvalidSpans) as refused:
        correct(item, reviewer, end=item.end + 2)
    assert refused.value.errors[0]["code"] == "overlaps_case"


# --- one's own work ------------------------------------------------------------------------------


def test_own_annotations_are_reviewed_by_others(campaign: Campaign, ann: User) -> None:
    add_member(campaign=campaign, user=ann, role="reviewer", actor=None)
    with pytest.raises(Refused, match="annotated or adjudicated this document") as refused:
        decide_item(item=item_of(campaign), verdict="accepted", actor=ann)
    assert refused.value.code == "own_work"


def test_own_adjudication_is_reviewed_by_others(
    disputed: Campaign, lead: User, reviewer: User
) -> None:
    with pytest.raises(Refused, match="adjudicated this document"):
        decide_item(item=item_of(disputed), verdict="accepted", actor=lead)
    decide_item(item=item_of(disputed), verdict="accepted", actor=reviewer)


def test_who_sent_a_page_back_may_review_its_other_facts(
    campaign: Campaign, reviewer: User
) -> None:
    decide_item(item=item_of(campaign, 1), verdict="sent_back", reason="No.", actor=reviewer)
    decide_item(item=item_of(campaign, 2), verdict="accepted", actor=reviewer)
    assert item_of(campaign, 2).verdict == "accepted"
