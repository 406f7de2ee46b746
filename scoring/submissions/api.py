"""Endpoints of submissions, of actions on them, of near-identical ones, and of one's webhooks."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.accounts.models import Team, User
from portal.accounts.teams.selectors import teams_of
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.api import PlainMultiPartParser
from scoring.access import (
    board_for,
    kept_submission,
    steered_submission,
    submission_for,
    submission_to_replace,
    submission_to_withdraw,
)
from scoring.boards.selectors import phases_for
from scoring.grading.likeness import board_pairs
from scoring.grading.notices import WebhookRefused, add_webhook, remove_webhook
from scoring.grading.selectors import latest_grading
from scoring.grading.services import GradingRefused, cancel_grading, retry_grading
from scoring.models import Board, Likeness, Phase, Submission, Webhook
from scoring.models.submissions import CARD_FIELDS
from scoring.results.api import EarlierResultSerializer, earlier_result
from scoring.web import ConflictError, DetailSerializer, actor_of, conflicts, upload_response

from .selectors import for_lists, submission_lines, submission_page
from .serializers import (
    CheckRequestSerializer,
    CheckSerializer,
    NewSubmissionSerializer,
    OpenItemsSerializer,
    PinSerializer,
    RefusalSerializer,
    SubmissionLineSerializer,
    SubmissionSerializer,
    VerdictSerializer,
)
from .services import (
    PublicationRefused,
    SubmissionRefused,
    check_upload,
    create_submission,
    find_submission,
    judge_submission,
    open_items,
    pin_submission,
    publish_submission,
    unpublish_submission,
    withdraw_submission,
)


def shown(request: Request, submission: Submission, wanted: str = "") -> Any:
    """The submission as its reader may see it, with the result that counts or an earlier one."""
    page = submission_page(request.user, submission, wanted)
    return SubmissionSerializer(submission, context={"page": page}).data


def _acted(request: Request, submission: Submission, act: Callable[[], object]) -> Response:
    """Does something to the submission and shows it as it is then; 409 where that is refused."""
    with conflicts(GradingRefused, PublicationRefused):
        act()
    submission.refresh_from_db()
    return Response(shown(request, submission))


class _Act(APIView):
    """Something done to a submission; answers with the submission as it is then."""

    permission_classes = [IsAuthenticated]
    find = staticmethod(steered_submission)

    def act(self, submission: Submission, actor: User) -> None:
        raise NotImplementedError  # abstract

    @extend_schema(request=None, responses={200: SubmissionSerializer, 409: DetailSerializer})
    def post(self, request: Request, pk: int) -> Response:
        submission = self.find(request.user, pk)
        return _acted(request, submission, partial(self.act, submission, actor_of(request)))


class SubmissionCancel(_Act):
    """Stops the grading. What was scored so far is kept."""

    def act(self, submission: Submission, actor: User) -> None:
        cancel_grading(grading=latest_grading(submission), actor=actor)


class SubmissionRetry(_Act):
    """Goes on with a failed or cancelled grading: only what has no score is scored."""

    def act(self, submission: Submission, actor: User) -> None:
        retry_grading(grading=latest_grading(submission), actor=actor)


class SubmissionPublish(_Act):
    """Puts the result on the leaderboard."""

    def act(self, submission: Submission, actor: User) -> None:
        publish_submission(submission=submission, actor=actor)


class SubmissionUnpublish(_Act):
    """Takes the result off the leaderboard; it is private again."""

    def act(self, submission: Submission, actor: User) -> None:
        unpublish_submission(submission=submission, actor=actor)


class SubmissionOpenItems(_Act):
    """Lets everybody read the single items while the submission is public, or no longer. Refused
    where the phase shows totals only, or the gold is not public."""

    @extend_schema(
        request=OpenItemsSerializer, responses={200: SubmissionSerializer, 409: DetailSerializer}
    )
    def post(self, request: Request, pk: int) -> Response:
        wanted = OpenItemsSerializer(data=request.data)
        submission = self.find(request.user, pk)
        wanted.is_valid(raise_exception=True)
        given = {"actor": actor_of(request), **wanted.validated_data}
        return _acted(request, submission, partial(open_items, submission=submission, **given))


class SubmissionWithdraw(_Act):
    """Takes the submission back for good: off the leaderboard, never published again."""

    find = staticmethod(submission_to_withdraw)

    def act(self, submission: Submission, actor: User) -> None:
        withdraw_submission(submission=submission, actor=actor)


class SubmissionJudge(APIView):
    """Verifies or disqualifies a submission, or takes that back."""

    permission_classes = [IsOrganiser]

    @extend_schema(
        request=VerdictSerializer, responses={200: SubmissionSerializer, 409: DetailSerializer}
    )
    def post(self, request: Request, pk: int) -> Response:
        submission = kept_submission(request.user, pk)
        wanted = VerdictSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        act = partial(
            judge_submission,
            submission=submission,
            verdict=Submission.Verdict(wanted.validated_data["verdict"]),
            reason=wanted.validated_data["reason"],
            actor=actor_of(request),
        )
        return _acted(request, submission, act)


class SubmissionPin(APIView):
    """Keeps the entry in sight whatever is filtered, or no longer."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=PinSerializer, responses=SubmissionSerializer)
    def post(self, request: Request, pk: int) -> Response:
        submission = kept_submission(request.user, pk)
        wanted = PinSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        given = {"actor": actor_of(request), **wanted.validated_data}
        return _acted(request, submission, partial(pin_submission, submission=submission, **given))


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
    with conflicts(SubmissionRefused):
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
            email_origin=f"{request.scheme}://{request.get_host()}" if wanted["letter"] else "",
        )
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
        return Response(shown(request, submission, earlier_result(request)))


class SubmissionFile(APIView):
    """The file as it was uploaded, for its keepers: owner, team, organisers."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self, request: Request, pk: int) -> FileResponse:
        return upload_response(kept_submission(request.user, pk))


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
        with conflicts(WebhookRefused):
            webhook = add_webhook(user=actor_of(request), url=wanted.validated_data["url"])
        return Response(WebhookSerializer(webhook).data, status.HTTP_201_CREATED)


class WebhookDetail(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """It is told nothing more."""
        user = actor_of(request)
        remove_webhook(webhook=get_object_or_404(Webhook.objects.of(user), pk=pk), actor=user)
        return Response(status=status.HTTP_204_NO_CONTENT)


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
