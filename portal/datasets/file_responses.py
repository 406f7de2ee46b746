"""Text files that are made on request, as answers of pages and endpoints."""

from dataclasses import dataclass

from django.http import HttpResponse
from django.utils.http import content_disposition_header


@dataclass(frozen=True)
class TextFile:
    name: str
    media_type: str
    content: str


def file_response(file: TextFile) -> HttpResponse:
    """A download that is kept by no cache: what it holds depends on who asks."""
    response = HttpResponse(file.content, content_type=f"{file.media_type}; charset=utf-8")
    response["Content-Disposition"] = content_disposition_header(True, file.name)
    response["Cache-Control"] = "private, no-store"
    return response
