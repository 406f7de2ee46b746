"""How many annotators a page gets: its own number, or everybody, for calibration."""

import hashlib
from collections.abc import Iterable, Sequence

from django.db import transaction

from annotation.models import Assignment, Campaign, CampaignDocument
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Document

from .assigning import share_out
from .errors import Refused
from .reassigning import is_begun
from .settling import settle_document

MAX_OVERLAP = 4
Stage = CampaignDocument.Stage
Purpose = CampaignDocument.Purpose
NOT_SUBMITTED = (Stage.SCREENING, Stage.ANNOTATION)


@transaction.atomic
def choose_calibration(*, campaign: Campaign, names: Sequence[str], actor: User) -> list[str]:
    """Gives these documents (names) to every annotator; returns those that were not so before.

    Raises Refused when the campaign is closed, for an unknown name, and for a document that
    everybody has submitted already.
    """
    rows = _lock_rows(campaign, names)
    chosen = [row for row in rows if row.purpose == Purpose.WORK]
    _mark_calibration(campaign, chosen, actor, by="hand")
    return [row.document.name for row in chosen]


@transaction.atomic
def draw_calibration(*, campaign: Campaign, count: int, seed: int, actor: User) -> list[str]:
    """Draws `count` more documents for calibration; returns their names in text order.

    The draw depends on the seed and the names alone: documents go by the SHA-256 of “seed:name”,
    among those that are neither calibration nor submitted by everybody. Raises Refused when there
    are fewer than `count`.
    """
    names = _drawable(campaign)
    if not 1 <= count <= len(names):
        raise Refused(
            f"Between 1 and {len(names)} documents can be drawn: {len(names)} are neither in the "
            "calibration set nor submitted by everybody.",
            code="count",
        )
    drawn = sorted(draw_names(names, count, seed))
    chosen = _lock_rows(campaign, drawn)
    _mark_calibration(campaign, chosen, actor, by="seed", seed=seed)
    return drawn


def draw_names(names: Iterable[str], count: int, seed: int) -> list[str]:
    """The `count` names whose SHA-256 of “seed:name” comes first: the same for the same seed.

    >>> draw_names(["a", "b", "c"], 2, 7) == draw_names(["c", "b", "a"], 2, 7)
    True
    """

    def place(name: str) -> str:
        return hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()

    return sorted(names, key=place)[:count]


@transaction.atomic
def end_calibration(*, campaign: Campaign, names: Sequence[str], actor: User) -> list[str]:
    """Makes documents ordinary again; returns those that were calibration.

    Raises Refused for one that was shared out to everybody already.
    """
    rows = [row for row in _lock_rows(campaign, names) if row.purpose == Purpose.CALIBRATION]
    for row in rows:
        if row.assignments.exists():
            raise Refused(
                f"{row.document.name} was shared out to every annotator already: it stays in the "
                "calibration set.",
                code="shared_out",
            )
    CampaignDocument.objects.filter(pk__in=[row.pk for row in rows]).update(purpose=Purpose.WORK)
    ended = [row.document.name for row in rows]
    if ended:
        record_event(verb="end_calibration", subject=campaign, actor=actor, documents=ended)
    return ended


@transaction.atomic
def set_document_overlap(
    *, campaign: Campaign, names: Sequence[str], overlap: int | None, actor: User
) -> list[str]:
    """Says how many annotators these documents get; None for the campaign's number.

    Documents shared out already get more annotators, or lose those who have not begun. Returns the
    names. Raises Refused for a number out of 1 to 4, for calibration, and when too few annotators
    are there or too many have begun.
    """
    if overlap is not None and not 1 <= overlap <= MAX_OVERLAP:
        raise Refused(f"A document has 1 to {MAX_OVERLAP} annotators.", code="overlap")
    rows = _lock_rows(campaign, names)
    for row in rows:
        if row.purpose == Purpose.CALIBRATION:
            message = f"{row.document.name} is in the calibration set: every annotator has it."
            raise Refused(message, code="calibration")
        row.overlap = overlap
        row.save(update_fields=["overlap"])
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.state == Campaign.State.OPEN:
        share_out(campaign=locked, only=[row.pk for row in rows])
        for row in rows:
            _shrink(row, overlap or locked.overlap)
    changed = [row.document.name for row in rows]
    record_event(
        verb="set_overlap", subject=campaign, actor=actor, documents=changed, overlap=overlap
    )
    return changed


def _lock_rows(campaign: Campaign, names: Sequence[str]) -> list[CampaignDocument]:
    """The documents in the campaign, by name; a draft takes them in for this."""
    if campaign.state == Campaign.State.CLOSED:
        raise Refused("The campaign is closed: its teams stay as they are.", code="closed")
    if campaign.state == Campaign.State.DRAFT:
        _take_in(campaign, names)
    rows = CampaignDocument.objects.filter(campaign=campaign, document__name__in=set(names))
    found = list(
        rows.exclude(purpose=Purpose.QUALIFICATION)
        .select_for_update(of=("self",))
        .select_related("campaign", "document")
        .order_by("id")
    )
    if missing := sorted(set(names) - {row.document.name for row in found}):
        raise Refused(f"The campaign has no document {missing[0]} to label.", code="documents")
    for row in found:
        if row.stage not in NOT_SUBMITTED:
            raise Refused(
                f"{row.document.name} is in the stage “{row.stage}”: its team stays as it is.",
                code="stage",
            )
    return sorted(found, key=lambda row: row.document.name)


def _take_in(campaign: Campaign, names: Sequence[str]) -> None:
    known = CampaignDocument.objects.filter(campaign=campaign).values("document")
    asked = Document.objects.filter(dataset=campaign.dataset_id, name__in=set(names))
    documents = asked.exclude(pk__in=known)
    taken = documents.filter(pk__in=campaign.candidates())
    if unfit := documents.exclude(pk__in=taken).order_by("name").first():
        raise Refused(_why_unfit(unfit), code="documents")
    CampaignDocument.objects.bulk_create(
        CampaignDocument(campaign=campaign, document_id=pk)
        for pk in taken.order_by("name").values_list("pk", flat=True)
    )


def _why_unfit(document: Document) -> str:
    if document.kind == Document.Kind.PICTURE:
        return f"{document.name} is a picture without text: a campaign labels pages."
    if document.state == Document.State.HELD:
        return f"{document.name} is held back: {document.held_reason}"
    return f"{document.name} is not in the selection that the campaign is made of"


def _mark_calibration(
    campaign: Campaign, rows: Sequence[CampaignDocument], actor: User, **how: object
) -> None:
    if not rows:
        return
    chosen = [row.pk for row in rows]
    CampaignDocument.objects.filter(pk__in=chosen).update(purpose=Purpose.CALIBRATION, overlap=None)
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.state == Campaign.State.OPEN:
        share_out(campaign=locked, only=chosen)
    names = [row.document.name for row in rows]
    record_event(verb="choose_calibration", subject=campaign, actor=actor, documents=names, **how)


def _drawable(campaign: Campaign) -> list[str]:
    rows = CampaignDocument.objects.filter(campaign=campaign)
    waiting = rows.filter(purpose=Purpose.WORK, stage__in=NOT_SUBMITTED)
    names = list(waiting.values_list("document__name", flat=True))
    if campaign.state == Campaign.State.DRAFT:
        others = campaign.candidates()
        names += others.exclude(pk__in=rows.values("document")).values_list("name", flat=True)
    return names


def _shrink(row: CampaignDocument, size: int) -> None:
    """Takes the page from those who have not begun, the last to get it first."""
    work = list(row.assignments.standing().select_for_update().order_by("-id"))
    surplus = len(work) - size
    if surplus <= 0:
        return
    untouched = [
        each for each in work if each.state == Assignment.State.ASSIGNED and not is_begun(each)
    ]
    if len(untouched) < surplus:
        raise Refused(
            f"{len(work) - len(untouched)} annotators have begun {row.document.name}: it keeps "
            "them.",
            code="begun",
        )
    Assignment.objects.filter(pk__in=[each.pk for each in untouched[:surplus]]).delete()
    settle_document(campaign_document=row)
