"""The sample campaign: every stage of the quality workflow, with open work in each.

The annotators of each document come from the shipped labels, so the campaign's documents are
created here. All other steps use the same services as the pages.
"""

import json
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.campaigns.people import add_member
from annotation.campaigns.services import create_campaign, default_guidelines
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    Membership,
    ReviewItem,
    Screening,
    Span,
)
from annotation.qualification.services import add_qualification
from annotation.review.services import decide_item
from annotation.screening.services import screen_document
from annotation.workbench.services import save_spans, submit_assignment
from portal.datasets.models import Document, Release

from .parts import DATA, LABELS, SLUG, Cast, SampleError

# Small enough to show a majority, and a review, with few pages.
SETTINGS = {"screening": True, "agreement_threshold": 0.7, "review_pages": 4, "review_share": 0.05}
NEWCOMER = "annotator5"
REVIEWED = 3

Stage = CampaignDocument.Stage
Purpose = CampaignDocument.Purpose


def load_campaign(release: Release, cast: Cast) -> Campaign:
    """Create the campaign for the dataset of `release`, whose gold is used for qualification."""
    campaign = Campaign.objects.filter(slug=SLUG).first()
    if campaign is not None:
        return campaign
    shipped: dict[str, Any] = json.loads((DATA / "annotators.json").read_bytes())
    with transaction.atomic():
        campaign = _new_campaign(release, shipped["annotators"], cast)
        for document in shipped["documents"]:
            if document["purpose"] != Purpose.QUALIFICATION:
                _load_document(campaign, document, cast)
        _add_newcomer(campaign, release, shipped["documents"], cast)
        _begin_review(campaign, cast)
    return campaign


def _new_campaign(release: Release, annotators: list[str], cast: Cast) -> Campaign:
    campaign = create_campaign(
        dataset=release.dataset,
        title="Sample campaign",
        labels=LABELS,
        overlap=2,
        guidelines=default_guidelines(),
        actor=cast["organiser"],
        slug=SLUG,
        is_sample=True,
    )
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.OPEN, **SETTINGS)
    campaign.refresh_from_db()
    roles = [(key, Membership.Role.ANNOTATOR) for key in annotators]
    roles += [("lead", Membership.Role.LEAD), ("reviewer", Membership.Role.REVIEWER)]
    for key, role in roles:
        add_member(campaign=campaign, user=cast[key], role=role, actor=cast["organiser"])
    # The first annotators need no qualification round.
    campaign.memberships.filter(role=Membership.Role.ANNOTATOR).update(qualified_at=timezone.now())
    return campaign


def _load_document(campaign: Campaign, shipped: Mapping[str, Any], cast: Cast) -> None:
    document = Document.objects.get(dataset=campaign.dataset, name=shipped["id"])
    if document.text_sha256 != shipped["text_sha256"]:
        raise SampleError(f"{document.name}: the labels were made for another text")
    waits = shipped["stage"] in {Stage.SCREENING, Stage.EXCLUDED}
    row = CampaignDocument.objects.create(
        campaign=campaign,
        document=document,
        purpose=shipped["purpose"],
        stage=Stage.SCREENING if waits else Stage.ANNOTATION,
    )
    if shipped["stage"] == Stage.EXCLUDED:
        screen_document(
            campaign_document=row,
            verdict=Screening.Verdict.FAULTY,
            faults=[Screening.Fault.OTHER],
            reason="Sample data: shows how an excluded page looks.",
            actor=cast["lead"],
        )
    if waits:
        return
    Screening.objects.create(
        campaign_document=row, verdict=Screening.Verdict.INTACT, screened_by=cast["lead"]
    )
    works = [
        Assignment.objects.create(campaign_document=row, annotator=cast[work["annotator"]])
        for work in shipped["assignments"]
    ]
    # Create all assignments before the first is submitted: a document settles with its last one.
    for assignment, work in zip(works, shipped["assignments"], strict=True):
        _do_work(assignment, work)


def _do_work(assignment: Assignment, work: Mapping[str, Any]) -> None:
    if work["state"] == Assignment.State.ASSIGNED:
        return
    text = assignment.campaign_document.document.content.text
    spans = [{"key": f"s{number}", **span} for number, span in enumerate(work["spans"])]
    drifted = {span["key"]: span["quote"] for span in spans if _stands(text, span) != span["quote"]}
    saved = save_spans(
        assignment=assignment,
        base_revision=0,
        save_key="sample",
        spans=[span | {"quote": _stands(text, span)} for span in spans],
        author=assignment.annotator,
    )
    # Saves reject wrong quotes, so this bypasses them, to give validation something to find.
    for key, quote in drifted.items():
        Span.objects.filter(assignment=assignment, key=key).update(quote=quote)
    if work["state"] == Assignment.State.SUBMITTED:
        submit_assignment(
            assignment=assignment,
            base_revision=saved.revision,
            actor=assignment.annotator,
            no_facts=True,
        )


def _stands(text: str, span: Mapping[str, Any]) -> str:
    return text[span["start"] : span["end"]]


def _add_newcomer(
    campaign: Campaign, release: Release, documents: list[dict[str, Any]], cast: Cast
) -> None:
    """A qualification round, and an annotator who still has to do it."""
    names = [entry["id"] for entry in documents if entry["purpose"] == Purpose.QUALIFICATION]
    add_qualification(campaign=campaign, source=release, names=names, actor=cast["lead"])
    add_member(
        campaign=campaign,
        user=cast[NEWCOMER],
        role=Membership.Role.ANNOTATOR,
        actor=cast["organiser"],
    )


def _begin_review(campaign: Campaign, cast: Cast) -> None:
    """Review the first facts of the due round; the rest are left for trying out."""
    pending = ReviewItem.objects.filter(round__campaign=campaign).order_by("position")
    for item in pending[:REVIEWED]:
        decide_item(
            item=item,
            verdict=ReviewItem.Verdict.ACCEPTED,
            correction=None,
            reason="",
            actor=cast["reviewer"],
        )
