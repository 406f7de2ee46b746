"""Endpoints of curation, for organisers. Scans and searches are started as tasks."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.datasets.access import get_dataset, get_duplicate, get_selection
from portal.datasets.models import Document, NearDuplicate, PiiFinding, Selection
from portal.datasets.selectors.document_filters import DocumentFilter, every_document
from portal.datasets.selectors.near_duplicates import find_pairs
from portal.datasets.selectors.personal_data import find_findings, finding_rows
from portal.datasets.selectors.selections import selection_rows
from portal.datasets.services.documents import Hold, bulk_edit_documents
from portal.datasets.services.duplicates import decide_duplicate
from portal.datasets.services.personal_data import MaskingError, decide_findings
from portal.datasets.services.selections import (
    DrawSpec,
    check_selection,
    create_selection,
    new_seed,
)

from .base import actor_of, refused
from .curation_serializers import (
    BulkEditSerializer,
    ChangedSerializer,
    DecidedSerializer,
    DecideDuplicateSerializer,
    DecideFindingsSerializer,
    DuplicateQuerySerializer,
    DuplicateSerializer,
    FindingQuerySerializer,
    FindingSerializer,
    SelectionCheckSerializer,
    SelectionDetailSerializer,
    SelectionDrawSerializer,
    SelectionSerializer,
    as_filter,
)


class BulkEdit(APIView):
    """Gives many documents the same values, or holds them back: all of them or none."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=BulkEditSerializer, responses=ChangedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = BulkEditSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = wanted.validated_data
        found: QuerySet[Document]
        if "names" in values:
            found = dataset.documents.filter(name__in=values["names"])
        else:
            found = every_document(dataset, as_filter(values["filter"]))
        try:
            changed = bulk_edit_documents(
                dataset=dataset,
                documents=found,
                changes=values.get("changes"),
                hold=_hold(values),
                actor=actor_of(request),
            )
        except ValidationError as error:
            raise refused(error) from error
        return Response({"documents": changed})


def _hold(values: dict[str, Any]) -> Hold | None:
    if values["take_up"]:
        return Hold()
    return Hold(values["hold_back"]) if "hold_back" in values else None


class FindingList(GenericAPIView[Any]):
    """What may be personal data, with the text around it, by document and place."""

    queryset = PiiFinding.objects.none()
    serializer_class = FindingSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(parameters=[FindingQuerySerializer], responses=FindingSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = FindingQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        page = self.paginate_queryset(find_findings(dataset, **wanted.validated_data)) or []
        rows = finding_rows(dataset, page)
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)


class FindingsDecide(APIView):
    """Keeps or masks findings, for a reason. Masking makes a new document of each one concerned."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=DecideFindingsSerializer, responses=DecidedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = DecideFindingsSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = wanted.validated_data
        try:
            decided = decide_findings(
                dataset=dataset,
                keys=values["findings"],
                decision=values["decision"],
                reason=values["reason"],
                actor=actor_of(request),
            )
        except MaskingError as error:
            raise serializers.ValidationError({"findings": [str(error)]}) from error
        return Response({"decided": len(decided)})


class DuplicateList(GenericAPIView[NearDuplicate]):
    """Pairs of documents that are almost the same, most alike first."""

    queryset = NearDuplicate.objects.none()
    serializer_class = DuplicateSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(parameters=[DuplicateQuerySerializer], responses=DuplicateSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = DuplicateQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        page = self.paginate_queryset(find_pairs(dataset, **wanted.validated_data))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class DuplicateDetail(APIView):
    """One pair, and which of the two stays."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=DuplicateSerializer)
    def get(self, _: Request, slug: str, pk: int) -> Response:
        return Response(DuplicateSerializer(get_duplicate(slug, pk)).data)

    @extend_schema(request=DecideDuplicateSerializer, responses=DuplicateSerializer)
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        pair = get_duplicate(slug, pk)
        wanted = DecideDuplicateSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        decided = decide_duplicate(
            pair=pair, decision=wanted.validated_data["decision"], actor=actor_of(request)
        )
        return Response(DuplicateSerializer(decided).data)


class SelectionList(GenericAPIView[Selection]):
    """The selections of a dataset, newest first; a new one is drawn by lot."""

    queryset = Selection.objects.none()
    serializer_class = SelectionSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(responses=SelectionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        rows = selection_rows(get_dataset(request.user, slug))
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(request=SelectionDrawSerializer, responses={201: SelectionDetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = SelectionDrawSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = wanted.validated_data
        filters = as_filter(values["filter"]).as_json() if "filter" in values else {}
        active = {"state": Document.State.ACTIVE.value, **filters}
        try:
            selection = create_selection(
                dataset=dataset,
                title=values["title"],
                spec=DrawSpec(
                    strata=tuple(values["strata"]),
                    size=values.get("size"),
                    per_stratum=values.get("per_stratum"),
                    wanted=DocumentFilter.from_json(active),
                ),
                seed=values.get("seed", new_seed()),
                actor=actor_of(request),
            )
        except ValidationError as error:
            raise refused(error) from error
        return Response(SelectionDetailSerializer(selection).data, status.HTTP_201_CREATED)


class SelectionDetail(APIView):
    """One selection with the names of its documents."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=SelectionDetailSerializer)
    def get(self, _: Request, slug: str, pk: int) -> Response:
        return Response(SelectionDetailSerializer(get_selection(slug, pk)).data)


class SelectionCheck(APIView):
    """Draws again by the recorded spec and seed, and compares."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=SelectionCheckSerializer)
    def get(self, _: Request, slug: str, pk: int) -> Response:
        return Response(SelectionCheckSerializer(check_selection(get_selection(slug, pk))).data)
