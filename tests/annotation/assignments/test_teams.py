"""The number of annotators of a page: its own, the campaign's, or all for calibration."""

import pytest

from annotation.assignments.sharing import (
    assign_documents,
    choose_calibration,
    draw_calibration,
    draw_names,
    end_calibration,
    set_document_overlap,
)
from annotation.campaigns.people import add_member
from annotation.campaigns.services import close_campaign, open_campaign
from annotation.errors import Refused
from annotation.models import Assignment, Campaign, CampaignDocument
from annotation.qualification.services import qualify_by_decision
from portal.accounts.models import User
from tests.annotation.factories import PAGE, document_of, make_campaign, save, submit, work_of
from tests.annotation.qualification.qualification_factories import hold_round
from tests.conftest import make_user
from tests.factories import make_document
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

pytestmark = pytest.mark.django_db

Purpose = CampaignDocument.Purpose
ROOT = "/campaigns/spring-round/documents/"


@pytest.fixture
@shared
def dora(db: None) -> User:
    return make_user("Dora")


@pytest.fixture
@shared
def evan(db: None) -> User:
    return make_user("Evan")


@pytest.fixture
@shared
def draft(ann: User, ben: User, cleo: User, dora: User, evan: User, lead: User) -> Campaign:
    """Five documents and five annotators, two per document; not open yet."""
    people = [ann, ben, cleo, dora, evan]
    return make_campaign(people, lead=lead, documents=5, opened=False)


def team(campaign: Campaign, number: int) -> list[str]:
    rows = document_of(campaign, number).assignments.active()
    return list(rows.order_by("annotator__name").values_list("annotator__name", flat=True))


def sizes(campaign: Campaign) -> list[int]:
    return [len(team(campaign, number)) for number in range(1, 6)]


def test_calibration_chosen_in_a_draft_goes_to_all(draft: Campaign, lead: User) -> None:
    chosen = choose_calibration(campaign=draft, names=["page-004", "page-002"], actor=lead)
    assert chosen == ["page-002", "page-004"]
    assert choose_calibration(campaign=draft, names=["page-002"], actor=lead) == []
    open_campaign(campaign=draft, actor=lead)
    assert sizes(draft) == [2, 5, 2, 5, 2]


def test_calibration_chosen_after_opening_adds_the_others(draft: Campaign, lead: User) -> None:
    open_campaign(campaign=draft, actor=lead)
    before = set(team(draft, 3))
    choose_calibration(campaign=draft, names=["page-003"], actor=lead)
    assert before < set(team(draft, 3))
    assert sizes(draft) == [2, 2, 5, 2, 2]
    with pytest.raises(Refused, match="already assigned to every annotator"):
        end_calibration(campaign=draft, names=["page-003"], actor=lead)


def test_calibration_ends_in_a_draft(draft: Campaign, lead: User) -> None:
    choose_calibration(campaign=draft, names=["page-001", "page-002"], actor=lead)
    assert end_calibration(campaign=draft, names=["page-001"], actor=lead) == ["page-001"]
    open_campaign(campaign=draft, actor=lead)
    assert sizes(draft) == [2, 5, 2, 2, 2]


def test_newcomer_gets_what_is_left_of_the_calibration(
    draft: Campaign, lead: User, ann: User
) -> None:
    choose_calibration(campaign=draft, names=["page-001", "page-002"], actor=lead)
    open_campaign(campaign=draft, actor=lead)
    for work in document_of(draft, 2).assignments.all():
        submit(work)
    fay = make_user("Fay")
    add_member(campaign=draft, user=fay, role="annotator", actor=lead)
    mine = Assignment.objects.of(fay).values_list("campaign_document__document__name", flat=True)
    assert list(mine) == ["page-001"]


def test_settled_document_is_no_calibration(draft: Campaign, lead: User) -> None:
    open_campaign(campaign=draft, actor=lead)
    for work in document_of(draft, 1).assignments.all():
        submit(work)
    with pytest.raises(Refused, match="page-001 is in the stage “validation”"):
        choose_calibration(campaign=draft, names=["page-001"], actor=lead)


def test_draw_depends_on_seed_and_names_alone(draft: Campaign, lead: User) -> None:
    names = [f"page-{number:03}" for number in range(1, 6)]
    expected = sorted(draw_names(reversed(names), 2, 7))
    assert draw_calibration(campaign=draft, count=2, seed=7, actor=lead) == expected
    draws = {tuple(sorted(draw_names(names, 2, seed))) for seed in range(50)}
    assert len(draws) == 10, "every pair is drawn by some seed"
    with pytest.raises(Refused, match="Enter a number from 1 to 3"):
        draw_calibration(campaign=draft, count=4, seed=7, actor=lead)


def test_document_has_its_own_number(draft: Campaign, lead: User) -> None:
    set_document_overlap(campaign=draft, names=["page-001"], overlap=4, actor=lead)
    set_document_overlap(campaign=draft, names=["page-002"], overlap=1, actor=lead)
    open_campaign(campaign=draft, actor=lead)
    assert sizes(draft) == [4, 1, 2, 2, 2]


def test_number_of_a_shared_out_document_changes(
    draft: Campaign, lead: User, ann: User, ben: User
) -> None:
    open_campaign(campaign=draft, actor=lead)
    set_document_overlap(campaign=draft, names=["page-001"], overlap=3, actor=lead)
    assert sizes(draft) == [3, 2, 2, 2, 2]
    save(work_of(ann, draft), ("Number", "1,200"))
    save(work_of(ben, draft), ("Number", "1,200"))
    set_document_overlap(campaign=draft, names=["page-001"], overlap=None, actor=lead)
    assert team(draft, 1) == ["Ann", "Ben"]
    with pytest.raises(Refused, match="have already started page-001"):
        set_document_overlap(campaign=draft, names=["page-001"], overlap=1, actor=lead)
    assert document_of(draft, 1).overlap is None


def test_taking_the_last_place_away_settles(draft: Campaign, lead: User, ann: User) -> None:
    open_campaign(campaign=draft, actor=lead)
    submit(work_of(ann, draft), ("Number", "1,200"))
    set_document_overlap(campaign=draft, names=["page-001"], overlap=1, actor=lead)
    assert document_of(draft, 1).stage == CampaignDocument.Stage.GOLD


@pytest.mark.parametrize("overlap", [0, 5])
def test_number_is_one_to_four(draft: Campaign, lead: User, overlap: int) -> None:
    with pytest.raises(Refused, match="1 to 4"):
        set_document_overlap(campaign=draft, names=["page-001"], overlap=overlap, actor=lead)


def test_unknown_document_is_named(draft: Campaign, lead: User) -> None:
    with pytest.raises(Refused, match="no document page-099"):
        choose_calibration(campaign=draft, names=["page-001", "page-099"], actor=lead)
    assert not CampaignDocument.objects.exists()


def test_too_large_a_team_keeps_the_draft(campaign: Campaign, lead: User) -> None:
    with pytest.raises(Refused, match="page-001 needs 3 annotators, but the campaign has 2"):
        set_document_overlap(campaign=campaign, names=["page-001"], overlap=3, actor=lead)
    assert document_of(campaign).overlap is None


def test_closed_campaign_keeps_its_teams(campaign: Campaign, lead: User) -> None:
    close_campaign(campaign=campaign, actor=lead)
    with pytest.raises(Refused, match="closed"):
        choose_calibration(campaign=campaign, names=["page-001"], actor=lead)


def test_waiting_pages_are_shared_out_with_the_new_ones(
    campaign: Campaign, ann: User, lead: User
) -> None:
    document_of(campaign, 1).assignments.all().delete()
    make_document(campaign.dataset, "page-900", PAGE.format(number=900))
    assert assign_documents(campaign=campaign, actor=lead).documents == 2
    assert Assignment.objects.count() == 6


def _new_page(campaign: Campaign) -> None:
    make_document(campaign.dataset, "page-900", PAGE.format(number=900))


def test_assigning_says_that_no_one_is_qualified(
    campaign: Campaign, lead: User, ann: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    hold_round(campaign)
    _new_page(campaign)
    why = "1 document waits for annotators. Every document needs 2 annotators, but {} of 2 passed "
    why += "the qualification."
    done = api_of(lead).post("/api/v1/campaigns/spring-round/assign/")
    assert done.json() == {"documents": 0, "added": 1, "waiting": [why.format(0)]}
    with pytest.raises(Refused) as refused:
        assign_documents(campaign=campaign, actor=lead)
    assert (refused.value.message, refused.value.code) == (why.format(0), "waiting")
    steps = client_of(lead).get("/campaigns/spring-round/").content.decode()
    assert "Qualify annotators. 1 document cannot be assigned until 2 have passed" in steps
    qualify_by_decision(campaign=campaign, user=ann, reason="Known.", actor=lead)
    told = client_of(lead).post("/campaigns/spring-round/assign/", follow=True).content.decode()
    assert why.format(1) in told
    assert "already assigned" not in told


def test_assigning_says_that_pages_were_withdrawn(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    save(work_of(ann, campaign), ("Number", "1,200"))
    work = work_of(ann, campaign)
    Assignment.objects.filter(pk=work.pk).update(state="withdrawn")
    with pytest.raises(Refused) as refused:
        assign_documents(campaign=campaign, actor=lead)
    assert refused.value.message == (
        "page-001 needs 2 annotators, and was withdrawn from 1 of the campaign’s 2. Invite "
        "annotators, or reassign the document to one of them."
    )


def test_assigning_says_that_documents_are_not_screened_or_held_back(
    campaign: Campaign, lead: User
) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(screening=True)
    campaign.refresh_from_db()
    _new_page(campaign)
    screening = "1 document is not screened yet."
    shared = assign_documents(campaign=campaign, actor=lead)
    assert (shared.documents, shared.added, shared.waiting) == (0, 1, [screening])
    make_document(campaign.dataset, "page-901", PAGE.format(number=901))
    held = campaign.dataset.documents.filter(name="page-901")
    held.update(state="held", held_reason="Twice.")
    with pytest.raises(Refused) as refused:
        assign_documents(campaign=campaign, actor=lead)
    assert refused.value.message == f"{screening} 1 document is held back in the dataset."


# --- pages and endpoints ------------------------------------------------------------------------


def test_table_shows_and_changes_teams(draft: Campaign, lead: User, client_of: ClientOf) -> None:
    client = client_of(lead)
    client.post(ROOT, {"documents": ["page-001", "page-002"], "action": "calibration"})
    client.post(ROOT, {"documents": ["page-003"], "action": "overlap", "overlap": "4"})
    client.post(ROOT, {"documents": ["page-002"], "action": "ordinary"})
    lines = {line.name: line for line in client.get(ROOT).context["page"]}
    assert lines["page-001"].purpose == "calibration"
    assert (lines["page-002"].size, lines["page-003"].size) == (2, 4)
    only = client.get(f"{ROOT}?calibration").context["page"]
    assert [line.name for line in only] == ["page-001"]
    nothing = client.post(ROOT, {"action": "calibration"})
    assert "Select documents in the table first." in nothing.content.decode()


def test_drawing_by_the_page_names_what_was_drawn(
    draft: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    told = client.post(f"{ROOT}draw/", {"count": "2", "seed": "7"}, follow=True).content.decode()
    names = list(
        CampaignDocument.objects.filter(purpose=Purpose.CALIBRATION)
        .order_by("document__name")
        .values_list("document__name", flat=True)
    )
    assert f"Drawn with seed 7: {', '.join(names)}." in told
    wrong = client.post(f"{ROOT}draw/", {"count": "0", "seed": ""}, follow=True).content.decode()
    assert "Documents to draw: Ensure this value" in wrong


def test_teams_by_api(draft: Campaign, lead: User, api_of: ApiOf) -> None:
    api, root = api_of(lead), "/api/v1/campaigns/spring-round/documents/"
    drawn = api.post(f"{root}calibration/", {"count": 1, "seed": 3}, format="json").json()
    assert len(drawn["documents"]) == 1
    ended = api.patch(f"{root}calibration/", drawn, format="json")
    assert ended.json() == drawn
    body = {"documents": ["page-002"]}
    assert api.post(f"{root}calibration/", body, format="json").json() == body
    api.put(f"{root}overlap/", {"documents": ["page-001"], "overlap": 3}, format="json")
    rows = {row["document"]: row["annotators"] for row in api.get(root).json()}
    assert (rows["page-001"], rows["page-002"], rows["page-003"]) == (3, None, 2)
    both = {"documents": ["page-001"], "count": 1, "seed": 1}
    assert api.post(f"{root}calibration/", both, format="json").status_code == 400
    assert api.post(f"{root}calibration/", {"count": 1}, format="json").status_code == 400
