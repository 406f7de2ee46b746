"""What a lead does with work that failed integrity validation: send it back, or let it pass."""

from collections.abc import Collection

from django.db import transaction

from annotation.models import Assignment, Campaign, CampaignDocument
from portal.accounts.models import User
from portal.audit.models import record_event

from .errors import CampaignNotOpen, Refused, check_reason
from .settling import settle_document

Stage = CampaignDocument.Stage


@transaction.atomic
def send_back(
    *,
    campaign_document: CampaignDocument,
    assignments: Collection[int],
    reason: str,
    actor: User,
) -> CampaignDocument:
    """Gives faulty work (primary keys) back to its annotators, who are told the reason.

    They go on from what they submitted; the first submission stays as it was, for agreement. When
    everybody has submitted again the document is validated again. Raises Refused when the document
    is not in validation, or one of the works is not of it.
    """
    why = check_reason(reason)
    document = _in_validation(campaign_document)
    if document.campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    works = list(
        document.assignments.standing()
        .select_for_update(of=("self",))
        .filter(pk__in=set(assignments))
    )
    if not works or len(works) != len(set(assignments)):
        raise Refused("Choose whose work goes back, among that of this page.", code="assignments")
    for work in works:
        work.state, work.submitted_at = Assignment.State.IN_PROGRESS, None
        work.return_reason = why
        work.save(update_fields=["state", "submitted_at", "return_reason"])
    document.stage, document.faults = Stage.ANNOTATION, []
    document.save(update_fields=["stage", "faults"])
    record_event(
        verb="send_back", subject=document, actor=actor, assignments=[work.pk for work in works],
        reason=why,
    )  # fmt: skip
    return document


@transaction.atomic
def let_pass(*, campaign_document: CampaignDocument, reason: str, actor: User) -> str:
    """Accepts the faults; returns the stage the document reaches by being settled now."""
    why = check_reason(reason)
    document = _in_validation(campaign_document)
    record_event(
        verb="let_pass", subject=document, actor=actor, faults=len(document.faults),
        reason=why,
    )  # fmt: skip
    return settle_document(campaign_document=document, accept_faults=True)


def _in_validation(campaign_document: CampaignDocument) -> CampaignDocument:
    document = (
        CampaignDocument.objects.select_for_update(of=("self",))
        .select_related("campaign", "document")
        .get(pk=campaign_document.pk)
    )
    if document.stage != Stage.VALIDATION:
        raise Refused(
            f"This document does not wait for validation any more: it is in {document.stage}.",
            code="stage",
        )
    return document
