"""Deciding cases: every choice, its reason, and its gold."""

from typing import Any

import pytest

from annotation.adjudication.services import MAX_REASON, AlreadyDecided, decide_case
from annotation.adjudication.settling import Answer
from annotation.campaigns.people import add_member
from annotation.errors import InvalidSpans, Refused
from annotation.models import Campaign, CampaignDocument, Case, Decision, GoldSpan
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import document_of
from tests.worlds import shared

from .contested import case_of, contested_campaign

pytestmark = pytest.mark.django_db

Stage = CampaignDocument.Stage


def decide(case: Case, lead: User, choice: str = "proposal", **fields: Any) -> Case:
    """Accepts A's marks by default."""
    usual: dict[str, Any] = {"proposal": 0} if choice == "proposal" else {}
    fields = usual | {"reason": "By the rules."} | fields
    return decide_case(case=case, choice=choice, actor=lead, **fields)


def gold_of(case: Case) -> list[tuple[str, str, str]]:
    return [(gold.label, gold.quote, gold.origin) for gold in case.gold_spans.all()]


@pytest.fixture
@shared
def contested(ann: User, ben: User, cleo: User, lead: User) -> Campaign:
    return contested_campaign(ann, ben, cleo, lead)


def test_taking_a_proposal_makes_it_gold(disputed: Campaign, lead: User) -> None:
    case = case_of(disputed, "boundary")
    decided = decide(case, lead, proposal=1, reason="  no sign ")
    assert decided.campaign_document.stage == Stage.ADJUDICATION
    assert gold_of(case) == [("Number", "310", "adjudicated")]
    case.refresh_from_db()
    assert (case.state, case.decided_by, case.reason) == (Case.State.DECIDED, lead, "no sign")
    assert [span["quote"] for span in case.decision] == ["310"]
    assert case.decided_at is not None
    decision = case.decisions.get()
    assert (decision.choice, decision.proposal, decision.spans) == ("proposal", 1, case.decision)
    assert (decision.reason, decision.decided_by) == ("no sign", lead)


def test_neither_is_a_full_answer(disputed: Campaign, lead: User) -> None:
    case = case_of(disputed, "missing")
    decide(case, lead, "neither", reason="page furniture")
    case.refresh_from_db()
    assert (case.state, case.decision) == (Case.State.DECIDED, [])
    assert gold_of(case) == []
    assert case.decisions.get().choice == "neither"


def test_majority_needs_no_reason(contested: Campaign, lead: User) -> None:
    for kind, gold in {
        "boundary": [("Number", "310", "adjudicated")],
        "label": [("Date", "March 31, 2025", "adjudicated")],
        "extra": [],
    }.items():
        case = case_of(contested, kind)
        decide(case, lead, "majority", reason=" ")
        assert gold_of(case) == gold
        assert case.decisions.get().reason == ""


def test_value_case_is_decided_by_value(contested: Campaign, lead: User) -> None:
    case = case_of(contested, "value")
    assert (case.score, len(case.proposals)) == (1, 3)
    decide(case, lead, "majority", reason="")
    assert [(gold.value, gold.sign) for gold in case.gold_spans.all()] == [("1200", "plain")]


def test_taking_a_proposal_takes_its_value(contested: Campaign, lead: User) -> None:
    case = case_of(contested, "value")
    decide(case, lead)
    assert [gold.value for gold in case.gold_spans.all()] == ["1200000"]


def test_both_joins_two_proposals_that_fit(disputed: Campaign, lead: User) -> None:
    case = case_of(disputed, "boundary")
    first, second = case.start, case.end - 2
    place = {"label": "Number", "quote": "x", "value": "1", "sign": "plain"}
    case.proposals = [
        {"assignment": 1, "spans": [place | {"start": first, "end": first + 1}]},
        {"assignment": 2, "spans": [place | {"start": second, "end": second + 2}]},
    ]
    case.save()
    decide(case, lead, "both")
    assert gold_of(case) == [("Number", "(", "adjudicated"), ("Number", "0)", "adjudicated")]


@pytest.mark.parametrize("choice", ["proposal", "neither", "edit"])
@pytest.mark.parametrize("reason", ["", "  ", "x" * (MAX_REASON + 1), "a\x00b"])
def test_every_other_choice_needs_a_reason(
    disputed: Campaign, lead: User, choice: str, reason: str
) -> None:
    case = case_of(disputed, "boundary")
    spans = [Answer("Number", case.start, case.end)] if choice == "edit" else []
    with pytest.raises(InvalidSpans, match="reason") as refused:
        decide(case, lead, choice, reason=reason, spans=spans)
    assert refused.value.errors[0]["field"] == "reason"
    case.refresh_from_db()
    assert (case.state, Decision.objects.count(), gold_of(case)) == (Case.State.OPEN, 0, [])


@pytest.mark.parametrize(
    ("choice", "fields", "message"),
    [
        ("proposal", {"proposal": 2}, "2 proposals"),
        ("proposal", {"proposal": -1}, "2 proposals"),
        ("proposal", {"proposal": None}, "2 proposals"),
        ("majority", {}, "no majority"),
        ("both", {}, "can be combined"),
        ("edit", {}, "at least one span"),
        ("reopened", {}, "cannot be decided by"),
        ("perhaps", {}, "cannot be decided by"),
    ],
)
def test_choice_that_is_not_offered_is_refused(
    disputed: Campaign, lead: User, choice: str, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(Refused, match=message):
        decide(case_of(disputed, "boundary"), lead, choice, **fields)


def test_last_decision_makes_the_document_gold(disputed: Campaign, lead: User) -> None:
    cases = document_of(disputed).cases.all()
    stages = [decide(case, lead).campaign_document.stage for case in cases]
    assert stages == [Stage.ADJUDICATION, Stage.ADJUDICATION, Stage.GOLD]
    assert document_of(disputed).gold_at is not None
    assert [gold.quote for gold in document_of(disputed).gold_spans.all()] == [
        "1,200",
        "(310)",
        "March 31, 2025",
    ]


def test_case_is_decided_once(disputed: Campaign, lead: User, cleo: User) -> None:
    case = case_of(disputed, "boundary")
    add_member(campaign=disputed, user=cleo, role="lead", actor=None)
    decide(case, lead)
    for actor in (lead, cleo):
        with pytest.raises(AlreadyDecided, match="decided by Lea"):
            decide(case, actor, proposal=1)
    assert gold_of(case) == [("Number", "(310)", "adjudicated")]
    assert Event.objects.filter(verb="decide_case").count() == 1
    assert case.decisions.count() == 1


def test_case_that_the_majority_settled_says_so(disputed: Campaign, lead: User) -> None:
    case = case_of(disputed, "boundary")
    decide(case, lead, "neither")
    Case.objects.filter(pk=case.pk).update(decided_by=None)
    with pytest.raises(AlreadyDecided, match="by the majority rule"):
        decide(case, lead)


def test_edit_must_stay_at_the_case_and_off_gold(disputed: Campaign, lead: User) -> None:
    case = case_of(disputed, "boundary")
    text = case.campaign_document.document.content.text
    first, date = text.index("1,200"), text.index("March")
    whole = Answer("Number", case.start, case.end)
    wrong = {
        "outside": [Answer("Date", date, date + 5)],
        "overlaps_gold": [Answer("Number", first, case.end)],
        "range": [Answer("Number", case.start, len(text) + 1)],
        "label": [Answer("Money", case.start, case.end)],
        "overlap": [whole, Answer("Date", case.start, case.end)],
        "value": [whole._replace(value="31O", sign="plain")],
    }
    for code, spans in wrong.items():
        with pytest.raises(InvalidSpans) as refused:
            decide(case, lead, "edit", spans=spans)
        assert code in {e["code"] for e in refused.value.errors}
    case.refresh_from_db()
    assert case.state == Case.State.OPEN
    assert gold_of(case) == []


@pytest.mark.parametrize(
    ("value", "sign", "stored"),
    [
        (None, None, ("-310", "parentheses")),
        ("-310000", "parentheses", ("-310000", "parentheses")),
        ("-310000", None, ("-310000", "parentheses")),
        ("310", "plain", ("310", "plain")),
        ("", "", ("", "")),
    ],
)
def test_edit_has_its_own_value_else_the_one_that_was_read(
    disputed: Campaign, lead: User, value: str | None, sign: str | None, stored: tuple[str, str]
) -> None:
    case = case_of(disputed, "boundary")
    decide(case, lead, "edit", spans=[Answer("Number", case.start, case.end, value, sign)])
    gold = GoldSpan.objects.get(case=case)
    assert (gold.value, gold.sign) == stored
