"""Endpoints of boards and leaderboards."""

from typing import Any

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from scoring.access import board_for
from scoring.models import Board
from scoring.selectors.boards import choose_phase, list_boards, phase_windows
from scoring.selectors.leaderboards import leaderboard
from scoring.services.boards import create_board, edit_board, set_board_state
from scoring.services.reported import load_reported

from .base import OrganisersChange, actor_of
from .board_serializers import (
    BoardChangeSerializer,
    BoardLineSerializer,
    BoardSerializer,
    LeaderboardQuerySerializer,
    LeaderboardSerializer,
    NewBoardSerializer,
)


class BoardList(GenericAPIView[Any]):
    """The boards one may see; organisers make new ones, with a first phase."""

    queryset = Board.objects.none()
    serializer_class = BoardLineSerializer
    permission_classes = [OrganisersChange]
    pagination_class = None

    @extend_schema(responses=BoardLineSerializer(many=True))
    def get(self, request: Request) -> Response:
        return Response(BoardLineSerializer(list_boards(request.user), many=True).data)

    @extend_schema(request=NewBoardSerializer, responses={201: BoardSerializer})
    def post(self, request: Request) -> Response:
        wanted = NewBoardSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        board = create_board(**wanted.validated_data, actor=actor_of(request))
        load_reported(board=board, actor=actor_of(request))
        return Response(BoardSerializer(board).data, status.HTTP_201_CREATED)


class BoardDetail(APIView):
    """One board. Organisers open it, archive it, or make it a draft again."""

    permission_classes = [OrganisersChange]

    @extend_schema(responses=BoardSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(BoardSerializer(board_for(request.user, slug)).data)

    @extend_schema(request=BoardChangeSerializer, responses=BoardSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = BoardChangeSerializer(data=request.data, partial=True, context={"board": board})
        wanted.is_valid(raise_exception=True)
        changes, actor = dict(wanted.validated_data), actor_of(request)
        state = changes.pop("state", None)
        with transaction.atomic():
            board = edit_board(board=board, changes=changes, actor=actor)
            if state is not None:
                board = set_board_state(board=board, state=Board.State(state), actor=actor)
        return Response(BoardSerializer(board).data)


class BoardLeaderboard(APIView):
    """The rows of a board: graded ones of one phase, and those that papers report."""

    @extend_schema(parameters=[LeaderboardQuerySerializer], responses=LeaderboardSerializer)
    def get(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = LeaderboardQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        asked = wanted.validated_data
        phase = choose_phase(phase_windows(board), asked["phase"])
        table = leaderboard(board, phase, asked["sort"], view=asked["view"])
        return Response(LeaderboardSerializer(table).data)
