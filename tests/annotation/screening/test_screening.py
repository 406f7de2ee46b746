"""Screening: pages pass or are excluded before annotation; verdicts are append-only."""

from collections import Counter
from typing import Any

import pytest

from annotation.campaigns.selectors import campaign_overview, release_state
from annotation.campaigns.services import close_campaign, open_campaign
from annotation.errors import CampaignNotOpen, PageExcluded, Refused
from annotation.models import Assignment, Campaign, CampaignDocument, Screening
from annotation.screening.services import (
    ScreenedMeanwhile,
    bring_back_document,
    exclude_document,
    next_to_screen,
    screen_document,
    screening_queue,
    undo_screening,
)
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import comment, document_of, make_campaign, save, submit, work_of
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

pytestmark = pytest.mark.django_db

Stage = CampaignDocument.Stage
ROOT = "/campaigns/spring-round/screening/"
FAULTY: dict[str, Any] = {"faults": ["ocr", "layout"], "reason": "Columns run together."}


@pytest.fixture
@shared
def screened(ann: User, ben: User, cleo: User, lead: User, reviewer: User) -> Campaign:
    """Six pages to screen, for Ann, Ben and Cleo."""
    campaign = make_campaign(
        [ann, ben, cleo], lead=lead, reviewer=reviewer, documents=6, opened=False
    )
    Campaign.objects.filter(pk=campaign.pk).update(screening=True)
    campaign.refresh_from_db()
    return open_campaign(campaign=campaign, actor=lead)


def intact(campaign: Campaign, number: int, actor: User) -> str:
    page = document_of(campaign, number)
    return screen_document(campaign_document=page, verdict="intact", actor=actor).stage


def faulty(campaign: Campaign, number: int, actor: User) -> str:
    page = document_of(campaign, number)
    return screen_document(campaign_document=page, verdict="faulty", actor=actor, **FAULTY).stage


def loads(campaign: Campaign) -> Counter[str]:
    rows = Assignment.objects.filter(campaign_document__campaign=campaign)
    return Counter(rows.values_list("annotator__name", flat=True))


def test_nothing_is_assigned_before_screening(screened: Campaign) -> None:
    assert not Assignment.objects.exists()
    assert campaign_overview(screened).stages.screening == 6
    assert screening_queue(screened).total == 6


def test_pages_that_pass_are_assigned_evenly_in_any_order(
    screened: Campaign, reviewer: User
) -> None:
    for number in (5, 2, 6, 1, 3, 4):
        assert intact(screened, number, reviewer) == Stage.ANNOTATION
        now = [loads(screened)[name] for name in ("Ann", "Ben", "Cleo")]
        assert max(now) - min(now) <= 1
    assert loads(screened) == {"Ann": 4, "Ben": 4, "Cleo": 4}


def test_faulty_page_counts_nowhere(screened: Campaign, ann: User) -> None:
    assert faulty(screened, 1, ann) == Stage.EXCLUDED
    figures = campaign_overview(screened)
    assert (figures.stages.excluded, figures.stages.total) == (1, 5)
    state = release_state(screened)
    assert [(each.name, each.faults, each.reason) for each in state.left_out] == [
        ("page-001", ("ocr", "layout"), "Columns run together.")
    ]
    assert "page-001" not in [each.name for each in state.unfinished]


@pytest.mark.parametrize(
    ("verdict", "given", "code"),
    [
        ("faulty", {"faults": ["ocr"], "reason": " "}, "reason"),
        ("faulty", {"faults": [], "reason": "Bad."}, "faults"),
        ("faulty", {"faults": ["smell"], "reason": "Bad."}, "faults"),
        ("faulty", {"faults": ["ocr"], "reason": "x" * 1001}, "reason"),
        ("intact", {"faults": ["ocr"]}, "faults"),
        ("fine", {}, "verdict"),
    ],
)
def test_verdict_needs_its_parts(
    screened: Campaign, ann: User, verdict: str, given: dict[str, Any], code: str
) -> None:
    page = document_of(screened)
    with pytest.raises(Refused) as refused:
        screen_document(campaign_document=page, verdict=verdict, actor=ann, **given)
    assert refused.value.code == code
    assert not Screening.objects.exists()


def test_second_verdict_does_not_overrule_the_first(
    screened: Campaign, ann: User, ben: User
) -> None:
    intact(screened, 1, ann)
    assert intact(screened, 1, ann) == Stage.ANNOTATION
    with pytest.raises(ScreenedMeanwhile, match="Ann already screened this document: intact"):
        faulty(screened, 1, ben)
    with pytest.raises(ScreenedMeanwhile):
        intact(screened, 1, ben)
    assert Screening.objects.count() == 1


def test_undone_verdict_stays_on_record(screened: Campaign, ann: User, ben: User) -> None:
    intact(screened, 1, ann)
    with pytest.raises(Refused, match="not yours"):
        undo_screening(campaign_document=document_of(screened), actor=ben)
    undo_screening(campaign_document=document_of(screened), actor=ann)
    assert document_of(screened).stage == Stage.SCREENING
    assert not Assignment.objects.exists()
    faulty(screened, 1, ann)
    undo_screening(campaign_document=document_of(screened), actor=ann)
    assert [each.verdict for each in Screening.objects.order_by("id")] == ["intact", "faulty"]
    assert Event.objects.filter(verb="undo_screening").count() == 2


def test_begun_page_cannot_be_put_back(screened: Campaign, ann: User) -> None:
    intact(screened, 1, ann)
    work = document_of(screened).assignments.all()[0]
    comment(work)
    with pytest.raises(Refused, match="An annotator has started this document"):
        undo_screening(campaign_document=document_of(screened), actor=ann)


def test_lead_excludes_a_page_in_work_and_brings_it_back(
    screened: Campaign, ann: User, ben: User, lead: User
) -> None:
    intact(screened, 1, lead)
    first, second = document_of(screened).assignments.all()
    submit(first, ("Number", "1,200"))
    save(second, ("Number", "1,200"))
    page = document_of(screened)
    exclude_document(campaign_document=page, actor=lead, **FAULTY)
    with pytest.raises(PageExcluded):
        save(second, ("Number", "(310)"), key="late")
    with pytest.raises(PageExcluded):
        submit(second)
    with pytest.raises(Refused, match="Enter a reason for restoring"):
        bring_back_document(campaign_document=page, reason=" ", actor=lead)
    bring_back_document(campaign_document=page, reason="It is readable.", actor=lead)
    assert document_of(screened).assignments.count() == 2
    submit(second)
    assert document_of(screened).stage == Stage.GOLD
    with pytest.raises(Refused, match="already left screening"):
        exclude_document(campaign_document=page, actor=lead, **FAULTY)


def test_excluded_work_is_not_counted(screened: Campaign, ann: User, lead: User) -> None:
    intact(screened, 1, lead)
    page = document_of(screened)
    submit(page.assignments.all()[0], ("Number", "1,200"))
    assert sum(one.submitted for one in campaign_overview(screened).annotators) == 1
    exclude_document(campaign_document=page, actor=lead, **FAULTY)
    assert sum(one.total for one in campaign_overview(screened).annotators) == 0


def test_excluding_the_last_unfinished_page_makes_the_last_review_due(
    ann: User, ben: User, lead: User
) -> None:
    campaign = make_campaign([ann, ben], lead=lead, documents=2, review_pages=100)
    for user in (ann, ben):
        submit(work_of(user, campaign), ("Number", "1,200"))
    assert not campaign.review_rounds.exists()
    exclude_document(
        campaign_document=document_of(campaign, 2), faults=["ocr"], reason="Garbled.", actor=lead
    )
    (found,) = campaign.review_rounds.all()
    assert (found.pages, found.facts) == (1, 1)


def test_page_that_passes_waits_when_annotators_are_too_few(
    screened: Campaign, ann: User, ben: User, cleo: User
) -> None:
    screened.memberships.filter(user__in=[ben, cleo]).delete()
    assert intact(screened, 1, ann) == Stage.ANNOTATION
    assert campaign_overview(screened).unassigned == 1


def test_closed_campaign_is_not_screened(screened: Campaign, ann: User, lead: User) -> None:
    close_campaign(campaign=screened, actor=lead)
    with pytest.raises(CampaignNotOpen):
        intact(screened, 1, ann)


def test_next_page_is_the_one_behind(screened: Campaign, ann: User) -> None:
    intact(screened, 3, ann)

    def following(number: int) -> str:
        found = next_to_screen(screened, document_of(screened, number))
        return found.document.name if found else ""

    assert [following(number) for number in (1, 2, 6)] == ["page-002", "page-004", "page-001"]


# --- pages and endpoints ------------------------------------------------------------------------


def test_verdict_leads_on_to_the_next_page(
    screened: Campaign, ann: User, client_of: ClientOf
) -> None:
    client = client_of(ann)
    assert client.get(f"{ROOT}page-001/").status_code == 200
    passed = client.post(f"{ROOT}page-001/", {"verdict": "intact"})
    assert passed["Location"] == f"{ROOT}page-002/"
    left_out = client.post(f"{ROOT}page-002/", {"verdict": "faulty", **FAULTY})
    assert left_out["Location"] == f"{ROOT}page-003/"
    assert (document_of(screened, 1).stage, document_of(screened, 2).stage) == (
        Stage.ANNOTATION,
        Stage.EXCLUDED,
    )
    undone = client.post(f"{ROOT}page-002/undo/")
    assert undone["Location"] == f"{ROOT}page-002/"
    assert document_of(screened, 2).stage == Stage.SCREENING


def test_faulty_without_reason_is_named_by_field(
    screened: Campaign, ann: User, client_of: ClientOf
) -> None:
    response = client_of(ann).post(f"{ROOT}page-001/", {"verdict": "faulty"})
    assert set(response.context["form"].errors) == {"faults", "reason"}
    assert document_of(screened).stage == Stage.SCREENING


def test_queue_lists_by_state_with_the_verdict(
    screened: Campaign, ann: User, client_of: ClientOf
) -> None:
    intact(screened, 1, ann)
    faulty(screened, 2, ann)
    client = client_of(ann)
    names = {
        state: [row.document.name for row in client.get(f"{ROOT}?state={state}").context["page"]]
        for state in ("waiting", "passed", "excluded")
    }
    assert names["passed"] == ["page-001"]
    assert names["excluded"] == ["page-002"]
    assert names["waiting"] == ["page-003", "page-004", "page-005", "page-006"]
    assert "Columns run together." in client.get(f"{ROOT}?state=excluded").content.decode()


def test_only_managers_overrule(
    screened: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    faulty(screened, 1, ann)
    back = {"verdict": "intact", "reason": "It is fine."}
    assert client_of(ann).post(f"{ROOT}page-001/", back).status_code == 200
    assert document_of(screened).stage == Stage.EXCLUDED
    assert client_of(lead).post(f"{ROOT}page-001/", back).status_code == 302
    assert document_of(screened).stage == Stage.ANNOTATION
    out = {"verdict": "faulty", **FAULTY}
    assert client_of(ann).post(f"{ROOT}page-001/", out).status_code == 200
    assert client_of(lead).post(f"{ROOT}page-001/", out).status_code == 302
    assert document_of(screened).stage == Stage.EXCLUDED


def test_unscreened_pages_are_closed_to_annotators(
    campaign: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    for address in (f"{ROOT}page-001/", f"{ROOT}page-001/html/"):
        assert client_of(ann).get(address).status_code == 404
        assert client_of(lead).get(address).status_code == 200


def test_screening_by_api(screened: Campaign, ann: User, lead: User, api_of: ApiOf) -> None:
    root, api = "/api/v1/campaigns/spring-round/screening/", api_of(ann)
    queue = api.get(root).json()
    assert (queue["progress"]["waiting"], len(queue["pages"])) == (6, 6)
    page = api.get(f"{root}page-001/").json()
    assert ("1,200" in page["html"], page["verdicts"]) == (True, [])
    given = api.post(f"{root}page-001/", {"verdict": "intact"}, format="json")
    assert given.json() == {"document": "page-001", "stage": "annotation", "next": "page-002"}
    bad = api.post(f"{root}page-002/", {"verdict": "faulty"}, format="json")
    assert (bad.status_code, list(bad.json())) == (400, ["faults"])
    api.post(f"{root}page-002/", {"verdict": "faulty", **FAULTY}, format="json")
    assert api.get(f"{root}?state=excluded").json()["pages"][0]["verdict"]["screened_by"] == "Ann"
    assert api.post(f"{root}page-002/undo/").json()["stage"] == "screening"
    again = api.post(f"{root}page-001/", {"verdict": "faulty", **FAULTY}, format="json")
    assert (again.status_code, again.json()["code"]) == (409, "screened")
    boss = api_of(lead)
    boss.post(f"{root}page-001/", {"verdict": "faulty", **FAULTY}, format="json")
    assert (
        api.post(f"{root}page-001/bring-back/", {"reason": "x"}, format="json").status_code == 403
    )
    back = boss.post(f"{root}page-001/bring-back/", {"reason": "Fine."}, format="json")
    assert back.json()["stage"] == "annotation"
    assert len(boss.get(f"{root}page-001/").json()["verdicts"]) == 3


def test_work_on_an_excluded_page_can_be_read_not_changed(
    screened: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    intact(screened, 1, lead)
    page = document_of(screened)
    work = page.assignments.all()[0]
    exclude_document(campaign_document=page, actor=lead, **FAULTY)
    client = client_of(work.annotator)
    assert client.get("/annotate/").context["groups"] == []
    response = client.get(f"/annotate/{work.pk}/")
    assert "You do not need to finish it." in response.content.decode()
    assert response.context["workbench_data"]["readonly"] is True
    assert work_of(work.annotator, screened) == work
