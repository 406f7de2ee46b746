"""API endpoints for the current user's account, tokens and data exports.

Tokens are created and accounts deleted only in the browser, so that a stolen token can do neither.
"""

from typing import Any

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.accounts.invitations.api import AccountView
from portal.web.refusals import Refused

from .access import revoke_token
from .account_data import export_file, request_export
from .emails import is_email_confirmed, send_confirmation
from .models import AccountExport, ApiToken, User


class AccountShape(serializers.ModelSerializer[User]):
    is_email_confirmed = serializers.SerializerMethodField(help_text="Needed to publish results.")

    class Meta:
        model = User
        fields = ["email", "is_email_confirmed", "name", "affiliation", "is_organiser"]
        read_only_fields = ["email", "is_organiser"]

    def get_is_email_confirmed(self, user: User) -> bool:
        return is_email_confirmed(user)


class TokenShape(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()
    prefix = serializers.CharField(help_text="First characters of the token.")
    scope = serializers.CharField(
        source="get_scope_display", help_text="“Read and write” or “Read only”."
    )
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    is_expired = serializers.BooleanField()
    warning = serializers.CharField(help_text="Why the token needs attention, or empty.")


class ExportShape(serializers.ModelSerializer[AccountExport]):
    state = serializers.CharField(help_text="waiting, ready or failed.")

    class Meta:
        model = AccountExport
        fields = ["id", "state", "size", "created_at", "expires_at"]


class AccountRefusal(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


class Account(AccountView):
    @extend_schema(summary="Get my account", responses=AccountShape)
    def get(self, request: Request) -> Response:
        return Response(AccountShape(self.me).data)

    @extend_schema(
        summary="Change my name or affiliation", request=AccountShape,
        responses=AccountShape,
    )  # fmt: skip
    def patch(self, request: Request) -> Response:
        body = AccountShape(self.me, data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        body.save()
        return Response(body.data)


class Confirmation(AccountView):
    @extend_schema(
        summary="Resend the confirmation email",
        request=None,
        responses={202: None, 409: AccountRefusal, 429: AccountRefusal},
    )
    def post(self, request: Request) -> Response:
        if is_email_confirmed(self.me):
            raise Refused("Your email address is already confirmed.", code="confirmed")
        if not send_confirmation(request._request, self.me):
            words = "An email was just sent. Wait a few minutes before requesting another."
            body = {"code": "too_soon", "message": words}
            return Response(body, status=status.HTTP_429_TOO_MANY_REQUESTS)
        return Response(status=status.HTTP_202_ACCEPTED)


class Tokens(AccountView):
    @extend_schema(
        operation_id="account_tokens_list",
        summary="List my API tokens",
        description="Create tokens on your account page.",
        responses=TokenShape(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(TokenShape(self.me.api_tokens.all(), many=True).data)


class TokenDetail(AccountView):
    @extend_schema(summary="Revoke one of my tokens", responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        token = get_object_or_404(ApiToken, pk=pk, user=self.me)
        revoke_token(token=token, actor=self.me)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Exports(AccountView):
    @extend_schema(
        operation_id="account_exports_list",
        summary="List my data exports",
        responses=ExportShape(many=True),
    )
    def get(self, request: Request) -> Response:
        return Response(ExportShape(self.me.data_exports.all(), many=True).data)

    @extend_schema(
        summary="Request a data export",
        description="A job creates the file. Returns the pending export if there is one.",
        request=None,
        responses={202: ExportShape, 409: AccountRefusal},
    )
    def post(self, request: Request) -> Response:
        export = request_export(user=self.me)
        return Response(ExportShape(export).data, status=status.HTTP_202_ACCEPTED)


class ExportDownload(AccountView):
    @extend_schema(
        summary="Download a data export", responses={(200, "application/zip"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, pk: int) -> FileResponse:
        response = export_file(self.me, pk)
        response["Cache-Control"] = "private, no-store"
        return response


urlpatterns = [
    path("account/", Account.as_view(), name="account"),
    path("account/confirmation/", Confirmation.as_view(), name="account-confirmation"),
    path("account/tokens/", Tokens.as_view(), name="account-tokens"),
    path("account/tokens/<int:pk>/", TokenDetail.as_view(), name="account-token"),
    path("account/exports/", Exports.as_view(), name="account-exports"),
    path("account/exports/<int:pk>/download/", ExportDownload.as_view(), name="account-export"),
]
