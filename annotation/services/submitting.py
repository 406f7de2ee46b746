"""Submitting: the annotator's last word on a document."""

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Campaign, CampaignDocument
from portal.accounts.models import User
from portal.audit.models import record_event

from .errors import CampaignNotOpen, Reassigned
from .saving import check_active_seconds, conflict_of
from .settling import settle_document


@dataclass(frozen=True)
class Submitted:
    """The assignment's state, and the stage its document has reached by it."""

    state: str
    stage: str


@transaction.atomic
def submit_assignment(
    *, assignment: Assignment, base_revision: int, actor: User, active_seconds: int = 0
) -> Submitted:
    """Makes the spans of `base_revision` final; the last submission of a document settles it.

    Submitting again from the same revision is answered as the first time. A flag stays: the lead
    may still want to know. Raises Conflict when the assignment is at another revision and
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
    if now.annotator_id != actor.pk:
        raise Reassigned
    if now.revision != base_revision:
        raise conflict_of(now)
    if now.is_submitted:
        return Submitted(now.state, campaign_document.stage)
    if campaign_document.campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    now.state = Assignment.State.SUBMITTED
    now.submitted_at = timezone.now()
    now.active_seconds += active_seconds
    now.save(update_fields=["state", "submitted_at", "active_seconds"])
    # No count of spans: it would tell others about labels they may not see yet.
    record_event(verb="submit_assignment", subject=now, actor=actor, revision=now.revision)
    stage = settle_document(campaign_document=campaign_document)
    return Submitted(str(now.state), stage)
