"""Pages and endpoints of the review: content, access, and submitted forms."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.people import add_member
from annotation.campaigns.services import edit_guidelines
from annotation.models import Campaign, Membership, ReviewItem, ReviewRound
from annotation.review.services import decide_item
from portal.accounts.models import User
from tests.annotation.factories import document_of
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

from .review_factories import gold_of, item_of, make_gold, reviewed_campaign, round_of

pytestmark = pytest.mark.django_db

ROOT = "/campaigns/spring-round/review/"
API = "/api/v1/campaigns/spring-round/review/"
DECIDE = f"{API}1/items/1/decide/"


@pytest.fixture
@shared
def campaign(ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    """Three pages, of which two are gold and all their facts drawn."""
    found = reviewed_campaign([ann, ben], lead=lead, reviewer=reviewer, review_share=1)
    make_gold(found, 1)
    make_gold(found, 2)
    return found


def correction(item: ReviewItem, **fields: Any) -> dict[str, Any]:
    place = {"label": item.label, "start": item.start, "end": item.end, "value": "", "sign": ""}
    row = place | {"reason": "The sign belongs to it."} | fields
    return {"verdict": "corrected"} | {f"correct-{name}": value for name, value in row.items()}


# --- pages ---------------------------------------------------------------------------------------


def test_rounds_say_what_blocks_the_release(
    campaign: Campaign, reviewer: User, client_of: ClientOf
) -> None:
    html = client_of(reviewer).get(ROOT).content.decode()
    assert "Release blocked. Review 1 is open" in html
    assert "Every gold document is in a review" in html
    drawn = client_of(reviewer).get(f"{ROOT}1/").content.decode()
    assert str(round_of(campaign).seed) in drawn


def test_campaign_without_a_reviewer_asks_for_one(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)

    def steps() -> list[tuple[bool, str, str]]:
        found = client.get("/campaigns/spring-round/").context["steps"]
        return [
            (step.is_mine, step.text, step.url) for step in found if "review" in step.text.lower()
        ]

    hint = "The campaign has no reviewer. Invite one under People."
    assert steps() == [(False, "Review 8 facts.", f"{ROOT}")]
    assert hint not in client.get(ROOT).content.decode()
    Membership.objects.filter(campaign=campaign, role="reviewer").delete()
    (step,) = steps()
    assert step == (
        True,
        "Invite a reviewer: 8 facts must be reviewed.",
        "/campaigns/spring-round/people/",
    )
    assert hint in client.get(ROOT).content.decode()
    assert hint in client.get("/campaigns/spring-round/release/").content.decode()


def test_no_round_yet_is_told_apart_from_no_review(
    ann: User, ben: User, lead: User, reviewer: User, client_of: ClientOf
) -> None:
    found = reviewed_campaign([ann, ben], lead=lead, reviewer=reviewer)
    client = client_of(lead)
    assert "No review yet" in client.get(ROOT).content.decode()
    Campaign.objects.filter(pk=found.pk).update(review_pages=0)
    html = client.get(ROOT).content.decode()
    assert "Reviews are off" in html
    assert "Open a review" not in html


def test_only_leads_open_a_round_early(
    campaign: Campaign, lead: User, reviewer: User, client_of: ClientOf
) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(review_pages=5)
    campaign.documents.filter(document__name="page-001").update(review_round=None)
    assert "Open review now" in client_of(lead).get(ROOT).content.decode()
    assert "Open review now" not in client_of(reviewer).get(ROOT).content.decode()
    assert client_of(reviewer).post(f"{ROOT}open/").status_code == 403
    response = client_of(lead).post(f"{ROOT}open/", {"seed": "7"})
    assert response["Location"] == f"{ROOT}2/"
    assert (round_of(campaign, 2).seed, round_of(campaign, 2).opened_by) == (7, lead)
    again = client_of(lead).post(f"{ROOT}open/", follow=True)
    assert "Every gold document is already in a review." in again.content.decode()


@pytest.mark.parametrize("seed", ["-1", "x", str(2**60)])
def test_wrong_seed_is_shown_again(
    campaign: Campaign, lead: User, client_of: ClientOf, seed: str
) -> None:
    campaign.documents.filter(document__name="page-001").update(review_round=None)
    response = client_of(lead).post(f"{ROOT}open/", {"seed": seed})
    assert response.status_code == 200
    assert 'class="field-errors"' in response.content.decode()
    assert ReviewRound.objects.count() == 1


def test_round_shows_facts_and_feedback_by_guidelines_version(
    campaign: Campaign, lead: User, reviewer: User, client_of: ClientOf
) -> None:
    edit_guidelines(campaign=campaign, text="Brackets belong to it.", actor=lead)
    decide_item(item=item_of(campaign, 1), verdict="accepted", actor=reviewer)
    decide_item(item=item_of(campaign, 2), verdict="corrected", reason="A note.", actor=reviewer)
    html = client_of(lead).get(f"{ROOT}1/").content.decode()
    assert 'href="/campaigns/spring-round/guidelines/?version=2"' in html
    assert "A note." in html
    assert "50%" in html
    assert "n = 2" in html
    assert "manage.py draw_review spring-round 1" in html


def test_item_shows_the_fact_and_no_annotator(
    campaign: Campaign, reviewer: User, client_of: ClientOf
) -> None:
    response = client_of(reviewer).get(f"{ROOT}1/2/")
    html = response.content.decode()
    assert '<mark class="label-1">(310)</mark>' in html
    assert "-310" in html
    assert "parentheses" in html
    for name in ("Ann<", "Ben<", "ann@", "ben@", "Annotator A"):
        assert name not in html
    item = item_of(campaign, 2)
    assert response.context["page_data"]["fact"] == {"start": item.start, "end": item.end}
    assert len(response.context["page_data"]["gold"]) == 4
    page = client_of(reviewer).get(f"{ROOT}1/2/html/")
    assert page["Content-Security-Policy"].startswith("default-src 'none'")


def test_lead_without_the_role_reads_only(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    html = client.get(f"{ROOT}1/1/").content.decode()
    assert "reviewers can give a verdict" in html
    assert 'name="verdict"' not in html
    assert client.post(f"{ROOT}1/1/", {"verdict": "accepted"}).status_code == 403
    assert item_of(campaign).verdict == "pending"


def test_own_page_is_shown_without_verdicts(
    campaign: Campaign, ann: User, client_of: ClientOf
) -> None:
    add_member(campaign=campaign, user=ann, role="reviewer", actor=None)
    client = client_of(ann)
    assert "annotated or adjudicated this document" in client.get(f"{ROOT}1/1/").content.decode()
    response = client.post(f"{ROOT}1/1/", {"verdict": "accepted"}, follow=True)
    assert "Another reviewer must review it" in response.content.decode()
    assert item_of(campaign).verdict == "pending"


def test_accepting_leads_to_the_next_fact_and_the_last_to_the_round(
    campaign: Campaign, reviewer: User, client_of: ClientOf
) -> None:
    client = client_of(reviewer)
    assert client.post(f"{ROOT}1/3/", {"verdict": "accepted"})["Location"] == f"{ROOT}1/4/"
    assert client.post(f"{ROOT}1/8/", {"verdict": "accepted"})["Location"] == f"{ROOT}1/1/"
    for position in (1, 2, 4, 5, 6):
        client.post(f"{ROOT}1/{position}/", {"verdict": "accepted"})
    last = client.post(f"{ROOT}1/7/", {"verdict": "accepted"}, follow=True)
    assert last.redirect_chain == [(f"{ROOT}1/", 302)]
    assert "Review 1 is complete" in last.content.decode()


def test_decided_fact_shows_its_verdict_under_its_guidelines(
    campaign: Campaign, lead: User, reviewer: User, client_of: ClientOf
) -> None:
    decide_item(item=item_of(campaign), verdict="corrected", reason="A note.", actor=reviewer)
    edit_guidelines(campaign=campaign, text="Notes are no facts.", actor=lead)
    html = client_of(reviewer).get(f"{ROOT}1/1/").content.decode()
    assert "Corrected by Rita on " in html
    assert "version 1 of the guidelines" in html
    assert "Reason: A note." in html
    assert 'name="verdict"' not in html


def test_second_click_is_told(campaign: Campaign, reviewer: User, client_of: ClientOf) -> None:
    client = client_of(reviewer)
    client.post(f"{ROOT}1/1/", {"verdict": "accepted"})
    again = client.post(f"{ROOT}1/1/", {"verdict": "accepted"}, follow=True)
    assert "Fact 1 was accepted by Rita" in again.content.decode()


def test_correction_by_form(campaign: Campaign, reviewer: User, client_of: ClientOf) -> None:
    item = item_of(campaign, 2)
    sent = correction(item, start=item.start + 1, end=item.end - 1)
    assert client_of(reviewer).post(f"{ROOT}1/2/", sent)["Location"] == f"{ROOT}1/3/"
    assert gold_of(item)[1] == ("Number", "310", "reviewed")


def test_removal_by_form_needs_only_the_reason(
    campaign: Campaign, reviewer: User, client_of: ClientOf
) -> None:
    client = client_of(reviewer)
    without = client.post(f"{ROOT}1/2/", {"verdict": "corrected", "remove": "1"})
    assert without.status_code == 200
    assert "This field is required." in without.content.decode()
    sent = {"verdict": "corrected", "remove": "1", "correct-reason": "A note."}
    assert client.post(f"{ROOT}1/2/", sent).status_code == 302
    assert [quote for _, quote, _ in gold_of(item_of(campaign))] == [
        "1,200",
        "March 31, 2025",
        "1,200",
    ]


def test_sending_back_by_form(campaign: Campaign, reviewer: User, client_of: ClientOf) -> None:
    client = client_of(reviewer)
    assert client.post(f"{ROOT}1/1/", {"verdict": "sent_back"}).status_code == 200
    assert document_of(campaign).stage == "gold"
    sent = {"verdict": "sent_back", "back-reason": "Which table?"}
    assert client.post(f"{ROOT}1/1/", sent).status_code == 302
    assert document_of(campaign).stage == "adjudication"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"reason": " "}, "This field is required."),
        ({"start": 0, "end": 3}, "is outside the fact"),
        ({"end": 99_999}, "is not a valid range"),
        ({"label": "Money"}, "Select a valid choice"),
        ({"value": "twelve"}, "value"),
        ({}, "the same as the current gold"),
    ],
)
def test_wrong_correction_is_shown_again_with_the_reason(
    campaign: Campaign, reviewer: User, client_of: ClientOf, fields: dict[str, Any], message: str
) -> None:
    response = client_of(reviewer).post(f"{ROOT}1/1/", correction(item_of(campaign), **fields))
    assert response.status_code == 200
    assert message in response.content.decode()
    assert item_of(campaign).verdict == "pending"


def test_unknown_verdict_decides_nothing(
    campaign: Campaign, reviewer: User, client_of: ClientOf
) -> None:
    for verdict in ("", "pending", "maybe"):
        assert client_of(reviewer).post(f"{ROOT}1/1/", {"verdict": verdict}).status_code == 200
    assert item_of(campaign).verdict == "pending"


def test_page_in_work_again_shows_nothing_of_its_gold(
    campaign: Campaign, reviewer: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    campaign.documents.filter(document__name="page-001").update(stage="annotation")
    html = client_of(reviewer).get(f"{ROOT}1/2/").content.decode()
    assert "This document was reopened" in html
    assert "review-data" not in html
    assert "and the loss" not in html
    body = api_of(reviewer).get(f"{API}1/items/2/").json()
    assert (body["gold"], body["before"]) == ([], "")


@pytest.mark.parametrize("address", [ROOT, f"{ROOT}1/", f"{ROOT}1/1/"])
def test_pages_need_the_same_queries_for_more_facts(
    campaign: Campaign, reviewer: User, client_of: ClientOf, address: str
) -> None:
    client = client_of(reviewer)

    def needed() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(address).status_code == 200
        return len(captured)

    before = needed()
    make_gold(campaign, 3)
    found = round_of(campaign)
    page = document_of(campaign)
    ReviewItem.objects.bulk_create(
        ReviewItem(
            round=found, position=position, start=1, end=2, quote="e", label="Number",
            campaign_document=page,
        )
        for position in range(20, 60)
    )  # fmt: skip
    assert needed() == before


# --- API -----------------------------------------------------------------------------------------


def test_api_tells_of_rounds_and_facts(campaign: Campaign, reviewer: User, api_of: ApiOf) -> None:
    api = api_of(reviewer)
    review = api.get(API).json()
    assert (review["every"], review["waiting"]) == (2, 0)
    (found,) = review["rounds"]
    assert (found["number"], found["pages"], found["facts"]) == (1, 2, 8)
    assert found["verdicts"]["pending"] == 8
    assert (found["verdicts"]["acceptance"], found["verdicts"]["interval"]) == (None, None)
    assert api.get(f"{API}1/").json() == found
    items = api.get(f"{API}1/items/?verdict=pending").json()["results"]
    assert [item["position"] for item in items] == list(range(1, 9))
    one = api.get(f"{API}1/items/2/").json()
    assert (one["item"]["quote"], one["gold"][0]["quote"], one["obstacle"]) == (
        "(310)",
        "(310)",
        "",
    )
    assert one["before"].endswith("and the loss ")
    assert "ann" not in str(items).lower()


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ({"verdict": "accepted"}, "accepted"),
        ({"verdict": "corrected", "correction": None, "reason": "No fact."}, "corrected"),
        ({"verdict": "sent_back", "reason": "Which table?"}, "sent_back"),
    ],
)
def test_api_decides_once(
    campaign: Campaign, reviewer: User, api_of: ApiOf, body: dict[str, Any], verdict: str
) -> None:
    response = api_of(reviewer).post(DECIDE, body, format="json")
    assert response.status_code == 200
    answer = response.json()
    assert (answer["item"]["verdict"], answer["round_state"], answer["next"]) == (
        verdict,
        "open",
        2,
    )
    again = api_of(reviewer).post(DECIDE, body, format="json")
    assert (again.status_code, again.json()["code"]) == (409, "decided")


def test_api_takes_a_correction(campaign: Campaign, reviewer: User, api_of: ApiOf) -> None:
    item = item_of(campaign)
    fact = {"label": "Number", "start": item.start, "end": item.end, "value": "1200000"}
    body = {"verdict": "corrected", "correction": fact, "reason": "In thousands."}
    response = api_of(reviewer).post(DECIDE, body, format="json")
    assert response.json()["item"]["correction"] == fact | {"quote": "1,200", "sign": "plain"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"verdict": "pending"}, 400),
        ({"verdict": "corrected", "reason": "x"}, 400),
        ({"verdict": "accepted", "correction": None}, 400),
        ({"verdict": "sent_back"}, 409),
        ({"verdict": "sent_back", "reason": "x" * 2001}, 400),
        ({"verdict": "corrected", "reason": "x", "correction": {"label": "Number"}}, 400),
        (
            {
                "verdict": "corrected",
                "reason": "x",
                "correction": {"label": "Number", "start": 0, "end": 3},
            },
            422,
        ),
    ],
)
def test_api_refuses_with_the_reason(
    campaign: Campaign, reviewer: User, api_of: ApiOf, body: dict[str, Any], status: int
) -> None:
    response = api_of(reviewer).post(DECIDE, body, format="json")
    assert response.status_code == status
    assert response.json()
    assert item_of(campaign).verdict == "pending"


def test_api_opens_a_round_for_leads(
    campaign: Campaign, lead: User, reviewer: User, api_of: ApiOf
) -> None:
    campaign.documents.filter(document__name="page-001").update(review_round=None)
    assert api_of(reviewer).post(API, {}, format="json").status_code == 403
    response = api_of(lead).post(API, {"seed": 12}, format="json")
    assert (response.status_code, response.json()["seed"]) == (201, 12)
    again = api_of(lead).post(API, {}, format="json")
    assert (again.status_code, again.json()["code"]) == (409, "nothing")
