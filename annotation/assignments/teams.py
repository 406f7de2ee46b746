"""The annotators of a page: their number, the calibration set, and handing work over."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotation.adjudication.settling import settle_document
from annotation.errors import CampaignNotOpen, Refused
from annotation.models import Assignment, Campaign, CampaignDocument, Comment
from portal.accounts.models import User, display_name
from portal.audit.models import record_event
from portal.datasets.models import Document

from .sharing import active_annotators, replacements, share_out, teams_of

State = Assignment.State
Stage = CampaignDocument.Stage
Purpose = CampaignDocument.Purpose
UNFINISHED = (State.ASSIGNED, State.IN_PROGRESS)


@dataclass(frozen=True)
class HandedOver:
    """The result of a handover: the new assignment, or None for a calibration page, which is only
    withdrawn; and the new stage of the document.
    """

    assignment: Assignment | None
    stage: str


@transaction.atomic
def hand_over(*, assignment: Assignment, heir: User | None, actor: User) -> HandedOver:
    """Gives an unfinished assignment to `heir`, or to the annotator with the least work.

    Started work is withdrawn: kept, but neither shown nor counted. The heir starts again, or
    continues an assignment that was withdrawn from them. Untouched work moves. A calibration page,
    which all annotators have, is only withdrawn; that may settle it.

    Raises Refused for work that is submitted or already handed over, for a page that is not in
    annotation, and if the heir, or everyone, already has the page or may not get work.
    """
    document = CampaignDocument.objects.locked().get(pk=assignment.campaign_document_id)
    work = _unfinished(document, assignment)
    chosen = _heir(document, heir)
    return _pass_on(document, work, chosen, actor)


@transaction.atomic
def hand_over_everything(*, campaign: Campaign, annotator: User, actor: User) -> int:
    """Gives all unfinished work of an annotator to the others; returns the number of documents.

    Raises Refused if there is none, the campaign is not open, or no one can take over.
    """
    if not Campaign.objects.filter(pk=campaign.pk, state=Campaign.State.OPEN).exists():
        raise CampaignNotOpen
    handed = hand_over_all(campaign=campaign, leaving=annotator, actor=actor, begun=True)
    if not handed:
        message = f"{display_name(annotator)} has no unfinished work here."
        raise Refused(message, code="nothing")
    return handed


def hand_over_all(
    *, campaign: Campaign, leaving: User, actor: User | None, begun: bool = False
) -> int:
    """Gives all unfinished work of a leaving annotator to those with the least work; returns the
    number of documents.

    Runs in the caller's transaction. Raises Refused if no one can take over a document, and for
    started work without `begun`.
    """
    documents = _lock_work_of(campaign, leaving)
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    works = {
        work.campaign_document_id: work
        for work in Assignment.objects.select_for_update()
        .filter(campaign_document__in=documents, annotator=leaving, state__in=UNFINISHED)
        .order_by("id")
    }
    if not begun:
        _refuse_begun(leaving, works.values())
    heirs = _heirs_for(
        campaign,
        # Everyone has calibration and qualification pages: those need no one else.
        [pk for pk in works if documents[pk].purpose == Purpose.WORK],
        [pk for pk in active_annotators(campaign) if pk != leaving.pk],
        f"No other annotator can take over the documents of {leaving}. Invite an annotator first.",
    )
    for pk, work in works.items():
        _pass_on(documents[pk], work, heirs.get(pk), actor)
    return len(works)


def _lock_work_of(campaign: Campaign, user: User) -> dict[int, CampaignDocument]:
    """The pages with unfinished work of `user`, locked in a fixed order to avoid deadlocks."""
    mine = Assignment.objects.filter(annotator=user, state__in=UNFINISHED)
    rows = CampaignDocument.objects.filter(
        campaign=campaign, pk__in=mine.values("campaign_document")
    )
    return {row.pk: row for row in rows.locked().order_by("id")}


def _refuse_begun(leaving: User, works: Iterable[Assignment]) -> None:
    begun = sum(
        work.state == State.IN_PROGRESS and work.campaign_document.purpose != Purpose.QUALIFICATION
        for work in works
    )
    if begun:
        raise Refused(
            f"{leaving} has started {begun} document{'s' if begun > 1 else ''} and not submitted "
            f"{'them' if begun > 1 else 'it'}. Wait for the submission, or reassign all tasks: "
            "others then start again.",
            code="holds_work",
        )


def _heirs_for(
    campaign: Campaign, documents: Sequence[int], annotators: Sequence[int], refusal: str
) -> dict[int, int]:
    """Those of `annotators` with the least work who take over each document. Former annotators of
    a document do not get it again. Raises Refused if no one is left.
    """
    teams = teams_of(campaign)
    existing = teams | {pk: [*teams.get(pk, []), *_withdrawn_from(pk)] for pk in documents}
    try:
        return replacements(existing, documents, annotators)
    except ValueError as error:
        raise Refused(refusal, code="too_few_annotators") from error


def _unfinished(document: CampaignDocument, assignment: Assignment) -> Assignment:
    """The locked assignment. Raises Refused if it cannot be handed over."""
    now = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if document.campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    if now.state == State.WITHDRAWN or now.annotator_id != assignment.annotator_id:
        raise Refused("This page was already reassigned.", code="reassigned")
    if now.state == State.SUBMITTED:
        raise Refused("This page is already submitted.", code="submitted")
    if document.stage != Stage.ANNOTATION:
        raise Refused(f"This page is not in annotation, but in {document.stage}.", code="stage")
    if document.purpose == Purpose.QUALIFICATION:
        raise Refused("Qualification pages cannot be reassigned.", code="qualification")
    return now


def _heir(document: CampaignDocument, heir: User | None) -> int | None:
    """The new annotator; None for a calibration page, which all others already have."""
    team = list(document.assignments.active().values_list("annotator", flat=True))
    free = [pk for pk in active_annotators(document.campaign) if pk not in team]
    if heir is not None:
        _check_heir(heir, team, free)
        return heir.pk
    if document.purpose == Purpose.CALIBRATION:
        return None
    refusal = "No other annotator can take over this page. Invite an annotator first."
    return _heirs_for(document.campaign, [document.pk], free, refusal)[document.pk]


def _check_heir(heir: User, team: list[int], free: list[int]) -> None:
    if heir.pk in team:
        raise Refused(f"{display_name(heir)} already has this page.", code="heir")
    if heir.pk not in free:
        message = f"{display_name(heir)} cannot be assigned documents in this campaign."
        raise Refused(message, code="heir")


def _withdrawn_from(document: int) -> list[int]:
    gone = Assignment.objects.filter(campaign_document=document, state=State.WITHDRAWN)
    return list(gone.values_list("annotator", flat=True))


def _pass_on(
    document: CampaignDocument, work: Assignment, heir: int | None, actor: User | None
) -> HandedOver:
    former, begun = work.annotator_id, is_begun(work)
    given = _move(document, work, heir, begun)
    record_event(
        verb="hand_over", subject=document, actor=actor, former=former, heir=heir,
        assignment=work.pk, begun=begun,
    )  # fmt: skip
    stage = document.stage
    if heir is None and document.purpose != Purpose.QUALIFICATION:
        # Without a new annotator, all remaining ones may already have submitted.
        stage = settle_document(campaign_document=document)
    return HandedOver(given, str(stage))


def _move(
    document: CampaignDocument, work: Assignment, heir: int | None, begun: bool
) -> Assignment | None:
    former = document.assignments.filter(annotator=heir, state=State.WITHDRAWN).first()
    if heir is None or begun or former is not None:
        # Untouched work without a new annotator is also withdrawn, to record the former one.
        work.state = State.WITHDRAWN
        work.save(update_fields=["state"])
    if heir is None:
        return None
    if former is not None:
        former.state = State.IN_PROGRESS if former.revision else State.ASSIGNED
        former.save(update_fields=["state"])
        return former
    if begun:
        return Assignment.objects.create(campaign_document=document, annotator_id=heir)
    work.annotator_id = heir
    work.flag, work.flag_reason = Assignment.Flag.NONE, ""
    work.active_seconds, work.created_at = 0, timezone.now()
    work.save(update_fields=["annotator", "flag", "flag_reason", "active_seconds", "created_at"])
    return work


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
    found = list(rows.exclude(purpose=Purpose.QUALIFICATION).locked().order_by("id"))
    if missing := sorted(set(names) - {row.document.name for row in found}):
        raise Refused(f"The campaign has no document {missing[0]}.", code="documents")
    for row in found:
        if row.stage not in NOT_SUBMITTED:
            raise Refused(
                f"{row.document.name} is in the stage “{row.stage}”. Its annotators are fixed.",
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
        return f"{document.name} is an image without text. Campaigns label pages only."
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
        each for each in work if each.state == Assignment.State.ASSIGNED and not is_begun(each)
    ]
    if len(untouched) < surplus:
        raise Refused(
            f"{len(work) - len(untouched)} annotators have already started {row.document.name}.",
            code="begun",
        )
    Assignment.objects.filter(pk__in=[each.pk for each in untouched[:surplus]]).delete()
    settle_document(campaign_document=row)
