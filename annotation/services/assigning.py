"""Assignments: which annotators get which documents."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.balance import balanced_assignment
from annotation.models import Assignment, Campaign, CampaignDocument
from annotation.selectors.annotators import (
    active_annotators,
    awaits_qualification,
    has_qualification,
)
from portal.accounts.models import User
from portal.audit.models import record_event

from .errors import CampaignNotOpen, Refused

Stage = CampaignDocument.Stage
Purpose = CampaignDocument.Purpose
Teams = Mapping[int, Sequence[int]]


@dataclass(frozen=True)
class _Gap:
    """A page in annotation whose team has fewer members than it should."""

    name: str
    size: int
    own_size: bool


@transaction.atomic
def assign_documents(*, campaign: Campaign, actor: User) -> int:
    """Takes in the documents that joined the dataset later, and gives every page that waits for
    annotators its team; returns how many pages that concerned.

    Raises Refused when the campaign is not open, nothing is new or annotators are too few.
    """
    lock_calibration(campaign)
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    documents = set(take_in_documents(campaign=locked)) | set(share_out(campaign=locked))
    if not documents:
        raise Refused(
            "Every document of the dataset is in the campaign already and has its annotators.",
            code="nothing",
        )
    record_event(verb="assign_documents", subject=campaign, actor=actor, documents=len(documents))
    return len(documents)


@transaction.atomic
def calibrate_newcomer(*, campaign: Campaign) -> None:
    """Gives the calibration pages that are still in annotation to annotators who lack them."""
    pages = lock_calibration(campaign)
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if pages and locked.state == Campaign.State.OPEN:
        share_out(campaign=locked, only=pages, strict=False)


@transaction.atomic
def share_out_to_qualified(*, campaign: Campaign) -> None:
    """Once the last annotator has qualified every page gets its team; before, somebody who
    qualified gets the calibration pages, so that the first to qualify do not get everything.
    """
    pages = lock_calibration(campaign)
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.state != Campaign.State.OPEN:
        return
    only = pages if awaits_qualification(campaign) else None
    share_out(campaign=locked, only=only, strict=False)


def lock_calibration(campaign: Campaign) -> list[int]:
    """Submitting locks a page before its campaign, and so must whatever adds to a page's team."""
    rows = CampaignDocument.objects.filter(campaign=campaign, purpose=Purpose.CALIBRATION)
    return list(rows.select_for_update().order_by("id").values_list("pk", flat=True))


def take_in_documents(*, campaign: Campaign) -> list[int]:
    """Adds the pages of the dataset that the campaign lacks, to be screened or to be labelled;
    returns their primary keys. Pictures, and pages that are held back, are not taken. Runs in the
    caller's transaction, which must hold the lock of the campaign's row.
    """
    known = CampaignDocument.objects.filter(campaign=campaign).values("document")
    new = campaign.candidates().exclude(pk__in=known)
    stage = Stage.SCREENING if campaign.screening else Stage.ANNOTATION
    # In the order of their published names, whatever the order of import was.
    rows = CampaignDocument.objects.bulk_create(
        CampaignDocument(campaign=campaign, document_id=pk, stage=stage)
        for pk in new.order_by("name").values_list("pk", flat=True)
    )
    return [row.pk for row in rows]


def share_out(
    *, campaign: Campaign, only: Collection[int] | None = None, strict: bool = True
) -> list[int]:
    """Gives the pages in annotation (of those in `only`, if given) whose team is not complete the
    annotators they lack; returns these pages.

    A calibration page goes to every annotator, any other to as many as its own number or the
    campaign's says. With too few annotators it raises Refused if `strict`; otherwise, and where
    annotators have to qualify first, the page waits. Runs in the caller's transaction, which must
    hold the lock of the campaign's row.
    """
    annotators = active_annotators(campaign)
    teams = teams_of(campaign)
    barred = _withdrawn(campaign)
    gaps = _gaps(campaign, annotators, teams, barred, only)
    strict = strict and not has_qualification(campaign)
    for pk, gap in list(gaps.items()):
        free = set(annotators) - set(barred.get(pk, ()))
        if len(free | set(teams.get(pk, ()))) < gap.size:
            if strict:
                raise _too_few(gap, len(annotators))
            del gaps[pk]
    sizes = {pk: gap.size for pk, gap in gaps.items()}
    joining = balanced_assignment(list(sizes), annotators, sizes, teams, barred)
    Assignment.objects.bulk_create(
        Assignment(campaign_document_id=document, annotator_id=annotator)
        for document, team in joining.items()
        for annotator in team
    )
    return list(gaps)


def check_enough_annotators(campaign: Campaign) -> None:
    """Raises Refused when the campaign's annotators could not label its pages."""
    annotators = len(active_annotators(campaign))
    if annotators < campaign.overlap and not has_qualification(campaign):
        raise _too_few(_Gap("", campaign.overlap, own_size=False), annotators)


def _too_few(gap: _Gap, annotators: int) -> Refused:
    which = gap.name if gap.own_size else "Every document"
    plural = "" if gap.size == 1 else "s"
    return Refused(
        f"{which} needs {gap.size} annotator{plural}, but the campaign has {annotators}. "
        "Add people first.",
        code="too_few_annotators",
    )


def _gaps(
    campaign: Campaign,
    annotators: Sequence[int],
    teams: Teams,
    barred: Mapping[int, Collection[int]],
    only: Collection[int] | None,
) -> dict[int, _Gap]:
    """In the order of the published names."""
    rows = CampaignDocument.objects.filter(campaign=campaign, stage=Stage.ANNOTATION)
    rows = rows.exclude(purpose=Purpose.QUALIFICATION)
    if only is not None:
        rows = rows.filter(pk__in=only)
    gaps = {}
    for pk, name, purpose, overlap in rows.order_by("document__name").values_list(
        "pk", "document__name", "purpose", "overlap"
    ):
        team = set(teams.get(pk, ()))
        size = overlap or campaign.overlap
        if purpose == Purpose.CALIBRATION:
            size = max(len((set(annotators) | team) - set(barred.get(pk, ()))), 1)
        if len(team) < size:
            gaps[pk] = _Gap(name, size, purpose == Purpose.CALIBRATION or overlap is not None)
    return gaps


def teams_of(campaign: Campaign) -> dict[int, list[int]]:
    """Who works or has worked on each page that becomes gold."""
    teams: dict[int, list[int]] = defaultdict(list)
    rows = (
        Assignment.objects.standing()
        .filter(campaign_document__campaign=campaign)
        .exclude(campaign_document__purpose=Purpose.QUALIFICATION)
        .exclude(campaign_document__stage=Stage.EXCLUDED)
        .order_by("id")
    )
    for document, annotator in rows.values_list("campaign_document", "annotator"):
        teams[document].append(annotator)
    return dict(teams)


def _withdrawn(campaign: Campaign) -> dict[int, list[int]]:
    """Who gave a page up: it does not come back to them unless a lead says so."""
    barred: dict[int, list[int]] = defaultdict(list)
    rows = Assignment.objects.filter(
        campaign_document__campaign=campaign, state=Assignment.State.WITHDRAWN
    )
    for document, annotator in rows.values_list("campaign_document", "annotator"):
        barred[document].append(annotator)
    return barred
