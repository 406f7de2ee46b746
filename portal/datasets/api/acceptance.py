"""Endpoints of quality acceptance, for organisers."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.datasets.access import get_batch, get_dataset, get_sampled
from portal.datasets.curation.schemas import BUILT_IN, raw_schema
from portal.datasets.file_responses import file_response
from portal.datasets.models import Batch, Dataset
from portal.datasets.selectors.acceptance import Candidates, batch_rows, suggested_schema
from portal.datasets.selectors.batches import audit_file, audit_of, sampled_documents
from portal.datasets.selectors.inspections import inspected_fields
from portal.datasets.services.acceptance import (
    AcceptanceRefused,
    close_batch,
    open_batch,
    put_back_batch,
)
from portal.datasets.services.inspections import clear_verdict, save_verdict
from portal.web.api import ErrorSerializer

from . import acceptance_serializers as shapes
from .base import actor_of


class Conflict(APIException):
    """What was asked does not fit the state of the batch."""

    status_code = status.HTTP_409_CONFLICT


def refused(refusal: AcceptanceRefused) -> APIException:
    if refusal.code in {"closed", "conflict", "unfinished", "changed"}:
        return Conflict(refusal.message, code=refusal.code)
    return ValidationError({refusal.field or "non_field_errors": [refusal.message]})


class BatchList(GenericAPIView[Any]):
    """The batches of a dataset, newest first; opening one."""

    queryset = Batch.objects.none()
    serializer_class = shapes.BatchRowSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(responses=shapes.BatchRowSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        batches = get_dataset(request.user, slug).batches.defer("report").order_by("-number")
        rows = batch_rows(self.paginate_queryset(batches) or [])
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)

    @extend_schema(request=shapes.NewBatchSerializer, responses={201: shapes.BatchRowSerializer})
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = shapes.NewBatchSerializer(data=request.data, context={"dataset": dataset})
        wanted.is_valid(raise_exception=True)
        given = dict(wanted.validated_data)
        candidates = Candidates(
            given.pop("selection"), given.pop("doc_type"), given.pop("language")
        )
        schema = _schema(dataset, given.pop("schema"))
        actor = actor_of(request)
        try:
            batch = open_batch(
                dataset=dataset, schema=schema, candidates=candidates, actor=actor, **given
            )
        except AcceptanceRefused as refusal:
            raise refused(refusal) from refusal
        return Response(shapes.BatchRowSerializer(batch_rows([batch])[0]).data, status=201)


class BatchDetail(APIView):
    """A batch as far as it is."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=shapes.BatchRowSerializer)
    def get(self, _request: Request, slug: str, number: int) -> Response:
        return Response(shapes.BatchRowSerializer(batch_rows([get_batch(slug, number)])[0]).data)


class BatchReport(APIView):
    """The audit report, as JSON or as a file for people."""

    permission_classes = [IsOrganiser]

    @extend_schema(
        parameters=[shapes.BatchReportQuerySerializer],
        responses={
            200: shapes.BatchAuditSerializer,
            (200, "text/markdown"): OpenApiTypes.STR,
            (200, "text/csv"): OpenApiTypes.STR,
        },
    )
    def get(self, request: Request, slug: str, number: int) -> Response | HttpResponse:
        query = shapes.BatchReportQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        batch = get_batch(slug, number)
        form = query.validated_data["form"]
        if form == "json":
            return Response(audit_of(batch))
        return file_response(audit_file(batch, form))


class BatchClose(APIView):
    """Accepts or rejects a batch; 409 while that is not sure."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=None, responses={200: shapes.BatchAuditSerializer, 409: ErrorSerializer})
    def post(self, request: Request, slug: str, number: int) -> Response:
        try:
            batch = close_batch(batch=get_batch(slug, number), actor=actor_of(request))
        except AcceptanceRefused as refusal:
            raise refused(refusal) from refusal
        return Response(batch.report)


class BatchPutBack(APIView):
    """Ends the holding back of a rejected batch's documents."""

    permission_classes = [IsOrganiser]

    @extend_schema(
        request=None, responses={200: shapes.BatchPutBackSerializer, 409: ErrorSerializer}
    )
    def post(self, request: Request, slug: str, number: int) -> Response:
        try:
            count = put_back_batch(batch=get_batch(slug, number), actor=actor_of(request))
        except AcceptanceRefused as refusal:
            raise refused(refusal) from refusal
        return Response({"documents": count})


class BatchSample(GenericAPIView[Any]):
    """The drawn documents of a batch, by name."""

    queryset = Batch.objects.none()
    serializer_class = shapes.SampledDocumentSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(responses=shapes.SampledDocumentSerializer(many=True))
    def get(self, _request: Request, slug: str, number: int) -> Response:
        page = self.paginate_queryset(sampled_documents(get_batch(slug, number))) or []
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class BatchDocumentFields(APIView):
    """The fields of one drawn document, with their values and verdicts."""

    permission_classes = [IsOrganiser]

    @extend_schema(
        operation_id="datasets_batches_documents_fields",
        responses=shapes.InspectedFieldSerializer(many=True),
    )
    def get(self, _request: Request, slug: str, number: int, name: str) -> Response:
        return Response(_fields(get_batch(slug, number), name))

    @extend_schema(
        request=shapes.InspectionSerializer, responses=shapes.InspectedFieldSerializer(many=True)
    )
    def put(self, request: Request, slug: str, number: int, name: str) -> Response:
        """Keeps a verdict on one field; 409 where somebody else said otherwise meanwhile."""
        wanted = shapes.InspectionSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        given = dict(wanted.validated_data)
        batch = get_batch(slug, number)
        sampled, field = get_sampled(batch, name), given.pop("name")
        try:
            save_verdict(sampled=sampled, field=field, actor=actor_of(request), **given)
        except AcceptanceRefused as refusal:
            raise refused(refusal) from refusal
        return Response(_fields(batch, name))


class BatchVerdictClear(APIView):
    """Takes the verdict on one field back."""

    permission_classes = [IsOrganiser]

    @extend_schema(
        request=shapes.InspectionClearSerializer,
        responses=shapes.InspectedFieldSerializer(many=True),
    )
    def post(self, request: Request, slug: str, number: int, name: str) -> Response:
        wanted = shapes.InspectionClearSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        given = wanted.validated_data
        batch = get_batch(slug, number)
        sampled, actor = get_sampled(batch, name), actor_of(request)
        try:
            clear_verdict(sampled=sampled, field=given["name"], base=given["base"], actor=actor)
        except AcceptanceRefused as refusal:
            raise refused(refusal) from refusal
        return Response(_fields(batch, name))


def _fields(batch: Batch, name: str) -> Any:
    fields = inspected_fields(batch, get_sampled(batch, name))
    return shapes.InspectedFieldSerializer(fields, many=True).data


def _schema(dataset: Dataset, wanted: Any) -> Any:
    """A schema by its name, or as it was sent."""
    if wanted == "records":
        return suggested_schema(dataset)
    return raw_schema(wanted) if isinstance(wanted, str) and wanted in BUILT_IN else wanted
