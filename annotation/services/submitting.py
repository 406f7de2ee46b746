"""Submitting: the annotator's last word on a document."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, CampaignDocument, FirstSubmission
from portal.accounts.models import User
from portal.audit.models import record_event

from .errors import CampaignNotOpen, NothingLabelled, PageExcluded, Reassigned
from .qualifying import grade_qualification
from .saving import check_active_seconds, conflict_of
from .settling import settle_document

Stage = CampaignDocument.Stage


@dataclass(frozen=True)
class Submitted:
    """The assignment's state, and the stage its document has reached by it."""

    state: str
    stage: str


@transaction.atomic
def submit_assignment(
    *,
    assignment: Assignment,
    base_revision: int,
    actor: User,
    active_seconds: int = 0,
    no_facts: bool = False,
) -> Submitted:
    """Makes the spans of `base_revision` final; the last submission of a document settles it.

    The first submission is kept for good, for agreement is computed from it. A qualification page
    is compared with its known gold instead. Submitting again from the same revision is answered as
    the first time. A flag stays: the lead may still want to know. `no_facts` confirms that the page
    has none; where spans exist it says nothing. Raises Conflict when the assignment is at another
    revision, NothingLabelled for an empty page that is not confirmed, Reassigned and
    CampaignNotOpen; nothing is changed then.
    """
    check_active_seconds(active_seconds)
    # The lock makes the last two annotators of a document come one after the other, so that one
    # sees both.
    campaign_document = (
        CampaignDocument.objects.select_for_update(of=("self",))
        .select_related("campaign", "document")
        .get(pk=assignment.campaign_document_id)
    )
    now = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if now.annotator_id != actor.pk or now.state == Assignment.State.WITHDRAWN:
        raise Reassigned
    if now.revision != base_revision:
        raise conflict_of(now)
    if now.is_submitted:
        return Submitted(now.state, campaign_document.stage)
    now.campaign_document = campaign_document
    if not now.is_workable:
        raise PageExcluded if campaign_document.stage == Stage.EXCLUDED else CampaignNotOpen
    if not no_facts and not now.spans.exists():
        raise NothingLabelled
    now.state = Assignment.State.SUBMITTED
    now.submitted_at = timezone.now()
    now.active_seconds += active_seconds
    now.save(update_fields=["state", "submitted_at", "active_seconds"])
    # No count of spans: it would tell others about labels they may not see yet.
    record_event(verb="submit_assignment", subject=now, actor=actor, revision=now.revision)
    _freeze_first(now, now.submitted_at)
    if campaign_document.purpose == CampaignDocument.Purpose.QUALIFICATION:
        grade_qualification(assignment=now)
        return Submitted(str(now.state), campaign_document.stage)
    stage = settle_document(campaign_document=campaign_document)
    return Submitted(str(now.state), stage)


def _freeze_first(assignment: Assignment, submitted_at: datetime) -> None:
    """Keeps what was submitted first; a later submission, of work sent back, changes nothing."""
    spans = assignment.spans.order_by("start").values_list("start", "end", "label", "value", "sign")
    first = FirstSubmission(
        assignment=assignment,
        spans=[list(span) for span in spans],
        submitted_at=submitted_at,
    )
    FirstSubmission.objects.bulk_create([first], ignore_conflicts=True)
