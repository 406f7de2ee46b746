"""Endpoints of model runs, for organisers."""

from collections.abc import Callable
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.files.uploads import checked_upload
from portal.web.answers import ListingView, answer
from portal.web.api import PlainMultiPartParser
from scoring.access import board_for, submission_for
from scoring.judging.api import JudgeTrialSerializer
from scoring.models import ModelRun, Submission
from scoring.models.judging import MOST_AMOUNT
from scoring.models.running import MOST_CONCURRENCY
from scoring.results.api import DifferenceSerializer
from scoring.submissions.manifests import ManifestRefused
from scoring.submissions.serializers import ManifestField
from scoring.web import DetailSerializer, OrganisersChange, actor_of, conflicts

from .runs import try_model
from .selectors import (
    Rerun,
    RerunItem,
    RunProgress,
    board_runs,
    is_stopping,
    reruns_of,
    run_progress,
    spent_by,
)
from .services import (
    LONGEST_PROMPT,
    RunRefused,
    add_rerun,
    cancel_model_run,
    check_decoding,
    check_prompt,
    continue_model_run,
    start_model_run,
    submit_model_run,
)

RunProgressSerializer = answer(
    RunProgress, "ModelRunProgress", done="Items that are not asked again."
)


class ModelRunSerializer(serializers.ModelSerializer[ModelRun]):
    """A run of a model at the board's endpoint."""

    phase = serializers.SlugField(source="phase.slug")
    release = serializers.CharField(source="release.version")
    prompt_version = serializers.CharField(source="prompts.version")

    class Meta:
        model = ModelRun
        fields = (
            "id phase release name model base_url prompt_version system_prompt is_raw "
            "decoding concurrency budget rerun_of state error submission created_at "
            "finished_at"
        ).split()


class ModelRunDetailSerializer(ModelRunSerializer):
    """A run with its progress."""

    progress = serializers.SerializerMethodField()
    spent = serializers.SerializerMethodField()
    is_cancelling = serializers.SerializerMethodField()

    class Meta(ModelRunSerializer.Meta):
        fields = [*ModelRunSerializer.Meta.fields, "progress", "spent", "is_cancelling"]

    @extend_schema_field(RunProgressSerializer)
    def get_progress(self, run: ModelRun) -> Any:
        return RunProgressSerializer(run_progress(run)).data

    def get_spent(self, run: ModelRun) -> float:
        """In the currency of the prices, with what killed workers had reserved."""
        return spent_by(run)

    def get_is_cancelling(self, run: ModelRun) -> bool:
        """Whether it was cancelled and calls are still under way."""
        return is_stopping(run)


class NewModelRunSerializer(serializers.Serializer[Any]):
    """The settings of a new run."""

    phase = serializers.SlugField()
    model = serializers.CharField(max_length=120)
    name = serializers.CharField(
        max_length=120, default="", allow_blank=True, help_text="By default the model's name."
    )
    prompt_version = serializers.CharField(
        max_length=40,
        default="paper-1",
        help_text="`own`: each item's question alone; `file`: `prompt_text`.",
    )
    prompt_text = serializers.CharField(
        max_length=LONGEST_PROMPT,
        default="",
        allow_blank=True,
        help_text="Your own prompt; `$question` in it is the item's question.",
    )
    system_prompt = serializers.CharField(max_length=LONGEST_PROMPT, default="", allow_blank=True)
    is_raw = serializers.BooleanField(
        default=False, help_text="Submit the answers as they arrive, without repairs."
    )
    decoding = serializers.DictField(
        default=dict, help_text="Such as {temperature, max_tokens, top_p}."
    )
    concurrency = serializers.IntegerField(default=4, min_value=1, max_value=MOST_CONCURRENCY)
    budget = serializers.FloatField(
        default=None, allow_null=True, min_value=0, max_value=MOST_AMOUNT
    )
    rerun_of = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=1,
        help_text="A submission that it repeats: the run gets no row of its own.",
    )

    def validate_decoding(self, values: dict[str, Any]) -> dict[str, Any]:
        try:
            return check_decoding(values)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from error

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            check_prompt(attrs["prompt_version"], attrs["prompt_text"])
        except ValueError as error:
            raise serializers.ValidationError({"prompt_text": str(error)}) from error
        return attrs


class BoardModelRuns(ListingView):
    """The runs of a board, newest first."""

    permission_classes = [IsOrganiser]
    queryset = ModelRun.objects.none()
    serializer_class = ModelRunSerializer

    @extend_schema(responses=ModelRunSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.listed(board_runs(board_for(request.user, slug)))

    @extend_schema(
        request=NewModelRunSerializer,
        responses={201: ModelRunDetailSerializer, 409: DetailSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Starts a run. Its answers become a submission of the organiser."""
        board = board_for(request.user, slug)
        wanted = NewModelRunSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = dict(wanted.validated_data)
        phases = board.phases.select_related("board", "release__dataset")
        values["phase"] = get_object_or_404(phases, slug=values["phase"])
        if values["rerun_of"] is not None:
            repeated = Submission.objects.filter(phase__board=board, rerun_of=None)
            values["rerun_of"] = get_object_or_404(repeated, pk=values["rerun_of"])
        with conflicts(RunRefused):
            run = start_model_run(actor=actor_of(request), **values)
        return Response(ModelRunDetailSerializer(run).data, status.HTTP_201_CREATED)


class BoardModelRun(APIView):
    """A run with its progress."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=ModelRunDetailSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        run = get_object_or_404(board_runs(board_for(request.user, slug)), pk=pk)
        return Response(ModelRunDetailSerializer(run).data)


RerunItemSerializer = answer(RerunItem, "RerunItem")
RerunSerializer = answer(
    Rerun,
    "Rerun",
    same="Items with the same answer, without case, markup, white space and punctuation.",
    compared="Items that either of the two answered.",
    difference=DifferenceSerializer(
        allow_null=True,
        help_text="Its main score minus that of the submission; null where it is not shown.",
    ),
    disputed=RerunItemSerializer(many=True),
)


class NewRerunSerializer(serializers.Serializer[Any]):
    file = serializers.FileField(help_text="The submission file of the re-run.")
    manifest = ManifestField(required=False, help_text="Its run manifest.")


class SubmissionReruns(APIView):
    """The re-runs of a submission, newest first. The list is short and has no pages."""

    permission_classes = [OrganisersChange]
    parser_classes = [PlainMultiPartParser]

    @extend_schema(responses=RerunSerializer(many=True))
    def get(self, request: Request, pk: int) -> Response:
        submission = submission_for(request.user, pk)
        return Response(RerunSerializer(reruns_of(request.user, submission), many=True).data)

    @extend_schema(
        request=NewRerunSerializer,
        responses={201: RerunSerializer, 409: DetailSerializer, 413: DetailSerializer},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Adds a re-run, which is graded and never gets a row of its own. For organisers."""
        submission = submission_for(request.user, pk)
        wanted = checked_upload(NewRerunSerializer, request)
        try:
            with conflicts(RunRefused):
                rerun = add_rerun(
                    submission=submission,
                    file=wanted["file"],
                    filename=wanted["file"].name,
                    manifest=wanted.get("manifest"),
                    actor=actor_of(request),
                )
        except ManifestRefused as refusal:
            raise serializers.ValidationError({"manifest": refusal.faults}) from None
        [added] = [each for each in reruns_of(request.user, submission) if each.id == rerun.pk]
        return Response(RerunSerializer(added).data, status.HTTP_201_CREATED)


class _RunAction(APIView):
    permission_classes = [IsOrganiser]
    act: Callable[..., ModelRun]

    @extend_schema(request=None, responses={200: ModelRunDetailSerializer, 409: DetailSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        runs = board_runs(board_for(request.user, slug))
        run = get_object_or_404(runs, pk=pk)
        with conflicts(RunRefused):
            self.act(run=run, actor=actor_of(request))
        return Response(ModelRunDetailSerializer(runs.get(pk=pk)).data)


class ModelTrialSerializer(JudgeTrialSerializer):
    """The result of a test question to a model."""

    answer = serializers.CharField(help_text="Its answer about the test image.")


class BoardModelEndpointTry(APIView):
    """Sends a test question about a small image to the board's model endpoint. It is charged like
    any other call."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=None, responses={200: ModelTrialSerializer, 409: DetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        board = board_for(request.user, slug)
        with conflicts(RunRefused):
            trial = try_model(board=board, actor=actor_of(request))
        return Response(ModelTrialSerializer(trial).data)


class ModelRunCancel(_RunAction):
    """Stops the run. Calls in progress finish, and all answers are kept."""

    act = staticmethod(cancel_model_run)


class ModelRunContinue(_RunAction):
    """Asks about the items of an ended run that have no answer."""

    act = staticmethod(continue_model_run)


class ModelRunSubmit(_RunAction):
    """Submits an ended run with the answers it has."""

    act = staticmethod(submit_model_run)
