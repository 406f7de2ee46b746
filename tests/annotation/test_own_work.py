"""No one decides about their own work, whatever other roles they have."""

from collections.abc import Callable

import pytest
from django.urls import reverse

from annotation.adjudication.services import (
    decide_case,
    let_pass,
    reopen_case,
    reopen_document,
    send_back,
)
from annotation.campaigns.services import change_settings
from annotation.campaigns.waiting import person_waiting
from annotation.errors import OwnWork, Refused
from annotation.models import Campaign, CampaignDocument, Case, Membership, Span
from annotation.qualification.services import grant_qualification_try, qualify_by_decision
from portal.accounts.models import User
from portal.datasets.disputes.services import DisputeRefused, decide_dispute, raise_dispute
from portal.datasets.models import Dataset, Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from portal.facts import Span as TextSpan
from tests.fixture_types import ApiOf, ClientOf

from .factories import document_of, save, submit, work_of
from .qualification.qualification_factories import RIGHT, hold_round, member_of, trial_of

pytestmark = pytest.mark.django_db

Act = Callable[[Campaign, User], object]


@pytest.fixture
def own(disputed: Campaign, ann: User, organiser: User) -> Campaign:
    """Ann, an annotator of the disputed document, is a lead and an organiser as well."""
    Membership.objects.create(campaign=disputed, user=ann, role="lead")
    User.objects.filter(pk=ann.pk).update(is_organiser=True, is_superuser=True)
    ann.refresh_from_db()
    return disputed


def first_case(campaign: Campaign) -> Case:
    case = Case.objects.filter(campaign_document__campaign=campaign).first()
    assert case is not None
    return case


def decide(campaign: Campaign, actor: User) -> object:
    return decide_case(case=first_case(campaign), choice="neither", reason="No.", actor=actor)


def reopen(campaign: Campaign, actor: User) -> object:
    return reopen_case(case=first_case(campaign), reason="Wrong.", actor=actor)


def reopen_range(campaign: Campaign, actor: User) -> object:
    page = document_of(campaign)
    return reopen_document(campaign_document=page, start=16, end=21, reason="No.", actor=actor)


@pytest.mark.parametrize("act", [decide, reopen, reopen_range])
def test_annotators_do_not_adjudicate_their_documents(
    own: Campaign, ann: User, lead: User, act: Act
) -> None:
    if act is reopen:
        decide(own, lead)
    with pytest.raises(OwnWork):
        act(own, ann)
    act(own, lead)


def test_former_annotators_do_not_adjudicate_their_documents(own: Campaign, ann: User) -> None:
    member_of(ann, own).delete()
    with pytest.raises(OwnWork):
        decide(own, ann)


def test_leads_adjudicate_documents_that_they_passed_on(own: Campaign, ann: User) -> None:
    document_of(own).assignments.filter(annotator=ann).update(state="withdrawn", submitted_at=None)
    assert decide(own, ann)


def test_pages_and_api_say_who_must_decide(
    own: Campaign, ann: User, lead: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    case = first_case(own)
    page = client_of(ann).get(reverse("annotation:case", args=[own.slug, case.pk]))
    assert OwnWork.message in page.content.decode()
    assert 'name="choice"' not in page.content.decode()
    posted = client_of(ann).post(
        reverse("annotation:case", args=[own.slug, case.pk]), {"choice": "neither", "reason": "x"}
    )
    assert OwnWork.message in posted.content.decode()
    url = reverse("annotation:adjudication-page", args=[own.slug, "page-001"])
    assert OwnWork.message in client_of(ann).get(url).content.decode()
    assert OwnWork.message not in client_of(lead).get(url).content.decode()
    queue = reverse("annotation:adjudication", args=[own.slug])
    assert client_of(ann).get(queue).context["first"] is None
    assert client_of(lead).get(queue).context["first"]
    data = reverse("api:adjudication-page", args=[own.slug, "page-001"])
    assert api_of(ann).get(data).json()["obstacle"] == OwnWork.message
    assert api_of(lead).get(data).json()["obstacle"] == ""
    answer = api_of(ann).post(
        f"/api/v1/campaigns/{own.slug}/cases/{case.pk}/decide/",
        {"choice": "neither", "reason": "x"},
        format="json",
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "own_work")
    case.refresh_from_db()
    assert case.state == "open"


def steps_of(user: User, campaign: Campaign, client_of: ClientOf) -> list[tuple[bool, str]]:
    url = reverse("annotation:campaign", args=[campaign.slug])
    steps = client_of(user).get(url).context["steps"]
    return [(step.is_mine, step.text) for step in steps if "case" in step.text]


def test_own_cases_are_not_counted_as_tasks(
    own: Campaign, ann: User, lead: User, client_of: ClientOf
) -> None:
    cases = Case.objects.filter(campaign_document__campaign=own, state="open").count()
    said = f"{cases} case{'' if cases == 1 else 's'} in 1 document."
    assert steps_of(lead, own, client_of) == [(True, f"Adjudicate {said}")]
    assert steps_of(ann, own, client_of) == [(False, f"Adjudicate {said}")]
    of_ann, of_lead = person_waiting(own, ann.pk), person_waiting(own, lead.pk)
    assert of_ann
    assert of_lead
    assert "adjudication" not in {work.kind for work in of_ann.work}
    assert {work.count for work in of_lead.work if work.kind == "adjudication"} == {cases}
    queue = reverse("annotation:adjudication", args=[own.slug])
    assert "You annotated the documents of" in client_of(ann).get(queue).content.decode()
    assert "You annotated the documents of" not in client_of(lead).get(queue).content.decode()
    Membership.objects.filter(campaign=own, user=lead).delete()
    assert steps_of(ann, own, client_of) == [
        (True, f"Add a lead. All leads annotated the documents of {said}")
    ]


def test_annotators_do_not_validate_their_documents(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    Membership.objects.create(campaign=campaign, user=ann, role="lead")
    save(work_of(ann, campaign), ("Number", "1,200"))
    Span.objects.filter(assignment=work_of(ann, campaign)).update(quote="9,999")
    submit(work_of(ann, campaign))
    submit(work_of(ben, campaign), ("Number", "1,200"))
    page = document_of(campaign)
    assert page.stage == CampaignDocument.Stage.VALIDATION
    with pytest.raises(OwnWork):
        let_pass(campaign_document=page, reason="Fine.", actor=ann)
    with pytest.raises(OwnWork):
        works = [work_of(ben, campaign).pk]
        send_back(campaign_document=page, assignments=works, reason="Again.", actor=ann)
    let_pass(campaign_document=page, reason="Fine.", actor=lead)


def test_leads_do_not_qualify_themselves(
    campaign: Campaign, ann: User, ben: User, lead: User, client_of: ClientOf
) -> None:
    Membership.objects.create(campaign=campaign, user=ann, role="lead")
    hold_round(campaign)
    for number in (1, 2):
        submit(trial_of(ann, campaign, number), *RIGHT[:1])
    with pytest.raises(Refused, match="own qualification"):
        qualify_by_decision(campaign=campaign, user=ann, reason="I am good.", actor=ann)
    with pytest.raises(Refused, match="own qualification"):
        grant_qualification_try(campaign=campaign, user=ann, actor=ann)
    with pytest.raises(Refused, match="own qualification"):
        change_settings(campaign=campaign, actor=ann, qualification_f1=0.1)
    campaign.refresh_from_db()
    assert campaign.qualification_f1 > 0.1
    assert member_of(ann, campaign).qualified_at is None
    page = client_of(ann).get(reverse("annotation:qualification", args=[campaign.slug]))
    shown = page.content.decode()
    assert "Reason to qualify Ben" in shown
    assert "Reason to qualify Ann" not in shown
    change_settings(campaign=campaign, actor=lead, qualification_f1=0.1)
    assert member_of(ann, campaign).qualified_at is not None


def _released(campaign: Campaign) -> Release:
    page = document_of(campaign)
    items = [GoldItem(page.document, [TextSpan(16, 21, "Number")])]
    return freeze_release(
        dataset=campaign.dataset, version="1.0.0", items=items, labels=campaign.labels,
        visibility="public",
    )  # fmt: skip


def test_disputes_are_not_decided_by_the_annotators_of_their_document(
    own: Campaign, ann: User, lead: User, researcher: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    Dataset.objects.filter(pk=own.dataset_id).update(visibility="public")
    release = _released(own)
    dispute = raise_dispute(
        item=release.items.get(), fact=0, claim="1,300", reason="It is.", actor=researcher
    )
    with pytest.raises(DisputeRefused, match="You annotated or adjudicated this document"):
        decide_dispute(dispute=dispute, accept=False, answer="No.", actor=ann, origin="")
    path = f"/datasets/{own.dataset.slug}/disputes/{dispute.pk}/"
    shown = client_of(ann).get(path).content.decode()
    assert "You annotated or adjudicated this document" in shown
    assert 'name="decision"' not in shown
    api = f"/api/v1/datasets/{own.dataset.slug}/disputes/{dispute.pk}/"
    decision = {"accept": False, "answer": "No."}
    assert api_of(ann).post(f"{api}decide/", decision, format="json").status_code == 403
    assert api_of(ann).get(api).json()["may_decide"] is False
    first = api_of(lead).post(f"{api}decide/", decision, format="json")
    assert (first.status_code, first.json()["state"]) == (200, "declined")
    other = api_of(lead).post(f"{api}decide/", decision | {"accept": True}, format="json")
    assert other.status_code == 409
    assert "was already declined by Lea" in other.json()["detail"]
    again = api_of(lead).post(f"{api}decide/", decision, format="json")
    assert (again.status_code, again.json()["state"]) == (200, "declined")


def test_disputes_are_not_decided_by_the_adjudicators_of_their_document(
    disputed: Campaign, lead: User, researcher: User, organiser: User
) -> None:
    decide(disputed, lead)
    dispute = raise_dispute(
        item=_released(disputed).items.get(), fact=0, claim="1,300", reason="So.", actor=researcher
    )
    with pytest.raises(DisputeRefused, match="You annotated or adjudicated this document"):
        decide_dispute(dispute=dispute, accept=False, answer="No.", actor=lead, origin="")
    decided = decide_dispute(
        dispute=dispute, accept=False, answer="No.", actor=organiser, origin=""
    )
    assert decided.state == "declined"
