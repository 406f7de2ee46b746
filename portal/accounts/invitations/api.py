"""API endpoints for the recipient of an invitation, and the base of all endpoints of accounts."""

from typing import Any

from django.http import Http404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.models import Invitation, User, display_name
from portal.web.refusals import Refused

from .selectors import STATES, find_invitation, invitation_state, is_addressed_to, offer_of
from .services import accept_invitation


class InvitationShape(serializers.Serializer[Any]):
    email = serializers.EmailField()
    state = serializers.CharField(help_text=f"One of {', '.join(STATES)}.")
    what = serializers.CharField(help_text="The role or membership that is offered.")
    about = serializers.CharField()
    invited_by = serializers.CharField()
    expires_at = serializers.DateTimeField()
    is_mine = serializers.BooleanField(help_text="Whether the invitation is for my email address.")


class InvitationRefusal(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


def _shape(invitation: Invitation, user: User) -> dict[str, Any]:
    offer, inviter = offer_of(invitation), invitation.invited_by
    data = {
        "email": invitation.email,
        "state": invitation_state(invitation),
        "what": offer.what,
        "about": offer.about,
        "invited_by": display_name(inviter) if inviter else "",
        "expires_at": invitation.expires_at,
        "is_mine": is_addressed_to(invitation, user),
    }
    return dict(InvitationShape(data).data)


class AccountView(APIView):
    """Requires a user (`me`), and returns refusals with status 409."""

    permission_classes = [IsAuthenticated]

    @property
    def me(self) -> User:
        assert isinstance(self.request.user, User)
        return self.request.user

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, Refused):
            body = {"code": exc.code, "message": exc.message}
            return Response(body, status=status.HTTP_409_CONFLICT)
        return super().handle_exception(exc)


class _InvitationView(AccountView):
    def found(self, secret: str) -> Invitation:
        invitation = find_invitation(secret)
        if invitation is None:
            raise Http404("Invitation not found. A newer email may have replaced it.")
        return invitation


class InvitationDetail(_InvitationView):
    @extend_schema(
        summary="Get an invitation by the secret in its link",
        tags=["people"],
        responses=InvitationShape,
    )
    def get(self, request: Request, secret: str) -> Response:
        return Response(_shape(self.found(secret), self.me))


class InvitationAccept(_InvitationView):
    @extend_schema(
        summary="Accept an invitation",
        description="The account must have the invited email address. Works once.",
        tags=["people"],
        request=None,
        responses={200: InvitationShape, 409: InvitationRefusal},
    )
    def post(self, request: Request, secret: str) -> Response:
        invitation = self.found(secret)
        accept_invitation(invitation=invitation, user=self.me)
        return Response(_shape(invitation, self.me))


urlpatterns = [
    path("invitations/<slug:secret>/", InvitationDetail.as_view(), name="invitation"),
    path("invitations/<slug:secret>/accept/", InvitationAccept.as_view(), name="invitation-accept"),
]


class InvitationLink(serializers.Serializer[Any]):
    link = serializers.CharField(help_text="Returned only once.")
