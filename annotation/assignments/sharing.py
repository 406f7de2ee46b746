"""Which annotators label a page: its share, the calibration set, and the number per page."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.adjudication.settling import settle_document
from annotation.errors import CampaignNotOpen, Refused
from annotation.models import Assignment, Campaign, CampaignDocument, Comment
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Document

from .balancing import balanced_assignment
from .selectors import (
    active_annotators,
    awaits_qualification,
    has_qualification,
    teams_of,
    unqualified_annotators,
    withdrawn_from,
)

State = Assignment.State
Stage = CampaignDocument.Stage
Purpose = CampaignDocument.Purpose
Teams = Mapping[int, Sequence[int]]


@dataclass(frozen=True)
class _Gap:
    """A page in annotation with too few annotators."""

    name: str
    size: int
    own_size: bool


@dataclass(frozen=True)
class Shared:
    """The documents that were assigned, and those that were new in the campaign. `waiting` says why
    others are not assigned, in one sentence per cause.
    """

    documents: int
    added: int
    waiting: list[str]


@transaction.atomic
def assign_documents(*, campaign: Campaign, actor: User) -> Shared:
    """Adds new documents of the dataset, and assigns every page that needs annotators.

    Raises Refused if the campaign is not open, has too few annotators, or has nothing to assign.
    """
    lock_calibration(campaign)
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    added = take_in_documents(campaign=locked)
    documents = share_out(campaign=locked)
    waiting = _why_waiting(locked)
    if not documents and not added:
        raise Refused(
            " ".join(waiting) or "All documents of the campaign are already assigned.",
            code="waiting" if waiting else "nothing",
        )
    record_event(
        verb="assign_documents", subject=campaign, actor=actor,
        documents=len({*added, *documents}),
    )  # fmt: skip
    return Shared(len(documents), len(added), waiting)


def _why_waiting(campaign: Campaign) -> list[str]:
    """Why documents are not assigned, one sentence per cause; empty if all are."""
    reasons = []
    barred, annotators = withdrawn_from(campaign), active_annotators(campaign)
    gaps = _gaps(campaign, annotators, teams_of(campaign), barred, None)
    if gaps:
        first = next(iter(gaps))
        lack = _lack(campaign, gaps[first], annotators, barred.get(first, ()))
        reasons.append(f"{_documents(len(gaps), 'waits', 'wait')} for annotators. {lack}")
    rows = CampaignDocument.objects.filter(campaign=campaign, stage=Stage.SCREENING)
    if unscreened := rows.count():
        reasons.append(f"{_documents(unscreened, 'is', 'are')} not screened yet.")
    documents = Document.objects.filter(dataset=campaign.dataset_id, state=Document.State.HELD)
    if campaign.selection_id:
        documents = documents.filter(selections=campaign.selection_id)
    if held := documents.count():
        reasons.append(f"{_documents(held, 'is', 'are')} held back in the dataset.")
    return reasons


def _documents(count: int, one: str, many: str) -> str:
    return f"1 document {one}" if count == 1 else f"{count} documents {many}"


@transaction.atomic
def calibrate_newcomer(*, campaign: Campaign) -> None:
    """Assigns the calibration pages that are still in annotation to new annotators."""
    pages = lock_calibration(campaign)
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if pages and locked.state == Campaign.State.OPEN:
        share_out(campaign=locked, only=pages, strict=False)


@transaction.atomic
def share_out_to_qualified(*, campaign: Campaign) -> None:
    """Assigns all pages once the last annotator has qualified, and only the calibration pages
    before, so that the first to qualify do not get everything.
    """
    pages = lock_calibration(campaign)
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if locked.state != Campaign.State.OPEN:
        return
    only = pages if awaits_qualification(campaign) else None
    share_out(campaign=locked, only=only, strict=False)


def lock_calibration(campaign: Campaign) -> list[int]:
    """Locks the calibration pages. Lock order: pages before their campaign, as in submitting."""
    rows = CampaignDocument.objects.filter(campaign=campaign, purpose=Purpose.CALIBRATION)
    return list(rows.select_for_update().order_by("id").values_list("pk", flat=True))


def take_in_documents(*, campaign: Campaign) -> list[int]:
    """Adds new pages of the dataset, to be screened or labelled; returns their primary keys.

    Images, and pages that are held back, are not added. Runs in the caller's transaction, which
    must hold the lock on the campaign.
    """
    known = CampaignDocument.objects.filter(campaign=campaign).values("document")
    new = campaign.candidates().exclude(pk__in=known)
    stage = Stage.SCREENING if campaign.screening else Stage.ANNOTATION
    # By published name, independent of the order of import.
    rows = CampaignDocument.objects.bulk_create(
        CampaignDocument(campaign=campaign, document_id=pk, stage=stage)
        for pk in new.order_by("name").values_list("pk", flat=True)
    )
    return [row.pk for row in rows]


def share_out(
    *, campaign: Campaign, only: Collection[int] | None = None, strict: bool = True
) -> list[int]:
    """Assigns the missing annotators to pages in annotation (to those in `only`, if given); returns
    these pages.

    A calibration page goes to every annotator, any other page to its own number of annotators or
    the campaign's. With too few annotators, it raises Refused if `strict`; otherwise, and in a
    campaign with a qualification round, the page waits. Runs in the caller's transaction, which
    must hold the lock on the campaign.
    """
    annotators = active_annotators(campaign)
    teams = teams_of(campaign)
    barred = withdrawn_from(campaign)
    gaps = _gaps(campaign, annotators, teams, barred, only)
    strict = strict and not has_qualification(campaign)
    for pk, gap in list(gaps.items()):
        free = set(annotators) - set(barred.get(pk, ()))
        if len(free | set(teams.get(pk, ()))) < gap.size:
            if strict:
                raise _too_few(campaign, gap, annotators, barred.get(pk, ()))
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
    """Raises Refused if the campaign has fewer annotators than a document needs."""
    annotators = active_annotators(campaign)
    if len(annotators) < campaign.overlap and not has_qualification(campaign):
        raise _too_few(campaign, _Gap("", campaign.overlap, own_size=False), annotators, ())


def _too_few(
    campaign: Campaign, gap: _Gap, annotators: Sequence[int], barred: Collection[int]
) -> Refused:
    return Refused(_lack(campaign, gap, annotators, barred), code="too_few_annotators")


def _lack(campaign: Campaign, gap: _Gap, annotators: Sequence[int], barred: Collection[int]) -> str:
    """Why a document does not get its annotators. `barred` were withdrawn from it."""
    plural = "" if gap.size == 1 else "s"
    unqualified = unqualified_annotators(campaign)
    gone = len(set(annotators) & set(barred))
    which = gap.name if gap.own_size or gone else "Every document"
    need = f"{which} needs {gap.size} annotator{plural}"
    if len(annotators) < gap.size <= len(annotators) + unqualified:
        members = len(annotators) + unqualified
        return f"{need}, but {len(annotators)} of {members} passed the qualification."
    if gone and len(annotators) >= gap.size:
        return (
            f"{need}, and was withdrawn from {gone} of the campaign’s {len(annotators)}. Invite "
            "annotators, or reassign the document to one of them."
        )
    return f"{need}, but the campaign has {len(annotators) + unqualified}. Invite annotators first."


def _gaps(
    campaign: Campaign,
    annotators: Sequence[int],
    teams: Teams,
    barred: Mapping[int, Collection[int]],
    only: Collection[int] | None,
) -> dict[int, _Gap]:
    """The pages with too few annotators, by published name."""
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


def is_begun(work: Assignment) -> bool:
    """Whether the annotator saved, submitted or commented anything."""
    return (
        work.state == State.IN_PROGRESS
        or work.revision > 0
        or Comment.objects.filter(assignment=work).exists()
    )


MAX_OVERLAP = 4
NOT_SUBMITTED = (Stage.SCREENING, Stage.ANNOTATION)


@transaction.atomic
def choose_calibration(*, campaign: Campaign, names: Sequence[str], actor: User) -> list[str]:
    """Adds documents (names) to the calibration set, which every annotator labels; returns the new
    ones.

    Raises Refused if the campaign is closed, for an unknown name, and for a settled document.
    """
    rows = _lock_rows(campaign, names)
    chosen = [row for row in rows if row.purpose == Purpose.WORK]
    _mark_calibration(campaign, chosen, actor, by="hand")
    return [row.document.name for row in chosen]


@transaction.atomic
def draw_calibration(*, campaign: Campaign, count: int, seed: int, actor: User) -> list[str]:
    """Adds `count` random documents to the calibration set; returns their sorted names.

    The draw depends only on the seed and the names: it takes documents in the order of the SHA-256
    of “seed:name”, from those that are neither calibration nor settled. Raises Refused if there are
    fewer than `count`.
    """
    names = _drawable(campaign)
    if not 1 <= count <= len(names):
        raise Refused(
            f"Enter a number from 1 to {len(names)}. {len(names)} documents are neither in the "
            "calibration set nor submitted by all annotators.",
            code="count",
        )
    drawn = sorted(draw_names(names, count, seed))
    chosen = _lock_rows(campaign, drawn)
    _mark_calibration(campaign, chosen, actor, by="seed", seed=seed)
    return drawn


def draw_names(names: Iterable[str], count: int, seed: int) -> list[str]:
    """The first `count` names in the order of the SHA-256 of “seed:name”.

    >>> draw_names(["a", "b", "c"], 2, 7) == draw_names(["c", "b", "a"], 2, 7)
    True
    """

    def place(name: str) -> str:
        return hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()

    return sorted(names, key=place)[:count]


@transaction.atomic
def end_calibration(*, campaign: Campaign, names: Sequence[str], actor: User) -> list[str]:
    """Removes documents from the calibration set; returns those that were in it.

    Raises Refused for a document that is already assigned.
    """
    rows = [row for row in _lock_rows(campaign, names) if row.purpose == Purpose.CALIBRATION]
    for row in rows:
        if row.assignments.exists():
            raise Refused(
                f"{row.document.name} is already assigned to every annotator and stays in the "
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
    """Sets the number of annotators of documents (None: as the campaign); returns their names.

    Assigned documents get more annotators, or lose those who have not started. Raises Refused for a
    number outside 1 to 4, for calibration documents, with too few annotators, and if too many have
    started.
    """
    if overlap is not None and not 1 <= overlap <= MAX_OVERLAP:
        raise Refused(f"A document can have 1 to {MAX_OVERLAP} annotators.", code="overlap")
    rows = _lock_rows(campaign, names)
    for row in rows:
        if row.purpose == Purpose.CALIBRATION:
            message = (
                f"{row.document.name} is in the calibration set, which every annotator labels."
            )
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
    """The locked documents, by name. Adds them to the campaign if it is a draft."""
    if campaign.state == Campaign.State.CLOSED:
        raise Refused("The campaign is closed.", code="closed")
    if campaign.state == Campaign.State.DRAFT:
        _take_in(campaign, names)
    rows = CampaignDocument.objects.filter(campaign=campaign, document__name__in=set(names))
    locked = list(rows.exclude(purpose=Purpose.QUALIFICATION).locked().order_by("id"))
    if missing := sorted(set(names) - {row.document.name for row in locked}):
        raise Refused(f"The campaign has no document {missing[0]}.", code="documents")
    for row in locked:
        if row.stage not in NOT_SUBMITTED:
            raise Refused(
                f"{row.document.name} is in the stage “{row.stage}”. Its annotators can no longer "
                "be changed.",
                code="stage",
            )
    return sorted(locked, key=lambda row: row.document.name)


def _take_in(campaign: Campaign, names: Sequence[str]) -> None:
    known = CampaignDocument.objects.filter(campaign=campaign).values("document")
    asked = Document.objects.filter(dataset=campaign.dataset_id, name__in=set(names))
    documents = asked.exclude(pk__in=known)
    suitable = documents.filter(pk__in=campaign.candidates())
    if unfit := documents.exclude(pk__in=suitable).order_by("name").first():
        raise Refused(_why_unfit(unfit), code="documents")
    CampaignDocument.objects.bulk_create(
        CampaignDocument(campaign=campaign, document_id=pk)
        for pk in suitable.order_by("name").values_list("pk", flat=True)
    )


def _why_unfit(document: Document) -> str:
    if document.kind == Document.Kind.PICTURE:
        return f"{document.name} is an image without text. Campaigns can label only text documents."
    if document.state == Document.State.HELD:
        return f"{document.name} is held back: {document.held_reason}"
    return f"{document.name} is not in the campaign's selection."


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
    """Withdraws the page from annotators who have not started, the latest first."""
    work = list(row.assignments.active().select_for_update().order_by("-id"))
    surplus = len(work) - size
    if surplus <= 0:
        return
    untouched = [
        assignment
        for assignment in work
        if assignment.state == Assignment.State.ASSIGNED and not is_begun(assignment)
    ]
    if len(untouched) < surplus:
        raise Refused(
            f"{len(work) - len(untouched)} annotators have already started {row.document.name}.",
            code="begun",
        )
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in untouched[:surplus]]).delete()
    settle_document(campaign_document=row)
