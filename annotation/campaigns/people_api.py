"""API of a campaign's people: members, invitations, leaving, open tasks and reminders."""

from functools import partial
from typing import Any

from django import forms
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from annotation.access import (
    CampaignAccess,
    invitation_for,
    joined_campaign,
    managed_campaign,
    member_for,
    membership_for,
)
from annotation.api_base import AnnotationView, reads, writes
from annotation.assignments.api import HandedOver
from annotation.models import Membership
from portal.accounts.emails import origin_of
from portal.accounts.invitations.api import InvitationLink
from portal.accounts.invitations.selectors import EMAIL_STATES, accounts_of
from portal.accounts.invitations.services import make_link, resend_invitation, revoke_invitation
from portal.accounts.invitations.views import read_emails
from portal.accounts.models import Invitation, User
from portal.web.answers import answer

from . import people, waiting


class NewCampaignMember(serializers.Serializer[Any]):
    email = serializers.EmailField()
    role = serializers.ChoiceField(choices=Membership.Role.choices)


class CampaignMember(serializers.Serializer[Any]):
    """A membership in the list of people."""

    name = serializers.CharField(source="user")
    email = serializers.EmailField(source="user.email")
    role = serializers.ChoiceField(choices=Membership.Role.choices)
    id = serializers.IntegerField()


class MemberRemoval(serializers.Serializer[Any]):
    begun = serializers.BooleanField(
        default=False,
        help_text="Also reassign started work; the new annotators start without labels.",
    )


class NewInvitations(serializers.Serializer[Any]):
    emails = serializers.ListField(
        child=serializers.CharField(max_length=320), help_text="At most 50 email addresses."
    )
    role = serializers.ChoiceField(choices=Membership.Role.choices)

    def validate_emails(self, emails: list[str]) -> list[str]:
        try:
            return read_emails(emails)
        except forms.ValidationError as error:
            raise serializers.ValidationError(error.messages) from None


class InvitedPeople(serializers.Serializer[Any]):
    added = serializers.ListField(
        child=serializers.EmailField(), help_text="Existing accounts that now have the role."
    )
    invited = serializers.ListField(child=serializers.EmailField())
    known = serializers.ListField(
        child=serializers.EmailField(),
        help_text="People who already have the role or an invitation to it.",
    )


class CampaignInvitationRow(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    email = serializers.EmailField()
    role = serializers.ChoiceField(choices=Membership.Role.choices)
    letter = serializers.ChoiceField(
        source="email_state", choices=EMAIL_STATES, help_text="State of the newest email."
    )
    sent_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    is_expired = serializers.BooleanField()
    invited_by = serializers.CharField()


WaitingWork = answer(waiting.Work, "WaitingWork", kind=f"One of {', '.join(waiting.WORDS)}.")
WaitingPerson = answer(
    waiting.PersonWaiting,
    "WaitingPerson",
    leave_out=["user"],
    id=serializers.IntegerField(source="user.pk", help_text="The id to send a reminder to."),
    since=serializers.DateTimeField(allow_null=True),
)
WaitingInCampaign = answer(
    waiting.CampaignWaiting,
    "WaitingInCampaign",
    people="Longest wait first.",
    nobodys="Tasks for which no one has the role.",
)


class RemindWaiting(serializers.Serializer[Any]):
    days = serializers.IntegerField(
        min_value=0,
        max_value=people.MAX_DAYS,
        help_text="Minimum age of the oldest task, in whole days.",
    )


RemindedPeople = answer(
    people.Reminded,
    "RemindedPeople",
    sent="Names.",
    lately="Reminded in the last 24 hours; no email now.",
)


class ReminderSent(serializers.Serializer[Any]):
    waiting = serializers.IntegerField(help_text="Number of open tasks.")
    sent_at = serializers.DateTimeField()


class CampaignPeople(AnnotationView):
    @reads(
        "List the members of a campaign (leads, organisers)",
        on=managed_campaign,
        gives=CampaignMember(many=True),
    )
    def get(self, access: CampaignAccess) -> Any:
        return people.campaign_people(access.campaign)

    @writes(
        "Give a user a role (leads, organisers)",
        on=managed_campaign,
        takes=NewCampaignMember,
        gives=CampaignMember(many=True),
        code=201,
        description="The user is notified by email. To add people without an account, use "
        "`invitations/`. Only organisers can appoint leads.",
    )
    def post(self, access: CampaignAccess, user: User, email: str, role: str) -> Any:
        access.check_may_give(role)
        email = email.lower()
        if email not in accounts_of([email]):
            raise ValidationError({"email": ["There is no account with this email address."]})
        people.invite_people(
            campaign=access.campaign,
            emails=[email],
            role=role,
            actor=user,
            origin=origin_of(self.request),
        )
        return people.campaign_people(access.campaign)


class CampaignPerson(AnnotationView):
    @writes(
        "Remove a role (leads, organisers)",
        on=membership_for,
        asks=MemberRemoval,
        gives=HandedOver,
        description="Documents not yet started go to other annotators; with `begun`, also started "
        "ones.",
    )
    def delete(self, _: CampaignAccess, membership: Membership, user: User, *, begun: bool) -> Any:
        handed = people.remove_member(membership=membership, actor=user, begun=begun)
        return {"handed_over": handed}


_reads = partial(reads, tags=["people"])
_writes = partial(writes, tags=["people"])


class CampaignInvitations(AnnotationView):
    @_reads(
        "List open invitations (leads, organisers)",
        on=managed_campaign,
        gives=CampaignInvitationRow(many=True),
    )
    def get(self, access: CampaignAccess) -> Any:
        return people.campaign_invitations(access)

    @_writes(
        "Invite people by email (leads, organisers)",
        on=managed_campaign,
        takes=NewInvitations,
        gives=InvitedPeople,
        code=201,
        description="Existing accounts get the role at once. Others get an email with a link that "
        "works once and expires after 14 days. Only organisers can appoint leads.",
    )
    def post(self, access: CampaignAccess, user: User, role: str, **body: Any) -> Any:
        access.check_may_give(role)
        origin = origin_of(self.request)
        return people.invite_people(
            **body, campaign=access.campaign, role=role, actor=user, origin=origin
        )


class CampaignInvitationDetail(AnnotationView):
    @_writes("Withdraw an invitation (leads, organisers)", on=invitation_for, code=204)
    def delete(self, _: CampaignAccess, invitation: Invitation, user: User) -> None:
        revoke_invitation(invitation=invitation, actor=user)


class CampaignInvitationLink(AnnotationView):
    @_writes(
        "Create an invitation link (leads, organisers)",
        on=invitation_for,
        gives=InvitationLink,
        code=201,
        description="Available only if email is not configured or sending failed. The link works "
        "for the invited email address and expires after 14 days; earlier links stop working.",
    )
    def post(self, _: CampaignAccess, invitation: Invitation, user: User) -> Any:
        made = make_link(invitation=invitation, actor=user, origin=origin_of(self.request))
        return {"link": made}


class CampaignInvitationResend(AnnotationView):
    @_writes(
        "Send an invitation again (leads, organisers)",
        on=invitation_for,
        code=204,
        description="The email has a new link that expires after 14 days; earlier links stop "
        "working.",
    )
    def post(self, _: CampaignAccess, invitation: Invitation, user: User) -> None:
        resend_invitation(invitation=invitation, actor=user, origin=origin_of(self.request))


class CampaignLeave(AnnotationView):
    @_writes(
        "Leave a campaign",
        on=joined_campaign,
        gives=HandedOver,
        description="Documents that you have not started are reassigned. Submit started documents "
        "first, or ask a lead to reassign them.",
    )
    def post(self, access: CampaignAccess, user: User) -> Any:
        return {"handed_over": people.leave_campaign(campaign=access.campaign, user=user)}


class CampaignWaitingView(AnnotationView):
    @_reads(
        "List open tasks by person (leads, organisers)",
        on=managed_campaign,
        gives=WaitingInCampaign,
        description="Shared tasks are listed for everyone who has the role.",
    )
    def get(self, access: CampaignAccess) -> Any:
        return waiting.campaign_waiting(access.campaign)


class CampaignRemindAll(AnnotationView):
    @_writes(
        "Remind everyone with old tasks (leads, organisers)",
        on=managed_campaign,
        takes=RemindWaiting,
        gives=RemindedPeople,
        refuses={},
    )
    def post(self, access: CampaignAccess, user: User, days: int) -> Any:
        origin = origin_of(self.request)
        return people.remind_waiting(campaign=access.campaign, days=days, actor=user, origin=origin)


class CampaignRemind(AnnotationView):
    @_writes(
        "Remind one person (leads, organisers)",
        on=member_for,
        gives=ReminderSent,
        code=201,
        operation_id="campaigns_waiting_remind_one",
        description="At most one reminder per person and day; otherwise 409 with code `reminded`.",
    )
    def post(self, access: CampaignAccess, member: User, user: User) -> Any:
        origin = origin_of(self.request)
        return people.remind_person(
            campaign=access.campaign, user=member, actor=user, origin=origin
        )
