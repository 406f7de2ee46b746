"""Documents, page images and text files as HTTP responses, for every app that shows them.

Access is the caller's business: the dataset manager and the workbench each have their own rules.
"""

from dataclasses import dataclass

from django.http import FileResponse, HttpResponse, HttpResponseBase
from django.utils.http import content_disposition_header

from portal.datasets.imaging.pictures import bare_image

from .models import PageImage


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


# No script, form, frame or outside address ever; `sandbox` is added by the frame that shows it.
DOCUMENT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'self'"
)
IMAGE_POLICY = "default-src 'none'; frame-ancestors 'self'"

# A page is paper: light in the dark scheme too, because filings name dark colours for their text.
_STYLE = (
    ":root{color-scheme:only light}"
    "html{background:#fff;color:#111}"
    "body{margin:16px 20px;font:14px/1.4 'Liberation Serif','Times New Roman',Times,serif;"
    "overflow-wrap:break-word}"
    "table{border-collapse:collapse;max-width:100%}"
    "td,th{vertical-align:top;padding:1px 3px}"
    "pre{font:12px/1.35 'Liberation Mono','DejaVu Sans Mono',Consolas,monospace}"
    "img{max-width:100%}"
    # No element may lie over the page and catch its clicks, whatever its style says.
    "body *{transform:none!important;pointer-events:auto!important;user-select:text!important}"
    '[style*="position" i]{position:static!important}'
    # Bars that are always shown: a page is often wider than its pane.
    "::-webkit-scrollbar{width:12px;height:12px;background:#e8eaed}"
    "::-webkit-scrollbar-thumb{background:#80868b;border:2px solid #e8eaed;border-radius:6px}"
)
_HEAD = f'<head><meta charset="utf-8"><title>Document</title><style>{_STYLE}</style></head>'


def sandboxed_html_response(document_html: str) -> HttpResponse:
    """Canonical HTML as a page of its own, to be shown in a sandboxed frame.

    The body holds `document_html` and not one character more, so that the text a browser reads
    there is the canonical text and offsets count alike on both sides.
    """
    page = f'<!DOCTYPE html><html lang="en">{_HEAD}<body>{document_html}</body></html>'
    response = HttpResponse(page, content_type="text/html; charset=utf-8")
    response["Content-Security-Policy"] = DOCUMENT_POLICY
    response["X-Frame-Options"] = "SAMEORIGIN"
    keep_private(response)
    return response


def image_response(image: PageImage, *, bare: bool = False) -> HttpResponseBase:
    """A page image; its media type is what was found in it at import.

    `bare`: with nothing in the file but the picture, for those who may not know more of it.
    """
    response: HttpResponseBase
    if bare:
        with image.file.open("rb") as file:
            data = bare_image(file.read())
        response = HttpResponse(data, content_type=image.media_type)
    else:
        response = FileResponse(image.file.open("rb"), content_type=image.media_type)
    response["Content-Security-Policy"] = IMAGE_POLICY
    keep_private(response)
    return response


def thumbnail_response(data: bytes) -> HttpResponse:
    """A thumbnail; lists show many of them again and again, so browsers may keep it for a while."""
    response = HttpResponse(data, content_type="image/webp")
    response["Content-Security-Policy"] = IMAGE_POLICY
    keep_private(response)
    response["Cache-Control"] = "private, max-age=600"
    return response


def keep_private(response: HttpResponseBase) -> None:
    """Kept by nothing between the site and its reader, whose right to it may end."""
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private"
