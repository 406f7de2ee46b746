"""Work that failed integrity validation is sent back or accepted by a lead."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.adjudication.services import let_pass, send_back
from annotation.campaigns.services import close_campaign
from annotation.errors import CampaignNotOpen, Refused
from annotation.models import Assignment, Campaign, CampaignDocument, FirstSubmission, Span
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import document_of, make_campaign, save, submit, work_of
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

pytestmark = pytest.mark.django_db

Stage = CampaignDocument.Stage
State = Assignment.State
ADDRESS = "/campaigns/spring-round/validation/"


@pytest.fixture
@shared
def faulty(campaign: Campaign, ann: User, ben: User) -> Campaign:
    """Page 1 is in validation: the quote of Ann's span differs from the text."""
    save(work_of(ann, campaign), ("Number", "1,200"))
    Span.objects.filter(assignment=work_of(ann, campaign)).update(quote="9,999")
    submit(work_of(ann, campaign))
    submit(work_of(ben, campaign), ("Number", "1,200"))
    assert document_of(campaign).stage == Stage.VALIDATION
    return campaign


def test_work_sent_back_is_workable_again(
    faulty: Campaign, ann: User, ben: User, lead: User
) -> None:
    work = work_of(ann, faulty)
    before = FirstSubmission.objects.get(assignment=work).spans
    send_back(
        campaign_document=document_of(faulty), assignments=[work.pk], reason="Mark 1,200 anew.",
        actor=lead,
    )  # fmt: skip
    work.refresh_from_db()
    assert (work.state, work.submitted_at, work.return_reason) == (
        State.IN_PROGRESS, None, "Mark 1,200 anew.",
    )  # fmt: skip
    assert work_of(ben, faulty).state == State.SUBMITTED
    assert (document_of(faulty).stage, document_of(faulty).faults) == (Stage.ANNOTATION, [])
    save(work)
    submit(work, ("Number", "1,200"))
    assert document_of(faulty).stage == Stage.GOLD
    assert FirstSubmission.objects.get(assignment=work).spans == before
    assert Event.objects.get(verb="send_back").data["reason"] == "Mark 1,200 anew."


def test_faults_that_stay_come_back(faulty: Campaign, ann: User, lead: User) -> None:
    work = work_of(ann, faulty)
    page = document_of(faulty)
    send_back(campaign_document=page, assignments=[work.pk], reason="Look again.", actor=lead)
    submit(work)
    assert document_of(faulty).stage == Stage.VALIDATION


def test_document_passes_with_its_faults(faulty: Campaign, lead: User) -> None:
    page = document_of(faulty)
    passed = let_pass(campaign_document=page, reason="Only the quote is old.", actor=lead)
    assert (passed.stage, document_of(faulty).stage) == (Stage.GOLD, Stage.GOLD)
    event = Event.objects.get(verb="let_pass")
    assert (event.data["reason"], event.data["faults"]) == ("Only the quote is old.", 1)
    with pytest.raises(Refused, match="is no longer in validation"):
        let_pass(campaign_document=page, reason="Twice.", actor=lead)


def test_sending_back_names_work_of_the_page(
    faulty: Campaign, ann: User, ben: User, lead: User
) -> None:
    page = document_of(faulty)
    for works in ([], [work_of(ann, faulty, 2).pk], [work_of(ann, faulty).pk, 0]):
        with pytest.raises(Refused, match="Choose at least one annotator of this document"):
            send_back(campaign_document=page, assignments=works, reason="Why.", actor=lead)
    with pytest.raises(Refused, match="Enter a reason"):
        send_back(
            campaign_document=page, assignments=[work_of(ann, faulty).pk], reason=" ", actor=lead
        )
    close_campaign(campaign=faulty, actor=lead)
    with pytest.raises(CampaignNotOpen):
        send_back(
            campaign_document=page, assignments=[work_of(ann, faulty).pk], reason="x", actor=lead
        )
    assert work_of(ann, faulty).state == State.SUBMITTED


def test_only_documents_in_validation_go_back(disputed: Campaign, ann: User, lead: User) -> None:
    work = work_of(ann, disputed)
    with pytest.raises(Refused, match="in adjudication"):
        send_back(
            campaign_document=work.campaign_document, assignments=[work.pk], reason="No.",
            actor=lead,
        )  # fmt: skip


# --- pages and endpoints ------------------------------------------------------------------------


def test_page_lists_faults_and_sends_back(
    faulty: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    client, work = client_of(lead), work_of(ann, faulty)
    page = client.get(ADDRESS)
    ((document, form),) = page.context["rows"]
    assert (document.name, document.fault_count) == ("page-001", 1)
    assert form["assignments"].value() == [work.pk]
    assert "9,999" in page.content.decode()
    data = {"document": "page-001", "action": "send_back", "assignments": [work.pk]}
    unreasoned = client.post(ADDRESS, data)
    assert list(unreasoned.context["rows"][0][1].errors) == ["reason"]
    assert client.post(ADDRESS, data | {"reason": "Look again."}).status_code == 302
    assert document_of(faulty).stage == Stage.ANNOTATION
    again = client.post(ADDRESS, data | {"reason": "Look again."}, follow=True)
    assert "page-001 is no longer in validation." in again.content.decode()
    bench = client_of(ann).get(f"/annotate/{work.pk}/").content.decode()
    assert "A lead returned this document: Look again." in bench
    assert "returned" in client_of(ann).get("/annotate/").content.decode()


def test_list_needs_the_same_queries_for_any_number(
    ann: User, ben: User, lead: User, client_of: ClientOf
) -> None:
    campaign = make_campaign([ann, ben], lead=lead, documents=3)
    client, counts = client_of(lead), []
    for number in (1, 2, 3):
        for user in (ann, ben):
            save(work_of(user, campaign, number), ("Number", "1,200"))
            Span.objects.filter(assignment=work_of(user, campaign, number)).update(quote="9,999")
            submit(work_of(user, campaign, number))
        with CaptureQueriesContext(connection) as captured:
            rows = client.get(ADDRESS).context["rows"]
        assert len(rows) == number
        counts.append(len(captured))
    assert counts[0] == counts[2] <= 9


def test_page_lets_pass(faulty: Campaign, lead: User, client_of: ClientOf) -> None:
    data = {"document": "page-001", "action": "let_pass", "reason": "It is fine."}
    response = client_of(lead).post(ADDRESS, data, follow=True)
    assert "page-001 was accepted. Its stage is now gold." in response.content.decode()


def test_faults_are_told_to_leads_alone(
    faulty: Campaign, ann: User, organiser: User, client_of: ClientOf
) -> None:
    for user in (ann, organiser):
        assert client_of(user).get(ADDRESS).status_code == 403


def test_validation_by_api(faulty: Campaign, ann: User, lead: User, api_of: ApiOf) -> None:
    api, root = api_of(lead), "/api/v1/campaigns/spring-round/validation/"
    (row,) = api.get(root).json()
    assert [len(work["faults"]) for work in row["works"]] == [1, 0]
    assert row["works"][0]["faults"][0]["quote"] == "9,999"
    body = {"assignments": [row["works"][0]["assignment"]], "reason": "Again."}
    sent = api.post(f"{root}page-001/send-back/", body, format="json")
    assert sent.json() == {"document": "page-001", "stage": "annotation"}
    late = api.post(f"{root}page-001/let-pass/", {"reason": "x"}, format="json")
    assert (late.status_code, late.json()["code"]) == (409, "stage")
    submit(work_of(ann, faulty))
    passed = api.post(f"{root}page-001/let-pass/", {"reason": "Fine."}, format="json")
    assert passed.json()["stage"] == "gold"
    assert api.post(f"{root}page-099/let-pass/", {"reason": "x"}, format="json").status_code == 404
