"""Endpoints of page images: adding one, thumbnails, and where the text lies."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.accounts.access import IsOrganiser
from portal.datasets.access import get_document, get_image, get_readable_document
from portal.datasets.forms import read_picture
from portal.datasets.rendering import thumbnail_response
from portal.datasets.selectors.page_images import document_boxes
from portal.datasets.services.page_images import ImageRefusedError, add_image, ensure_thumbnail
from portal.files.uploads import upload_limit_message, was_too_large
from portal.web.api import PlainMultiPartParser

from .base import actor_of
from .serializers import ImageSerializer


class ImageUploadSerializer(serializers.Serializer[Any]):
    file = serializers.FileField(help_text="A PNG or JPEG image.")
    replaces = serializers.IntegerField(
        required=False,
        min_value=1,
        help_text="The number of the image in whose place it is put; without it, it is added.",
    )


class DocumentImageBoxesSerializer(serializers.Serializer[Any]):
    """Boxes are [start, end, left, top, width, height]: code points of the text, pixels."""

    number = serializers.IntegerField()
    width = serializers.IntegerField()
    height = serializers.IntegerField()
    boxes = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()))


class DocumentImages(APIView):
    """Adds an image to a document, behind those that are there, or replaces one of them.

    400 for a document that a release holds: what it shows never changes.
    """

    permission_classes = [IsOrganiser]
    parser_classes = [PlainMultiPartParser]

    @extend_schema(request=ImageUploadSerializer, responses={201: ImageSerializer})
    def post(self, request: Request, slug: str, name: str) -> Response:
        document = get_document(request.user, slug, name)
        upload = ImageUploadSerializer(data=request.data)
        if was_too_large(request):
            message = {"file": [upload_limit_message()]}
            return Response(message, status=status.HTTP_413_REQUEST_ENTITY_TOO_LARGE)
        upload.is_valid(raise_exception=True)
        picture = _picture(upload.validated_data["file"])
        try:
            image = add_image(
                document=document,
                picture=picture,
                replaces=upload.validated_data.get("replaces"),
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
    """The top of a page image, WebP of at most 240 × 320 pixels."""

    @extend_schema(responses={(200, "image/webp"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, name: str, number: int) -> HttpResponseBase:
        image = get_image(request.user, slug, name, number)
        try:
            return thumbnail_response(ensure_thumbnail(image))
        except (OSError, ValueError) as error:
            raise Http404("the image's file cannot be read") from error


class DocumentBoxes(APIView):
    """Where the words of a document lie on the images that were rendered here."""

    @extend_schema(responses=DocumentImageBoxesSerializer(many=True))
    def get(self, request: Request, slug: str, name: str) -> Response:
        document = get_readable_document(request.user, slug, name)
        return Response(document_boxes(document.pk))
