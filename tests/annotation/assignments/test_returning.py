"""Undoing a submission: taken back by the annotator, or returned by a lead."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.adjudication.services import decide_case
from annotation.agreement.selectors import counted_submissions
from annotation.assignments.handing_over import return_submission, take_back
from annotation.assignments.selectors import submissions_set_aside
from annotation.campaigns.services import close_campaign
from annotation.errors import CampaignNotOpen, NothingLabelled, Reassigned, Refused
from annotation.models import Assignment, Campaign, CampaignDocument, FirstSubmission
from annotation.workbench.services import submit_assignment
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import accept, document_of, make_campaign, save, submit, work_of
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

Stage = CampaignDocument.Stage
State = Assignment.State
ROOT = "/campaigns/spring-round/assignments/"
API = "/api/v1/campaigns/spring-round/assignments/"
NUMBER = ("Number", "1,200")


def untouched(work: Assignment) -> None:
    submit_assignment(assignment=work, base_revision=0, actor=work.annotator, no_facts=True)


def first_spans(work: Assignment) -> int | None:
    """The number of spans in the first submission, or None."""
    first = FirstSubmission.objects.filter(assignment=work).first()
    return None if first is None else len(first.spans)


def test_empty_page_is_not_submitted_unconfirmed(campaign: Campaign, ann: User) -> None:
    work = work_of(ann, campaign)
    with pytest.raises(NothingLabelled, match="no labels"):
        submit_assignment(assignment=work, base_revision=0, actor=ann)
    work.refresh_from_db()
    assert (work.state, first_spans(work)) == (State.ASSIGNED, None)


def test_page_whose_labels_were_all_removed_is_empty_too(campaign: Campaign, ann: User) -> None:
    work = work_of(ann, campaign)
    save(work, NUMBER)
    save(work)
    with pytest.raises(NothingLabelled):
        submit_assignment(assignment=work, base_revision=2, actor=ann)


def test_api_refuses_an_empty_page_unless_it_has_no_facts(
    campaign: Campaign, ann: User, api_of: ApiOf
) -> None:
    address = f"/api/v1/assignments/{work_of(ann, campaign).pk}/submit/"
    body = {"base_revision": 0}
    refused = api_of(ann).post(address, body, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "empty")
    wrong = api_of(ann).post(address, body | {"no_facts": "yes"}, format="json")
    assert wrong.status_code == 422
    taken = api_of(ann).post(address, body | {"no_facts": True}, format="json")
    assert (taken.status_code, taken.json()["state"]) == (200, "submitted")


def test_annotator_takes_back_and_the_next_submission_is_the_first(
    campaign: Campaign, ann: User
) -> None:
    work = work_of(ann, campaign)
    submit(work, NUMBER)
    take_back(assignment=work, actor=ann)
    work.refresh_from_db()
    assert (work.state, work.submitted_at, work.spans.count()) == (State.IN_PROGRESS, None, 1)
    assert first_spans(work) is None
    submit(work, NUMBER, NUMBER)
    assert first_spans(work) == 2
    assert Event.objects.filter(verb="take_back", actor=ann).count() == 1


def test_taking_back_ends_with_the_other_submission_and_with_time(
    campaign: Campaign, ann: User, ben: User
) -> None:
    work = work_of(ann, campaign)
    submit(work, NUMBER)
    late = timezone.now() - timedelta(minutes=11)
    Assignment.objects.filter(pk=work.pk).update(submitted_at=late)
    with pytest.raises(Refused, match="10 minutes"):
        take_back(assignment=work, actor=ann)
    submit(work_of(ben, campaign), NUMBER)
    with pytest.raises(Refused, match="All annotators have submitted"):
        take_back(assignment=work_of(ben, campaign), actor=ben)
    with pytest.raises(Reassigned):
        take_back(assignment=work, actor=ben)
    assert first_spans(work) == 1


def test_page_of_one_annotator_is_taken_back_from_gold(ann: User, ben: User) -> None:
    campaign = make_campaign([ann, ben], overlap=1, documents=2)
    work = Assignment.objects.get(annotator=ann)
    submit(work, NUMBER)
    page = work.campaign_document
    page.refresh_from_db()
    assert (page.stage, page.gold_spans.count()) == (Stage.GOLD, 1)
    take_back(assignment=work, actor=ann)
    page.refresh_from_db()
    assert (page.stage, page.gold_at, page.gold_spans.count()) == (Stage.ANNOTATION, None, 0)
    assert campaign.documents.filter(stage=Stage.GOLD).count() == 0


def test_lead_returns_a_page_and_its_first_submission_stays(
    campaign: Campaign, ann: User, lead: User
) -> None:
    work = work_of(ann, campaign)
    submit(work, NUMBER)
    return_submission(assignment=work, reason=" Page 2 is missing. ", actor=lead)
    work.refresh_from_db()
    assert (work.state, work.return_reason) == (State.IN_PROGRESS, "Page 2 is missing.")
    submit(work, NUMBER, NUMBER)
    assert first_spans(work) == 1
    event = Event.objects.get(verb="return_submission")
    assert event.data == {
        "reason": "Page 2 is missing.", "cases": 0, "gold": 0, "first_submission": "kept",
    }  # fmt: skip


def test_untouched_submission_is_set_aside_and_counted(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    """Ann submitted by mistake, so every fact of Ben's became a case."""
    work = work_of(ann, campaign)
    untouched(work)
    submit(work_of(ben, campaign), NUMBER)
    page = document_of(campaign)
    assert (page.stage, page.cases.count()) == (Stage.ADJUDICATION, 1)
    return_submission(assignment=work, reason="It is empty.", actor=lead)
    page.refresh_from_db()
    assert (page.stage, page.settled_at, page.cases.count()) == (Stage.ANNOTATION, None, 0)
    assert first_spans(work) is None
    assert not counted_submissions(campaign).exists()
    assert submissions_set_aside(campaign) == 1
    submit(work, NUMBER)
    assert document_of(campaign).stage == Stage.GOLD
    assert [len(first.spans) for first in counted_submissions(campaign)] == [1, 1]


def test_empty_page_with_some_work_keeps_its_first_submission(
    campaign: Campaign, ann: User, lead: User
) -> None:
    work = work_of(ann, campaign)
    submit_assignment(assignment=work, base_revision=0, actor=ann, no_facts=True, active_seconds=10)
    return_submission(assignment=work, reason="Look at the table.", actor=lead)
    assert first_spans(work) == 0
    assert submissions_set_aside(campaign) == 0


def test_two_untouched_submissions_are_both_returned(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    for user in (ann, ben):
        untouched(work_of(user, campaign))
    accept(campaign)
    assert document_of(campaign).stage == Stage.GOLD
    for user in (ann, ben):
        return_submission(assignment=work_of(user, campaign), reason="Empty.", actor=lead)
    assert document_of(campaign).stage == Stage.ANNOTATION
    assert submissions_set_aside(campaign) == 2


def test_nothing_is_returned_after_a_decision(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    submit(work_of(ann, campaign), NUMBER)
    submit(work_of(ben, campaign), ("Date", "1,200"))
    case = document_of(campaign).cases.get()
    decide_case(case=case, choice="proposal", proposal=0, reason="A number.", actor=lead)
    with pytest.raises(Refused, match="Adjudication of this document has started"):
        return_submission(assignment=work_of(ann, campaign), reason="Again.", actor=lead)


def test_gold_that_annotators_can_read_is_not_returned(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    for user in (ann, ben):
        submit(work_of(user, campaign), NUMBER)
    with pytest.raises(Refused, match="can already see its gold"):
        return_submission(assignment=work_of(ann, campaign), reason="Again.", actor=lead)


def test_lead_who_labels_the_page_does_not_return_it_after_the_comparison(
    campaign: Campaign, ann: User, ben: User
) -> None:
    work = work_of(ann, campaign)
    submit(work, NUMBER)
    submit(work_of(ben, campaign), ("Date", "1,200"))
    with pytest.raises(Refused, match="another lead"):
        return_submission(assignment=work, reason="Mine.", actor=ann)


def test_returning_asks_for_a_reason_a_submission_and_an_open_campaign(
    campaign: Campaign, ann: User, lead: User
) -> None:
    work = work_of(ann, campaign)
    with pytest.raises(Refused, match="not submitted"):
        return_submission(assignment=work, reason="Why.", actor=lead)
    submit(work, NUMBER)
    with pytest.raises(Refused, match="Enter a reason"):
        return_submission(assignment=work, reason=" \n", actor=lead)
    close_campaign(campaign=campaign, actor=lead)
    with pytest.raises(CampaignNotOpen):
        return_submission(assignment=work, reason="Why.", actor=lead)
    assert Event.objects.filter(verb="return_submission").count() == 0


def test_page_of_assignments_returns_with_a_reason(
    campaign: Campaign, ann: User, ben: User, lead: User, client_of: ClientOf
) -> None:
    work = work_of(ann, campaign)
    submit(work, NUMBER)
    client = client_of(lead)
    assert "Return…" in client.get(f"{ROOT}?show=submitted").content.decode()
    address = f"{ROOT}{work.pk}/return/"
    assert client_of(ben).post(address, {"reason": "Mine."}).status_code == 403
    empty = client.post(address, {"query": "show=submitted"}, follow=True)
    assert "Enter a reason." in empty.content.decode()
    done = client.post(address, {"reason": "Look again.", "query": "show=submitted"})
    assert done["Location"] == f"{ROOT}?show=submitted"
    page = client_of(ann).get(f"/annotate/{work.pk}/").content.decode()
    assert "A lead returned this document: Look again." in page


def test_api_returns_and_takes_back(
    campaign: Campaign, ann: User, ben: User, lead: User, api_of: ApiOf
) -> None:
    work = work_of(ann, campaign)
    submit(work, NUMBER)
    address = f"{API}{work.pk}/return/"
    assert api_of(ben).post(address, {"reason": "No."}, format="json").status_code == 403
    assert api_of(lead).post(address, {}, format="json").status_code == 400
    done = api_of(lead).post(address, {"reason": "Again."}, format="json")
    assert (done.status_code, done.json()) == (200, {"state": "in_progress"})
    again = api_of(lead).post(address, {"reason": "Again."}, format="json")
    assert (again.status_code, again.json()["code"]) == (409, "state")
    submit(work, NUMBER)
    own = f"/api/v1/assignments/{work.pk}/take-back/"
    assert api_of(ben).post(own).status_code == 404
    assert api_of(ann).post(own).json() == {"state": "in_progress"}


def test_workbench_offers_to_take_back_for_a_while(
    campaign: Campaign, ann: User, client_of: ClientOf
) -> None:
    work = work_of(ann, campaign)
    address = f"/annotate/{work.pk}/"
    submit(work, NUMBER)
    assert "Withdraw submission" in client_of(ann).get(address).content.decode()
    answer = client_of(ann).post(f"{address}take-back/", follow=True).content.decode()
    assert "You can edit the document" in answer
    assert "Withdraw submission" not in answer
