"""Workflow settings: ranges, and settings that can no longer be changed."""

import math
from typing import Any

import pytest

from annotation.campaigns.services import (
    CampaignSettings,
    change_settings,
    close_campaign,
    create_campaign,
    fixed_settings,
    open_campaign,
    settings_of,
)
from annotation.errors import Refused
from annotation.models import Campaign, CampaignDocument
from portal.accounts.models import User
from portal.audit.models import Event
from tests.annotation.factories import make_campaign, make_dataset, submit, work_of
from tests.fixture_types import ApiOf, ClientOf

pytestmark = pytest.mark.django_db

ADDRESS = "/campaigns/spring-round/settings/"
FORM = {
    "overlap": "2",
    "agreement_threshold": "1.0",
    "review_pages": "100",
    "review_percent": "5",
    "qualification_f1": "0.9",
}


def test_new_campaign_begins_with_the_papers_figures(organiser: User) -> None:
    campaign = create_campaign(
        dataset=make_dataset(1), title="New", labels=["Number"], overlap=1, guidelines="",
        actor=organiser,
    )  # fmt: skip
    assert settings_of(campaign) == CampaignSettings(False, 1.0, 100, 0.05, 0.9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("agreement_threshold", 1.01),
        ("agreement_threshold", -0.1),
        ("agreement_threshold", math.nan),
        ("review_pages", -1),
        ("review_pages", 100_001),
        ("review_share", 0),
        ("review_share", 1.1),
        ("qualification_f1", math.inf),
        ("overlap", 5),
        ("overlap", 0),
    ],
)
def test_value_out_of_range_changes_nothing(
    ann: User, ben: User, lead: User, name: str, value: float
) -> None:
    campaign = make_campaign([ann, ben], lead=lead, opened=False)
    changes: dict[str, Any] = {"review_pages": 50, name: value}
    with pytest.raises(Refused) as refused:
        change_settings(campaign=campaign, actor=lead, **changes)
    assert refused.value.code == name
    assert settings_of(Campaign.objects.get()) == settings_of(campaign)


def test_campaign_is_not_made_with_wrong_settings(organiser: User) -> None:
    with pytest.raises(Refused, match="between 0 and 1"):
        create_campaign(
            dataset=make_dataset(1), title="No", labels=["Number"], overlap=1, guidelines="",
            actor=organiser, settings=CampaignSettings(agreement_threshold=2),
        )  # fmt: skip
    assert not Campaign.objects.exists()


def test_change_is_recorded_with_both_values(campaign: Campaign, lead: User) -> None:
    before = campaign.review_pages
    change_settings(campaign=campaign, actor=lead, review_pages=50, review_share=0.05)
    assert Event.objects.get(verb="change_settings").data == {
        "changed": {"review_pages": [before, 50]}
    }
    change_settings(campaign=campaign, actor=lead, review_pages=50)
    assert Event.objects.filter(verb="change_settings").count() == 1


def test_what_is_fixed_follows_the_work(ann: User, ben: User, lead: User, organiser: User) -> None:
    campaign = make_campaign([ann, ben], lead=lead, documents=2, opened=False)
    assert fixed_settings(campaign) == {}
    change_settings(campaign=campaign, actor=lead, screening=True, overlap=1)
    campaign.refresh_from_db()
    open_campaign(campaign=campaign, actor=lead)
    assert set(fixed_settings(campaign)) == {"overlap", "screening"}
    with pytest.raises(Refused, match="2 documents are not screened yet"):
        change_settings(campaign=campaign, actor=lead, screening=False)
    CampaignDocument.objects.update(stage=CampaignDocument.Stage.ANNOTATION)
    change_settings(campaign=campaign, actor=lead, screening=False)
    with pytest.raises(Refused, match="Documents"):
        change_settings(campaign=campaign, actor=lead, overlap=2)
    close_campaign(campaign=campaign, actor=lead)
    assert set(fixed_settings(campaign)) == {"overlap", "screening", "qualification_f1"}


def test_threshold_is_fixed_by_the_first_settled_document(
    campaign: Campaign, ann: User, ben: User, lead: User
) -> None:
    change_settings(campaign=campaign, actor=lead, agreement_threshold=0.5)
    for user in (ann, ben):
        submit(work_of(user, campaign), ("Number", "1,200"))
    with pytest.raises(Refused, match="already been applied to some documents"):
        change_settings(campaign=campaign, actor=lead, agreement_threshold=0.6)


def test_page_changes_what_can_be_changed(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    client = client_of(lead)
    data = FORM | {"overlap": "4", "screening": "on", "review_percent": "7.5"}
    assert client.post(ADDRESS, data).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.overlap, campaign.screening, campaign.review_share) == (2, True, 0.075)
    wrong = client.post(ADDRESS, data | {"agreement_threshold": "2"})
    assert list(wrong.context["form"].errors) == ["agreement_threshold"]
    assert "Locked:" in client.get(ADDRESS).content.decode()


def test_share_that_is_shown_rounded_stays_exact(
    campaign: Campaign, lead: User, client_of: ClientOf
) -> None:
    change_settings(campaign=campaign, actor=lead, review_share=1 / 3)
    shown = client_of(lead).get(ADDRESS).context["form"]["review_percent"].value()
    client_of(lead).post(ADDRESS, FORM | {"review_percent": str(shown), "review_pages": "9"})
    campaign.refresh_from_db()
    assert (campaign.review_share, campaign.review_pages) == (1 / 3, 9)


def test_settings_by_api(campaign: Campaign, organiser: User, lead: User, api_of: ApiOf) -> None:
    api, address = api_of(lead), "/api/v1/campaigns/spring-round/settings/"
    assert api.get(address).json()["agreement_threshold"] == 1
    changed = api.patch(address, {"review_pages": 20}, format="json").json()
    assert (changed["review_pages"], list(changed["fixed"])) == (20, ["overlap"])
    refused = api.patch(address, {"overlap": 3}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "overlap")
    assert api.patch(address, {"review_share": 0}, format="json").status_code == 400
    make_dataset(1, slug="filings")
    body = {
        "dataset": "filings", "title": "By API", "labels": ["Number"], "overlap": 2,
        "screening": True, "review_share": 0.1,
    }  # fmt: skip
    made = api_of(organiser).post("/api/v1/campaigns/", body, format="json").json()
    assert made["settings"] == {
        "screening": True, "agreement_threshold": 1.0, "review_pages": 100, "review_share": 0.1,
        "qualification_f1": 0.9,
    }  # fmt: skip
