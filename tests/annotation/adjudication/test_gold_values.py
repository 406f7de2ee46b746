"""Value and sign of gold: those that the annotators share, otherwise the derived ones."""

import pytest

from annotation.adjudication.services import decide_case
from annotation.adjudication.settling import Answer
from annotation.models import Assignment, Campaign, GoldSpan, Span
from portal.accounts.models import User
from tests.annotation.factories import document_of, save, submit, text_of, work_of

pytestmark = pytest.mark.django_db


def marked(work: Assignment, value: str = "", *marks: tuple[str, str]) -> None:
    """Saves and submits the marks. The 1,200 gets the edited value, if there is one."""
    save(work, *(marks or [("Number", "1,200")]))
    if value:
        Span.objects.filter(assignment=work, quote="1,200").update(value=value, edited=True)
    submit(work)


@pytest.mark.parametrize(
    ("ann_reads", "ben_reads", "gold"),
    [("", "", "1200"), ("12", "12", "12")],
)
def test_agreed_span_has_the_value_that_both_gave(
    campaign: Campaign, ann: User, ben: User, ann_reads: str, ben_reads: str, gold: str
) -> None:
    marked(work_of(ann, campaign), ann_reads)
    marked(work_of(ben, campaign), ben_reads)
    span = GoldSpan.objects.get()
    assert (span.value, span.sign, span.origin) == (gold, "plain", "agreed")


@pytest.mark.parametrize(("ann_reads", "ben_reads"), [("12", ""), ("12", "13")])
def test_values_that_differ_are_a_case(
    campaign: Campaign, ann: User, ben: User, ann_reads: str, ben_reads: str
) -> None:
    marked(work_of(ann, campaign), ann_reads)
    marked(work_of(ben, campaign), ben_reads)
    assert not GoldSpan.objects.exists()
    (case,) = document_of(campaign).cases.all()
    assert (case.kind, case.score) == ("value", 1)


def test_adjudicated_span_has_the_value_of_the_proposal(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    marked(work_of(ann, campaign), "1200000")
    marked(work_of(ben, campaign), "", ("Date", "March 31, 2025"))
    number, date = document_of(campaign).cases.all()
    assert number.proposals[0]["spans"][0]["value"] == "1200000"
    decide_case(case=number, choice="proposal", proposal=0, reason="By the rules.", actor=lead)
    gold = GoldSpan.objects.get()
    assert (gold.value, gold.sign) == ("1200000", "plain")
    number.refresh_from_db()
    assert number.decision[0]["value"] == "1200000"
    decide_case(case=date, choice="proposal", proposal=1, reason="By the rules.", actor=lead)
    assert GoldSpan.objects.get(case=date).value == "2025-03-31"


def test_span_that_nobody_proposed_has_the_derived_value(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    marked(work_of(ann, campaign), "", ("Number", "310"))
    marked(work_of(ben, campaign), "", ("Number", "(310"))
    (case,) = document_of(campaign).cases.all()
    start = text_of(work_of(ann, campaign)).index("(310)")
    spans = [Answer("Number", start, start + 5)]
    decide_case(case=case, choice="edit", spans=spans, reason="By the rules.", actor=lead)
    gold = GoldSpan.objects.get()
    assert (gold.quote, gold.value, gold.sign) == ("(310)", "-310", "parentheses")


def test_case_of_the_first_version_is_decided_with_derived_values(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    marked(work_of(ann, campaign), "1200000")
    marked(work_of(ben, campaign), "", ("Date", "March 31, 2025"))
    case = document_of(campaign).cases.all()[0]
    for name in ("value", "sign"):
        del case.proposals[0]["spans"][0][name]
    case.save()
    decide_case(case=case, choice="proposal", proposal=0, reason="By the rules.", actor=lead)
    assert GoldSpan.objects.get().value == "1200"
