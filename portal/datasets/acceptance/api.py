"""Endpoints of quality acceptance, for organisers."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.datasets.access import actor_of, get_batch, get_dataset, get_sampled
from portal.datasets.models import Batch, Dataset, DocumentType, Selection
from portal.datasets.responses import Conflict, file_response
from portal.web.answers import ListingView, answer
from portal.web.api import ErrorSerializer, NamedField, checked

from .audits import (
    THRESHOLD,
    AuditReport,
    FaultCount,
    FieldAccuracy,
    Validation,
    WrongValue,
    smallest_conclusive_sample,
)
from .records import BUILT_IN, raw_schema
from .selectors import (
    Candidates,
    InspectedField,
    audit_file,
    audit_of,
    batch_rows,
    inspected_fields,
    sampled_documents,
    suggested_schema,
)
from .services import (
    LONGEST_COMMENT,
    MAX_BATCH,
    AcceptanceRefused,
    clear_verdict,
    close_batch,
    open_batch,
    put_back_batch,
    save_verdict,
)

_SHARE = "0 to 1."
FieldAccuracySerializer = answer(FieldAccuracy, accuracy=_SHARE, low=_SHARE, high=_SHARE)


class BatchRowSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(source="batch.number")
    state = serializers.ChoiceField(choices=Batch.State.choices, source="batch.state")
    documents = serializers.IntegerField()
    sample_size = serializers.IntegerField(source="batch.sample_size")
    said = serializers.IntegerField(help_text="Number of fields inspected so far.")
    due = serializers.IntegerField(help_text="Number of fields to inspect in total.")
    accuracy = serializers.FloatField(
        source="overall.accuracy", allow_null=True, help_text="Over all fields, from 0 to 1."
    )
    threshold = serializers.FloatField(source="batch.threshold")
    seed = serializers.IntegerField(source="batch.seed")
    created_at = serializers.DateTimeField(source="batch.created_at")
    closed_at = serializers.DateTimeField(source="batch.closed_at", allow_null=True)


class NewBatchSerializer(serializers.Serializer[Any]):
    """A new batch. The schema is the name of a built-in one, `records`, or JSON."""

    schema = serializers.JSONField(
        help_text=f"`{'`, `'.join(BUILT_IN)}`; `records` for all fields of the records; a list of "
        "fields; or an object with fields, sums and orders."
    )
    seed = serializers.IntegerField(min_value=0, max_value=2**63 - 1)
    sample_size = serializers.IntegerField(
        min_value=1, max_value=MAX_BATCH, required=False, default=smallest_conclusive_sample
    )
    threshold = serializers.FloatField(
        min_value=0.001, max_value=1, required=False, default=THRESHOLD
    )
    size = serializers.IntegerField(
        min_value=1,
        max_value=MAX_BATCH,
        required=False,
        allow_null=True,
        default=None,
        help_text="Maximum number of documents. The first ones by name are used.",
    )
    selection = NamedField[Selection](
        slug_field="title",
        queryset=Selection.objects.none(),
        required=False,
        allow_null=True,
        default=None,
        help_text="The title of a selection of the dataset.",
    )
    doc_type = serializers.ChoiceField(choices=DocumentType.choices, required=False, default="")
    language = serializers.CharField(max_length=12, required=False, default="", allow_blank=True)

    def get_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = super().get_fields()
        if dataset := self.context.get("dataset"):
            fields["selection"].queryset = dataset.selections.all()
        return fields


WrongValueSerializer = answer(
    WrongValue,
    correct_value="Null if none was given; empty text if the field should be empty.",
)
BatchFaultCountSerializer = answer(FaultCount, "BatchFaultCount")
BatchValidationSerializer = answer(
    Validation, "BatchValidation", counts=BatchFaultCountSerializer(many=True)
)
BatchAuditSerializer = answer(
    AuditReport,
    "BatchAudit",
    fields=FieldAccuracySerializer(many=True),
    overall=FieldAccuracySerializer(),
    errors=WrongValueSerializer(many=True),
    validation=BatchValidationSerializer(),
)


class SampledDocumentSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(source="document.name")
    said = serializers.IntegerField(help_text="Number of inspected fields.")
    wrong = serializers.IntegerField()
    faults = serializers.JSONField(help_text="Validation errors: [{field, code, message}, …].")


InspectedFieldSerializer = answer(
    InspectedField,
    leave_out=["number", "correct", "should_be_empty", "comment", "raw", "raw_correct"],
    value=serializers.JSONField(source="raw", allow_null=True),
    base="Version of the result. Send it with the next result for this field.",
    correct_value=serializers.JSONField(source="raw_correct", allow_null=True),
    comment=serializers.CharField(),
)


class InspectionSerializer(serializers.Serializer[Any]):
    """A verdict on one field.

    `base` is the version of the verdict that you saw. Without it, the new verdict replaces any
    other.
    """

    name = serializers.CharField(max_length=80, trim_whitespace=False)
    is_right = serializers.BooleanField()
    correct_value = serializers.JSONField(
        required=False,
        allow_null=True,
        default=None,
        help_text="For a wrong field. Empty text means that the field should be empty.",
    )
    comment = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=LONGEST_COMMENT
    )
    base = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, default=None, max_length=40
    )


class InspectionClearSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80, trim_whitespace=False)
    base = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, default=None, max_length=40
    )


class BatchPutBackSerializer(serializers.Serializer[Any]):
    documents = serializers.IntegerField(
        help_text="Number of documents that are no longer held back."
    )


class BatchReportQuerySerializer(serializers.Serializer[Any]):
    form = serializers.ChoiceField(
        choices=["json", "markdown", "csv"], required=False, default="json"
    )


def refused(refusal: AcceptanceRefused) -> APIException:
    if refusal.code in {"closed", "conflict", "unfinished", "changed"}:
        return Conflict(refusal.message, code=refusal.code)
    return ValidationError({refusal.field or "non_field_errors": [refusal.message]})


class AcceptanceView(APIView):
    """Base view for organisers. Errors of the services become API errors."""

    permission_classes = [IsOrganiser]

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(refused(exc) if isinstance(exc, AcceptanceRefused) else exc)


class BatchList(AcceptanceView, ListingView):
    """List the batches of a dataset, newest first, or open a batch."""

    serializer_class = BatchRowSerializer

    @extend_schema(responses=BatchRowSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        batches = get_dataset(request.user, slug).batches.defer("report").order_by("-number")
        return self.listed(batches, batch_rows)

    @extend_schema(request=NewBatchSerializer, responses={201: BatchRowSerializer})
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        given = checked(NewBatchSerializer, request.data, dataset=dataset)
        candidates = Candidates(
            given.pop("selection"), given.pop("doc_type"), given.pop("language")
        )
        schema = _schema(dataset, given.pop("schema"))
        actor = actor_of(request)
        batch = open_batch(
            dataset=dataset, schema=schema, candidates=candidates, actor=actor, **given
        )
        return Response(BatchRowSerializer(batch_rows([batch])[0]).data, status=201)


class BatchDetail(AcceptanceView):
    """Return a batch with its progress."""

    @extend_schema(responses=BatchRowSerializer)
    def get(self, _request: Request, slug: str, number: int) -> Response:
        return Response(BatchRowSerializer(batch_rows([get_batch(slug, number)])[0]).data)


class BatchReport(AcceptanceView):
    """Return the audit report as JSON, or as a Markdown or CSV file."""

    @extend_schema(
        parameters=[BatchReportQuerySerializer],
        responses={
            200: BatchAuditSerializer,
            (200, "text/markdown"): OpenApiTypes.STR,
            (200, "text/csv"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request, slug: str, number: int) -> Response | HttpResponse:
        query = checked(BatchReportQuerySerializer, request.query_params)
        batch = get_batch(slug, number)
        form = query["form"]
        if form == "json":
            return Response(audit_of(batch))
        return file_response(audit_file(batch, form))


class BatchClose(AcceptanceView):
    """Accept or reject a batch. Returns 409 if the result is not final yet."""

    @extend_schema(request=None, responses={200: BatchAuditSerializer, 409: ErrorSerializer})
    def post(self, request: Request, slug: str, number: int) -> Response:
        batch = close_batch(batch=get_batch(slug, number), actor=actor_of(request))
        return Response(batch.report)


class BatchPutBack(AcceptanceView):
    """Puts back the documents that a rejected batch holds."""

    @extend_schema(request=None, responses={200: BatchPutBackSerializer, 409: ErrorSerializer})
    def post(self, request: Request, slug: str, number: int) -> Response:
        count = put_back_batch(batch=get_batch(slug, number), actor=actor_of(request))
        return Response({"documents": count})


class BatchSample(AcceptanceView, ListingView):
    """List the sampled documents of a batch by name."""

    serializer_class = SampledDocumentSerializer

    @extend_schema(responses=SampledDocumentSerializer(many=True))
    def get(self, _request: Request, slug: str, number: int) -> Response:
        return self.listed(sampled_documents(get_batch(slug, number)))


class BatchDocumentFields(AcceptanceView):
    """Return the fields of a sampled document, with values and verdicts."""

    @extend_schema(
        operation_id="datasets_batches_documents_fields",
        responses=InspectedFieldSerializer(many=True),
    )
    def get(self, _request: Request, slug: str, number: int, name: str) -> Response:
        return Response(_fields(get_batch(slug, number), name))

    @extend_schema(request=InspectionSerializer, responses=InspectedFieldSerializer(many=True))
    def put(self, request: Request, slug: str, number: int, name: str) -> Response:
        """Save a verdict on one field. Returns 409 if another inspector has changed it."""
        given = checked(InspectionSerializer, request.data)
        batch = get_batch(slug, number)
        sampled, field = get_sampled(batch, name), given.pop("name")
        save_verdict(sampled=sampled, field=field, actor=actor_of(request), **given)
        return Response(_fields(batch, name))


class BatchVerdictClear(AcceptanceView):
    """Remove the verdict on one field."""

    @extend_schema(
        request=InspectionClearSerializer,
        responses=InspectedFieldSerializer(many=True),
    )
    def post(self, request: Request, slug: str, number: int, name: str) -> Response:
        given = checked(InspectionClearSerializer, request.data)
        batch = get_batch(slug, number)
        sampled, actor = get_sampled(batch, name), actor_of(request)
        clear_verdict(sampled=sampled, field=given["name"], base=given["base"], actor=actor)
        return Response(_fields(batch, name))


def _fields(batch: Batch, name: str) -> Any:
    fields = inspected_fields(batch, get_sampled(batch, name))
    return InspectedFieldSerializer(fields, many=True).data


def _schema(dataset: Dataset, wanted: Any) -> Any:
    """Return a schema by its name, or the sent schema."""
    if wanted == "records":
        return suggested_schema(dataset)
    return raw_schema(wanted) if isinstance(wanted, str) and wanted in BUILT_IN else wanted
