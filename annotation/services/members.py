"""The people of a campaign and their roles."""

from django.db import transaction

from annotation.models import Assignment, Campaign, Membership
from portal.accounts.models import User
from portal.audit.models import record_event

from .assigning import hand_over_untouched
from .errors import Refused


@transaction.atomic
def add_member(*, campaign: Campaign, user: User, role: str, actor: User | None) -> Membership:
    """Gives `user` a role. Who has it already keeps it: nothing happens twice."""
    membership, created = Membership.objects.get_or_create(campaign=campaign, user=user, role=role)
    if created:
        record_event(verb="add_member", subject=campaign, actor=actor, user=user.pk, role=str(role))
    return membership


@transaction.atomic
def remove_member(*, membership: Membership, actor: User) -> int:
    """Takes a role away; returns how many documents went to other annotators.

    Submitted work stays and counts. Documents an annotator never began go to the others; those
    begun must be submitted first, since nobody else may see them. Raises Refused in that case, or
    when nobody is left to take over.
    """
    campaign = Campaign.objects.select_for_update().get(pk=membership.campaign_id)
    handed_over = 0
    if membership.role == Membership.Role.ANNOTATOR:
        _refuse_begun_work(campaign, membership.user)
        handed_over = hand_over_untouched(campaign=campaign, leaving=membership.user)
    record_event(
        verb="remove_member",
        subject=campaign,
        actor=actor,
        user=membership.user_id,
        role=membership.role,
        handed_over=handed_over,
    )
    membership.delete()
    return handed_over


def _refuse_begun_work(campaign: Campaign, user: User) -> None:
    begun = Assignment.objects.filter(
        campaign_document__campaign=campaign,
        annotator=user,
        state=Assignment.State.IN_PROGRESS,
    ).count()
    if begun:
        raise Refused(
            f"{user} has begun {begun} document{'s' if begun > 1 else ''} and not submitted "
            f"{'them' if begun > 1 else 'it'}. That work has to be submitted first.",
            code="holds_work",
        )
