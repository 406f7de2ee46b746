"""An annotator's own marks compared with gold, only once the page is gold."""

from typing import Any

import pytest

from annotation.adjudication.services import decide_case
from annotation.models import Campaign, Case, Span
from annotation.review.services import decide_item
from annotation.workbench.selectors import own_gold
from portal.accounts.models import User
from tests.annotation.factories import document_of, make_campaign, submit, work_of
from tests.annotation.review.review_factories import drawn_by_hand
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

pytestmark = pytest.mark.django_db


Row = tuple[str, list[str], list[str], list[str]]


@pytest.fixture
@shared
def adjudicated(disputed: Campaign, lead: User) -> Campaign:
    """1,200 was agreed. Ann was right about (310), Ben about the date, and wrong to mark 1,200 a
    second time.
    """
    for kind, choice, proposal, reason in (
        ("boundary", "proposal", 0, "The brackets are the sign."),
        ("label", "proposal", 1, "Version 1 labels numbers only."),
        ("missing", "neither", None, "It repeats the first."),
    ):
        case = document_of(disputed).cases.get(kind=kind)
        decide_case(case=case, choice=choice, proposal=proposal, reason=reason, actor=lead)
    assert document_of(disputed).stage == "gold"
    return disputed


def rows(user: User, campaign: Campaign) -> list[Row]:
    found = own_gold(work_of(user, campaign))
    return [
        (
            fact.outcome,
            [f"{mark.label} {mark.quote}" for mark in fact.own],
            [f"{gold.label} {gold.quote}" for gold in fact.gold],
            list(fact.reasons),
        )
        for fact in found.facts
    ]


def test_every_difference_comes_with_its_reason(
    adjudicated: Campaign, ann: User, ben: User
) -> None:
    agreed: Row = ("right", ["Number 1,200"], ["Number 1,200"], [])
    date = ["Number March 31, 2025"]
    brackets, numbers = ["The brackets are the sign."], ["Version 1 labels numbers only."]
    assert rows(ann, adjudicated) == [
        agreed,
        ("right", ["Number (310)"], ["Number (310)"], brackets),
        ("label", ["Date March 31, 2025"], date, numbers),
    ]
    assert rows(ben, adjudicated) == [
        agreed,
        ("boundary", ["Number 310"], ["Number (310)"], brackets),
        ("right", date, date, numbers),
        ("extra", ["Number 1,200"], [], ["It repeats the first."]),
    ]


def test_missed_facts_are_told(adjudicated: Campaign, ben: User) -> None:
    Span.objects.filter(assignment=work_of(ben, adjudicated), quote="310").delete()
    assert rows(ben, adjudicated)[1][:3] == ("missed", [], ["Number (310)"])


def test_outcomes_are_counted(adjudicated: Campaign, ben: User) -> None:
    found = own_gold(work_of(ben, adjudicated))
    assert [(item.outcome, item.count) for item in found.counts] == [
        ("right", 2),
        ("boundary", 1),
        ("label", 0),
        ("missed", 0),
        ("extra", 1),
    ]
    assert [fact.outcome for fact in found.differing] == ["boundary", "extra"]


def test_other_value_of_a_matched_fact_is_told(adjudicated: Campaign, ann: User) -> None:
    Span.objects.filter(assignment=work_of(ann, adjudicated), quote="1,200").update(value="1.2")
    found = own_gold(work_of(ann, adjudicated))
    assert found.values_differ == 1
    first = found.facts[0]
    assert (first.outcome, first.value_differs) == ("right", True)
    assert (first.own[0].value, first.gold[0].value) == ("1.2", "1200")


def test_reasons_of_the_review_are_told(adjudicated: Campaign, ann: User, reviewer: User) -> None:
    item = drawn_by_hand(adjudicated)
    decide_item(
        item=item, verdict="corrected", reason="A page number.", correction=None, actor=reviewer
    )
    assert rows(ann, adjudicated)[0] == ("extra", ["Number 1,200"], [], ["A page number."])


def test_majority_rule_does_not_tell_how_many_marked_what(
    ann: User, ben: User, cleo: User, lead: User
) -> None:
    campaign = make_campaign(
        [ann, ben, cleo], lead=lead, overlap=3, agreement_threshold=0.6, title="Three"
    )
    submit(work_of(ann, campaign), ("Number", "(310)"))
    submit(work_of(ben, campaign), ("Number", "(310)"))
    submit(work_of(cleo, campaign))
    assert document_of(campaign).stage == "gold"
    assert "2 of 3" in Case.objects.get(campaign_document__campaign=campaign).reason
    assert rows(cleo, campaign) == [("missed", [], ["Number (310)"], [])]


# --- page and endpoint ---------------------------------------------------------------------------


def test_page_shows_own_marks_and_gold_alone(
    adjudicated: Campaign, ann: User, client_of: ClientOf
) -> None:
    work = work_of(ann, adjudicated)
    response = client_of(ann).get(f"/annotate/{work.pk}/gold/")
    html = response.content.decode()
    assert "The brackets are the sign." in html
    # Ben's `310` without brackets, and the second 1,200, which only he marked.
    assert ">310<" not in html
    assert "It repeats the first." not in html
    for name in ("Ben", "Lea"):
        assert f"{name}<" not in html
    assert [fact["outcome"] for fact in response.context["page_data"]["facts"]] == [
        "right",
        "right",
        "label",
    ]


def test_before_gold_the_page_says_so_and_no_more(
    disputed: Campaign, ann: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    for number in (1, 2):
        work = work_of(ann, disputed, number)
        response = client_of(ann).get(f"/annotate/{work.pk}/gold/")
        assert "Not gold yet" in response.content.decode()
        assert "found" not in response.context
        answer = api_of(ann).get(f"/api/v1/assignments/{work.pk}/gold/")
        assert (answer.status_code, answer.json()["code"]) == (409, "not_gold")


def test_page_that_was_sent_back_is_not_gold(
    adjudicated: Campaign, ann: User, reviewer: User, client_of: ClientOf
) -> None:
    item = drawn_by_hand(adjudicated)
    decide_item(item=item, verdict="sent_back", reason="Hm.", actor=reviewer)
    html = client_of(ann).get(f"/annotate/{work_of(ann, adjudicated).pk}/gold/").content.decode()
    assert "Not gold yet" in html
    assert "Hm." not in html


@pytest.mark.parametrize("who", ["ben", "lead", "reviewer", "organiser"])
def test_anothers_comparison_does_not_exist(
    adjudicated: Campaign, ann: User, client_of: ClientOf, api_of: ApiOf, who: str, request: Any
) -> None:
    user, work = request.getfixturevalue(who), work_of(ann, adjudicated)
    assert client_of(user).get(f"/annotate/{work.pk}/gold/").status_code == 404
    assert api_of(user).get(f"/api/v1/assignments/{work.pk}/gold/").status_code == 404


def test_withdrawn_work_has_no_comparison(
    adjudicated: Campaign, ann: User, client_of: ClientOf
) -> None:
    work = work_of(ann, adjudicated)
    type(work).objects.filter(pk=work.pk).update(state="withdrawn", submitted_at=None)
    assert client_of(ann).get(f"/annotate/{work.pk}/gold/").status_code in {403, 404}


def test_api_tells_the_same(adjudicated: Campaign, ben: User, api_of: ApiOf) -> None:
    body = api_of(ben).get(f"/api/v1/assignments/{work_of(ben, adjudicated).pk}/gold/").json()
    assert body["document"] == "page-001"
    assert [row["count"] for row in body["counts"]] == [2, 1, 0, 0, 1]
    boundary = body["facts"][1]
    assert boundary["outcome"] == "boundary"
    assert [fact["quote"] for fact in boundary["own"] + boundary["gold"]] == ["310", "(310)"]
    assert boundary["reasons"] == ["The brackets are the sign."]


def test_tasks_lead_to_the_comparison(
    adjudicated: Campaign, ann: User, client_of: ClientOf
) -> None:
    work, other = work_of(ann, adjudicated), work_of(ann, adjudicated, 2)
    submit(other)
    for address in ("/annotate/", f"/annotate/?campaign={adjudicated.slug}"):
        html = client_of(ann).get(address).content.decode()
        assert f'href="/annotate/{work.pk}/gold/"' in html
        assert f'href="/annotate/{other.pk}/gold/"' not in html
