"""The people of a campaign and their roles."""

from django.db import transaction

from annotation.models import Assignment, Campaign, Membership
from portal.accounts.models import User
from portal.audit.models import record_event

from .assigning import calibrate_newcomer
from .errors import Refused
from .qualifying import assign_qualification
from .reassigning import UNFINISHED, hand_over_all


@transaction.atomic
def add_member(*, campaign: Campaign, user: User, role: str, actor: User | None) -> Membership:
    """Gives `user` a role. Who has it already keeps it: nothing happens twice."""
    membership, created = Membership.objects.get_or_create(campaign=campaign, user=user, role=role)
    if created:
        record_event(verb="add_member", subject=campaign, actor=actor, user=user.pk, role=str(role))
        if role == Membership.Role.ANNOTATOR:
            assign_qualification(campaign=campaign, user=user)
            calibrate_newcomer(campaign=campaign)
    return membership


@transaction.atomic
def remove_member(*, membership: Membership, actor: User, begun: bool = False) -> int:
    """Takes a role away; returns how many documents went to other annotators.

    Submitted work stays and counts. Documents an annotator never began go to the others; those
    begun must be submitted first, or go, too, if `begun` says so. Raises Refused in that case, or
    when nobody is left to take over.
    """
    handed_over = 0
    if membership.role == Membership.Role.ANNOTATOR:
        handed_over = hand_over_all(
            campaign=membership.campaign, leaving=membership.user, actor=actor, begun=begun
        )
    # Work is shared out under this lock; pages are locked before it, as everywhere.
    campaign = Campaign.objects.select_for_update().get(pk=membership.campaign_id)
    _refuse_new_work(membership)
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


def _refuse_new_work(membership: Membership) -> None:
    left = Assignment.objects.filter(
        campaign_document__campaign=membership.campaign_id,
        annotator=membership.user_id,
        state__in=UNFINISHED,
    )
    if membership.role == Membership.Role.ANNOTATOR and left.exists():
        raise Refused(
            f"{membership.user} was given another document just now. Try again.", code="new_work"
        )


@transaction.atomic
def leave_campaign(*, campaign: Campaign, user: User) -> int:
    """Gives up all one's own roles; returns how many documents went to other annotators.

    Raises Refused while work is begun and not submitted, when nobody could take over the rest, and
    for the only lead. Leaving twice is leaving once.
    """
    mine = Membership.objects.filter(campaign=campaign, user=user)
    memberships = list(mine.select_related("campaign", "user").order_by("id"))
    # Pages are locked before their campaign: first goes the role that has pages.
    memberships.sort(key=lambda each: each.role != Membership.Role.ANNOTATOR)
    try:
        handed_over = sum(remove_member(membership=each, actor=user) for each in memberships)
    except Refused as refusal:
        if refusal.code != "holds_work":
            raise
        raise Refused(
            "You have begun documents and not submitted them. Submit them first, or ask the "
            "campaign’s lead to hand them over to somebody else.",
            code="holds_work",
        ) from refusal
    # Asked last, under the campaign's lock, so that of two leads leaving at once one stays.
    if any(membership.role == Membership.Role.LEAD for membership in memberships):
        _refuse_last_lead(campaign)
    return handed_over


def _refuse_last_lead(campaign: Campaign) -> None:
    if not Membership.objects.filter(campaign=campaign, role=Membership.Role.LEAD).exists():
        raise Refused(
            "You are the only lead of this campaign. Ask an organiser to choose another one first.",
            code="only_lead",
        )
