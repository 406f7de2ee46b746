"""Endpoints of re-grades and of the change log, with their JSON forms."""

from functools import partial
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.accounts.models import display_name
from portal.web.answers import ListingView, answer
from scoring.access import board_for
from scoring.models import Board, Regrade, RegradedPhase
from scoring.web import DetailSerializer, actor_of, conflicts

from .regrade_changes import (
    LogEntry,
    PhaseChange,
    RegradePage,
    RegradeRefused,
    board_regrades,
    done_regrades,
    find_release,
    log_entries,
    regrade_page,
)
from .regrades import cancel_regrade, start_regrade


class NewRegradeSerializer(serializers.Serializer[Any]):
    """The phase to re-grade, and the release to use."""

    phase = serializers.SlugField(
        required=False, default="", help_text="A phase's slug; by default all phases."
    )
    release = serializers.CharField(
        required=False,
        default="",
        max_length=32,
        help_text="The version of another release of the same dataset, with the same items.",
    )


class RegradedPhaseSerializer(serializers.ModelSerializer[RegradedPhase]):
    """`facts_changed` counts items with public gold; null if all changed items are hidden."""

    phase = serializers.SlugField(source="phase.slug")
    release_before = serializers.CharField(source="release_before.version")
    release_after = serializers.CharField(source="release_after.version")

    class Meta:
        model = RegradedPhase
        fields = ["phase", "release_before", "release_after", "items_changed", "facts_changed"]


class RegradeSerializer(serializers.ModelSerializer[Regrade]):
    """A re-grade; `error` is the reason if it failed."""

    board = serializers.SlugField(source="board.slug")
    phases = RegradedPhaseSerializer(many=True)
    started_by = serializers.SerializerMethodField()

    class Meta:
        model = Regrade
        fields = "id board state error phases started_by created_at finished_at".split()

    def get_started_by(self, regrade: Regrade) -> str | None:
        return display_name(regrade.started_by) if regrade.started_by else None


RegradePageSerializer = answer(RegradePage, leave_out=["phases"], regrade=RegradeSerializer())


class RankMoveSerializer(serializers.Serializer[Any]):
    """A row before and after. Scores are rates as shown on the board; null if not ranked."""

    submission = serializers.IntegerField(source="move.submission.pk")
    name = serializers.CharField(source="move.submission.name")
    rank_before = serializers.IntegerField(source="move.rank_before", allow_null=True)
    rank_after = serializers.IntegerField(source="move.rank_after", allow_null=True)
    score_before = serializers.FloatField(source="move.score_before", allow_null=True)
    score_after = serializers.FloatField(source="move.score_after", allow_null=True)


class PhaseChangeSerializer(serializers.Serializer[PhaseChange]):
    """The changes in a phase and their reasons. `column` is the main score."""

    phase = serializers.SlugField(source="phase.slug")
    release_before = serializers.CharField(source="part.release_before.version")
    release_after = serializers.CharField(source="part.release_after.version")
    items_changed = serializers.IntegerField(
        allow_null=True, help_text="Null if the gold is hidden, like `facts_changed`."
    )
    facts_changed = serializers.IntegerField(allow_null=True)
    reasons = serializers.ListField(child=serializers.CharField())
    column = serializers.CharField(source="column.key")
    moved = serializers.IntegerField(help_text="Rows whose rank changed.")
    rows = RankMoveSerializer(many=True, source="lines")
    left_out = serializers.IntegerField(help_text="Rows that are no longer public.")


class LogEntrySerializer(serializers.Serializer[LogEntry]):
    """A finished re-grade."""

    id = serializers.IntegerField(source="regrade.pk")
    finished_at = serializers.DateTimeField(source="regrade.finished_at")
    phases = PhaseChangeSerializer(many=True)


class BoardChanges(ListingView):
    """The rank changes after each re-grade of the board, with reasons, newest first."""

    queryset = Regrade.objects.none()
    serializer_class = LogEntrySerializer

    @extend_schema(responses=LogEntrySerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        return self.listed(done_regrades(board), partial(log_entries, request.user, board))


class RegradeList(ListingView):
    """The re-grades of a board, newest first. A new one grades all scored submissions again."""

    queryset = Regrade.objects.none()
    serializer_class = RegradeSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(responses=RegradeSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.listed(board_regrades(board_for(request.user, slug)))

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
        with conflicts(RegradeRefused):
            release = find_release(board, phase, asked["release"])
            regrade = start_regrade(
                board=board, phase=phase, release=release, actor=actor_of(request)
            )
        return _answer(board, regrade.pk, status.HTTP_201_CREATED)


class RegradeDetail(APIView):
    """One re-grade and its progress."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=RegradePageSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return _answer(board_for(request.user, slug), pk)


class RegradeCancel(APIView):
    """Cancels a re-grade; the leaderboard does not change."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=None, responses={200: RegradePageSerializer, 409: DetailSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        board = board_for(request.user, slug)
        regrade = get_object_or_404(board_regrades(board), pk=pk)
        with conflicts(RegradeRefused):
            cancel_regrade(regrade=regrade, actor=actor_of(request))
        return _answer(board, pk)


def _answer(board: Board, pk: int, code: int = status.HTTP_200_OK) -> Response:
    found: Any = regrade_page(board, pk)
    return Response(RegradePageSerializer(found).data, code)
