"""Endpoints of datasets and their documents."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.generics import GenericAPIView, ListCreateAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from portal.datasets.access import get_dataset, get_document, get_image, may_read, visible_datasets
from portal.datasets.models import Dataset, Document
from portal.datasets.rendering import image_response
from portal.datasets.selectors.datasets import dataset_card
from portal.datasets.selectors.document_filters import filter_documents
from portal.datasets.selectors.documents import document_rows
from portal.datasets.services.datasets import create_dataset, edit_dataset
from portal.datasets.services.documents import edit_document

from .base import OrganisersChange, actor_of, refused
from .curation_serializers import (
    DocumentChangeSerializer,
    DocumentQuerySerializer,
    EditedDocumentSerializer,
)
from .serializers import (
    DatasetCardSerializer,
    DatasetChangeSerializer,
    DatasetSerializer,
    DocumentRowSerializer,
    DocumentSerializer,
    HiddenDocumentSerializer,
)


class DatasetList(ListCreateAPIView[Dataset]):
    """The datasets one may see; organisers create new ones."""

    serializer_class = DatasetSerializer
    permission_classes = [OrganisersChange]

    def get_queryset(self) -> QuerySet[Dataset]:
        return visible_datasets(self.request.user).select_related("derived_from")

    def perform_create(self, serializer: BaseSerializer[Dataset]) -> None:
        serializer.instance = create_dataset(
            **serializer.validated_data, actor=actor_of(self.request)
        )


class DatasetDetail(APIView):
    """One dataset: what it holds, and its description for organisers to change."""

    permission_classes = [OrganisersChange]

    @extend_schema(responses=DatasetCardSerializer)
    def get(self, request: Request, slug: str) -> Response:
        card = dataset_card(request.user, get_dataset(request.user, slug))
        return Response(DatasetCardSerializer(card.dataset, context={"card": card}).data)

    @extend_schema(request=DatasetChangeSerializer, responses=DatasetChangeSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        change = DatasetChangeSerializer(dataset, data=request.data, partial=True)
        change.is_valid(raise_exception=True)
        dataset = edit_dataset(
            dataset=dataset, changes=change.validated_data, actor=actor_of(request)
        )
        return Response(DatasetChangeSerializer(dataset).data)


class DocumentList(GenericAPIView[Any]):
    """The documents of a dataset, by a part of their name or company and by what describes them.

    Hidden documents are neither found nor sorted by what is hidden of them.
    """

    queryset = Document.objects.none()
    serializer_class = DocumentRowSerializer

    @extend_schema(parameters=[DocumentQuerySerializer], responses=DocumentRowSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = DocumentQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        found = filter_documents(
            request.user, dataset, wanted.wanted(), sort=wanted.validated_data["sort"]
        )
        page = self.paginate_queryset(found.defer("metadata")) or []
        rows = document_rows(request.user, dataset, page)
        return self.get_paginated_response(self.get_serializer(rows, many=True).data)


class DocumentDetail(APIView):
    """One document with its canonical HTML and text; of a hidden one, its images alone."""

    permission_classes = [OrganisersChange]

    @extend_schema(
        responses=PolymorphicProxySerializer(
            component_name="AnyDocument",
            serializers=[DocumentSerializer, HiddenDocumentSerializer],
            resource_type_field_name=None,
        )
    )
    def get(self, request: Request, slug: str, name: str) -> Response:
        document = get_document(request.user, slug, name)
        readable = may_read(request.user, document)
        serializer = DocumentSerializer if readable else HiddenDocumentSerializer
        return Response(serializer(document, context={"request": request}).data)

    @extend_schema(request=DocumentChangeSerializer, responses=EditedDocumentSerializer)
    def patch(self, request: Request, slug: str, name: str) -> Response:
        document = get_document(request.user, slug, name)
        change = DocumentChangeSerializer(data=request.data)
        change.is_valid(raise_exception=True)
        try:
            edited = edit_document(
                document=document, changes=change.validated_data, actor=actor_of(request)
            )
        except ValidationError as error:
            raise refused(error) from error
        return Response(EditedDocumentSerializer(edited).data)


class DocumentImage(APIView):
    """A page image, PNG or JPEG."""

    @extend_schema(responses={(200, "image/png"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, name: str, number: int) -> HttpResponseBase:
        image = get_image(request.user, slug, name, number)
        return image_response(image, bare=not may_read(request.user, image.document))
