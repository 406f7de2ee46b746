"""HTTP responses with documents, page images and text files, and API errors of refusals.

The caller must check access, because the dataset manager and the workbench have different rules.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.http import (
    Http404,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
    StreamingHttpResponse,
)
from django.utils.http import content_disposition_header
from rest_framework import serializers, status
from rest_framework.exceptions import APIException

from portal.datasets.imaging.pictures import bare_image
from portal.datasets.imaging.services import ensure_thumbnail
from portal.datasets.imaging.stored import StoredFileError, read_stored
from portal.web.refusals import Refused

from .models import PageImage


class Conflict(APIException):
    """The request does not fit the current state."""

    status_code = status.HTTP_409_CONFLICT


@contextmanager
def refusals_by_field() -> Iterator[None]:
    """Turn what a service refuses into an error of the API at the invalid field; 409 if someone
    else decided first.
    """
    try:
        yield
    except Refused as refusal:
        if refusal.code == "decided":
            raise Conflict(refusal.message, code=refusal.code) from refusal
        field = refusal.field or "non_field_errors"
        raise serializers.ValidationError({field: [refusal.message]}) from refusal
    except ValidationError as error:
        raise serializers.ValidationError(serializers.as_serializer_error(error)) from error


class DamagedFile(APIException):
    """A file of the site is missing or was changed; the site must be mended."""

    status_code = status.HTTP_500_INTERNAL_SERVER_ERROR


@contextmanager
def stored_file_errors() -> Iterator[None]:
    """Turn a missing or changed file into an error of the API with the reason."""
    try:
        yield
    except StoredFileError as error:
        raise DamagedFile(str(error), code="damaged_file") from error


@dataclass(frozen=True)
class TextFile:
    name: str
    media_type: str
    content: str


def file_response(file: TextFile) -> HttpResponse:
    """Return a download that is not cached, because its content depends on the user."""
    response = HttpResponse(file.content, content_type=f"{file.media_type}; charset=utf-8")
    _as_download(response, file.name)
    return response


def stream_response(name: str, media_type: str, parts: Iterator[str]) -> StreamingHttpResponse:
    """Return the same for a large file, which is sent as it is made."""
    response = StreamingHttpResponse(parts, content_type=f"{media_type}; charset=utf-8")
    _as_download(response, name)
    return response


def _as_download(response: HttpResponseBase, name: str) -> None:
    disposition = content_disposition_header(True, name)
    assert disposition is not None
    response["Content-Disposition"] = disposition
    response["Cache-Control"] = "private, no-store"


# No scripts, forms, frames or external URLs. The frame that shows a document adds `sandbox`.
DOCUMENT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'self'"
)
IMAGE_POLICY = "default-src 'none'; frame-ancestors 'self'"

# Pages are also light in the dark scheme, because filings set dark colours for their text.
_STYLE = (
    ":root{color-scheme:only light}"
    "html{background:#fff;color:#111}"
    "body{margin:16px 20px;font:14px/1.4 'Liberation Serif','Times New Roman',Times,serif;"
    "overflow-wrap:break-word}"
    "table{border-collapse:collapse;max-width:100%}"
    "td,th{vertical-align:top;padding:1px 3px}"
    "pre{font:12px/1.35 'Liberation Mono','DejaVu Sans Mono',Consolas,monospace}"
    "img{max-width:100%}"
    # No element may cover the page and catch its clicks.
    "body *{transform:none!important;pointer-events:auto!important;user-select:text!important}"
    '[style*="position" i]{position:static!important}'
    # Always visible, because a page is often wider than its frame.
    "::-webkit-scrollbar{width:12px;height:12px;background:#e8eaed}"
    "::-webkit-scrollbar-thumb{background:#80868b;border:2px solid #e8eaed;border-radius:6px}"
)
_HEAD = f'<head><meta charset="utf-8"><title>Document</title><style>{_STYLE}</style></head>'


def sandboxed_html_response(document_html: str) -> HttpResponse:
    """Return canonical HTML as a page for a sandboxed frame.

    The body is exactly `document_html`, so that its text in the browser is the canonical text and
    offsets agree.
    """
    page = f'<!DOCTYPE html><html lang="en">{_HEAD}<body>{document_html}</body></html>'
    response = HttpResponse(page, content_type="text/html; charset=utf-8")
    response["Content-Security-Policy"] = DOCUMENT_POLICY
    response["X-Frame-Options"] = "SAMEORIGIN"
    keep_private(response)
    return response


def image_response(image: PageImage, *, bare: bool = False) -> HttpResponseBase:
    """Return a page image, without metadata in the file if `bare`; 500 with the reason if the file
    is missing or was changed."""
    try:
        data = read_stored(str(image.file.name), image.sha256)
    except StoredFileError as error:
        return JsonResponse({"detail": str(error)}, status=500)
    response = HttpResponse(bare_image(data) if bare else data, content_type=image.media_type)
    response["Content-Security-Policy"] = IMAGE_POLICY
    keep_private(response)
    return response


def thumbnail_response(image: PageImage) -> HttpResponse:
    """Return a thumbnail, which browsers may cache for a while. Raises Http404 without a file."""
    try:
        response = HttpResponse(ensure_thumbnail(image), content_type="image/webp")
    except (OSError, ValueError) as error:
        raise Http404("The image file cannot be read.") from error
    response["Content-Security-Policy"] = IMAGE_POLICY
    keep_private(response)
    response["Cache-Control"] = "private, max-age=600"
    return response


def keep_private(response: HttpResponseBase) -> None:
    """Forbid shared caches, because the user's access may end."""
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private"
