"""Endpoints of boards and leaderboards."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.http import HttpResponse, HttpResponseBase, QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import is_organiser
from portal.web.conditional import conditional, kept_answer
from scoring.access import board_for
from scoring.models import Board
from scoring.models.boards import choose_phase
from scoring.selectors.boards import board_lines, boards_for_list
from scoring.selectors.leaderboard_files import leaderboard_csv
from scoring.selectors.leaderboard_page import part_for
from scoring.selectors.leaderboards import Leaderboard, leaderboard
from scoring.selectors.stamps import stamped_board
from scoring.services.boards import create_board, edit_board, set_board_state
from scoring.services.reported import load_reported

from .base import CsvRenderer, OrganisersChange, actor_of, board_refusals
from .board_serializers import (
    BoardChangeSerializer,
    BoardLineSerializer,
    BoardSerializer,
    LeaderboardQuerySerializer,
    LeaderboardSerializer,
    NewBoardSerializer,
)
from .submission_serializers import DetailSerializer


def _shown(request: Request, board: Board) -> Any:
    context = {"for_organisers": is_organiser(request.user)}
    return BoardSerializer(board, context=context).data


class BoardList(GenericAPIView[Any]):
    """The boards one may see; organisers make new ones, with a first phase."""

    queryset = Board.objects.none()
    serializer_class = BoardLineSerializer
    permission_classes = [OrganisersChange]

    @extend_schema(responses=BoardLineSerializer(many=True))
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(boards_for_list(request.user)) or []
        return self.get_paginated_response(self.get_serializer(board_lines(page), many=True).data)

    @extend_schema(request=NewBoardSerializer, responses={201: BoardSerializer})
    def post(self, request: Request) -> Response:
        wanted = NewBoardSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        board = create_board(**wanted.validated_data, actor=actor_of(request))
        load_reported(board=board, actor=actor_of(request))
        return Response(_shown(request, board), status.HTTP_201_CREATED)


class BoardDetail(APIView):
    """One board. Organisers open it, archive it, or make it a draft again."""

    permission_classes = [OrganisersChange]

    @extend_schema(responses=BoardSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(_shown(request, board_for(request.user, slug)))

    @extend_schema(
        request=BoardChangeSerializer, responses={200: BoardSerializer, 409: DetailSerializer}
    )
    def patch(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = BoardChangeSerializer(data=request.data, partial=True, context={"board": board})
        wanted.is_valid(raise_exception=True)
        changes, actor = dict(wanted.validated_data), actor_of(request)
        state, confirm = changes.pop("state", None), changes.pop("confirm_disclosure", False)
        with board_refusals(), transaction.atomic():
            board = edit_board(board=board, changes=changes, actor=actor)
            if state is not None:
                board = set_board_state(
                    board=board,
                    state=Board.State(state),
                    actor=actor,
                    confirm_disclosure=confirm,
                )
        return Response(_shown(request, board))


class BoardLeaderboard(APIView):
    """The rows of a board: graded ones of one phase, and those that papers report.

    As JSON, or with `?format=csv` (or `Accept: text/csv`) as one table with stable columns, among
    them the ends of intervals as `KEY_low` and `KEY_high`. With `If-None-Match` and the ETag of an
    earlier answer: 304 while nothing has changed. Filters leave rows out; ranks stay those of all
    rows. What is pinned is never left out.
    """

    renderer_classes = [JSONRenderer, CsvRenderer]

    @extend_schema(
        parameters=[LeaderboardQuerySerializer],
        responses={
            (200, "application/json"): LeaderboardSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        stamped = stamped_board(request.user, slug)
        asked = _asked(request.query_params.urlencode())
        renderer, known = request.accepted_renderer, {**asked, "wanted": asked["wanted"].query}
        is_csv = isinstance(renderer, CsvRenderer)
        etag = stamped.etag(request.user, {**known, "csv": is_csv})

        def table() -> Leaderboard:
            phase = choose_phase(stamped.windows, asked["phase"])
            part = part_for(request.user, phase, asked["part"])
            return leaderboard(
                stamped.board,
                phase,
                asked["sort"],
                view=asked["view"],
                part=part,
                wanted=asked["wanted"],
            )

        def written() -> bytes:
            data = leaderboard_csv(table()) if is_csv else LeaderboardSerializer(table()).data
            text = renderer.render(data, renderer.media_type, {})
            assert isinstance(text, bytes)
            return text

        def answer() -> HttpResponse:
            charset = f"; charset={renderer.charset}" if renderer.charset else ""
            return HttpResponse(
                kept_answer(etag, written), content_type=f"{renderer.media_type}{charset}"
            )

        return conditional(request, etag, answer)


@lru_cache(maxsize=256)
def _asked(query: str) -> Mapping[str, Any]:
    """The parameters of a leaderboard's address, looked through once for all who ask alike: that
    takes as long as the rest of an answer that was kept."""
    wanted = LeaderboardQuerySerializer(data=QueryDict(query))
    wanted.is_valid(raise_exception=True)
    return MappingProxyType(wanted.validated_data)
