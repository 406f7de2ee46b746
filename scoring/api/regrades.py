"""Endpoints of re-grades, and of the change log that everybody reads."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from scoring.access import board_for
from scoring.models import Board, Regrade
from scoring.selectors.change_log import done_regrades, log_entries
from scoring.selectors.regrade_plans import RegradeRefused, find_release
from scoring.selectors.regrades import board_regrades, regrade_page
from scoring.services.regrades import cancel_regrade, start_regrade

from .base import ConflictError, actor_of
from .regrade_serializers import (
    LogEntrySerializer,
    NewRegradeSerializer,
    RegradePageSerializer,
    RegradeSerializer,
)
from .submission_serializers import DetailSerializer


class BoardChanges(GenericAPIView[Any]):
    """Which ranks moved when the board was graded again, and why; the newest first."""

    queryset = Regrade.objects.none()
    serializer_class = LogEntrySerializer

    @extend_schema(responses=LogEntrySerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        page = self.paginate_queryset(done_regrades(board)) or []
        entries = log_entries(request.user, board, page)
        return self.get_paginated_response(self.get_serializer(entries, many=True).data)


class RegradeList(GenericAPIView[Any]):
    """The re-grades of a board, newest first; a new one grades all scored submissions again."""

    queryset = Regrade.objects.none()
    serializer_class = RegradeSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(responses=RegradeSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        page = self.paginate_queryset(board_regrades(board_for(request.user, slug))) or []
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        request=NewRegradeSerializer,
        responses={201: RegradePageSerializer, 409: DetailSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = NewRegradeSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        asked = wanted.validated_data
        phase = None
        if asked["phase"]:
            phases = board.phases.select_related("release__dataset")
            phase = get_object_or_404(phases, slug=asked["phase"])
        try:
            release = find_release(board, phase, asked["release"])
            regrade = start_regrade(
                board=board, phase=phase, release=release, actor=actor_of(request)
            )
        except RegradeRefused as refusal:
            raise ConflictError(str(refusal)) from refusal
        return _answer(board, regrade.pk, status.HTTP_201_CREATED)


class RegradeDetail(APIView):
    """One re-grade and how far it is."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=RegradePageSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return _answer(board_for(request.user, slug), pk)


class RegradeCancel(APIView):
    """Stops a re-grade; the board stays as it was."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=None, responses={200: RegradePageSerializer, 409: DetailSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        board = board_for(request.user, slug)
        regrade = get_object_or_404(board_regrades(board), pk=pk)
        try:
            cancel_regrade(regrade=regrade, actor=actor_of(request))
        except RegradeRefused as refusal:
            raise ConflictError(str(refusal)) from refusal
        return _answer(board, pk)


def _answer(board: Board, pk: int, code: int = status.HTTP_200_OK) -> Response:
    found: Any = regrade_page(board, pk)
    return Response(RegradePageSerializer(found).data, code)
