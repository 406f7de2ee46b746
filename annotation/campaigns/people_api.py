"""The people of a campaign, inviting, leaving, what waits for whom and reminders, for programs."""

from typing import Any

from django import forms
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import CampaignAccess, campaign_for, managed_campaign
from annotation.api_base import AnnotationRefusal, AnnotationView, user_of
from annotation.assignments.api import HandedOver
from annotation.errors import Refused
from annotation.models import CampaignInvitation, Membership
from portal.accounts.emails import origin_of
from portal.accounts.invitations.api import InvitationLink
from portal.accounts.invitations.selectors import EMAIL_STATES, InvitationRefused, accounts_of
from portal.accounts.invitations.services import make_link, resend_invitation, revoke_invitation
from portal.accounts.invitations.views import read_emails
from portal.accounts.models import Invitation, User
from portal.web.answers import answer
from portal.web.api import checked

from .people import (
    MAX_DAYS,
    Person,
    Reminded,
    campaign_invitations,
    campaign_people,
    invite_people,
    leave_campaign,
    remind_person,
    remind_waiting,
    remove_member,
)
from .waiting import WORDS, CampaignWaiting, PersonWaiting, Work, campaign_waiting


class NewCampaignMember(serializers.Serializer[Any]):
    email = serializers.EmailField()
    role = serializers.ChoiceField(choices=Membership.Role.choices)


CampaignMember = answer(
    Person,
    "CampaignMember",
    leave_out=["pk", "removable"],
    id=serializers.IntegerField(source="pk"),
    email=serializers.EmailField(),
    role=serializers.ChoiceField(choices=Membership.Role.choices),
)


class MemberRemoval(serializers.Serializer[Any]):
    begun = serializers.BooleanField(
        default=False, help_text="Hand over begun work, too: others begin anew."
    )


class NewInvitations(serializers.Serializer[Any]):
    emails = serializers.ListField(
        child=serializers.CharField(max_length=320), help_text="At most fifty addresses."
    )
    role = serializers.ChoiceField(choices=Membership.Role.choices)

    def validate_emails(self, emails: list[str]) -> list[str]:
        try:
            return read_emails(emails)
        except forms.ValidationError as error:
            raise serializers.ValidationError(error.messages) from None


class InvitedPeople(serializers.Serializer[Any]):
    added = serializers.ListField(
        child=serializers.EmailField(), help_text="Have an account and hold the role now."
    )
    invited = serializers.ListField(child=serializers.EmailField())
    known = serializers.ListField(
        child=serializers.EmailField(),
        help_text="Hold the role or an invitation to it already; nothing was done.",
    )


class CampaignInvitationRow(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    email = serializers.EmailField()
    role = serializers.ChoiceField(choices=Membership.Role.choices)
    letter = serializers.ChoiceField(
        source="email_state", choices=EMAIL_STATES, help_text="State of the email."
    )
    sent_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    is_expired = serializers.BooleanField()
    invited_by = serializers.CharField()


WaitingWork = answer(Work, "WaitingWork", kind=f"One of {', '.join(WORDS)}.")
WaitingPerson = answer(
    PersonWaiting,
    "WaitingPerson",
    leave_out=["user"],
    id=serializers.IntegerField(source="user.pk", help_text="What a reminder is addressed to."),
    since=serializers.DateTimeField(allow_null=True),
)
WaitingInCampaign = answer(
    CampaignWaiting,
    "WaitingInCampaign",
    people="The longest wait first.",
    nobodys="Work for which nobody has the role.",
)


class RemindWaiting(serializers.Serializer[Any]):
    days = serializers.IntegerField(
        min_value=0, max_value=MAX_DAYS, help_text="Whole days something has waited at least."
    )


RemindedPeople = answer(
    Reminded, "RemindedPeople", sent="Names.", lately="Reminded within a day before; no email now."
)


class ReminderSent(serializers.Serializer[Any]):
    waiting = serializers.IntegerField(help_text="Pieces of work the letter was ordered for.")
    sent_at = serializers.DateTimeField()


class CampaignPeople(AnnotationView):
    @extend_schema(
        summary="The people of a campaign (leads, organisers)",
        tags=["campaigns"],
        responses=CampaignMember(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        return Response(CampaignMember(campaign_people(access), many=True).data)

    @extend_schema(
        summary="Give somebody with an account a role (leads, organisers)",
        description="They are told by e-mail. Others are invited under `invitations/`. Only "
        "organisers make somebody a lead.",
        tags=["campaigns"],
        request=NewCampaignMember,
        responses={201: CampaignMember(many=True), 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        body = checked(NewCampaignMember, request.data)
        role = body["role"]
        _require_may_give(access, role)
        email = body["email"].lower()
        if email not in accounts_of([email]):
            raise ValidationError({"email": ["Nobody has an account with this address."]})
        invite_people(
            campaign=access.campaign,
            emails=[email],
            role=role,
            actor=user_of(request),
            origin=origin_of(request),
        )
        people = CampaignMember(campaign_people(access), many=True).data
        return Response(people, status=status.HTTP_201_CREATED)


class CampaignPerson(AnnotationView):
    @extend_schema(
        summary="Take a role away (leads, organisers)",
        description="Documents an annotator never began go to the others; with `begun` those, too, "
        "that are begun and not submitted.",
        tags=["campaigns"],
        parameters=[MemberRemoval],
        responses={200: HandedOver, 409: AnnotationRefusal},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        access = managed_campaign(request.user, slug)
        membership = get_object_or_404(access.campaign.memberships.select_related("user"), pk=pk)
        _require_may_give(access, membership.role)
        query = checked(MemberRemoval, request.query_params)
        handed_over = remove_member(membership=membership, actor=user_of(request), **query)
        return Response({"handed_over": handed_over})


def _require_may_give(access: CampaignAccess, role: str) -> None:
    if not access.may_give(role):
        raise PermissionDenied("Only organisers choose who leads a campaign.")


TAGS = ["people"]


class PeopleView(AnnotationView):
    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, InvitationRefused):
            exc = Refused(exc.message, code=exc.code)
        return super().handle_exception(exc)


class CampaignInvitations(PeopleView):
    @extend_schema(
        summary="Invitations without an answer (leads, organisers)",
        tags=TAGS,
        responses=CampaignInvitationRow(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        rows = campaign_invitations(access)
        return Response(CampaignInvitationRow(rows, many=True).data)

    @extend_schema(
        summary="Invite people by e-mail (leads, organisers)",
        description="Whoever has an account gets the role at once; the others get a letter with a "
        "link that is good for 14 days and once. Only organisers make somebody a lead.",
        tags=TAGS,
        request=NewInvitations,
        responses={201: InvitedPeople, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        body = checked(NewInvitations, request.data)
        if not access.may_give(body["role"]):
            raise PermissionDenied("Only organisers choose who leads a campaign.")
        invited = invite_people(
            **body, campaign=access.campaign, actor=user_of(request), origin=origin_of(request)
        )
        return Response(InvitedPeople(invited).data, status=status.HTTP_201_CREATED)


def _invitation(request: Request, slug: str, pk: int) -> Invitation:
    """An invitation whose role the caller may give."""
    access = managed_campaign(request.user, slug)
    rows = CampaignInvitation.objects.filter(campaign=access.campaign)
    row = get_object_or_404(rows.select_related("invitation"), invitation__id=pk)
    if not access.may_give(row.role):
        raise PermissionDenied("Only organisers choose who leads a campaign.")
    return row.invitation


class CampaignInvitationDetail(PeopleView):
    @extend_schema(
        summary="Withdraw an invitation (leads, organisers)",
        tags=TAGS,
        responses={204: None, 409: AnnotationRefusal},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        revoke_invitation(invitation=_invitation(request, slug, pk), actor=user_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class CampaignInvitationLink(PeopleView):
    @extend_schema(
        summary="Make a link to hand over by other means (leads, organisers)",
        description="Only where no email arrives: the site prints its emails, or sending failed. "
        "The link is good for 14 days, for the invitation's address alone; former ones end.",
        tags=TAGS,
        request=None,
        responses={201: InvitationLink, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        made = make_link(
            invitation=_invitation(request, slug, pk),
            actor=user_of(request),
            origin=origin_of(request),
        )
        return Response({"link": made}, status=status.HTTP_201_CREATED)


class CampaignInvitationResend(PeopleView):
    @extend_schema(
        summary="Send an invitation again (leads, organisers)",
        description="A new link, good for 14 days; the former one ends.",
        tags=TAGS,
        request=None,
        responses={204: None, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        resend_invitation(
            invitation=_invitation(request, slug, pk),
            actor=user_of(request),
            origin=origin_of(request),
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class CampaignLeave(PeopleView):
    @extend_schema(
        summary="Give up all my roles in a campaign",
        description="Untouched pages go to others. Begun pages have to be submitted before, or "
        "handed over by a lead.",
        tags=TAGS,
        request=None,
        responses={200: HandedOver, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        access = campaign_for(request.user, slug)
        if not access.roles:
            raise PermissionDenied("You hold no role in this campaign that you could give up.")
        handed_over = leave_campaign(campaign=access.campaign, user=user_of(request))
        return Response({"handed_over": handed_over})


class CampaignWaitingView(PeopleView):
    @extend_schema(
        summary="What is waiting for whom (leads, organisers)",
        description="Numbers of tasks, since when, the day of the last activity, the last "
        "reminder. Work that is not assigned to one person counts for each who has the role.",
        tags=TAGS,
        responses=WaitingInCampaign,
    )
    def get(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        return Response(WaitingInCampaign(campaign_waiting(access.campaign)).data)


class CampaignRemindAll(PeopleView):
    @extend_schema(
        summary="Remind all who have waited so long (leads, organisers)",
        tags=TAGS,
        request=RemindWaiting,
        responses=RemindedPeople,
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_campaign(request.user, slug)
        body = checked(RemindWaiting, request.data)
        reminded = remind_waiting(
            campaign=access.campaign,
            days=body["days"],
            actor=user_of(request),
            origin=origin_of(request),
        )
        return Response(RemindedPeople(reminded).data)


class CampaignRemind(PeopleView):
    @extend_schema(
        operation_id="campaigns_waiting_remind_one",
        summary="Remind one person (leads, organisers)",
        description="One letter a day and person at most: 409 with code `reminded`.",
        tags=TAGS,
        request=None,
        responses={201: ReminderSent, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        access = managed_campaign(request.user, slug)
        members = User.objects.filter(memberships__campaign=access.campaign).distinct()
        reminder = remind_person(
            campaign=access.campaign,
            user=get_object_or_404(members, pk=pk),
            actor=user_of(request),
            origin=origin_of(request),
        )
        return Response(ReminderSent(reminder).data, status=status.HTTP_201_CREATED)
