"""Creating, opening, assigning and closing campaigns; their people and guidelines."""

from collections import Counter

import pytest

from annotation.assignments.sharing import assign_documents
from annotation.campaigns.people import add_member, remove_member
from annotation.campaigns.services import (
    close_campaign,
    create_campaign,
    default_guidelines,
    open_campaign,
    reopen_campaign,
)
from annotation.errors import CampaignNotOpen, Reassigned, Refused
from annotation.models import Assignment, Campaign, CampaignDocument, Membership
from annotation.workbench.services import save_spans
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import PAGE, make_campaign, make_dataset, save, submit, work_of
from tests.factories import make_document
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db


def loads(campaign: Campaign) -> Counter[str]:
    rows = Assignment.objects.filter(campaign_document__campaign=campaign)
    return Counter(rows.values_list("annotator__name", flat=True))


def membership(campaign: Campaign, user: User) -> Membership:
    return Membership.objects.get(campaign=campaign, user=user)


# --- services ----------------------------------------------------------------------------------


def test_opening_shares_every_document_out(ann: User, ben: User, cleo: User) -> None:
    campaign = make_campaign([ann, ben, cleo], documents=7)
    assert campaign.state == Campaign.State.OPEN
    teams = [document.assignments.count() for document in campaign.documents.all()]
    assert teams == [2] * 7
    assert sorted(loads(campaign).values()) == [4, 5, 5]


def test_opening_is_the_same_every_time(ann: User, ben: User, cleo: User) -> None:
    first, second = (make_campaign([ann, ben, cleo], documents=5) for _ in range(2))

    def teams(campaign: Campaign) -> list[list[str]]:
        return [
            list(document.assignments.values_list("annotator__name", flat=True))
            for document in campaign.documents.order_by("document__name")
        ]

    assert teams(first) == teams(second)


def test_too_few_annotators_leave_the_draft_as_it_was(ann: User, lead: User) -> None:
    campaign = make_campaign([ann], lead=lead, opened=False)
    with pytest.raises(Refused, match="needs 2 annotators, but the campaign has 1"):
        open_campaign(campaign=campaign, actor=lead)
    assert Campaign.objects.get().state == Campaign.State.DRAFT
    assert not CampaignDocument.objects.exists()


def test_inactive_accounts_get_no_work(ann: User, ben: User) -> None:
    campaign = make_campaign([ann, ben], opened=False)
    ben.is_active = False
    ben.save()
    with pytest.raises(Refused, match="has 1"):
        open_campaign(campaign=campaign, actor=None)


def test_campaign_without_documents_cannot_be_opened(ann: User, ben: User) -> None:
    campaign = make_campaign([ann, ben], documents=0, opened=False)
    with pytest.raises(Refused, match="no documents"):
        open_campaign(campaign=campaign, actor=None)


def test_campaign_opens_once(campaign: Campaign, lead: User) -> None:
    with pytest.raises(Refused, match="not a draft"):
        open_campaign(campaign=campaign, actor=lead)
    assert Assignment.objects.count() == 4


def test_later_documents_are_shared_out_too(campaign: Campaign, lead: User) -> None:
    make_document(campaign.dataset, "page-900", PAGE.format(number=900))
    assert assign_documents(campaign=campaign, actor=lead).documents == 1
    assert loads(campaign) == {"Ann": 3, "Ben": 3}
    with pytest.raises(Refused, match="already assigned"):
        assign_documents(campaign=campaign, actor=lead)


def test_closed_campaign_takes_no_documents(campaign: Campaign, lead: User) -> None:
    close_campaign(campaign=campaign, actor=lead)
    with pytest.raises(CampaignNotOpen):
        assign_documents(campaign=campaign, actor=lead)
    with pytest.raises(Refused, match="Only an open"):
        close_campaign(campaign=campaign, actor=lead)
    reopen_campaign(campaign=campaign, actor=lead)
    with pytest.raises(Refused, match="Only a closed"):
        reopen_campaign(campaign=campaign, actor=lead)


def test_slugs_come_from_titles_and_never_clash(organiser: User) -> None:
    slugs = [
        create_campaign(
            dataset=make_dataset(0), title=title, labels=["Number"], overlap=1, guidelines="",
            actor=organiser,
        ).slug
        for title in ("Q1 Filings!", "Q1 filings", "New", "财报", "x" * 160)
    ]  # fmt: skip
    assert slugs == ["q1-filings", "q1-filings-2", "new-2", "campaign", "x" * 60]


def test_removed_annotator_hands_over_what_was_not_begun(
    ann: User, ben: User, cleo: User, lead: User
) -> None:
    campaign = make_campaign([ann, ben, cleo], lead=lead, documents=3)
    handed_over = remove_member(membership=membership(campaign, ann), actor=lead)
    assert handed_over == 2
    assert loads(campaign) == {"Ben": 3, "Cleo": 3}
    assert all(d.assignments.count() == 2 for d in campaign.documents.all())


def test_begun_work_holds_its_annotator(campaign: Campaign, ann: User, lead: User) -> None:
    save(work_of(ann, campaign), ("Number", "1,200"))
    with pytest.raises(Refused, match="Ann has started 1 document and not submitted it"):
        remove_member(membership=membership(campaign, ann), actor=lead)
    assert loads(campaign)["Ann"] == 2


def test_no_one_left_to_take_over_is_refused(campaign: Campaign, ann: User, lead: User) -> None:
    with pytest.raises(Refused, match="No other annotator can take over"):
        remove_member(membership=membership(campaign, ann), actor=lead)
    assert membership(campaign, ann)


def test_submitted_work_of_former_members_counts(campaign: Campaign, ann: User, lead: User) -> None:
    for number in (1, 2):
        submit(work_of(ann, campaign, number), ("Number", "1,200"))
    remove_member(membership=membership(campaign, ann), actor=lead)
    assert loads(campaign)["Ann"] == 2


def test_late_save_of_handed_over_work_is_refused(
    ann: User, ben: User, cleo: User, lead: User
) -> None:
    campaign = make_campaign([ann, ben, cleo], lead=lead, documents=3)
    work = Assignment.objects.filter(annotator=ann).first()
    assert work is not None
    remove_member(membership=membership(campaign, ann), actor=lead)
    with pytest.raises(Reassigned):
        save_spans(assignment=work, base_revision=0, save_key="late", spans=[], author=ann)


def test_adding_twice_is_adding_once(campaign: Campaign, ann: User, lead: User) -> None:
    before = Event.objects.count()
    add_member(campaign=campaign, user=ann, role="annotator", actor=lead)
    assert Membership.objects.filter(campaign=campaign, user=ann).count() == 1
    assert Event.objects.count() == before


def test_every_act_leaves_an_event(disputed: Campaign, lead: User, cleo: User) -> None:
    add_member(campaign=disputed, user=cleo, role="reviewer", actor=lead)
    close_campaign(campaign=disputed, actor=lead)
    verbs = set(Event.objects.values_list("verb", flat=True))
    assert verbs == {
        "create_campaign",
        "add_member",
        "open_campaign",
        "submit_assignment",
        "settle_document",
        "close_campaign",
    }
    assert Event.objects.get(verb="close_campaign").actor == lead


# --- pages -------------------------------------------------------------------------------------

NEW = {
    "title": "Autumn round",
    "labels": "Number, Date",
    "overlap": "2",
    "guidelines": "Mark it.",
    "agreement_threshold": "1",
    "review_pages": "100",
    "review_percent": "5",
    "qualification_f1": "0.9",
}


def test_organiser_makes_a_campaign(organiser: User, client_of: ClientOf) -> None:
    dataset = make_dataset(1, slug="filings")
    client = client_of(organiser)
    form = client.get("/campaigns/new/?dataset=filings").context["form"]
    assert form["dataset"].value() == "filings"
    assert form["guidelines"].value() == default_guidelines()
    response = client.post("/campaigns/new/", NEW | {"dataset": dataset.slug})
    assert response["Location"] == "/campaigns/autumn-round/people/"
    campaign = Campaign.objects.get()
    assert (campaign.labels, campaign.overlap, campaign.dataset) == (["Number", "Date"], 2, dataset)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"labels": ""}, "labels"),
        ({"labels": "Number, number"}, "labels"),
        ({"labels": "Number, Table"}, "labels"),
        ({"labels": "O"}, "labels"),
        ({"labels": "two words"}, "labels"),
        ({"labels": ", ".join(f"L{n}" for n in range(10))}, "labels"),
        ({"overlap": "0"}, "overlap"),
        ({"overlap": "5"}, "overlap"),
        ({"dataset": "nowhere"}, "dataset"),
        ({"title": ""}, "title"),
    ],
)
def test_wrong_campaign_is_named_by_field(
    organiser: User, client_of: ClientOf, change: dict[str, str], field: str
) -> None:
    make_dataset(1, slug="filings")
    response = client_of(organiser).post("/campaigns/new/", NEW | {"dataset": "filings"} | change)
    assert response.status_code == 200
    assert list(response.context["form"].errors) == [field]
    assert not Campaign.objects.exists()


def test_overview_says_what_comes_next_by_role(
    campaign: Campaign, ann: User, lead: User, organiser: User, client_of: ClientOf
) -> None:
    def steps(user: User) -> list[tuple[bool, str]]:
        found = client_of(user).get("/campaigns/spring-round/").context["steps"]
        return [(step.is_mine, step.text) for step in found]

    assert steps(ann) == [
        (True, "Label 2 documents."),
        (False, "Complete 2 annotation tasks."),
    ]
    assert steps(lead) == [(False, "Complete 4 annotation tasks.")]
    make_document(campaign.dataset, "page-900", PAGE.format(number=900))
    assert (True, "Assign 1 new document.") in steps(organiser)
    Campaign.objects.update(screening=True)
    assert (True, "Add 1 new document to screening.") in steps(organiser)
    client = client_of(organiser)
    client.post("/campaigns/spring-round/assign/")
    page = client.get("/campaigns/spring-round/").content.decode()
    assert "1 document added to screening. 1 document is not screened yet." in page
    assert "0 of 3 documents" in page


def test_overview_of_a_draft_asks_for_people_first(
    ann: User, ben: User, lead: User, client_of: ClientOf
) -> None:
    campaign = make_campaign([ann], lead=lead, opened=False)
    client = client_of(lead)
    (step,) = client.get("/campaigns/spring-round/").context["steps"]
    assert (step.text, step.is_mine) == ("Add 1 annotator. Every document needs 2.", True)
    add_member(campaign=campaign, user=ben, role="annotator", actor=lead)
    (step,) = client.get("/campaigns/spring-round/").context["steps"]
    assert step.text.startswith("Open the campaign. 1 document ")


def test_overview_sends_leads_to_cases_and_then_to_the_release(
    disputed: Campaign, ann: User, ben: User, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    texts = [step.text for step in client.get("/campaigns/spring-round/").context["steps"]]
    assert texts == [
        "Adjudicate 3 cases in 1 document.",
        "Complete 2 annotation tasks.",
    ]
    CampaignDocument.objects.update(stage=CampaignDocument.Stage.GOLD)
    assert (
        "Freeze a release of all 2 documents"
        in client.get("/campaigns/spring-round/").content.decode()
    )


def test_state_is_changed_by_buttons(ann: User, ben: User, lead: User, client_of: ClientOf) -> None:
    campaign = make_campaign([ann, ben], lead=lead, opened=False)
    client = client_of(lead)
    for verb, state in [("open", "open"), ("close", "closed"), ("reopen", "open")]:
        client.post(f"/campaigns/spring-round/{verb}/")
        campaign.refresh_from_db()
        assert campaign.state == state
    again = client.post("/campaigns/spring-round/open/", follow=True)
    assert "not a draft and cannot be opened" in again.content.decode()


def test_people_are_added_by_email_in_any_case(
    campaign: Campaign, cleo: User, lead: User, client_of: ClientOf
) -> None:
    client, address = client_of(lead), "/campaigns/spring-round/people/"
    client.post(address, {"emails": "CLEO@example.org", "role": "reviewer"})
    assert membership(campaign, cleo).role == Membership.Role.REVIEWER


def test_leads_do_not_choose_leads(
    campaign: Campaign, cleo: User, lead: User, organiser: User, client_of: ClientOf
) -> None:
    data = {"emails": cleo.email, "role": "lead"}
    refused = client_of(lead).post("/campaigns/spring-round/people/", data)
    assert refused.context["form"].errors["role"]
    assert not Membership.objects.filter(user=cleo).exists()
    remove = f"/campaigns/spring-round/people/{membership(campaign, lead).pk}/remove/"
    assert client_of(lead).post(remove).status_code == 403
    assert client_of(organiser).post(remove).status_code == 302
    client_of(organiser).post("/campaigns/spring-round/people/", data)
    assert membership(campaign, cleo).role == Membership.Role.LEAD


def test_membership_of_another_campaign_is_not_found(
    campaign: Campaign, ann: User, cleo: User, lead: User, client_of: ClientOf
) -> None:
    other = make_campaign([ann, cleo], title="Autumn round")
    address = f"/campaigns/spring-round/people/{membership(other, cleo).pk}/remove/"
    assert client_of(lead).post(address).status_code == 404


def test_guidelines_are_read_by_all_and_written_by_leads(
    campaign: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    address = "/campaigns/spring-round/guidelines/"
    assert "<strong>every</strong>" in client_of(ann).get(address).content.decode()
    assert client_of(ann).post(address, {"guidelines": "x"}).status_code == 403
    client_of(lead).post(address, {"guidelines": "Mark <b>less</b>."})
    campaign.refresh_from_db()
    assert campaign.guidelines == "Mark <b>less</b>."
    assert "<b>less" not in client_of(ann).get(address).content.decode()
    assert Event.objects.get(verb="edit_guidelines").data == {"version": 2}


def test_tasks_page_groups_and_offers_the_next(
    campaign: Campaign, ann: User, client_of: ClientOf
) -> None:
    save(work_of(ann, campaign, 2), ("Number", "1,200"))
    response = client_of(ann).get("/annotate/")
    (group,) = response.context["groups"]
    assert [len(tasks) for tasks in (group.to_do, group.in_progress, group.submitted)] == [1, 1, 0]
    assert group.next == work_of(ann, campaign, 2)
    assert "Continue page-002" in " ".join(response.content.decode().split())


def test_all_tasks_of_a_campaign_are_listed(
    campaign: Campaign, ann: User, client_of: ClientOf
) -> None:
    response = client_of(ann).get("/annotate/?campaign=spring-round")
    assert len(response.context["page"]) == 2
    assert len(client_of(ann).get("/annotate/?campaign=other").context["page"]) == 0


def test_page_without_tasks_gives_the_reason(stranger: User, client_of: ClientOf) -> None:
    assert "No tasks" in client_of(stranger).get("/annotate/").content.decode()
    assert "No campaigns yet" in client_of(stranger).get("/campaigns/").content.decode()


def test_workbench_has_what_its_front_end_needs(
    campaign: Campaign, ann: User, client_of: ClientOf
) -> None:
    work = work_of(ann, campaign)
    save(work, ("Number", "1,200"))
    context = client_of(ann).get(f"/annotate/{work.pk}/").context
    data = context["workbench_data"]
    assert (data["assignment"], data["revision"], data["state"]) == (work.pk, 1, "in_progress")
    assert data["labels"] == [
        {"name": "Number", "key": "1", "css": "label-1"},
        {"name": "Date", "key": "2", "css": "label-2"},
    ]
    own, rules = f"/api/v1/assignments/{work.pk}", "/api/v1/campaigns/spring-round/guidelines"
    assert data["urls"] == {
        "save": f"{own}/spans/",
        "submit": f"{own}/submit/",
        "content": f"{own}/content/",
        "facts": f"{own}/facts/",
        "boxes": f"{own}/boxes/",
        "warnings": f"{own}/warnings/",
        "revisions": f"{own}/revisions/",
        "comments": f"{own}/comments/",
        "flag": f"{own}/flag/",
        "export": f"{own}/export/",
        "import": f"{own}/import/",
        "tasks": "/annotate/",
        "html": f"/annotate/{work.pk}/html/",
        "guidelines": f"{rules}/",
        "guidelines_seen": f"{rules}/seen/",
        "guidelines_page": "/campaigns/spring-round/guidelines/",
    }
    assert [span["quote"] for span in data["spans"]] == ["1,200"]
    assert data["readonly"] is False
    assert (context["position"], context["html_url"]) == ("1 of 2", data["urls"]["html"])
    assert context["next_url"] == f"/annotate/{work_of(ann, campaign, 2).pk}/"


def test_workbench_is_read_only_once_submitted_or_closed(
    campaign: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    first, second = work_of(ann, campaign, 1), work_of(ann, campaign, 2)
    submit(first, ("Number", "1,200"))
    client = client_of(ann)
    assert client.get(f"/annotate/{first.pk}/").context["workbench_data"]["readonly"] is True
    close_campaign(campaign=campaign, actor=lead)
    assert client.get(f"/annotate/{second.pk}/").context["workbench_data"]["readonly"] is True
    assert client.get(f"/annotate/{first.pk}/").context["next_url"] is None


# --- API ---------------------------------------------------------------------------------------


def test_campaign_runs_by_api_alone(
    organiser: User, lead: User, ann: User, ben: User, api_of: ApiOf
) -> None:
    make_dataset(2, slug="filings")
    api, root = api_of(organiser), "/api/v1/campaigns/"
    body = {"dataset": "filings", "title": "By API", "labels": ["Number"], "overlap": 2}
    made = api.post(root, body, format="json")
    assert (made.status_code, made.json()["state"]) == (201, "draft")
    assert made.json()["guidelines"] == default_guidelines()
    address = f"{root}by-api/"
    for user, role in [(lead, "lead"), (ann, "annotator"), (ben, "annotator")]:
        added = api.post(f"{address}people/", {"email": user.email, "role": role}, format="json")
        assert added.status_code == 201
    opened = api_of(lead).post(f"{address}open/")
    stages = {stage: n for stage, n in opened.json()["stages"].items() if n}
    assert stages == {"annotation": 2, "total": 2}
    assert api_of(lead).post(f"{address}open/").status_code == 409
    assert api_of(lead).post(f"{address}assign/").json()["code"] == "nothing"
    written = api_of(lead).put(f"{address}guidelines/", {"guidelines": "New."}, format="json")
    assert (written.json()["guidelines"], written.json()["version"]) == ("New.", 2)
    assert api_of(ann).get(address).json()["guidelines"] == "New."
    assert [row["slug"] for row in api_of(ann).get(root).json()] == ["by-api"]
    assert api_of(lead).post(f"{address}close/").json()["state"] == "closed"
    assert api_of(lead).post(f"{address}reopen/").json()["state"] == "open"
    people = api_of(lead).get(f"{address}people/").json()
    removal = api_of(lead).delete(f"{address}people/{people[-1]['id']}/")
    assert (removal.status_code, removal.json()["code"]) == (409, "too_few_annotators")


@pytest.mark.parametrize(
    "change",
    [
        {"labels": []},
        {"labels": ["Table"]},
        {"labels": "Number"},
        {"overlap": 5},
        {"overlap": True, "title": ""},
        {"dataset": "nowhere"},
        {"title": None},
    ],
)
def test_api_names_the_wrong_field(
    organiser: User, api_of: ApiOf, change: dict[str, object]
) -> None:
    make_dataset(1, slug="filings")
    body = {"dataset": "filings", "title": "X", "labels": ["Number"], "overlap": 2} | change
    response = api_of(organiser).post("/api/v1/campaigns/", body, format="json")
    assert response.status_code == 400
    assert set(response.json()) <= set(change)
    assert response.json()


def test_api_adds_only_people_with_an_account(
    campaign: Campaign, lead: User, api_of: ApiOf
) -> None:
    address = "/api/v1/campaigns/spring-round/people/"
    body = {"email": "nobody@example.org", "role": "annotator"}
    assert "email" in api_of(lead).post(address, body, format="json").json()
    body = {"email": lead.email, "role": "lead"}
    assert api_of(lead).post(address, body, format="json").status_code == 403
