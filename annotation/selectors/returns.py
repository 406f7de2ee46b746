"""Which submissions can still be taken back or returned. The services decide; pages ask here."""

from datetime import timedelta

from django.db.models import CharField
from django.db.models.functions import Cast
from django.utils import timezone

from annotation.models import Assignment, Campaign, CampaignDocument
from portal.audit.models import Event

TAKE_BACK_MINUTES = 10
Stage = CampaignDocument.Stage


def may_take_back(assignment: Assignment) -> bool:
    """Whether its annotator is offered to take the submission back: soon, and not once the page
    was compared with others' work. One query at most.
    """
    submitted_at = assignment.submitted_at
    if submitted_at is None or not may_return(assignment):
        return False
    if timezone.now() - submitted_at > timedelta(minutes=TAKE_BACK_MINUTES):
        return False
    document = assignment.campaign_document
    return document.stage == Stage.ANNOTATION or document.assignments.standing().count() == 1


def may_return(assignment: Assignment) -> bool:
    """Whether a lead is offered to return the submission. Asks for no row."""
    document = assignment.campaign_document
    return (
        assignment.is_submitted
        and document.campaign.state == Campaign.State.OPEN
        and document.purpose != CampaignDocument.Purpose.QUALIFICATION
        and document.stage in {Stage.ANNOTATION, Stage.ADJUDICATION, Stage.GOLD}
        and document.review_round_id is None
    )


def submissions_set_aside(campaign: Campaign) -> int:
    """How many untouched submissions a lead returned: agreement is not computed from them."""
    works = Assignment.objects.filter(campaign_document__campaign=campaign)
    return Event.objects.filter(
        verb="return_submission",
        subject_type=Assignment._meta.label_lower,
        subject_id__in=works.values_list(Cast("pk", CharField())),
        data__first_submission="set aside",
    ).count()
