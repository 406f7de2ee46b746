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

from portal.accounts.access import IsOrganiser
from portal.accounts.teams.selectors import teams_of
from scoring.access import board_for, may_open_release
from scoring.models import Phase
from scoring.selectors.boards import phase_ids, phase_window
from scoring.selectors.limits import standing, team_standings
from scoring.services.boards import BoardRefused, add_phase, edit_phase

from .base import ConflictError, OrganisersChange, actor_of
from .board_serializers import PhaseSerializer
from .phase_serializers import NewPhaseSerializer, PhaseIdsSerializer, StandingSerializer
from .submission_serializers import DetailSerializer


def _phase(request: Request, slug: str, phase: str) -> Phase:
    phases = board_for(request.user, slug).phases.select_related("board", "release__dataset")
    return get_object_or_404(phases, slug=phase)


def _shown(phase: Phase) -> Response:
    shown: Any = phase_window(phase)
    return Response(PhaseSerializer(shown).data)


class PhaseList(APIView):
    """Organisers add phases to a board."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=NewPhaseSerializer, responses={201: PhaseSerializer})
    def post(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = NewPhaseSerializer(data=request.data, context={"board": board})
        wanted.is_valid(raise_exception=True)
        phase = add_phase(
            board=board, phase=wanted.validated_data["phase"], actor=actor_of(request)
        )
        answer = _shown(phase)
        answer.status_code = status.HTTP_201_CREATED
        return answer


class PhaseDetail(APIView):
    """One phase. Organisers change it; what was graded in it stays as it was graded."""

    permission_classes = [OrganisersChange]

    @extend_schema(responses=PhaseSerializer)
    def get(self, request: Request, slug: str, phase: str) -> Response:
        return _shown(_phase(request, slug, phase))

    @extend_schema(
        request=NewPhaseSerializer, responses={200: PhaseSerializer, 409: DetailSerializer}
    )
    def patch(self, request: Request, slug: str, phase: str) -> Response:
        found = _phase(request, slug, phase)
        wanted = NewPhaseSerializer(
            found, data=request.data, partial=True, context={"board": found.board}
        )
        wanted.is_valid(raise_exception=True)
        try:
            edit_phase(phase=found, wanted=wanted.validated_data["phase"], actor=actor_of(request))
        except BoardRefused as refusal:
            raise ConflictError(str(refusal)) from refusal
        return _shown(_phase(request, slug, phase))


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
