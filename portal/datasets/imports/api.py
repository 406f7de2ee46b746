"""API of imports, for organisers."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.datasets.access import actor_of, get_dataset, get_import
from portal.datasets.dataset_tasks import cancel_work
from portal.datasets.models import Document, ImportItem, ImportRun
from portal.datasets.responses import Conflict
from portal.files.uploads import checked_upload
from portal.web.answers import ListingView, answer
from portal.web.api import ErrorSerializer, PlainMultiPartParser, checked
from portal.web.refusals import Refused

from .formats import format_choices
from .layouts import BENCHMARKS
from .services import (
    MEDIA_TYPES,
    ImportReport,
    LeftOut,
    carry_out_preview,
    import_report,
    start_import,
)
from .views import check_upload, report_file_response


class FormatField(serializers.ChoiceField):
    """The key of an import format, also of one that was registered after this module was loaded."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"choices": format_choices(), **kwargs})


class UploadSerializer(serializers.Serializer[Any]):
    form = FormatField(
        default=ImportRun.Form.PAGES,
        help_text="The format of the file.",
    )
    file = serializers.FileField(help_text="A ZIP, or a single file if the format accepts one.")
    benchmark = serializers.ChoiceField(
        choices=list(BENCHMARKS),
        required=False,
        allow_blank=True,
        default="",
        help_text="For `parquet` only: the benchmark whose gold the file contains.",
    )

    differences = serializers.ChoiceField(
        choices=ImportRun.Differences.choices,
        default=ImportRun.Differences.KEEP,
        help_text="Whether images and metadata of existing documents are replaced by different "
        "ones of the source. Text, gold and documents in a release never change.",
    )
    dry_run = serializers.BooleanField(
        default=False, help_text="Report what the import would do, and change nothing."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            check_upload(attrs["file"], attrs["form"], attrs["benchmark"])
        except ValidationError as error:
            raise serializers.ValidationError({"file": error.messages}) from error
        return attrs


class ImportRunSerializer(serializers.ModelSerializer[ImportRun]):
    class Meta:
        model = ImportRun
        fields = [
            "id",
            "form",
            "source_name",
            "state",
            "total",
            "ignored",
            "error",
            "created_at",
            "finished_at",
        ]


class ImportReportSerializer(serializers.Serializer[ImportReport]):
    """The progress of an import, and counts of rows by outcome.

    `done` and `total` count files in pages/, or report rows for other layouts, where `total` is 0
    until all is read.
    """

    id = serializers.IntegerField(source="run.pk")
    form = FormatField(source="run.form")
    source_name = serializers.CharField(source="run.source_name")
    state = serializers.ChoiceField(choices=ImportRun.State.choices, source="run.state")
    differences = serializers.SerializerMethodField()
    dry_run = serializers.BooleanField(source="run.is_dry_run")
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    outcomes = serializers.SerializerMethodField()
    ignored = serializers.DictField(
        child=serializers.IntegerField(),
        source="run.ignored",
        help_text="Counts of files that were not read, by folder.",
    )
    left_out = answer(LeftOut)(many=True, help_text="The same, with a hint for each folder.")
    error = serializers.CharField(source="run.error", help_text="Why the import failed.")
    trouble = serializers.CharField(help_text="The error of the last attempt, before a retry.")
    created_at = serializers.DateTimeField(source="run.created_at")
    finished_at = serializers.DateTimeField(source="run.finished_at", allow_null=True)

    @extend_schema_field(serializers.ChoiceField(choices=ImportRun.Differences.choices))
    def get_differences(self, report: ImportReport) -> str:
        chosen = ImportRun.Differences.UPDATE if report.run.updates else ImportRun.Differences.KEEP
        return str(chosen)

    def get_outcomes(self, report: ImportReport) -> dict[str, int]:
        return {outcome: count for outcome, count in report.outcomes.items() if outcome}


class ImportItemSerializer(serializers.ModelSerializer[ImportItem]):
    document = serializers.SlugRelatedField[Document](
        slug_field="name", read_only=True, allow_null=True
    )

    class Meta:
        model = ImportItem
        fields = ["name", "outcome", "code", "reason", "document"]


class ItemQuerySerializer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(
        choices=ImportItem.Outcome.choices, required=False, default=""
    )


class ItemsFileQuerySerializer(ItemQuerySerializer):
    # Not `format`, which the framework uses itself.
    file = serializers.ChoiceField(choices=list(MEDIA_TYPES), required=False, default="csv")


class ImportList(ListingView):
    """Lists the imports into a dataset, newest first, and starts an import from an upload."""

    serializer_class = ImportRunSerializer
    permission_classes = [IsOrganiser]
    parser_classes = [PlainMultiPartParser]

    @extend_schema(responses=ImportRunSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.listed(get_dataset(request.user, slug).imports.all())

    @extend_schema(request=UploadSerializer, responses={202: ImportReportSerializer})
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        given = checked_upload(UploadSerializer, request)
        file, actor = given.pop("file"), actor_of(request)
        run = start_import(
            dataset=dataset, upload=file, source_name=file.name, actor=actor, **given
        )
        return Response(ImportReportSerializer(import_report(run)).data, status.HTTP_202_ACCEPTED)


class ImportDetail(APIView):
    """The progress of an import and its counts by outcome."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=ImportReportSerializer)
    def get(self, _: Request, slug: str, pk: int) -> Response:
        return Response(ImportReportSerializer(import_report(get_import(slug, pk))).data)


class ImportItems(ListingView):
    """The outcome for each file."""

    serializer_class = ImportItemSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(parameters=[ItemQuerySerializer], responses=ImportItemSerializer(many=True))
    def get(self, request: Request, slug: str, pk: int) -> Response:
        query = checked(ItemQuerySerializer, request.query_params)
        items = get_import(slug, pk).items.select_related("document")
        if outcome := query["outcome"]:
            items = items.filter(outcome=outcome)
        return self.listed(items)


class ImportItemsDownload(APIView):
    """The outcome for each file as CSV or JSON Lines."""

    permission_classes = [IsOrganiser]

    @extend_schema(
        parameters=[ItemsFileQuerySerializer],
        responses={
            (200, "text/csv"): OpenApiTypes.BINARY,
            (200, "application/x-ndjson"): OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, slug: str, pk: int) -> HttpResponseBase:
        query = checked(ItemsFileQuerySerializer, request.query_params)
        return report_file_response(get_import(slug, pk), query["file"], query["outcome"])


class ImportCarryOut(APIView):
    """Imports the files of a preview (`dry_run`), with the same options, as a new import."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=None, responses={202: ImportReportSerializer, 409: ErrorSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        try:
            run = carry_out_preview(run=get_import(slug, pk), actor=actor_of(request))
        except Refused as refusal:
            raise Conflict(refusal.message, code=refusal.code) from refusal
        return Response(ImportReportSerializer(import_report(run)).data, status.HTTP_202_ACCEPTED)


class ImportCancel(APIView):
    """Stops an import; imported documents stay."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=None, responses=ImportReportSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        cancel_work(work=get_import(slug, pk), actor=actor_of(request))
        return Response(ImportReportSerializer(import_report(get_import(slug, pk))).data)
