"""The endpoint of near-identical submissions."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from portal.accounts.access import IsOrganiser
from scoring.access import board_for
from scoring.models import Likeness
from scoring.selectors.likeness import board_pairs


class LikenessSerializer(serializers.ModelSerializer[Likeness]):
    """A pair of submissions with almost the same predictions."""

    share = serializers.FloatField(help_text="Of the compared answers, in [0, 1].")

    class Meta:
        model = Likeness
        fields = ["submission", "counterpart", "same", "compared", "share", "found_at"]


class BoardLikenesses(GenericAPIView[Any]):
    """Near-identical submissions of different owners, for organisers, newest first."""

    queryset = Likeness.objects.none()
    serializer_class = LikenessSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(responses=LikenessSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        page = self.paginate_queryset(board_pairs(board_for(request.user, slug))) or []
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
