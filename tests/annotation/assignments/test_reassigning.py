"""Handing work over: started work is withdrawn and kept, untouched work moves."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.assignments.handing_over import (
    hand_over,
    hand_over_everything,
    return_submission,
)
from annotation.assignments.selectors import assignment_rows
from annotation.assignments.sharing import choose_calibration
from annotation.campaigns.people import add_member, remove_member
from annotation.campaigns.selectors import campaign_overview
from annotation.campaigns.services import open_campaign
from annotation.errors import Reassigned, Refused
from annotation.models import Assignment, Campaign, CampaignDocument, Membership, Revision
from portal.accounts.models import User
from tests.annotation.factories import comment, document_of, make_campaign, save, submit, work_of
from tests.annotation.qualification.qualification_factories import hold_round, trial_of
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

pytestmark = pytest.mark.django_db

State = Assignment.State
ROOT = "/campaigns/spring-round/assignments/"


@pytest.fixture
@shared
def trio(ann: User, ben: User, cleo: User, lead: User) -> Campaign:
    """Three documents, two annotators each: Ann has pages 1 and 2, Ben 1 and 3, Cleo 2 and 3."""
    return make_campaign([ann, ben, cleo], lead=lead, documents=3)


def test_begun_work_is_withdrawn_and_kept(
    trio: Campaign, ann: User, cleo: User, lead: User
) -> None:
    work = work_of(ann, trio)
    save(work, ("Number", "1,200"))
    comment(work)
    done = hand_over(assignment=work, heir=None, actor=lead)
    work.refresh_from_db()
    assert (work.state, work.spans.count(), work.annotator) == (State.WITHDRAWN, 1, ann)
    heirs = work_of(cleo, trio)
    assert done.assignment == heirs
    assert (heirs.state, heirs.spans.count(), heirs.comments.count()) == (State.ASSIGNED, 0, 0)


def test_untouched_work_moves_without_what_was_said_of_it(
    trio: Campaign, ann: User, cleo: User, lead: User
) -> None:
    work = work_of(ann, trio)
    flag = {"flag": "skipped", "flag_reason": "Too long.", "active_seconds": 9}
    Assignment.objects.filter(pk=work.pk).update(**flag)
    done = hand_over(assignment=work, heir=cleo, actor=lead)
    assert done.assignment == work_of(cleo, trio)
    moved = Assignment.objects.get(pk=work.pk)
    assert (moved.annotator, moved.flag, moved.flag_reason, moved.active_seconds) == (
        cleo, "", "", 0,
    )  # fmt: skip
    assert document_of(trio).assignments.count() == 2


def test_commented_work_does_not_show_its_comments_to_the_heir(
    trio: Campaign, ann: User, cleo: User, lead: User
) -> None:
    comment(work_of(ann, trio))
    hand_over(assignment=work_of(ann, trio), heir=cleo, actor=lead)
    assert work_of(ann, trio).state == State.WITHDRAWN
    assert work_of(cleo, trio).comments.count() == 0


def test_former_annotator_is_informed_and_saves_nothing(
    trio: Campaign, ann: User, lead: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    work = work_of(ann, trio)
    save(work, ("Number", "1,200"))
    hand_over(assignment=work, heir=None, actor=lead)
    with pytest.raises(Reassigned):
        save(work, ("Number", "(310)"), key="late")
    with pytest.raises(Reassigned):
        submit(work)
    page = client_of(ann).get(f"/annotate/{work.pk}/")
    assert page.status_code == 403
    assert "reassigned this document to another" in page.content.decode()
    body = {"base_revision": 1, "save_key": "late", "spans": []}
    answer = api_of(ann).put(f"/api/v1/assignments/{work.pk}/spans/", body, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "reassigned")
    assert api_of(ann).get(f"/api/v1/assignments/{work.pk}/revisions/").status_code == 404
    assert client_of(lead).get(f"/annotate/{work.pk}/html/").status_code == 404
    assert work.pk not in [
        row["id"] for row in api_of(ann).get("/api/v1/assignments/").json()["results"]
    ]


def test_withdrawn_work_counts_nowhere(trio: Campaign, ann: User, ben: User, lead: User) -> None:
    save(work_of(ann, trio), ("Number", "(310)"))
    hand_over(assignment=work_of(ann, trio), heir=None, actor=lead)
    totals = {one.name: one.total for one in campaign_overview(trio).annotators}
    assert totals == {"Ann": 1, "Ben": 2, "Cleo": 3}
    for work in document_of(trio).assignments.active():
        submit(work, ("Number", "1,200"))
    assert document_of(trio).stage == CampaignDocument.Stage.GOLD
    assert [span.quote for span in document_of(trio).gold_spans.all()] == ["1,200"]


def test_work_given_back_goes_on_where_it_stopped(
    trio: Campaign, ann: User, cleo: User, lead: User
) -> None:
    save(work_of(ann, trio), ("Number", "1,200"))
    hand_over(assignment=work_of(ann, trio), heir=cleo, actor=lead)
    hand_over(assignment=work_of(cleo, trio), heir=ann, actor=lead)
    work = work_of(ann, trio)
    assert (work.state, work.spans.count()) == (State.IN_PROGRESS, 1)
    assert work_of(cleo, trio).state == State.WITHDRAWN


def test_least_loaded_never_is_who_gave_it_up(
    trio: Campaign, ann: User, cleo: User, lead: User
) -> None:
    save(work_of(ann, trio), ("Number", "1,200"))
    hand_over(assignment=work_of(ann, trio), heir=cleo, actor=lead)
    with pytest.raises(Refused, match="No other annotator"):
        hand_over(assignment=work_of(cleo, trio), heir=None, actor=lead)


def test_leads_who_saw_the_labels_do_not_take_over(
    ann: User, ben: User, cleo: User, lead: User
) -> None:
    campaign = make_campaign([ann, ben, lead], lead=lead, documents=3)
    page = CampaignDocument.objects.exclude(assignments__annotator=lead).get()
    first, second = page.assignments.all()
    submit(first, ("Number", "(310)"))
    submit(second, ("Number", "310"))
    back = return_submission(assignment=second, reason="Again.", actor=lead)
    with pytest.raises(Refused, match="Lea is a lead and could see the labels"):
        hand_over(assignment=back, heir=lead, actor=lead)
    with pytest.raises(Refused, match="No other annotator can take over"):
        hand_over(assignment=back, heir=None, actor=lead)
    add_member(campaign=campaign, user=cleo, role="annotator", actor=lead)
    assert hand_over(assignment=back, heir=None, actor=lead).assignment is not None


def test_what_cannot_be_handed_over(
    trio: Campaign, ann: User, ben: User, cleo: User, lead: User, stranger: User
) -> None:
    work = work_of(ann, trio)
    with pytest.raises(Refused, match="Ben already has this document"):
        hand_over(assignment=work, heir=ben, actor=lead)
    with pytest.raises(Refused, match="Sam is not an annotator of this campaign"):
        hand_over(assignment=work, heir=stranger, actor=lead)
    submit(work, ("Number", "1,200"))
    with pytest.raises(Refused, match="already submitted"):
        hand_over(assignment=work, heir=cleo, actor=lead)
    other = work_of(ann, trio, 2)
    hand_over(assignment=other, heir=ben, actor=lead)
    with pytest.raises(Refused, match="already reassigned"):
        hand_over(assignment=other, heir=ben, actor=lead)


def test_calibration_page_is_taken_away_and_may_settle(
    ann: User, ben: User, cleo: User, lead: User
) -> None:
    campaign = make_campaign([ann, ben, cleo], lead=lead, documents=1, opened=False)
    choose_calibration(campaign=campaign, names=["page-001"], actor=lead)
    open_campaign(campaign=campaign, actor=lead)
    submit(work_of(ann, campaign), ("Number", "1,200"))
    submit(work_of(ben, campaign), ("Number", "1,200"))
    done = hand_over(assignment=work_of(cleo, campaign), heir=None, actor=lead)
    assert (done.assignment, done.stage) == (None, CampaignDocument.Stage.GOLD)


def test_all_work_of_one_goes_to_the_others(
    trio: Campaign, ann: User, ben: User, lead: User
) -> None:
    save(work_of(ann, trio), ("Number", "1,200"))
    assert hand_over_everything(campaign=trio, annotator=ann, actor=lead) == 2
    assert not Assignment.objects.of(ann).active().exists()
    assert all(row.assignments.active().count() == 2 for row in trio.documents.all())
    with pytest.raises(Refused, match="no unfinished tasks"):
        hand_over_everything(campaign=trio, annotator=ann, actor=lead)


def test_counts_of_overview_and_reassignment_agree(
    trio: Campaign, ann: User, cleo: User, lead: User, api_of: ApiOf, client_of: ClientOf
) -> None:
    """Qualification pages and excluded documents are in none of the counts."""
    hold_round(trio)
    Membership.objects.filter(role="annotator").update(qualified_at=timezone.now())
    save(work_of(ann, trio, 2), ("Number", "1,200"))
    CampaignDocument.objects.filter(pk=document_of(trio, 2).pk).update(stage="excluded")

    def left(user: User) -> int:
        rows = api_of(lead).get("/api/v1/campaigns/spring-round/").json()["annotators"]
        (mine,) = [row for row in rows if row["name"] == str(user)]
        return int(mine["to_do"] + mine["in_progress"])

    def offered(user: User) -> int:
        page = client_of(lead).get("/campaigns/spring-round/assignments/")
        heirs = [heir for row in page.context["rows"] for heir in row.heirs]
        return next(int(heir.open) for heir in heirs if heir.user == user)

    assert (left(ann), left(cleo)) == (1, 1)
    assert (offered(ann), offered(cleo)) == (left(ann), left(cleo))
    before = trial_of(ann, trio).state
    assert hand_over_everything(campaign=trio, annotator=ann, actor=lead) == 1
    assert (left(ann), trial_of(ann, trio).state) == (0, before)


def test_removal_hands_begun_work_over_when_asked(trio: Campaign, ann: User, lead: User) -> None:
    save(work_of(ann, trio), ("Number", "1,200"))
    membership = Membership.objects.get(campaign=trio, user=ann)
    with pytest.raises(Refused, match="reassign all tasks"):
        remove_member(membership=membership, actor=lead)
    assert remove_member(membership=membership, actor=lead, begun=True) == 2
    assert work_of(ann, trio).state == State.WITHDRAWN


# --- the table ----------------------------------------------------------------------------------


def test_idle_work_is_found(trio: Campaign, ann: User, ben: User) -> None:
    past = timezone.now() - timedelta(days=10)
    Assignment.objects.update(created_at=past)
    save(work_of(ann, trio), ("Number", "1,200"))
    save(work_of(ben, trio), ("Number", "1,200"))
    Revision.objects.filter(assignment=work_of(ben, trio)).update(
        saved_at=timezone.now() - timedelta(days=5)
    )

    def idle(days: int) -> list[tuple[str, str]]:
        rows = assignment_rows(trio, idle=days)
        return [(row.annotator.name, row.campaign_document.document.name) for row in rows]

    assert len(idle(0)) == 6
    assert ("Ann", "page-001") not in idle(1)
    assert ("Ben", "page-001") in idle(4)
    assert ("Ben", "page-001") not in idle(7)
    assert len(idle(7)) == 4


def test_table_filters_and_hands_over(
    trio: Campaign, ann: User, cleo: User, lead: User, client_of: ClientOf
) -> None:
    client, work = client_of(lead), work_of(ann, trio)
    save(work, ("Number", "1,200"))
    page = client.get(f"{ROOT}?show=begun&annotator={ann.pk}")
    (row,) = page.context["rows"]
    assert (row, [heir.user.name for heir in row.heirs]) == (work, ["Cleo"])
    assert "Reassign all open tasks of Ann" in page.content.decode()
    query = f"show=begun&annotator={ann.pk}"
    sent = client.post(f"{ROOT}{work.pk}/hand-over/", {"heir": cleo.pk, "query": query})
    assert sent["Location"] == f"{ROOT}?{query}"
    assert work_of(cleo, trio).state == State.ASSIGNED
    again = client.post(f"{ROOT}{work.pk}/hand-over/", {"query": "x\nSet-Cookie: a"}, follow=True)
    assert "already reassigned" in again.content.decode()
    client.post(f"/campaigns/spring-round/annotators/{ann.pk}/hand-over/")
    assert not Assignment.objects.of(ann).active().exists()


def test_removing_an_annotator_with_started_work_offers_a_handover(
    trio: Campaign, ann: User, lead: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    save(work_of(ann, trio), ("Number", "1,200"))
    pk = Membership.objects.get(campaign=trio, user=ann).pk
    address = f"/campaigns/spring-round/people/{pk}/remove/"
    offered = client_of(lead).post(address).content.decode()
    assert "reassign all tasks" in offered
    api, endpoint = api_of(lead), f"/api/v1/campaigns/spring-round/people/{pk}/"
    assert api.delete(endpoint).json()["code"] == "holds_work"
    assert api.delete(f"{endpoint}?begun=true").json() == {"handed_over": 2}


def test_assignments_by_api(
    trio: Campaign, ann: User, cleo: User, lead: User, api_of: ApiOf
) -> None:
    save(work_of(ann, trio), ("Number", "1,200"))
    api, root = api_of(lead), "/api/v1/campaigns/spring-round/"
    body = api.get(f"{root}assignments/?show=begun").json()
    (row,) = body["assignments"]
    assert (row["annotator"], row["state"], body["count"]) == ("Ann", "in_progress", 1)
    assert row["heirs"] == [{"id": cleo.pk, "name": "Cleo", "open": 2}]
    address = f"{root}assignments/{row['id']}/hand-over/"
    assert api.post(address, {"heir": 0}, format="json").status_code == 400
    done = api.post(address, {"heir": cleo.pk}, format="json").json()
    assert (done["annotator"], done["stage"]) == ("Cleo", "annotation")
    assert api.post(address, {}, format="json").status_code == 409
    everything = api.post(f"{root}annotators/{cleo.pk}/hand-over/")
    assert everything.status_code == 409, "Ann gave one of them up, so that no one is left"
    assert api.post(f"{root}annotators/{lead.pk}/hand-over/").status_code == 404
