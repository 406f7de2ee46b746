"""Deciding cases: by page, by API, once."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotation.models import Campaign, CampaignDocument, Case, GoldSpan
from annotation.services.adjudicating import AlreadyDecided, decide_case, proposed_spans
from annotation.services.errors import InvalidSpans, Refused
from annotation.services.members import add_member
from portal.accounts.models import User
from portal.audit.models import Event
from portal.facts import Span

from .factories import document_of

pytestmark = pytest.mark.django_db

ApiOf = Callable[[User | None], APIClient]
ClientOf = Callable[[User | None], Client]
Stage = CampaignDocument.Stage


def case_of(campaign: Campaign, kind: str) -> Case:
    return document_of(campaign).cases.get(kind=kind)


def page(case: Case) -> str:
    return f"/campaigns/{case.campaign_document.campaign.slug}/adjudication/{case.pk}/"


def edit(*rows: tuple[Any, Any, str], **fields: Any) -> dict[str, Any]:
    """The form as the browser sends an edit."""
    data: dict[str, Any] = {"choice": "edit", "spans-TOTAL_FORMS": len(rows)}
    data["spans-INITIAL_FORMS"] = 1
    for number, (start, end, label) in enumerate(rows):
        data |= {
            f"spans-{number}-start": start,
            f"spans-{number}-end": end,
            f"spans-{number}-label": label,
        }
    return data | fields


def gold_of(case: Case) -> list[tuple[str, str, str]]:
    return [(gold.label, gold.quote, gold.origin) for gold in case.gold_spans.all()]


def test_taking_a_proposal_makes_it_gold(disputed: Campaign, lead: User) -> None:
    case = case_of(disputed, "boundary")
    decided = decide_case(
        case=case, decision_spans=proposed_spans(case, 1), reason="no sign", actor=lead
    )
    assert decided.stage == Stage.ADJUDICATION
    assert gold_of(case) == [("Number", "310", "adjudicated")]
    case.refresh_from_db()
    assert (case.state, case.decided_by, case.reason) == (Case.State.DECIDED, lead, "no sign")
    assert [span["quote"] for span in case.decision] == ["310"]
    assert case.decided_at is not None


def test_none_is_a_full_answer(disputed: Campaign, lead: User) -> None:
    case = case_of(disputed, "missing")
    decide_case(case=case, decision_spans=[], reason="", actor=lead)
    case.refresh_from_db()
    assert (case.state, case.decision) == (Case.State.DECIDED, [])
    assert gold_of(case) == []


def test_last_decision_makes_the_document_gold(disputed: Campaign, lead: User) -> None:
    stages = [
        decide_case(case=case, decision_spans=proposed_spans(case, 0), reason="", actor=lead).stage
        for case in document_of(disputed).cases.all()
    ]
    assert stages == [Stage.ADJUDICATION, Stage.ADJUDICATION, Stage.GOLD]
    assert [gold.quote for gold in document_of(disputed).gold_spans.all()] == [
        "1,200",
        "(310)",
        "March 31, 2025",
    ]


def test_case_is_decided_once(disputed: Campaign, lead: User, cleo: User) -> None:
    case = case_of(disputed, "boundary")
    add_member(campaign=disputed, user=cleo, role="lead", actor=None)
    decide_case(case=case, decision_spans=proposed_spans(case, 0), reason="", actor=lead)
    for actor in (lead, cleo):
        with pytest.raises(AlreadyDecided, match="decided by Lea"):
            decide_case(case=case, decision_spans=proposed_spans(case, 1), reason="", actor=actor)
    assert gold_of(case) == [("Number", "(310)", "adjudicated")]
    assert Event.objects.filter(verb="decide_case").count() == 1


def test_edit_must_stay_at_the_case_and_off_gold(disputed: Campaign, lead: User) -> None:
    case = case_of(disputed, "boundary")
    text = case.campaign_document.document.content.text
    first, date = text.index("1,200"), text.index("March")
    wrong = {
        "outside": [Span(date, date + 5, "Date")],
        "overlaps_gold": [Span(first, case.end, "Number")],
        "range": [Span(case.start, len(text) + 1, "Number")],
        "label": [Span(case.start, case.end, "Money")],
        "overlap": [Span(case.start, case.end, "Number"), Span(case.start, case.end, "Date")],
    }
    for code, spans in wrong.items():
        with pytest.raises(InvalidSpans) as refused:
            decide_case(case=case, decision_spans=spans, reason="", actor=lead)
        assert code in {e["code"] for e in refused.value.errors}
    case.refresh_from_db()
    assert case.state == Case.State.OPEN
    assert gold_of(case) == []


def test_proposal_that_does_not_exist_is_refused(disputed: Campaign) -> None:
    for number in (-1, 2):
        with pytest.raises(Refused, match="2 proposals"):
            proposed_spans(case_of(disputed, "boundary"), number)


def test_page_shows_proposals_in_context_and_no_names(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    case = case_of(disputed, "boundary")
    html = client_of(lead).get(page(case)).content.decode()
    assert "Annotator A" in html
    assert "Annotator B" in html
    assert '<mark class="label-1">(310)</mark>' in html
    assert "and the loss " in html
    assert "Ann</" not in html
    assert "Ben</" not in html


def test_choice_leads_to_the_next_open_case(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    first, second, third = document_of(disputed).cases.all()
    client = client_of(lead)
    assert client.post(page(first), {"choice": "1"})["Location"] == page(second)
    none = {"choice": "none", "reason": "page furniture"}
    assert client.post(page(third), none)["Location"] == page(second)
    last = client.post(page(second), {"choice": "2"})
    assert last["Location"] == "/campaigns/spring-round/adjudication/"
    assert document_of(disputed).stage == Stage.GOLD
    assert [gold.quote for gold in document_of(disputed).gold_spans.all()] == [
        "1,200",
        "(310)",
        "March 31, 2025",
    ]


def test_second_click_is_told_and_doubles_nothing(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    case = case_of(disputed, "boundary")
    client = client_of(lead)
    client.post(page(case), {"choice": "1"})
    again = client.post(page(case), {"choice": "2"}, follow=True)
    assert "was decided by Lea" in again.content.decode()
    assert gold_of(case) == [("Number", "(310)", "adjudicated")]


def test_edit_by_form(disputed: Campaign, lead: User, client_of: ClientOf) -> None:
    case = case_of(disputed, "boundary")
    data = edit((case.start + 1, case.end - 2, "Number"), ("", "", "Number"), reason="digits only")
    assert client_of(lead).post(page(case), data).status_code == 302
    assert gold_of(case) == [("Number", "31", "adjudicated")]


def test_emptied_row_counts_for_nothing(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    case = case_of(disputed, "boundary")
    data = edit(("", "", "Number"), (case.start, case.end, "Number"))
    assert client_of(lead).post(page(case), data).status_code == 302
    assert gold_of(case) == [("Number", "(310)", "adjudicated")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("", "", "Number")], "holds no span"),
        ([(5, "", "Number")], "needs a start, an end and a label"),
        ([("a", 7, "Number")], "needs a start, an end and a label"),
        ([(0, 3, "Number")], "outside the case"),
        ([(0, 99_999, "Number")], "is not a stretch"),
    ],
)
def test_wrong_edit_is_shown_again_with_the_reason(
    disputed: Campaign,
    lead: User,
    client_of: ClientOf,
    rows: list[tuple[Any, Any, str]],
    message: str,
) -> None:
    case = case_of(disputed, "boundary")
    response = client_of(lead).post(page(case), edit(*rows))
    assert response.status_code == 200
    assert message in response.content.decode()
    assert not GoldSpan.objects.filter(case=case).exists()


@pytest.mark.parametrize("choice", ["", "3", "0", "-1", "A", "none of them"])
def test_unknown_choice_decides_nothing(
    disputed: Campaign, lead: User, client_of: ClientOf, choice: str
) -> None:
    case = case_of(disputed, "boundary")
    response = client_of(lead).post(page(case), {"choice": choice})
    assert "Choose a proposal, none, or edit." in response.content.decode()
    case.refresh_from_db()
    assert case.state == Case.State.OPEN


def test_decided_case_shows_its_decision_and_no_buttons(
    disputed: Campaign, lead: User, client_of: ClientOf
) -> None:
    case = case_of(disputed, "boundary")
    decide_case(
        case=case,
        decision_spans=proposed_spans(case, 0),
        reason="the sign belongs to it",
        actor=lead,
    )
    html = client_of(lead).get(page(case)).content.decode()
    assert "the sign belongs to it" in html
    assert 'name="choice"' not in html


def test_queue_filters_and_counts(disputed: Campaign, lead: User, client_of: ClientOf) -> None:
    client, address = client_of(lead), "/campaigns/spring-round/adjudication/"
    case = case_of(disputed, "label")
    decide_case(case=case, decision_spans=[], reason="", actor=lead)
    everything = client.get(address)
    assert everything.context["queue"].open == 2
    assert [row.kind for row in everything.context["page"]] == ["boundary", "missing"]
    filtered = client.get(address, {"kind": "missing"})
    assert [row.kind for row in filtered.context["page"]] == ["missing"]
    decided = client.get(address, {"state": "decided"})
    assert [row.pk for row in decided.context["page"]] == [case.pk]
    odd = client.get(address, {"kind": "x", "state": "y", "page": "z"})
    assert len(odd.context["page"]) == 2


def test_queue_is_told_apart_from_no_cases(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    html = client_of(lead).get("/campaigns/spring-round/adjudication/").content.decode()
    assert "No cases" in html


# --- API ---------------------------------------------------------------------------------------


def test_api_lists_cases_with_letters(disputed: Campaign, lead: User, api_of: ApiOf) -> None:
    body = api_of(lead).get("/api/v1/campaigns/spring-round/cases/?kind=boundary").json()
    (case,) = body["results"]
    assert (case["document"], case["state"]) == ("page-001", "open")
    assert [(p["letter"], p["spans"][0]["quote"]) for p in case["proposals"]] == [
        ("A", "(310)"),
        ("B", "310"),
    ]
    one = api_of(lead).get(f"/api/v1/campaigns/spring-round/cases/{case['id']}/").json()
    assert one == case


@pytest.mark.parametrize(
    ("body", "quotes"),
    [
        ({"choice": "A"}, ["(310)"]),
        ({"choice": "none", "reason": "not a fact"}, []),
        ({"spans": []}, []),
    ],
)
def test_api_decides(
    disputed: Campaign, lead: User, api_of: ApiOf, body: dict[str, Any], quotes: list[str]
) -> None:
    case = case_of(disputed, "boundary")
    address = f"/api/v1/campaigns/spring-round/cases/{case.pk}/decide/"
    response = api_of(lead).post(address, body, format="json")
    assert response.status_code == 200
    answer = response.json()
    assert (answer["stage"], answer["open_cases"]) == ("adjudication", 2)
    assert [span["quote"] for span in answer["case"]["decision"]] == quotes
    again = api_of(lead).post(address, body, format="json")
    assert (again.status_code, again.json()["code"]) == (409, "decided")


def test_api_takes_edited_spans(disputed: Campaign, lead: User, api_of: ApiOf) -> None:
    case = case_of(disputed, "boundary")
    spans = [{"label": "Number", "start": case.start, "end": case.end}]
    address = f"/api/v1/campaigns/spring-round/cases/{case.pk}/decide/"
    assert api_of(lead).post(address, {"spans": spans}, format="json").status_code == 200
    assert gold_of(case) == [("Number", "(310)", "adjudicated")]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"choice": "Z"}, 400),
        ({"choice": "A", "spans": []}, 400),
        ({"spans": [{"label": "Number"}]}, 400),
        ({"spans": [{"label": "Number", "start": 0, "end": 3}]}, 422),
        ({"spans": [{"label": "Money", "start": 0, "end": 3}]}, 422),
        ({"choice": "A", "reason": "x" * 2001}, 400),
    ],
)
def test_api_refuses_with_the_reason(
    disputed: Campaign, lead: User, api_of: ApiOf, body: dict[str, Any], status: int
) -> None:
    case = case_of(disputed, "boundary")
    response = api_of(lead).post(
        f"/api/v1/campaigns/spring-round/cases/{case.pk}/decide/", body, format="json"
    )
    assert response.status_code == status
    assert response.json()
    case.refresh_from_db()
    assert case.state == Case.State.OPEN
