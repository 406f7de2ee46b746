"""Endpoints of datasets, documents, page images, statistics and tasks."""

from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers, status
from rest_framework.generics import ListCreateAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.datasets.access import (
    OrganisersChange,
    actor_of,
    get_dataset,
    get_document,
    get_image,
    get_readable_document,
    get_task,
    may_read,
    visible_datasets,
    visible_releases,
)
from portal.datasets.dataset_tasks import cancel_work, start_task
from portal.datasets.imaging.services import ImageRefusedError, add_image
from portal.datasets.models import Dataset, Document
from portal.datasets.responses import (
    file_response,
    image_response,
    refusals_by_field,
    thumbnail_response,
)
from portal.files.uploads import checked_upload
from portal.web.answers import ListingView
from portal.web.api import PlainMultiPartParser, checked

from .forms import read_picture
from .selectors import document_boxes, type_counts
from .serializers import (
    BulkEditSerializer,
    ChangedSerializer,
    DatasetCardSerializer,
    DatasetChangeSerializer,
    DatasetSerializer,
    DocumentChangeSerializer,
    DocumentQuerySerializer,
    DocumentRowSerializer,
    DocumentSerializer,
    EditedDocumentSerializer,
    HiddenDocumentSerializer,
    ImageSerializer,
    StatisticsExportQuerySerializer,
    StatisticsQuerySerializer,
    StatisticsSerializer,
    TaskDetailSerializer,
    TaskSerializer,
    TaskStartSerializer,
)
from .services import (
    Hold,
    PublicationRefused,
    bulk_edit_documents,
    create_dataset,
    edit_dataset,
    edit_document,
)
from .statistics_page import (
    SVG,
    statistics_file,
    statistics_page,
)
from .table import DocumentFilter, document_rows, every_document, filter_documents


class DatasetList(ListCreateAPIView[Dataset]):
    """List the datasets that you may see, or create one as an organiser."""

    serializer_class = DatasetSerializer
    permission_classes = [OrganisersChange]

    def get_queryset(self) -> QuerySet[Dataset]:
        return visible_datasets(self.request.user).select_related("derived_from")

    def perform_create(self, serializer: BaseSerializer[Dataset]) -> None:
        serializer.instance = create_dataset(
            **serializer.validated_data, actor=actor_of(self.request)
        )


class DatasetDetail(APIView):
    """Return a dataset with its counts, or change its description as an organiser."""

    permission_classes = [OrganisersChange]

    @extend_schema(responses=DatasetCardSerializer)
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        releases = visible_releases(request.user, dataset)
        context = {"types": type_counts(dataset), "releases": releases}
        return Response(DatasetCardSerializer(dataset, context=context).data)

    @extend_schema(request=DatasetChangeSerializer, responses=DatasetChangeSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        change = DatasetChangeSerializer(dataset, data=request.data, partial=True)
        change.is_valid(raise_exception=True)
        changes = dict(change.validated_data)
        accepted = changes.pop("accept_overlaps", 0)
        try:
            dataset = edit_dataset(
                dataset=dataset,
                changes=changes,
                actor=actor_of(request),
                accept_overlaps=accepted,
            )
        except PublicationRefused as refused:
            raise serializers.ValidationError({"visibility": refused.faults}) from refused
        return Response(DatasetChangeSerializer(dataset).data)


class DocumentList(ListingView):
    """List and filter the documents of a dataset.

    Filters and orders that use hidden information leave hidden documents out.
    """

    serializer_class = DocumentRowSerializer

    @extend_schema(parameters=[DocumentQuerySerializer], responses=DocumentRowSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = checked(DocumentQuerySerializer, request.query_params)
        found = filter_documents(request.user, dataset, **wanted).defer("metadata")
        rows = partial(document_rows, request.user, dataset)
        return self.listed(found, rows)


class DocumentDetail(APIView):
    """Return a document with its canonical HTML and text; for a hidden one, only its images."""

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
        change = checked(DocumentChangeSerializer, request.data)
        with refusals_by_field():
            edited = edit_document(document=document, changes=change, actor=actor_of(request))
        return Response(EditedDocumentSerializer(edited).data)


class DocumentImage(APIView):
    """Return a page image as PNG or JPEG."""

    @extend_schema(responses={(200, "image/png"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, name: str, number: int) -> HttpResponseBase:
        image = get_image(request.user, slug, name, number)
        return image_response(image, bare=not may_read(request.user, image.document))


class BulkEdit(APIView):
    """Give many documents the same values, or hold them back, in one transaction.

    With `dry_run`, nothing changes, and the answer is that of the change.
    """

    permission_classes = [IsOrganiser]

    @extend_schema(request=BulkEditSerializer, responses=ChangedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        values = checked(BulkEditSerializer, request.data)
        with refusals_by_field():
            changed = bulk_edit_documents(
                dataset=dataset,
                documents=_chosen(dataset, values),
                changes=values.get("changes"),
                hold=_hold(values),
                actor=actor_of(request),
                dry_run=values["dry_run"],
            )
        return Response({"documents": changed})


def _chosen(dataset: Dataset, values: dict[str, Any]) -> QuerySet[Document]:
    """The documents of a bulk edit. Raises ValidationError for names that do not exist."""
    if "names" not in values:
        return every_document(dataset, values.get("filter", DocumentFilter()))
    found = dataset.documents.filter(name__in=values["names"])
    if missing := set(values["names"]) - set(found.values_list("name", flat=True)):
        shown = ", ".join(sorted(missing)[:_SHOWN_NAMES])
        reason = f"{len(missing)} of the names are not in this dataset: {shown}."
        raise serializers.ValidationError({"names": [reason]})
    return found


# An error lists at most so many names.
_SHOWN_NAMES = 10


def _hold(values: dict[str, Any]) -> Hold | None:
    if values["take_up"]:
        return Hold()
    return Hold(values["hold_back"]) if "hold_back" in values else None


class ImageUploadSerializer(serializers.Serializer[Any]):
    file = serializers.FileField(help_text="A PNG or JPEG image.")
    replaces = serializers.IntegerField(
        required=False,
        min_value=1,
        help_text="The number of the image to replace. Without it, the image is added.",
    )


class DocumentImageBoxesSerializer(serializers.Serializer[Any]):
    """Boxes are [start, end, left, top, width, height]: code points of the text, pixels."""

    number = serializers.IntegerField()
    width = serializers.IntegerField()
    height = serializers.IntegerField()
    boxes = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))


class DocumentImages(APIView):
    """Add an image to a document, or replace one of its images.

    Returns 400 if the document is in a release, because its images can no longer change.
    """

    permission_classes = [IsOrganiser]
    parser_classes = [PlainMultiPartParser]

    @extend_schema(request=ImageUploadSerializer, responses={201: ImageSerializer})
    def post(self, request: Request, slug: str, name: str) -> Response:
        document = get_document(request.user, slug, name)
        upload = checked_upload(ImageUploadSerializer, request)
        picture = _picture(upload["file"])
        try:
            image = add_image(
                document=document,
                picture=picture,
                replaces=upload.get("replaces"),
                actor=actor_of(request),
            )
        except ImageRefusedError as error:
            raise serializers.ValidationError({"file": [str(error)]}) from error
        shown = ImageSerializer(image, context={"request": request})
        return Response(shown.data, status.HTTP_201_CREATED)


def _picture(file: Any) -> Any:
    try:
        return read_picture(file)
    except ValidationError as error:
        raise serializers.ValidationError({"file": error.messages}) from error


class ImageThumbnail(APIView):
    """Return the top of a page image as WebP of up to 240 × 320 pixels."""

    @extend_schema(responses={(200, "image/webp"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, name: str, number: int) -> HttpResponseBase:
        return thumbnail_response(get_image(request.user, slug, name, number))


class DocumentBoxes(APIView):
    """Return the text boxes of a document's rendered images."""

    @extend_schema(responses=DocumentImageBoxesSerializer(many=True))
    def get(self, request: Request, slug: str, name: str) -> Response:
        document = get_readable_document(request.user, slug, name)
        return Response(document_boxes(document.pk))


class DatasetStatisticsDetail(APIView):
    """Return the documents by type and year, and the facts of a release."""

    @extend_schema(parameters=[StatisticsQuerySerializer], responses=StatisticsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        query = checked(StatisticsQuerySerializer, request.query_params)
        dataset = get_dataset(request.user, slug)
        page = statistics_page(request.user, dataset, query["release"])
        return Response(StatisticsSerializer(page).data)


class DatasetStatisticsExport(APIView):
    """Return the statistics as a file. Returns 404 for a chart without figures."""

    @extend_schema(
        parameters=[StatisticsExportQuerySerializer],
        responses={
            (200, kind): OpenApiTypes.BINARY for kind in ("text/csv", "application/x-tex", SVG)
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        query = checked(StatisticsExportQuerySerializer, request.query_params)
        dataset = get_dataset(request.user, slug)
        page = statistics_page(request.user, dataset, query["release"])
        return file_response(statistics_file(page, query["form"]))


class TaskList(ListingView):
    """List the tasks of a dataset, newest first, or start a task.

    If a task of the same kind is running, it is returned and no new one is started.
    """

    serializer_class = TaskSerializer
    permission_classes = [IsOrganiser]

    @extend_schema(responses=TaskSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        return self.listed(get_dataset(request.user, slug).tasks.defer("report"))

    @extend_schema(request=TaskStartSerializer, responses={202: TaskDetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        dataset = get_dataset(request.user, slug)
        wanted = checked(TaskStartSerializer, request.data)
        task = start_task(dataset=dataset, **wanted, actor=actor_of(request))
        return Response(TaskDetailSerializer(task).data, status.HTTP_202_ACCEPTED)


class TaskDetail(APIView):
    """Return the progress of a task and its report."""

    permission_classes = [IsOrganiser]

    @extend_schema(responses=TaskDetailSerializer)
    def get(self, _: Request, slug: str, pk: int) -> Response:
        return Response(TaskDetailSerializer(get_task(slug, pk)).data)


class TaskCancel(APIView):
    """Cancel a task and keep its results so far. A finished task does not change."""

    permission_classes = [IsOrganiser]

    @extend_schema(request=None, responses=TaskDetailSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        task = get_task(slug, pk)
        if not task.is_finished:
            cancel_work(work=task, actor=actor_of(request))
        return Response(TaskDetailSerializer(get_task(slug, pk)).data)
