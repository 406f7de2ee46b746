"""Exporting a campaign and importing it into another loses nothing."""

from dataclasses import asdict
from typing import Any

import pytest

from annotation.agreement.selectors import campaign_agreement
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Case,
    GoldSpan,
    KnownGold,
    Membership,
    QualificationResult,
    ReviewItem,
    Screening,
    Span,
)
from portal.accounts.models import User
from tests.annotation.factories import document_of, work_of
from tests.factories import make_document
from tests.worlds import shared

from .campaign_files import (
    brought_in,
    empty_campaign,
    exported,
    finished_campaign,
    stages,
    unzipped,
)

pytestmark = pytest.mark.django_db
FORMS = ["labelstudio", "tags", "jsonl"]


@pytest.fixture
@shared
def finished(ann: User, ben: User, lead: User, reviewer: User) -> Campaign:
    return finished_campaign(ann, ben, lead, reviewer)


def gold_of(campaign: Campaign) -> list[Any]:
    rows = GoldSpan.objects.filter(campaign_document__campaign=campaign)
    fields = ("campaign_document__document", "label", "start", "end", "quote", "value", "sign")
    return list(rows.order_by("campaign_document__document", "start").values_list(*fields))


def work_in(campaign: Campaign, *, keys: bool = True) -> list[Any]:
    rows = Span.objects.filter(assignment__campaign_document__campaign=campaign)
    owner = ("assignment__campaign_document__document", "assignment__annotator")
    fields = (*owner, "start", "end", "label", "quote", "value", "sign", "edited")
    return list(rows.order_by(*owner, "start").values_list(*fields, *(["key"] if keys else [])))


@pytest.mark.parametrize("form", FORMS)
def test_gold_comes_back(finished: Campaign, form: str) -> None:
    other = empty_campaign(finished)
    done = brought_in(other, exported(finished, form, "gold"), form, "gold")
    assert (done.state, done.documents, done.moved, done.faults) == ("done", 2, 0, [])
    assert done.spans == len(gold_of(finished)) > 4
    assert gold_of(other) == gold_of(finished)
    assert stages(other) == ["gold", "gold"]
    assert {span.origin for span in GoldSpan.objects.filter(case=None)} >= {"imported"}


@pytest.mark.parametrize("form", FORMS)
def test_the_work_of_every_annotator_comes_back(
    finished: Campaign, ann: User, ben: User, form: str
) -> None:
    """One file has the work of both, distinguished by pseudonyms."""
    other = empty_campaign(finished, ann, ben, opened=True)
    file = exported(finished, form, "annotations")
    for annotator in (ann, ben):
        done = brought_in(other, file, form, "annotations", annotator)
        assert (done.state, done.documents, done.faults) == ("done", 2, [])
    keys = form != "tags"
    assert work_in(other, keys=keys) == work_in(finished, keys=keys)
    assert stages(other) == ["adjudication", "adjudication"]
    assert asdict(campaign_agreement(other)) == asdict(campaign_agreement(finished))


def test_values_of_ones_own_come_back(finished: Campaign, ann: User, ben: User) -> None:
    span = Span.objects.filter(quote="(310)").first()
    assert span is not None
    Span.objects.filter(pk=span.pk).update(value="310000", sign="plain", edited=True)
    for form in ("labelstudio", "jsonl"):
        other = empty_campaign(finished, ann, ben, opened=True)
        file = exported(finished, form, "annotations")
        brought_in(other, file, form, "annotations", span.assignment.annotator)
        mine = Span.objects.get(assignment__campaign_document__campaign=other, edited=True)
        assert (mine.value, mine.sign, mine.start) == ("310000", "plain", span.start)


def test_a_whole_campaign_comes_back(finished: Campaign, lead: User) -> None:
    """Every file of a second export is identical, byte for byte."""
    item = ReviewItem.objects.first()
    assert item is not None
    other = empty_campaign(finished)
    before = unzipped(exported(finished, "full"))
    done = brought_in(other, exported(finished, "full"), "full")
    assert (done.state, done.documents, done.faults) == ("done", 2, [])
    after = unzipped(exported(other, "full"))
    differing = [name for name in before if before[name] != after[name]]
    assert differing == ["campaign.json"]
    assert asdict(campaign_agreement(other)) == asdict(campaign_agreement(finished))
    assert gold_of(other) == gold_of(finished)
    assert work_in(other) == work_in(finished)
    case = Case.objects.filter(campaign_document__campaign=other).first()
    assert case is not None
    assert {entry["assignment"] for entry in case.proposals} <= set(
        Assignment.objects.filter(campaign_document=case.campaign_document).values_list(
            "pk", flat=True
        )
    )
    for name in ("revisions", "comments", "cases", "decisions", "review_items", "known_gold"):
        assert (before[f"{name}.jsonl"] != b"") is (name != "known_gold")
    other.refresh_from_db()
    assert (other.state, other.guidelines, other.guidelines_version) == ("open", "Mark **all**.", 2)


def test_everything_around_the_work_comes_back(
    finished: Campaign, ann: User, cleo: User, lead: User
) -> None:
    """Screening, qualification, faults of validation, and a handover."""
    first = document_of(finished)
    Screening.objects.create(
        campaign_document=first,
        verdict="faulty",
        faults=["ocr"],
        reason="Blurred",
        screened_by=lead,
    )
    faults = [{"assignment": work_of(ann, finished).pk, "key": "k", "code": "c", "message": "m"}]
    CampaignDocument.objects.filter(pk=first.pk).update(faults=faults, overlap=3)
    Assignment.objects.create(campaign_document=first, annotator=cleo, state="withdrawn")
    page = CampaignDocument.objects.create(
        campaign=finished,
        document=make_document(finished.dataset, "page-900", "<p>Known 12</p>"),
        purpose="qualification",
    )
    KnownGold.objects.create(campaign_document=page, spans=[[6, 8, "Number"]], source="0.1.0")
    trial = Assignment.objects.create(
        campaign_document=page, annotator=ann, state="submitted", submitted_at=first.settled_at
    )
    QualificationResult.objects.create(assignment=trial, attempt=1, matched=1, marked=2, expected=1)
    Membership.objects.filter(user=ann).update(qualified_at=first.settled_at, seen_guidelines=2)

    other = empty_campaign(finished)
    before = unzipped(exported(finished, "full"))
    done = brought_in(other, exported(finished, "full"), "full")
    after = unzipped(exported(other, "full"))
    assert (done.documents, done.faults) == (3, [])
    assert [name for name in before if before[name] != after[name]] == ["campaign.json"]
    assert all(before.values())
    copied = CampaignDocument.objects.get(campaign=other, document=first.document)
    assert copied.faults[0]["assignment"] == work_of(ann, other).pk
