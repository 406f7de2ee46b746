"""Endpoints of one's webhooks."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from scoring.models import Webhook
from scoring.services.notices import WebhookRefused, add_webhook, remove_webhook

from .base import ConflictError, actor_of
from .submission_serializers import DetailSerializer


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """An address that is told of gradings; messages are signed with the secret."""

    class Meta:
        model = Webhook
        fields = ["id", "url", "secret", "is_active", "created_at"]


class NewWebhookSerializer(serializers.Serializer[Any]):
    url = serializers.CharField(max_length=500)


class WebhookList(APIView):
    """One's own webhooks; a few are allowed, so the list has no pages."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=WebhookSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(WebhookSerializer(Webhook.objects.of(request.user), many=True).data)

    @extend_schema(
        request=NewWebhookSerializer, responses={201: WebhookSerializer, 409: DetailSerializer}
    )
    def post(self, request: Request) -> Response:
        wanted = NewWebhookSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        try:
            webhook = add_webhook(user=actor_of(request), url=wanted.validated_data["url"])
        except WebhookRefused as refusal:
            raise ConflictError(str(refusal)) from refusal
        return Response(WebhookSerializer(webhook).data, status.HTTP_201_CREATED)


class WebhookDetail(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """It is told nothing more."""
        user = actor_of(request)
        remove_webhook(webhook=get_object_or_404(Webhook.objects.of(user), pk=pk), actor=user)
        return Response(status=status.HTTP_204_NO_CONTENT)
