"""Inviting, leaving, what waits for whom and reminders, for programs."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import campaign_for, managed_campaign
from annotation.models import CampaignInvitation
from annotation.selectors.people import campaign_invitations
from annotation.selectors.waiting import campaign_waiting
from annotation.services.errors import Refused
from annotation.services.inviting import invite_people
from annotation.services.members import leave_campaign
from annotation.services.reminding import remind_person, remind_waiting
from portal.accounts.emails import origin_of
from portal.accounts.invitations.api import InvitationLink
from portal.accounts.invitations.selectors import InvitationRefused
from portal.accounts.invitations.services import make_link, resend_invitation, revoke_invitation
from portal.accounts.models import Invitation, User

from . import people_schemas as shapes
from .base import AnnotationView, user_of
from .campaign_schemas import HandedOver
from .schemas import AnnotationRefusal

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
        responses=shapes.CampaignInvitationRow(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        rows = campaign_invitations(standing)
        return Response(shapes.CampaignInvitationRow(rows, many=True).data)

    @extend_schema(
        summary="Invite people by e-mail (leads, organisers)",
        description="Whoever has an account gets the role at once; the others get a letter with a "
        "link that is good for 14 days and once. Only organisers make somebody a lead.",
        tags=TAGS,
        request=shapes.NewInvitations,
        responses={201: shapes.InvitedPeople, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        body = shapes.NewInvitations(data=request.data)
        body.is_valid(raise_exception=True)
        if not standing.may_give(body.validated_data["role"]):
            raise PermissionDenied("Only organisers choose who leads a campaign.")
        invited = invite_people(
            **body.validated_data,
            campaign=standing.campaign,
            actor=user_of(request),
            origin=origin_of(request),
        )
        return Response(shapes.InvitedPeople(invited).data, status=status.HTTP_201_CREATED)


def _invitation(request: Request, slug: str, pk: int) -> Invitation:
    """An invitation whose role the caller may give."""
    standing = managed_campaign(request.user, slug)
    rows = CampaignInvitation.objects.filter(campaign=standing.campaign)
    row = get_object_or_404(rows.select_related("invitation"), invitation__id=pk)
    if not standing.may_give(row.role):
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
        standing = campaign_for(request.user, slug)
        if not standing.roles:
            raise PermissionDenied("You hold no role in this campaign that you could give up.")
        handed_over = leave_campaign(campaign=standing.campaign, user=user_of(request))
        return Response({"handed_over": handed_over})


class CampaignWaiting(PeopleView):
    @extend_schema(
        summary="What is waiting for whom (leads, organisers)",
        description="Numbers of tasks, since when, the day of the last activity, the last "
        "reminder. Work that is not assigned to one person counts for each who has the role.",
        tags=TAGS,
        responses=shapes.WaitingInCampaign,
    )
    def get(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        return Response(shapes.WaitingInCampaign(campaign_waiting(standing.campaign)).data)


class CampaignRemindAll(PeopleView):
    @extend_schema(
        summary="Remind all who have waited so long (leads, organisers)",
        tags=TAGS,
        request=shapes.RemindWaiting,
        responses=shapes.RemindedPeople,
    )
    def post(self, request: Request, slug: str) -> Response:
        standing = managed_campaign(request.user, slug)
        body = shapes.RemindWaiting(data=request.data)
        body.is_valid(raise_exception=True)
        reminded = remind_waiting(
            campaign=standing.campaign,
            days=body.validated_data["days"],
            actor=user_of(request),
            origin=origin_of(request),
        )
        return Response(shapes.RemindedPeople(reminded).data)


class CampaignRemind(PeopleView):
    @extend_schema(
        operation_id="campaigns_waiting_remind_one",
        summary="Remind one person (leads, organisers)",
        description="One letter a day and person at most: 409 with code `reminded`.",
        tags=TAGS,
        request=None,
        responses={201: shapes.ReminderSent, 409: AnnotationRefusal},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        standing = managed_campaign(request.user, slug)
        members = User.objects.filter(memberships__campaign=standing.campaign).distinct()
        reminder = remind_person(
            campaign=standing.campaign,
            user=get_object_or_404(members, pk=pk),
            actor=user_of(request),
            origin=origin_of(request),
        )
        return Response(shapes.ReminderSent(reminder).data, status=status.HTTP_201_CREATED)
