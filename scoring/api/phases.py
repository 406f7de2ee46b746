"""Endpoints of the phases of a board."""

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser, is_organiser
from portal.accounts.teams.selectors import teams_of
from scoring.access import board_for, may_open_release
from scoring.models import Phase
from scoring.models.boards import phase_window
from scoring.selectors.boards import phase_ids
from scoring.selectors.limits import standing, team_standings
from scoring.services.boards import add_phase, edit_phase

from .base import OrganisersChange, actor_of, board_refusals
from .board_serializers import PhaseSerializer
from .phase_serializers import NewPhaseSerializer, PhaseIdsSerializer, StandingSerializer
from .submission_serializers import DetailSerializer


def _phase(request: Request, slug: str, phase: str) -> Phase:
    phases = board_for(request.user, slug).phases.select_related("board", "release__dataset")
    return get_object_or_404(phases, slug=phase)


def _shown(request: Request, phase: Phase) -> Response:
    shown: Any = phase_window(phase)
    context = {"for_organisers": is_organiser(request.user)}
    return Response(PhaseSerializer(shown, context=context).data)


class PhaseList(APIView):
    """Organisers add phases to a board."""

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
        answer = _shown(request, phase)
        answer.status_code = status.HTTP_201_CREATED
        return answer


class PhaseDetail(APIView):
    """One phase. Organisers change it; what was graded in it stays as it was graded."""

    permission_classes = [OrganisersChange]

    @extend_schema(responses=PhaseSerializer)
    def get(self, request: Request, slug: str, phase: str) -> Response:
        return _shown(request, _phase(request, slug, phase))

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
        return _shown(request, _phase(request, slug, phase))


class PhaseIds(APIView):
    """The ids of the items, each of which a submission answers; where the release is open."""

    @extend_schema(responses=PhaseIdsSerializer)
    def get(self, request: Request, slug: str, phase: str) -> Response:
        found = _phase(request, slug, phase)
        if not may_open_release(request.user, found.release):
            raise Http404("The ids of this phase are not public.")
        return Response({"ids": phase_ids(found)})


class PhaseLimits(APIView):
    """How much one may still submit to a phase, and when more."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=StandingSerializer)
    def get(self, request: Request, slug: str, phase: str) -> Response:
        found, user = _phase(request, slug, phase), actor_of(request)
        mine: Any = standing(found, user)
        mine_and_teams = {
            **{name: getattr(mine, name) for name in ("day", "total", "failed", "refusal")},
            "teams": team_standings(list(teams_of(user)), [found]),
        }
        return Response(StandingSerializer(mine_and_teams).data)
