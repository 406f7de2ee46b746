"""Endpoints of boards and of their phases."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser, is_organiser
from portal.accounts.teams.selectors import teams_of
from scoring.access import board_for, may_open_release
from scoring.leaderboard.services import load_reported
from scoring.models import Board, Phase
from scoring.models.boards import phase_window
from scoring.web import ConflictError, DetailSerializer, OrganisersChange, actor_of

from .limits import quota, team_quotas
from .selectors import board_lines, boards_for_list, phase_ids
from .serializers import (
    BoardChangeSerializer,
    BoardLineSerializer,
    BoardSerializer,
    NewBoardSerializer,
    NewPhaseSerializer,
    PhaseIdsSerializer,
    PhaseSerializer,
    QuotaSerializer,
)
from .services import (
    BoardRefused,
    DisclosureUnconfirmed,
    add_phase,
    create_board,
    edit_board,
    edit_phase,
    set_board_state,
)


@contextmanager
def board_refusals() -> Iterator[None]:
    """Turns refusals into 409, and names the field that confirms a disclosure."""
    try:
        yield
    except DisclosureUnconfirmed as refusal:
        detail = f"{refusal} To continue, send confirm_disclosure=true."
        raise ConflictError(detail) from refusal
    except BoardRefused as refusal:
        raise ConflictError(str(refusal)) from refusal


def _board_shown(request: Request, board: Board) -> Any:
    context = {"for_organisers": is_organiser(request.user)}
    return BoardSerializer(board, context=context).data


class BoardList(GenericAPIView[Any]):
    """Lists the boards the user may see. Organisers can create boards, each with a first phase."""

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
        return Response(_board_shown(request, board), status.HTTP_201_CREATED)


class BoardDetail(APIView):
    """One board. Organisers can change its settings and its state."""

    permission_classes = [OrganisersChange]

    @extend_schema(responses=BoardSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(_board_shown(request, board_for(request.user, slug)))

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
        return Response(_board_shown(request, board))


def _phase(request: Request, slug: str, phase: str) -> Phase:
    phases = board_for(request.user, slug).phases.select_related("board", "release__dataset")
    return get_object_or_404(phases, slug=phase)


def _phase_shown(request: Request, phase: Phase) -> Response:
    shown: Any = phase_window(phase)
    context = {"for_organisers": is_organiser(request.user)}
    return Response(PhaseSerializer(shown, context=context).data)


class PhaseList(APIView):
    """Adds a phase to a board. For organisers."""

    permission_classes = [IsOrganiser]

    @extend_schema(
        request=NewPhaseSerializer, responses={201: PhaseSerializer, 409: DetailSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = NewPhaseSerializer(data=request.data, context={"board": board})
        wanted.is_valid(raise_exception=True)
        with board_refusals():
            phase = add_phase(board=board, actor=actor_of(request), **wanted.validated_data)
        answer = _phase_shown(request, phase)
        answer.status_code = status.HTTP_201_CREATED
        return answer


class PhaseDetail(APIView):
    """One phase. Organisers can change it; existing gradings keep their results."""

    permission_classes = [OrganisersChange]

    @extend_schema(responses=PhaseSerializer)
    def get(self, request: Request, slug: str, phase: str) -> Response:
        return _phase_shown(request, _phase(request, slug, phase))

    @extend_schema(
        request=NewPhaseSerializer, responses={200: PhaseSerializer, 409: DetailSerializer}
    )
    def patch(self, request: Request, slug: str, phase: str) -> Response:
        found = _phase(request, slug, phase)
        wanted = NewPhaseSerializer(
            found, data=request.data, partial=True, context={"board": found.board}
        )
        wanted.is_valid(raise_exception=True)
        with board_refusals():
            edit_phase(
                phase=found,
                wanted=wanted.validated_data["phase"],
                actor=actor_of(request),
                confirm_disclosure=wanted.validated_data["confirm_disclosure"],
            )
        return _phase_shown(request, _phase(request, slug, phase))


class PhaseIds(APIView):
    """The ids of the items that a submission answers, if the release is public."""

    @extend_schema(responses=PhaseIdsSerializer)
    def get(self, request: Request, slug: str, phase: str) -> Response:
        found = _phase(request, slug, phase)
        if not may_open_release(request.user, found.release):
            raise Http404("The ids of this phase are not public.")
        return Response({"ids": phase_ids(found)})


class PhaseLimits(APIView):
    """The user's quota in a phase: what is left of its limits, and when more becomes free."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=QuotaSerializer)
    def get(self, request: Request, slug: str, phase: str) -> Response:
        found, user = _phase(request, slug, phase), actor_of(request)
        mine: Any = quota(found, user)
        mine_and_teams = {
            **{name: getattr(mine, name) for name in ("day", "total", "failed", "refusal")},
            "teams": team_quotas(list(teams_of(user)), [found]),
        }
        return Response(QuotaSerializer(mine_and_teams).data)
