"""Endpoints of submissions."""

from typing import Any

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.accounts.models import Team
from portal.accounts.teams.selectors import teams_of
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.api import PlainMultiPartParser
from scoring.access import (
    board_for,
    kept_submission,
    require_items,
    submission_for,
    submission_to_replace,
)
from scoring.files import upload_response
from scoring.models import Board, Grading, ItemScore, Phase, Submission
from scoring.models.submissions import CARD_FIELDS
from scoring.selectors.boards import phases_for
from scoring.selectors.item_lists import ItemQuery, item_line, item_scores
from scoring.selectors.items import item_page
from scoring.selectors.submissions import (
    finished_grading,
    for_lists,
    submission_lines,
)
from scoring.services.submissions import SubmissionRefused, create_submission, find_submission
from scoring.services.validation import check_upload

from .acts import shown
from .base import ConflictError, actor_of
from .item_serializers import (
    EarlierResultSerializer,
    ItemLineSerializer,
    ItemQuerySerializer,
    ItemSerializer,
)
from .submission_serializers import (
    CheckRequestSerializer,
    CheckSerializer,
    DetailSerializer,
    NewSubmissionSerializer,
    RefusalSerializer,
    SubmissionLineSerializer,
    SubmissionSerializer,
)


class BoardSubmissions(GenericAPIView[Submission]):
    """The submissions of a board: organisers read them all, anyone with an account adds one."""

    queryset = Submission.objects.none()
    serializer_class = SubmissionLineSerializer
    parser_classes = [PlainMultiPartParser]

    def get_permissions(self) -> Any:
        return [IsOrganiser() if self.request.method == "GET" else IsAuthenticated()]

    @extend_schema(responses=SubmissionLineSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        page = self.paginate_queryset(for_lists(Submission.objects.filter(phase__board=board)))
        lines = submission_lines(request.user, page or [])
        return self.get_paginated_response(self.get_serializer(lines, many=True).data)

    @extend_schema(
        request=NewSubmissionSerializer,
        responses={
            201: SubmissionSerializer,
            200: SubmissionSerializer,
            409: DetailSerializer,
            413: DetailSerializer,
            422: RefusalSerializer,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        """Checks the file as a whole and takes it, or lists every fault and stores nothing."""
        board = board_for(request.user, slug)
        context = {"required": board.card_fields}
        wanted = NewSubmissionSerializer(data=request.data, context=context)
        if was_too_large(request):
            message = {"detail": upload_limit_message()}
            return Response(message, status.HTTP_413_REQUEST_ENTITY_TOO_LARGE)
        wanted.is_valid(raise_exception=True)
        key = wanted.validated_data.get("form_key", "")
        sent = find_submission(owner=actor_of(request), form_key=key)
        if sent is not None:
            return Response(shown(request, submission_for(request.user, sent.pk)))
        phase = _open_phase(request, board, wanted.validated_data["phase"])
        earlier = _earlier(request, board, wanted.validated_data["replaces"])
        team = _team(request, wanted.validated_data["team"], earlier)
        return _take(request, phase, wanted.validated_data, earlier, team)


def _open_phase(request: Request, board: Board, slug: str) -> Phase:
    """The phase of this slug, or the only open one. Raises ConflictError if it is closed."""
    phases = phases_for(request.user, board)
    if not slug and len(phases) > 1:
        names = ", ".join(phase.slug for phase in phases)
        raise ValidationError({"phase": [f"Several phases are open; choose one of {names}."]})
    chosen = [phase for phase in phases if slug in {"", phase.slug}]
    if not chosen:
        raise ConflictError("No such phase of this board takes submissions now.")
    return chosen[0]


def _take(
    request: Request,
    phase: Phase,
    wanted: dict[str, Any],
    earlier: Submission | None,
    team: Team | None,
) -> Response:
    file = wanted["file"]
    checked = check_upload(phase=phase, file=file, filename=file.name, user=request.user)
    if not checked.can_be_taken(accept_missing=wanted["accept_missing"]):
        return Response(RefusalSerializer(checked).data, status.HTTP_422_UNPROCESSABLE_ENTITY)
    try:
        submission = create_submission(
            phase=phase,
            owner=actor_of(request),
            card={name: wanted[name] for name in CARD_FIELDS if name in wanted},
            file=file,
            filename=file.name,
            checked=checked,
            form_key=wanted.get("form_key", ""),
            team=team,
            replaces=earlier,
            letter_origin=f"{request.scheme}://{request.get_host()}" if wanted["letter"] else "",
        )
    except SubmissionRefused as refusal:
        raise ConflictError(str(refusal)) from refusal
    return Response(shown(request, submission), status.HTTP_201_CREATED)


def _earlier(request: Request, board: Board, pk: int | None) -> Submission | None:
    return None if pk is None else submission_to_replace(actor_of(request), board, pk)


def _team(request: Request, slug: str | None, earlier: Submission | None) -> Team | None:
    """The team it is submitted for; where none is named that of the version before."""
    if slug is None:
        return earlier.team if earlier else None
    team = teams_of(actor_of(request)).filter(slug=slug).first()
    if team is None:
        raise ValidationError({"team": ["You are in no team with this slug."]})
    return team


def _earlier_result(request: Request) -> str:
    """The number of the grading that was asked for; empty for the one that counts."""
    wanted = EarlierResultSerializer(data=request.query_params)
    wanted.is_valid(raise_exception=True)
    number = wanted.validated_data["grading"]
    return "" if number is None else str(number)


class BoardCheck(APIView):
    """Looks through a file without submitting it. Uses up nothing, stores nothing."""

    permission_classes = [IsAuthenticated]
    parser_classes = [PlainMultiPartParser]

    @extend_schema(
        request=CheckRequestSerializer, responses={200: CheckSerializer, 413: DetailSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = CheckRequestSerializer(data=request.data)
        if was_too_large(request):
            message = {"detail": upload_limit_message()}
            return Response(message, status.HTTP_413_REQUEST_ENTITY_TOO_LARGE)
        wanted.is_valid(raise_exception=True)
        phase = _open_phase(request, board, wanted.validated_data["phase"])
        file = wanted.validated_data["file"]
        checked = check_upload(phase=phase, file=file, filename=file.name, user=request.user)
        return Response(CheckSerializer(checked).data)


class OwnSubmissions(GenericAPIView[Submission]):
    """One's own submissions and those of one's teams, newest first."""

    queryset = Submission.objects.none()
    serializer_class = SubmissionLineSerializer
    permission_classes = [IsAuthenticated]

    @extend_schema(responses=SubmissionLineSerializer(many=True))
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(for_lists(Submission.objects.kept_by(request.user)))
        lines = submission_lines(request.user, page or [])
        return self.get_paginated_response(self.get_serializer(lines, many=True).data)


class SubmissionDetail(APIView):
    """One submission: its card, how far its grading is, its scores, and those it had before."""

    @extend_schema(parameters=[EarlierResultSerializer], responses=SubmissionSerializer)
    def get(self, request: Request, pk: int) -> Response:
        submission = submission_for(request.user, pk)
        return Response(shown(request, submission, _earlier_result(request)))


class SubmissionFile(APIView):
    """The file as it was uploaded, for its keepers: owner, team, organisers."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self, request: Request, pk: int) -> FileResponse:
        return upload_response(kept_submission(request.user, pk))


class SubmissionItems(GenericAPIView[Any]):
    """The items of a graded submission with their scores, where the phase shows single items."""

    queryset = ItemScore.objects.none()
    serializer_class = ItemLineSerializer

    @extend_schema(parameters=[ItemQuerySerializer], responses=ItemLineSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        submission = submission_for(request.user, pk)
        grading = finished_grading(request.user, submission, _earlier_result(request))
        level = require_items(request.user, submission, grading.release)
        asked = _wanted_items(request, grading).at(level, grading)
        page = self.paginate_queryset(item_scores(grading, asked)) or []
        lines = [item_line(submission, grading, score, level) for score in page]
        return self.get_paginated_response(self.get_serializer(lines, many=True).data)


def _wanted_items(request: Request, grading: Grading) -> ItemQuery:
    wanted = ItemQuerySerializer(data=request.query_params, context={"grading": grading})
    wanted.is_valid(raise_exception=True)
    return wanted.query()


class SubmissionItem(APIView):
    """One item; with every fact where the phase shows facts."""

    @extend_schema(parameters=[EarlierResultSerializer], responses=ItemSerializer)
    def get(self, request: Request, pk: int, name: str) -> Response:
        submission = submission_for(request.user, pk)
        page = item_page(request.user, submission, name, _earlier_result(request))
        return Response(ItemSerializer(page).data)
