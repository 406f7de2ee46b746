"""API endpoints of teams, under /api/v1/teams/."""

from typing import Any

from django.core.exceptions import ValidationError as DjangoValidationError
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import IsAuthenticatedOrReadOnly
from rest_framework.request import Request
from rest_framework.response import Response

from portal.accounts.emails import origin_of
from portal.accounts.invitations.api import AccountView, InvitationLink
from portal.accounts.invitations.selectors import EMAIL_STATES
from portal.accounts.invitations.services import make_link, resend_invitation, revoke_invitation
from portal.accounts.invitations.views import read_emails
from portal.accounts.models import Invitation, Team, TeamMember
from portal.web.api import checked

from . import services
from .selectors import (
    TeamAccess,
    managed_team,
    own_membership,
    own_teams,
    peopled_team,
    team_for,
    team_invitations,
    team_people,
)


class TeamShape(serializers.Serializer[Any]):
    slug = serializers.SlugField(source="team.slug")
    name = serializers.CharField(source="team.name")
    about = serializers.CharField(source="team.about", help_text="Markdown.")
    link = serializers.CharField(source="team.link")
    is_open = serializers.BooleanField(source="team.is_open")
    is_member = serializers.BooleanField(help_text="Whether I am a member.")
    is_owner = serializers.BooleanField(help_text="Whether I am an owner.")


class TeamFields(serializers.ModelSerializer[Team]):
    class Meta:
        model = Team
        fields = ["name", "about", "link"]
        extra_kwargs = {"about": {"max_length": 2000}}
        # The service checks that the name is free, under a lock: 409, not 400.
        validators: list[Any] = []


class OwnTeamShape(serializers.Serializer[Any]):
    slug = serializers.SlugField(source="team.slug")
    name = serializers.CharField(source="team.name")
    is_owner = serializers.BooleanField()
    members = serializers.IntegerField(source="size")
    joined_at = serializers.DateTimeField()


class TeamPerson(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="member.pk", help_text="ID of the membership.")
    name = serializers.CharField(source="member.user")
    affiliation = serializers.CharField(source="member.user.affiliation")
    is_owner = serializers.BooleanField(source="member.is_owner")
    is_me = serializers.BooleanField()
    joined_at = serializers.DateTimeField(source="member.joined_at")


class TeamOwnership(serializers.Serializer[Any]):
    is_owner = serializers.BooleanField(
        help_text="True makes the member an owner; false gives up your own ownership."
    )


class TeamInvitationRow(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    email = serializers.EmailField()
    letter = serializers.CharField(
        source="email_state", help_text=f"State of the email: {', '.join(EMAIL_STATES)}."
    )
    sent_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    is_expired = serializers.BooleanField()
    invited_by = serializers.CharField()


class NewTeamInvitations(serializers.Serializer[Any]):
    emails = serializers.ListField(child=serializers.CharField(), allow_empty=False)

    def validate_emails(self, emails: list[str]) -> list[str]:
        try:
            return read_emails(emails)
        except DjangoValidationError as error:
            raise serializers.ValidationError(error.messages) from error


class InvitedToTeamShape(serializers.Serializer[Any]):
    invited = serializers.ListField(child=serializers.CharField())
    known = serializers.ListField(
        child=serializers.CharField(), help_text="Already members or invited; no email was sent."
    )


class TeamRefusal(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


REFUSED = {409: TeamRefusal}


class Teams(AccountView):
    @extend_schema(
        operation_id="teams_mine", summary="List my teams", responses=OwnTeamShape(many=True)
    )
    def get(self, request: Request) -> Response:
        return Response(OwnTeamShape(own_teams(self.me), many=True).data)

    @extend_schema(
        summary="Create a team", request=TeamFields, responses={201: TeamShape} | REFUSED
    )
    def post(self, request: Request) -> Response:
        made = services.make_team(**checked(TeamFields, request.data), actor=self.me)
        shape = TeamShape(team_for(self.me, made.slug))
        return Response(shape.data, status=status.HTTP_201_CREATED)


class TeamDetail(AccountView):
    permission_classes = [IsAuthenticatedOrReadOnly]

    @extend_schema(summary="Get a team", responses=TeamShape)
    def get(self, request: Request, slug: str) -> Response:
        return Response(TeamShape(team_for(request.user, slug)).data)

    @extend_schema(
        summary="Change a team’s name, description or link (owners)",
        request=TeamFields,
        responses={200: TeamShape} | REFUSED,
    )
    def patch(self, request: Request, slug: str) -> Response:
        team = managed_team(request.user, slug).team
        body = TeamFields(team, data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        now = {"name": team.name, "about": team.about, "link": team.link}
        services.change_team(team=team, **(now | body.validated_data), actor=self.me)
        return Response(TeamShape(team_for(request.user, slug)).data)

    @extend_schema(
        summary="Close a team (owners)",
        description="Removes all members and withdraws invitations. Work that refers to the team "
        "keeps its name.",
        responses={204: None},
    )
    def delete(self, request: Request, slug: str) -> Response:
        services.close_team(team=managed_team(request.user, slug).team, actor=self.me)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TeamMembers(AccountView):
    @extend_schema(summary="List the members of a team (members)", responses=TeamPerson(many=True))
    def get(self, request: Request, slug: str) -> Response:
        people = team_people(peopled_team(request.user, slug))
        return Response(TeamPerson(people, many=True).data)


def _member(access: TeamAccess, pk: int) -> TeamMember:
    return get_object_or_404(access.team.members.select_related("team", "user"), pk=pk)


class TeamMemberDetail(AccountView):
    @extend_schema(
        summary="Make a member an owner, or give up your own ownership",
        request=TeamOwnership,
        responses={204: None} | REFUSED,
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        access = managed_team(request.user, slug)
        body = checked(TeamOwnership, request.data)
        member = _member(access, pk)
        if body["is_owner"]:
            services.make_owner(member=member, actor=self.me)
        elif member.user_id == self.me.pk:
            services.give_up_ownership(member=member, actor=self.me)
        else:
            raise PermissionDenied("Only the owner can give up their own ownership.")
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        summary="Remove a member who is not an owner (owners)", responses={204: None} | REFUSED
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        access = managed_team(request.user, slug)
        services.remove_from_team(member=_member(access, pk), actor=self.me)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TeamLeave(AccountView):
    @extend_schema(summary="Leave a team", request=None, responses={204: None} | REFUSED)
    def post(self, request: Request, slug: str) -> Response:
        services.remove_from_team(member=own_membership(request.user, slug), actor=self.me)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TeamInvitations(AccountView):
    @extend_schema(
        summary="List pending invitations (owners)", responses=TeamInvitationRow(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = team_invitations(managed_team(request.user, slug))
        return Response(TeamInvitationRow(rows, many=True).data)

    @extend_schema(
        summary="Invite people by email (owners)",
        description="Invited people join when they accept. The link works once, within 14 days.",
        request=NewTeamInvitations,
        responses={201: InvitedToTeamShape} | REFUSED,
    )
    def post(self, request: Request, slug: str) -> Response:
        access = managed_team(request.user, slug)
        body = checked(NewTeamInvitations, request.data)
        done = services.invite_to_team(
            team=access.team, emails=body["emails"], actor=self.me, origin=origin_of(request)
        )
        return Response(InvitedToTeamShape(done).data, status=status.HTTP_201_CREATED)


def _invitation(request: Request, slug: str, pk: int) -> Invitation:
    team = managed_team(request.user, slug).team
    return get_object_or_404(Invitation, pk=pk, team_invitation__team=team)


class TeamInvitationDetail(AccountView):
    @extend_schema(summary="Withdraw an invitation (owners)", responses={204: None} | REFUSED)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        revoke_invitation(invitation=_invitation(request, slug, pk), actor=self.me)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TeamInvitationLink(AccountView):
    @extend_schema(
        summary="Create an invitation link to share (owners)",
        description="Only if the site does not send email, or sending failed. The link works for "
        "the invited email address only, for 14 days. Earlier links stop working.",
        request=None,
        responses={201: InvitationLink} | REFUSED,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        found = _invitation(request, slug, pk)
        made = make_link(invitation=found, actor=self.me, origin=origin_of(request))
        return Response({"link": made}, status=status.HTTP_201_CREATED)


class TeamInvitationResend(AccountView):
    @extend_schema(
        summary="Resend an invitation (owners)",
        description="Sends a new link, valid for 14 days. Earlier links stop working.",
        request=None,
        responses={204: None} | REFUSED,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        found = _invitation(request, slug, pk)
        resend_invitation(invitation=found, actor=self.me, origin=origin_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


urlpatterns = [
    path("teams/", Teams.as_view(), name="teams"),
    path("teams/<slug:slug>/", TeamDetail.as_view(), name="team"),
    path("teams/<slug:slug>/members/", TeamMembers.as_view(), name="team-members"),
    path("teams/<slug:slug>/members/<int:pk>/", TeamMemberDetail.as_view(), name="team-member"),
    path("teams/<slug:slug>/leave/", TeamLeave.as_view(), name="team-leave"),
    path("teams/<slug:slug>/invitations/", TeamInvitations.as_view(), name="team-invitations"),
    path(
        "teams/<slug:slug>/invitations/<int:pk>/",
        TeamInvitationDetail.as_view(),
        name="team-invitation",
    ),
    path(
        "teams/<slug:slug>/invitations/<int:pk>/link/",
        TeamInvitationLink.as_view(),
        name="team-invitation-link",
    ),
    path(
        "teams/<slug:slug>/invitations/<int:pk>/resend/",
        TeamInvitationResend.as_view(),
        name="team-invitation-resend",
    ),
]
