"""The effect of the last submission of a document: gold, majority, cases, or validation."""

import pytest

from annotation.adjudication.settling import settle_document
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Case,
    Decision,
    FirstSubmission,
    GoldSpan,
    Span,
)
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import document_of, make_campaign, save, submit, work_of
from tests.worlds import shared

pytestmark = pytest.mark.django_db
Stage = CampaignDocument.Stage


@pytest.fixture
@shared
def trio(ann: User, ben: User, reviewer: User, lead: User) -> Campaign:
    """One document with three annotators, of whom two are a sufficient majority."""
    return make_campaign([ann, ben, reviewer], lead=lead, overlap=3, agreement_threshold=0.6)


def three(campaign: Campaign, *marks: list[tuple[str, str]]) -> CampaignDocument:
    works = Assignment.objects.filter(campaign_document__campaign=campaign).order_by("id")
    for work, labels in zip(works, marks, strict=True):
        submit(work, *labels)
    return document_of(campaign)


NUMBER, DATE = ("Number", "1,200"), ("Date", "1,200")


def test_majority_above_the_threshold_is_gold_with_its_reason(trio: Campaign) -> None:
    document = three(trio, [NUMBER], [NUMBER], [DATE])
    assert document.stage == Stage.GOLD
    gold = GoldSpan.objects.get()
    assert (gold.label, gold.value, gold.origin) == ("Number", "1200", "majority")
    decision = Decision.objects.get(case=gold.case)
    assert (decision.choice, decision.decided_by) == ("majority", None)
    assert decision.reason == "2 of 3 annotators agree."
    assert gold.case is not None
    assert gold.case.score == pytest.approx(2 / 3)
    assert gold.case.decision == decision.spans


def test_majority_may_say_that_nothing_is_there(trio: Campaign) -> None:
    document = three(trio, [NUMBER], [], [])
    assert document.stage == Stage.GOLD
    assert not GoldSpan.objects.exists()
    assert Case.objects.get().kind == Case.Kind.EXTRA
    assert Decision.objects.get().spans == []


def test_majority_below_the_threshold_is_queued(trio: Campaign) -> None:
    Campaign.objects.update(agreement_threshold=0.7)
    document = three(trio, [NUMBER], [NUMBER], [DATE])
    assert document.stage == Stage.ADJUDICATION
    case = Case.objects.get()
    assert (case.state, case.kind) == ("open", "label")


def test_two_annotators_never_make_a_majority(campaign: Campaign, ann: User, ben: User) -> None:
    Campaign.objects.update(agreement_threshold=0)
    submit(work_of(ann, campaign), NUMBER)
    submit(work_of(ben, campaign))
    assert Case.objects.get().state == "open"
    assert document_of(campaign).settled_at is not None


def test_agreed_number_without_a_value_is_a_case(campaign: Campaign, ann: User, ben: User) -> None:
    for user in (ann, ben):
        submit(work_of(user, campaign), ("Number", "revenue"))
    case = Case.objects.get()
    assert (case.kind, case.score, case.state) == ("value", 1, "open")
    assert not GoldSpan.objects.exists()


def broken(campaign: Campaign, ann: User, ben: User) -> CampaignDocument:
    """A document whose second submission has a quote that is not in the text."""
    save(work_of(ann, campaign), NUMBER)
    Span.objects.update(quote="1,300")
    submit(work_of(ann, campaign))
    submit(work_of(ben, campaign), NUMBER)
    return document_of(campaign)


def test_faulty_structure_waits_for_the_lead(campaign: Campaign, ann: User, ben: User) -> None:
    document = broken(campaign, ann, ben)
    assert document.stage == Stage.VALIDATION
    (fault,) = document.faults
    assert (fault["assignment"], fault["code"]) == (work_of(ann, campaign).pk, "quote")
    assert not GoldSpan.objects.exists()
    assert not Case.objects.exists()
    assert Event.objects.filter(verb="fail_validation").count() == 1


def test_accepted_faults_let_the_document_go_on(campaign: Campaign, ann: User, ben: User) -> None:
    document = broken(campaign, ann, ben)
    settle_document(campaign_document=document)
    assert document.stage == Stage.VALIDATION
    settle_document(campaign_document=document, accept_faults=True)
    assert document.stage == Stage.GOLD
    assert GoldSpan.objects.get().quote == "1,200"


def test_first_submission_is_kept_when_work_is_done_again(
    campaign: Campaign, ann: User, ben: User
) -> None:
    document = broken(campaign, ann, ben)
    work = work_of(ann, campaign)
    (first,) = FirstSubmission.objects.get(assignment=work).spans
    start, end, *rest = first
    assert (end - start, rest) == (5, ["Number", "1200", "plain"])
    Assignment.objects.filter(pk=work.pk).update(state="in_progress", submitted_at=None)
    CampaignDocument.objects.filter(pk=document.pk).update(stage=Stage.ANNOTATION)
    submit(work, DATE)
    assert FirstSubmission.objects.get(assignment=work).spans == [first]
    assert Case.objects.get().kind == "label"


def test_withdrawn_work_counts_for_nothing(campaign: Campaign, ann: User, ben: User) -> None:
    Assignment.objects.filter(pk=work_of(ben, campaign).pk).update(state="withdrawn")
    submitted = submit(work_of(ann, campaign), NUMBER)
    assert submitted.campaign_document.stage == Stage.GOLD
