"""Campaigns contain only pages that are not held back, and no images."""

import pytest

from annotation.assignments.selectors import document_rows
from annotation.assignments.sharing import choose_calibration
from annotation.campaigns.people import add_member
from annotation.campaigns.selectors import campaign_overview, gold_documents, unfinished_documents
from annotation.campaigns.services import create_campaign, open_campaign
from annotation.errors import Refused
from annotation.models import Campaign, CampaignDocument
from portal.accounts.models import User
from portal.datasets.models import Dataset, Document
from tests.factories import empty_dataset, make_document, make_picture
from tests.fixture_types import ApiOf, ClientOf
from tests.worlds import shared

pytestmark = pytest.mark.django_db


@pytest.fixture
@shared
def dataset() -> Dataset:
    dataset = empty_dataset()
    for name in ("a", "b"):
        make_document(dataset, name, f"<p>Net 1,200 of {name}</p>")
    held = make_document(dataset, "held", "<p>Net 7 of Ann</p>")
    held.state, held.held_reason = Document.State.HELD, "a private address"
    held.save()
    digest = "0" * 64
    Document.objects.create(
        dataset=dataset, name="picture", kind=Document.Kind.PICTURE, text_chars=0,
        source_sha256=digest, html_sha256=digest, text_sha256=digest,
    )  # fmt: skip
    return dataset


@pytest.fixture
@shared
def campaign(dataset: Dataset, ann: User) -> Campaign:
    campaign = create_campaign(
        dataset=dataset, title="C", labels=["Number"], overlap=1, guidelines="", actor=None
    )
    add_member(campaign=campaign, user=ann, role="annotator", actor=None)
    return campaign


def names(campaign: Campaign) -> list[str]:
    rows = CampaignDocument.objects.filter(campaign=campaign).order_by("document__name")
    return list(rows.values_list("document__name", flat=True))


def test_open_campaign_has_pages_alone(campaign: Campaign) -> None:
    assert [row.name for row in document_rows(campaign)] == ["a", "b"]
    assert campaign_overview(campaign).new_documents == 2
    open_campaign(campaign=campaign, actor=None)
    assert names(campaign) == ["a", "b"]
    assert campaign_overview(campaign).new_documents == 0
    assert [one.name for one in unfinished_documents(campaign)] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("held", "held is held back: a private address"), ("picture", "is an image without text")],
)
def test_what_cannot_be_labelled_cannot_be_chosen(
    campaign: Campaign, lead: User, name: str, message: str
) -> None:
    with pytest.raises(Refused, match=message):
        choose_calibration(campaign=campaign, names=[name], actor=lead)
    assert names(campaign) == []


def test_campaign_without_a_page_to_label_says_why(campaign: Campaign) -> None:
    Document.objects.filter(kind="page").update(state="held", held_reason="x")
    with pytest.raises(Refused, match="no documents to label"):
        open_campaign(campaign=campaign, actor=None)


@pytest.fixture
def receipts() -> Dataset:
    dataset = empty_dataset(slug="receipts")
    make_picture(dataset, "r-1")
    return dataset


def test_dataset_of_images_is_refused_with_the_reason(
    receipts: Dataset, organiser: User, client_of: ClientOf, api_of: ApiOf
) -> None:
    reason = "This dataset contains only images. A campaign needs documents with HTML."
    form = client_of(organiser).get("/campaigns/new/?dataset=receipts").context["form"]
    sent = {field.name: field.value() for field in form if field.value() is not None}
    response = client_of(organiser).post("/campaigns/new/", sent | {"title": "C"})
    assert response.context["form"].errors == {"dataset": [reason]}
    body = {"dataset": "receipts", "title": "C", "labels": ["Number"], "overlap": 1}
    refused = api_of(organiser).post("/api/v1/campaigns/", body, format="json")
    assert (refused.status_code, refused.json()["message"]) == (409, reason)
    assert not Campaign.objects.exists()


def test_draft_says_that_the_documents_cannot_be_labelled(
    campaign: Campaign, organiser: User, client_of: ClientOf
) -> None:
    Document.objects.filter(kind="page").update(state="held", held_reason="x")
    steps = client_of(organiser).get(campaign.get_absolute_url()).context["steps"]
    assert [step.text for step in steps] == [
        "The dataset has no documents to label. Its documents are images, held back, or used for "
        "qualification."
    ]


def test_gold_that_is_held_back_later_blocks_a_release(campaign: Campaign) -> None:
    open_campaign(campaign=campaign, actor=None)
    Campaign.objects.update(review_pages=0)
    campaign.refresh_from_db()
    CampaignDocument.objects.filter(campaign=campaign).update(stage="gold")
    Document.objects.filter(name="a").update(state="held", held_reason="x")
    assert [row.document.name for row in gold_documents(campaign)] == ["b"]
    assert [(one.name, one.stage) for one in unfinished_documents(campaign)] == [
        ("a", "gold, held back")
    ]
