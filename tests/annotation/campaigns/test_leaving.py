"""Leaving a campaign: work that is handed over, and work that stays."""

import pytest

from annotation.campaigns.people import add_member, leave_campaign, remove_member
from annotation.errors import Refused
from annotation.models import Assignment, Campaign, CampaignDocument, Membership
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import make_campaign, save, submit, work_of
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

pytestmark = pytest.mark.django_db
LEAVE = "/campaigns/spring-round/leave/"


@pytest.fixture
@shared
def trio(ann: User, ben: User, cleo: User, lead: User) -> Campaign:
    """Three documents, each for two of Ann, Ben and Cleo."""
    return make_campaign([ann, ben, cleo], lead=lead, documents=3)


def left(user: User, campaign: Campaign) -> int:
    mine = Assignment.objects.active().filter(campaign_document__campaign=campaign)
    return mine.filter(annotator=user).exclude(state=Assignment.State.SUBMITTED).count()


def first_work(user: User, campaign: Campaign) -> Assignment:
    mine = Assignment.objects.filter(campaign_document__campaign=campaign, annotator=user)
    return mine.earliest("id")


def test_untouched_work_goes_to_others_and_submitted_work_stays(trio: Campaign, ann: User) -> None:
    done = first_work(ann, trio)
    submit(done, ("Number", "1,200"))
    untouched = left(ann, trio)
    assert leave_campaign(campaign=trio, user=ann) == untouched == 1
    assert left(ann, trio) == 0
    done.refresh_from_db()
    assert (done.annotator, done.state) == (ann, Assignment.State.SUBMITTED)
    teams = [row.assignments.active().count() for row in trio.documents.all()]
    assert teams == [2, 2, 2]
    assert not Membership.objects.filter(campaign=trio, user=ann).exists()
    assert Event.objects.get(verb="remove_member").actor_id == ann.pk


def test_former_annotators_keep_the_list_of_their_submissions(
    trio: Campaign, ann: User, lead: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    done = first_work(ann, trio)
    name = done.campaign_document.document.name
    submit(done, ("Number", "1,200"))
    assert "Former campaigns" not in client_of(ann).get("/annotate/").content.decode()
    membership = Membership.objects.get(campaign=trio, user=ann)
    remove_member(membership=membership, actor=lead)
    page = client_of(ann).get("/annotate/").content.decode()
    assert "Former campaigns" in page
    assert name in page
    assert done.get_absolute_url() not in page
    assert client_of(ann).get(done.get_absolute_url()).status_code == 404
    (row,) = api_of(ann).get("/api/v1/assignments/former/").json()["results"]
    assert (row["campaign"], row["document"]) == (trio.slug, name)
    assert api_of(lead).get("/api/v1/assignments/former/").json()["results"] == []
    add_member(campaign=trio, user=ann, role="annotator", actor=lead)
    assert "Former campaigns" not in client_of(ann).get("/annotate/").content.decode()


def test_begun_work_holds(trio: Campaign, ann: User) -> None:
    save(first_work(ann, trio), ("Number", "1,200"))
    with pytest.raises(Refused, match="ask the campaign’s lead") as refusal:
        leave_campaign(campaign=trio, user=ann)
    assert refusal.value.code == "holds_work"
    assert Membership.objects.filter(campaign=trio, user=ann).exists()
    assert left(ann, trio) == 2


def test_started_qualification_holds_no_one(trio: Campaign, ann: User) -> None:
    work = first_work(ann, trio)
    save(work, ("Number", "1,200"))
    CampaignDocument.objects.filter(pk=work.campaign_document_id).update(purpose="qualification")
    Membership.objects.filter(campaign=trio).update(qualified_at="2026-01-01T00:00Z")
    leave_campaign(campaign=trio, user=ann)
    assert not Membership.objects.filter(campaign=trio, user=ann).exists()


def test_lead_may_take_begun_work_along(trio: Campaign, ann: User, lead: User) -> None:
    save(first_work(ann, trio), ("Number", "1,200"))
    membership = Membership.objects.get(campaign=trio, user=ann)
    assert remove_member(membership=membership, actor=lead, begun=True) == 2
    assert left(ann, trio) == 0


def test_no_one_left_to_take_over_is_shown_to_the_leaving(campaign: Campaign, ann: User) -> None:
    with pytest.raises(Refused, match="No other annotator can take over"):
        leave_campaign(campaign=campaign, user=ann)
    assert Membership.objects.filter(campaign=campaign, user=ann).exists()


def test_only_lead_stays(campaign: Campaign, lead: User, cleo: User) -> None:
    with pytest.raises(Refused, match="You are the only lead") as refusal:
        leave_campaign(campaign=campaign, user=lead)
    assert refusal.value.code == "only_lead"
    assert Membership.objects.filter(campaign=campaign, user=lead).exists()
    add_member(campaign=campaign, user=cleo, role="lead", actor=None)
    leave_campaign(campaign=campaign, user=lead)
    assert not Membership.objects.filter(campaign=campaign, user=lead).exists()


def test_all_roles_are_given_up_together_or_none(trio: Campaign, ann: User) -> None:
    add_member(campaign=trio, user=ann, role="reviewer", actor=None)
    save(first_work(ann, trio), ("Number", "1,200"))
    with pytest.raises(Refused):
        leave_campaign(campaign=trio, user=ann)
    assert Membership.objects.filter(campaign=trio, user=ann).count() == 2
    submit(first_work(ann, trio))
    leave_campaign(campaign=trio, user=ann)
    assert leave_campaign(campaign=trio, user=ann) == 0, "twice is once"


def test_page_says_what_happens_to_ones_work(
    trio: Campaign, ann: User, client_of: ClientOf
) -> None:
    submit(first_work(ann, trio), ("Number", "1,200"))
    client = client_of(ann)
    text = client.get(LEAVE).content.decode()
    assert "The 1 document you submitted remains in the campaign" in text
    assert "The 1 document you have not started will be reassigned." in text
    assert f'href="{LEAVE}"' in client.get("/campaigns/spring-round/").content.decode()
    done = client.post(LEAVE, follow=True)
    assert "You left “Spring round”." in done.content.decode()
    assert done.redirect_chain[-1][0] == "/start/"
    assert client.get("/campaigns/spring-round/").status_code == 404
    assert client.post(LEAVE).status_code == 404


def test_page_offers_no_way_out_with_begun_work(
    trio: Campaign, ann: User, client_of: ClientOf
) -> None:
    save(first_work(ann, trio), ("Number", "1,200"))
    client = client_of(ann)
    text = client.get(LEAVE).content.decode()
    assert "You have 1 unfinished document." in text
    assert "Leave campaign" not in text
    refused = client.post(LEAVE, follow=True)
    assert "Submit them first" in refused.content.decode()


def test_api_leaves(trio: Campaign, ann: User, ben: User, organiser: User, api_of: ApiOf) -> None:
    save(first_work(ben, trio), ("Number", "1,200"))
    address = "/api/v1/campaigns/spring-round/leave/"
    assert api_of(ben).post(address).json()["code"] == "holds_work"
    untouched = left(ann, trio)
    assert api_of(ann).post(address).json() == {"handed_over": untouched}
    assert api_of(ann).post(address).status_code == 404
    assert api_of(organiser).post(address).status_code == 403


def test_work_of_who_left_is_closed_to_them(
    campaign: Campaign, ann: User, cleo: User, client_of: ClientOf
) -> None:
    add_member(campaign=campaign, user=cleo, role="annotator", actor=None)
    work = work_of(ann, campaign)
    submit(work, ("Number", "1,200"))
    leave_campaign(campaign=campaign, user=ann)
    assert client_of(ann).get(f"/annotate/{work.pk}/").status_code == 404


def test_removing_an_annotator_with_started_work_offers_a_handover(
    trio: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    save(first_work(ann, trio), ("Number", "1,200"))
    membership = Membership.objects.get(campaign=trio, user=ann)
    client, address = client_of(lead), f"/campaigns/spring-round/people/{membership.pk}/remove/"
    offered = client.post(address).content.decode()
    assert "Ann has started 1 document" in offered
    assert "Remove Ann and reassign all tasks" in offered
    assert Membership.objects.filter(pk=membership.pk).exists()
    done = client.post(address, {"begun": "on"}, follow=True).content.decode()
    assert "Ann is no longer annotator. 2 documents reassigned to other annotators." in done
    assert left(ann, trio) == 0
