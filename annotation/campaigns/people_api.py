"""API of a campaign's people: members, invitations, leaving, open tasks and reminders."""

from functools import partial
from typing import Any

from django import forms
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import (
    campaign_for,
    invitation_for,
    managed_campaign,
    member_for,
    membership_for,
)
from annotation.api_base import AnnotationRefusal, AnnotationView, campaigns_schema, user_of
from annotation.assignments.api import HandedOver
from annotation.models import Membership
from portal.accounts.emails import origin_of
from portal.accounts.invitations.api import InvitationLink
from portal.accounts.invitations.selectors import EMAIL_STATES, accounts_of
from portal.accounts.invitations.services import make_link, resend_invitation, revoke_invitation
from portal.accounts.invitations.views import read_emails
from portal.web.answers import answer
from portal.web.api import checked

from . import people, waiting


class NewCampaignMember(serializers.Serializer[Any]):
    email = serializers.EmailField()
    role = serializers.ChoiceField(choices=Membership.Role.choices)


CampaignMember = answer(
    people.Person,
    "CampaignMember",
    leave_out=["pk", "removable"],
    id=serializers.IntegerField(source="pk"),
    email=serializers.EmailField(),
    role=serializers.ChoiceField(choices=Membership.Role.choices),
)


class MemberRemoval(serializers.Serializer[Any]):
    begun = serializers.BooleanField(
        default=False, help_text="Also hand over started work; others start again."
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
    @campaigns_schema(
        summary="List the members of a campaign (leads, organisers)",
        responses=CampaignMember(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        return Response(CampaignMember(people.campaign_people(access), many=True).data)

    @campaigns_schema(
        summary="Give a user a role (leads, organisers)",
        description="The user is notified by email. To add people without an account, use "
        "`invitations/`. Only organisers can appoint leads.",
        request=NewCampaignMember,
        responses={201: CampaignMember(many=True), 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        body = checked(NewCampaignMember, request.data)
        role = body["role"]
        access.check_may_give(role)
        email = body["email"].lower()
        if email not in accounts_of([email]):
            raise ValidationError({"email": ["There is no account with this email address."]})
        people.invite_people(
            campaign=access.campaign,
            emails=[email],
            role=role,
            actor=user_of(request),
            origin=origin_of(request),
        )
        members = CampaignMember(people.campaign_people(access), many=True).data
        return Response(members, status=status.HTTP_201_CREATED)


class CampaignPerson(AnnotationView):
    @campaigns_schema(
        summary="Remove a role (leads, organisers)",
        description="Documents not yet started go to other annotators; with `begun`, also started "
        "ones.",
        parameters=[MemberRemoval],
        responses={200: HandedOver, 409: AnnotationRefusal},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        _, membership = membership_for(request.user, slug, pk)
        query = checked(MemberRemoval, request.query_params)
        handed_over = people.remove_member(membership=membership, actor=user_of(request), **query)
        return Response({"handed_over": handed_over})


people_schema = partial(extend_schema, tags=["people"])


class CampaignInvitations(AnnotationView):
    @people_schema(
        summary="List open invitations (leads, organisers)",
        responses=CampaignInvitationRow(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        rows = people.campaign_invitations(access)
        return Response(CampaignInvitationRow(rows, many=True).data)

    @people_schema(
        summary="Invite people by email (leads, organisers)",
        description="Existing accounts get the role at once. Others get an email with a link that "
        "works once and expires after 14 days. Only organisers can appoint leads.",
        request=NewInvitations,
        responses={201: InvitedPeople, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        body = checked(NewInvitations, request.data)
        access.check_may_give(body["role"])
        invited = people.invite_people(
            **body, campaign=access.campaign, actor=user_of(request), origin=origin_of(request)
        )
        return Response(InvitedPeople(invited).data, status=status.HTTP_201_CREATED)


class CampaignInvitationDetail(AnnotationView):
    @people_schema(
        summary="Withdraw an invitation (leads, organisers)",
        responses={204: None, 409: AnnotationRefusal},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        _, invitation = invitation_for(request.user, slug, pk)
        revoke_invitation(invitation=invitation, actor=user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class CampaignInvitationLink(AnnotationView):
    @people_schema(
        summary="Create an invitation link (leads, organisers)",
        description="Available only if email is not configured or sending failed. The link works "
        "for the invited email address and expires after 14 days; earlier links stop working.",
        request=None,
        responses={201: InvitationLink, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        _, invitation = invitation_for(request.user, slug, pk)
        made = make_link(invitation=invitation, actor=user_of(request), origin=origin_of(request))
        return Response({"link": made}, status=status.HTTP_201_CREATED)


class CampaignInvitationResend(AnnotationView):
    @people_schema(
        summary="Send an invitation again (leads, organisers)",
        description="The email has a new link that expires after 14 days; earlier links stop "
        "working.",
        request=None,
        responses={204: None, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        _, invitation = invitation_for(request.user, slug, pk)
        resend_invitation(invitation=invitation, actor=user_of(request), origin=origin_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class CampaignLeave(AnnotationView):
    @people_schema(
        summary="Leave a campaign",
        description="Pages not yet started go to others. Submit started pages first, or ask a lead "
        "to hand them over.",
        request=None,
        responses={200: HandedOver, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        access = campaign_for(request.user, slug)
        if not access.roles:
            raise PermissionDenied("You have no role in this campaign.")
        handed_over = people.leave_campaign(campaign=access.campaign, user=user_of(request))
        return Response({"handed_over": handed_over})


class CampaignWaitingView(AnnotationView):
    @people_schema(
        summary="List open tasks by person (leads, organisers)",
        description="Shared tasks are listed for everyone who has the role.",
        responses=WaitingInCampaign,
    )
    def get(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        return Response(WaitingInCampaign(waiting.campaign_waiting(access.campaign)).data)


class CampaignRemindAll(AnnotationView):
    @people_schema(
        summary="Remind everyone with old tasks (leads, organisers)",
        request=RemindWaiting,
        responses=RemindedPeople,
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        body = checked(RemindWaiting, request.data)
        reminded = people.remind_waiting(
            campaign=access.campaign,
            days=body["days"],
            actor=user_of(request),
            origin=origin_of(request),
        )
        return Response(RemindedPeople(reminded).data)


class CampaignRemind(AnnotationView):
    @people_schema(
        operation_id="campaigns_waiting_remind_one",
        summary="Remind one person (leads, organisers)",
        description="At most one reminder per person and day; otherwise 409 with code `reminded`.",
        request=None,
        responses={201: ReminderSent, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        access, member = member_for(request.user, slug, pk)
        reminder = people.remind_person(
            campaign=access.campaign,
            user=member,
            actor=user_of(request),
            origin=origin_of(request),
        )
        return Response(ReminderSent(reminder).data, status=status.HTTP_201_CREATED)
