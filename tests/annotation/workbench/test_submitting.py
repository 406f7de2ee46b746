"""Submitting, and the effect of a document's last submission."""

import json
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from annotation.campaigns.services import close_campaign
from annotation.errors import CampaignNotOpen, Reassigned
from annotation.models import Assignment, Campaign, CampaignDocument, Case, GoldSpan
from annotation.workbench.services import submit_assignment
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import accept, document_of, make_campaign, save, submit, work_of
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

Stage = CampaignDocument.Stage


def post(api: Client | APIClient, work: Assignment, base_revision: Any) -> Any:
    body = json.dumps({"base_revision": base_revision, "no_facts": True})
    return api.post(f"/api/v1/assignments/{work.pk}/submit/", body, content_type="application/json")


def test_submit_names_the_next_task(campaign: Campaign, ann: User, api_of: ApiOf) -> None:
    first, second = work_of(ann, campaign, 1), work_of(ann, campaign, 2)
    save(first, ("Number", "1,200"))
    response = post(api_of(ann), first, 1)
    assert response.status_code == 200
    assert response.json() == {"state": "submitted", "next": f"/annotate/{second.pk}/"}
    last = post(api_of(ann), second, 0)
    assert last.json() == {"state": "submitted", "next": None}


def test_next_page_says_what_was_submitted(
    campaign: Campaign, ann: User, ben: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    work = work_of(ann, campaign, 1)
    client = client_of(ann)
    following = post(client, work, 0).json()["next"]
    link = f'<a href="/annotate/{work.pk}/">withdraw it</a>'
    html = client.get(following).content.decode()
    assert f"Submitted page-001. You can {link} within 10 minutes." in html
    assert "Submitted page-001" not in client.get(following).content.decode()
    # Ben is the last annotator of the document, who cannot withdraw.
    last = client_of(ben)
    post(last, work_of(ben, campaign, 1), 0)
    html = last.get("/annotate/").content.decode()
    assert "Submitted page-001." in html
    assert "withdraw it" not in html
    post(api_of(ann), work_of(ann, campaign, 2), 0)
    assert "Submitted page-002" not in client.get("/annotate/").content.decode()


def test_dialog_says_how_long_a_submission_can_be_withdrawn(
    campaign: Campaign, ann: User, client_of: ClientOf
) -> None:
    work = work_of(ann, campaign, 1)
    url = work.get_absolute_url()
    assert "You can withdraw the submission within 10 minutes" in (
        client_of(ann).get(url).content.decode()
    )
    CampaignDocument.objects.update(purpose="qualification")
    html = client_of(ann).get(url).content.decode()
    assert "You cannot change them after you submit." in html
    assert "withdraw the submission" not in html


def test_next_task_may_be_earlier_or_in_another_campaign(
    campaign: Campaign, ann: User, ben: User, api_of: ApiOf
) -> None:
    first, second = work_of(ann, campaign, 1), work_of(ann, campaign, 2)
    other = make_campaign([ann, ben], title="Autumn round")
    assert post(api_of(ann), second, 0).json()["next"] == f"/annotate/{first.pk}/"
    assert post(api_of(ann), first, 0).json()["next"] == f"/annotate/{work_of(ann, other).pk}/"


def test_stale_submission_is_a_conflict(campaign: Campaign, ann: User, api_of: ApiOf) -> None:
    work = work_of(ann, campaign)
    save(work, ("Number", "1,200"))
    response = post(api_of(ann), work, 0)
    assert (response.status_code, response.json()["code"]) == (409, "conflict")
    assert response.json()["revision"] == 1
    work.refresh_from_db()
    assert not work.is_submitted


def test_second_click_is_answered_as_the_first(
    campaign: Campaign, ann: User, api_of: ApiOf
) -> None:
    work = work_of(ann, campaign)
    assert post(api_of(ann), work, 0).json() == post(api_of(ann), work, 0).json()
    assert Event.objects.filter(verb="submit_assignment").count() == 1


@pytest.mark.parametrize("base_revision", [None, "0", True, -1, 1.0])
def test_wrong_body_is_refused(
    campaign: Campaign, ann: User, api_of: ApiOf, base_revision: Any
) -> None:
    assert post(api_of(ann), work_of(ann, campaign), base_revision).status_code == 422


def test_closed_campaign_takes_no_submission(campaign: Campaign, ann: User, lead: User) -> None:
    work = work_of(ann, campaign)
    close_campaign(campaign=campaign, actor=lead)
    with pytest.raises(CampaignNotOpen):
        submit_assignment(assignment=work, base_revision=0, actor=ann)


def test_work_given_to_somebody_else_cannot_be_submitted(
    campaign: Campaign, ann: User, cleo: User
) -> None:
    work = work_of(ann, campaign)
    Assignment.objects.filter(pk=work.pk).update(annotator=cleo)
    with pytest.raises(Reassigned):
        submit_assignment(assignment=work, base_revision=0, actor=ann)


def test_document_waits_for_the_last_annotator(campaign: Campaign, ann: User) -> None:
    submit(work_of(ann, campaign), ("Number", "1,200"))
    document = document_of(campaign)
    assert document.stage == Stage.ANNOTATION
    assert not Case.objects.exists()
    assert not GoldSpan.objects.exists()


def test_full_agreement_is_gold_at_once(campaign: Campaign, ann: User, ben: User) -> None:
    marks = [("Number", "1,200"), ("Date", "March 31, 2025"), ("Number", "1,200")]
    submit(work_of(ann, campaign), *marks)
    submit(work_of(ben, campaign), *marks)
    document = document_of(campaign)
    assert document.stage == Stage.GOLD
    assert [(span.label, span.quote, span.origin) for span in document.gold_spans.all()] == [
        ("Number", "1,200", "agreed"),
        ("Date", "March 31, 2025", "agreed"),
        ("Number", "1,200", "agreed"),
    ]
    assert document_of(campaign, 2).stage == Stage.ANNOTATION


def test_page_on_which_no_one_marked_anything_is_gold_only_if_a_lead_accepts_it(
    campaign: Campaign, ann: User, ben: User
) -> None:
    submit(work_of(ann, campaign))
    submit(work_of(ben, campaign))
    page = document_of(campaign)
    assert page.stage == Stage.VALIDATION
    assert {(fault["code"], fault["message"]) for fault in page.faults} == {
        ("omission", "no one labelled anything, but the page has 4 numbers and dates")
    }
    accept(campaign)
    assert document_of(campaign).stage == Stage.GOLD
    assert not GoldSpan.objects.exists()


def test_differences_become_cases_and_the_rest_gold(disputed: Campaign) -> None:
    document = document_of(disputed)
    assert document.stage == Stage.ADJUDICATION
    assert [span.quote for span in document.gold_spans.all()] == ["1,200"]
    cases = list(document.cases.all())
    assert [case.kind for case in cases] == ["boundary", "label", "missing"]
    assert all(case.state == Case.State.OPEN for case in cases)


def test_case_keeps_each_annotators_proposal(disputed: Campaign, ann: User, ben: User) -> None:
    case = document_of(disputed).cases.get(kind="boundary")
    text = document_of(disputed).document.content.text
    start = text.index("(310)")
    assert (case.start, case.end) == (start, start + 5)
    assert case.proposals == [
        {
            "assignment": work_of(ann, disputed).pk,
            "spans": [
                {
                    "label": "Number",
                    "start": start,
                    "end": start + 5,
                    "quote": "(310)",
                    "value": "-310",
                    "sign": "parentheses",
                }
            ],
        },
        {
            "assignment": work_of(ben, disputed).pk,
            "spans": [
                {
                    "label": "Number",
                    "start": start + 1,
                    "end": start + 4,
                    "quote": "310",
                    "value": "310",
                    "sign": "plain",
                }
            ],
        },
    ]
    missing = document_of(disputed).cases.get(kind="missing")
    assert [len(proposal["spans"]) for proposal in missing.proposals] == [0, 1]


def test_overlap_of_one_is_gold_by_itself(ann: User, ben: User) -> None:
    campaign = make_campaign([ann, ben], overlap=1, documents=2)
    work = Assignment.objects.get(annotator=ann)
    submit(work, ("Number", "1,200"))
    assert work.campaign_document.gold_spans.count() == 1
    assert CampaignDocument.objects.filter(campaign=campaign, stage=Stage.GOLD).count() == 1


def test_three_annotators_must_all_submit(ann: User, ben: User, cleo: User) -> None:
    campaign = make_campaign([ann, ben, cleo], overlap=3)
    submit(work_of(ann, campaign), ("Number", "1,200"))
    submit(work_of(ben, campaign), ("Number", "1,200"))
    assert document_of(campaign).stage == Stage.ANNOTATION
    submit(work_of(cleo, campaign), ("Date", "1,200"))
    case = document_of(campaign).cases.get()
    assert (case.kind, len(case.proposals)) == ("label", 3)


def test_events_of_submission_tell_nothing_about_labels(campaign: Campaign, ann: User) -> None:
    submit(work_of(ann, campaign), ("Number", "1,200"))
    event = Event.objects.get(verb="submit_assignment")
    assert event.data == {"revision": 1}
    assert event.actor == ann
