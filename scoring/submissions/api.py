"""Endpoints of submissions, actions on them, approvals, similar submissions, and webhooks."""

from collections.abc import Callable
from functools import partial
from typing import IO, Any

from django.db.models import QuerySet
from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    extend_schema,
    extend_schema_serializer,
    extend_schema_view,
)
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.accounts.emails import origin_of
from portal.accounts.models import Team, User
from portal.accounts.networks import network_key
from portal.accounts.teams.selectors import teams_of
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.answers import ListingView
from portal.web.api import PlainMultiPartParser
from scoring.access import (
    board_for,
    kept_submission,
    steered_submission,
    submission_for,
    submission_to_replace,
    submission_to_withdraw,
)
from scoring.answering.manifest import RunManifest
from scoring.boards.selectors import not_open_words, phases_for
from scoring.grading.notices import WebhookRefused, add_webhook, remove_webhook
from scoring.grading.services import GradingRefused
from scoring.grading.similarity import board_pairs
from scoring.models import Approval, Board, Phase, Similarity, Submission, Webhook
from scoring.models.submissions import CARD_FIELDS
from scoring.results.api import EarlierResultSerializer, earlier_result
from scoring.web import (
    ConflictError,
    DetailSerializer,
    actor_of,
    conflicts,
    manifest_response,
    upload_response,
)

from . import services
from .approvals import (
    ApprovalRefused,
    approve_account,
    approve_submission,
    board_approvals,
    refuse_submission,
)
from .manifests import ManifestRefused, check_manifest, manifest_warnings
from .selectors import for_lists, submission_lines, submission_page
from .serializers import (
    ApprovalSerializer,
    CheckRequestSerializer,
    CheckSerializer,
    NewApprovalSerializer,
    NewSubmissionSerializer,
    OpenItemsSerializer,
    PinSerializer,
    RefusalReasonSerializer,
    RefusalSerializer,
    SubmissionLineSerializer,
    SubmissionSerializer,
    VerdictSerializer,
)
from .services import PublicationRefused, create_submission, find_submission
from .uploads import SubmissionRefused, check_upload


def shown(request: Request, submission: Submission, wanted: str = "") -> Any:
    """The submission as the user may see it, with the current or an earlier result."""
    page = submission_page(request.user, submission, wanted)
    return SubmissionSerializer(submission, context={"page": page}).data


class _Action(APIView):
    """An action on a submission. Returns the changed submission."""

    permission_classes = [IsAuthenticated]
    find = staticmethod(steered_submission)
    body: type[serializers.Serializer[Any]] | None = None
    """The form of the request, whose fields are arguments of `act`."""
    act: Callable[..., object]
    """Takes `submission` and `actor`."""

    def more(self, request: Request) -> dict[str, Any]:
        """Further arguments of `act`."""
        return {}

    @extend_schema(request=None, responses={200: SubmissionSerializer, 409: DetailSerializer})
    def post(self, request: Request, pk: int) -> Response:
        submission, given = self.find(request.user, pk), {}
        if self.body is not None:
            wanted = self.body(data=request.data)
            wanted.is_valid(raise_exception=True)
            given = wanted.validated_data
        given |= self.more(request)
        with conflicts(GradingRefused, PublicationRefused, ApprovalRefused):
            self.act(submission=submission, actor=actor_of(request), **given)
        submission.refresh_from_db()
        return Response(shown(request, submission))


class SubmissionCancel(_Action):
    """Stops the grading and keeps the scores so far."""

    act = staticmethod(services.cancel_latest)


class SubmissionRetry(_Action):
    """Continues a failed or cancelled grading with the items that have no score."""

    act = staticmethod(services.retry_latest)


class SubmissionPublish(_Action):
    """Publishes the result on the leaderboard."""

    act = staticmethod(services.publish_submission)


class SubmissionUnpublish(_Action):
    """Removes the result from the leaderboard and makes it private."""

    act = staticmethod(services.unpublish_submission)


@extend_schema_view(post=extend_schema(request=OpenItemsSerializer))
class SubmissionOpenItems(_Action):
    """Makes individual items public while the submission is public, or private again. Refused if
    the phase shows totals only or the gold is not public."""

    body = OpenItemsSerializer
    act = staticmethod(services.open_items)


class SubmissionWithdraw(_Action):
    """Withdraws the submission. This is final: it leaves the leaderboard and cannot be
    published again."""

    find = staticmethod(submission_to_withdraw)
    act = staticmethod(services.withdraw_submission)


@extend_schema_view(post=extend_schema(request=VerdictSerializer))
class SubmissionJudge(_Action):
    """Verifies or disqualifies a submission, or removes the verdict."""

    permission_classes = [IsOrganiser]
    find = staticmethod(kept_submission)
    body = VerdictSerializer
    act = staticmethod(services.judge_submission)


@extend_schema_view(
    post=extend_schema(request=PinSerializer, responses={200: SubmissionSerializer})
)
class SubmissionPin(_Action):
    """Pins or unpins the entry. Filters do not hide pinned entries."""

    permission_classes = [IsOrganiser]
    find = staticmethod(kept_submission)
    body = PinSerializer
    act = staticmethod(services.pin_submission)


class _Decision(_Action):
    permission_classes = [IsOrganiser]
    find = staticmethod(kept_submission)

    def more(self, request: Request) -> dict[str, Any]:
        return {"origin": origin_of(request._request)}


class SubmissionApprove(_Decision):
    """Approves a first submission to hidden gold, which waits, and starts its grading."""

    act = staticmethod(approve_submission)


@extend_schema_view(post=extend_schema(request=RefusalReasonSerializer))
class SubmissionRefuse(_Decision):
    """Rejects a first submission to hidden gold, which is never graded. Its attempt counts as
    failed."""

    body = RefusalReasonSerializer
    act = staticmethod(refuse_submission)


class BoardApprovals(ListingView):
    """The approvals of a board, waiting ones first. For organisers."""

    queryset = Approval.objects.none()
    serializer_class = ApprovalSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(responses=ApprovalSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.listed(board_approvals(board_for(request.user, slug)))

    @extend_schema(
        request=NewApprovalSerializer, responses={201: ApprovalSerializer, 409: DetailSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Approves an account, which then needs no confirmed email address and does not wait."""
        board = board_for(request.user, slug)
        wanted = NewApprovalSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        phases = board.phases.select_related("release")
        phase = phases.filter(slug=wanted.validated_data["phase"]).first()
        if phase is None:
            raise ValidationError({"phase": ["This board has no such phase."]})
        with conflicts(ApprovalRefused):
            approval = approve_account(
                phase=phase, email=wanted.validated_data["email"], actor=actor_of(request)
            )
        return Response(ApprovalSerializer(approval).data, status.HTTP_201_CREATED)


class _SubmissionList(ListingView):
    queryset = Submission.objects.none()
    serializer_class = SubmissionLineSerializer

    def page_of(self, request: Request, submissions: QuerySet[Submission]) -> Response:
        return self.listed(for_lists(submissions), partial(submission_lines, request.user))


class UploadTooLarge(APIException):
    """The upload was stopped for its size."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


def _valid(request: Request, form: serializers.BaseSerializer[Any]) -> dict[str, Any]:
    """The data of a form with a file."""
    if was_too_large(request):
        raise UploadTooLarge(upload_limit_message())
    form.is_valid(raise_exception=True)
    data: dict[str, Any] = form.validated_data
    return data


class BoardSubmissions(_SubmissionList):
    """The submissions of a board. Organisers can list them; users can submit."""

    parser_classes = [PlainMultiPartParser]

    def get_permissions(self) -> Any:
        return [IsOrganiser() if self.request.method == "GET" else IsAuthenticated()]

    @extend_schema(responses=SubmissionLineSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        return self.page_of(request, Submission.objects.filter(phase__board=board))

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
        """Checks the file and stores it, or lists all errors and stores nothing."""
        board = board_for(request.user, slug)
        context = {"required": board.card_fields}
        wanted = _valid(request, NewSubmissionSerializer(data=request.data, context=context))
        user = actor_of(request)
        sent = find_submission(owner=user, form_key=wanted["form_key"])
        if sent is not None:
            return Response(shown(request, submission_for(user, sent.pk)))
        phase = _open_phase(request, board, wanted["phase"])
        replaces = wanted["replaces"]
        earlier = None if replaces is None else submission_to_replace(user, board, replaces)
        team = _team(user, wanted["team"], earlier)
        return _take(request, phase, wanted, earlier, team)


def _open_phase(request: Request, board: Board, slug: str) -> Phase:
    """The phase of this slug, or the only open one. Raises ConflictError if it is closed."""
    phases = phases_for(request.user, board)
    if not slug and len(phases) > 1:
        names = ", ".join(phase.slug for phase in phases)
        raise ValidationError({"phase": [f"Several phases are open. Choose one of {names}."]})
    chosen = [phase for phase in phases if slug in {"", phase.slug}]
    if not chosen:
        raise ConflictError(not_open_words(board, slug))
    return chosen[0]


def _take(
    request: Request,
    phase: Phase,
    wanted: dict[str, Any],
    earlier: Submission | None,
    team: Team | None,
) -> Response:
    file, manifest = wanted["file"], wanted.get("manifest")
    _check_manifest(manifest, phase, file)
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
            form_key=wanted["form_key"],
            team=team,
            replaces=earlier,
            accepts_terms=wanted["accept_terms"],
            manifest=manifest,
            network=network_key(request._request),
            email_origin=f"{request.scheme}://{request.get_host()}" if wanted["letter"] else "",
        )
    return Response(shown(request, submission), status.HTTP_201_CREATED)


def _check_manifest(manifest: RunManifest | None, phase: Phase, file: IO[bytes]) -> None:
    if manifest is None:
        return
    try:
        check_manifest(manifest, phase=phase, file=file)
    except ManifestRefused as refusal:
        raise ValidationError({"manifest": refusal.faults}) from None


def _team(user: User, slug: str | None, earlier: Submission | None) -> Team | None:
    """The named team; without a name, that of the previous version."""
    if slug is None:
        return earlier.team if earlier else None
    team = teams_of(user).filter(slug=slug).first()
    if team is None:
        raise ValidationError({"team": ["You are not in a team with this slug."]})
    return team


class BoardCheck(APIView):
    """Checks a file, and its run manifest, without submitting them. Stores nothing and does not
    count as an attempt."""

    permission_classes = [IsAuthenticated]
    parser_classes = [PlainMultiPartParser]

    @extend_schema(
        request=CheckRequestSerializer, responses={200: CheckSerializer, 413: DetailSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        wanted = _valid(request, CheckRequestSerializer(data=request.data))
        phase, file = _open_phase(request, board, wanted["phase"]), wanted["file"]
        manifest = wanted.get("manifest")
        _check_manifest(manifest, phase, file)
        checked = check_upload(phase=phase, file=file, filename=file.name, user=request.user)
        context = {"warnings": manifest_warnings(manifest, phase) if manifest else []}
        return Response(CheckSerializer(checked, context=context).data)


class OwnSubmissions(_SubmissionList):
    """The submissions of the user and their teams, newest first."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses=SubmissionLineSerializer(many=True))
    def get(self, request: Request) -> Response:
        return self.page_of(request, Submission.objects.kept_by(request.user))


class SubmissionDetail(APIView):
    """One submission: its card, the progress of its grading, its scores, and earlier results."""

    @extend_schema(parameters=[EarlierResultSerializer], responses=SubmissionSerializer)
    def get(self, request: Request, pk: int) -> Response:
        submission = submission_for(request.user, pk)
        return Response(shown(request, submission, earlier_result(request)))


class SubmissionFile(APIView):
    """The uploaded file, for the owner, the team and organisers."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self, request: Request, pk: int) -> FileResponse:
        return upload_response(kept_submission(request.user, pk))


class SubmissionManifest(APIView):
    """The run manifest as it was uploaded, for the owner, the team and organisers."""

    permission_classes = [IsAuthenticated]

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT})
    def get(self, request: Request, pk: int) -> HttpResponse:
        return manifest_response(kept_submission(request.user, pk))


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """A URL that is called when grading ends. Requests are signed with the secret."""

    class Meta:
        model = Webhook
        fields = ["id", "url", "secret", "is_active", "created_at"]


class NewWebhookSerializer(serializers.Serializer[Any]):
    url = serializers.CharField(max_length=500)


class WebhookList(APIView):
    """The user's webhooks. The list is short and has no pages."""

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
        """Removes the webhook."""
        user = actor_of(request)
        remove_webhook(webhook=get_object_or_404(Webhook.objects.of(user), pk=pk), actor=user)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema_serializer(component_name="Likeness")
class SimilaritySerializer(serializers.ModelSerializer[Similarity]):
    """A pair of submissions with almost the same predictions."""

    share = serializers.FloatField(help_text="Share of equal predictions, in [0, 1].")

    class Meta:
        model = Similarity
        fields = ["submission", "counterpart", "same", "compared", "share", "found_at"]


class BoardSimilarities(ListingView):
    """Near-identical submissions of different owners, newest first. For organisers."""

    queryset = Similarity.objects.none()
    serializer_class = SimilaritySerializer
    permission_classes = [IsOrganiser]

    @extend_schema(responses=SimilaritySerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.listed(board_pairs(board_for(request.user, slug)))
