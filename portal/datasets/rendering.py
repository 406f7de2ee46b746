"""Documents, page images and releases as HTTP responses, for every app that shows them.

Access is the caller's business: the dataset manager and the workbench each have their own rules.
"""

from django.http import FileResponse, HttpResponse, HttpResponseBase, StreamingHttpResponse

from .exports import archive_name, release_archive
from .models import PageImage, Release

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
    _keep_private(response)
    return response


def image_response(image: PageImage) -> FileResponse:
    """A page image; its media type is what was found in it at import."""
    response = FileResponse(image.file.open("rb"), content_type=image.media_type)
    response["Content-Security-Policy"] = IMAGE_POLICY
    _keep_private(response)
    return response


def release_response(release: Release, *, images: bool) -> StreamingHttpResponse:
    """The release's archive as a download, sent while it is made."""
    pieces = release_archive(release, images=images)
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{archive_name(release)}"'
    _keep_private(response)
    return response


def _keep_private(response: HttpResponseBase) -> None:
    """Kept by nothing between the site and its reader, whose right to it may end."""
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private"
