"""Documents, page images and releases as HTTP responses, for every app that shows them.

Access is the caller's business: the dataset manager and the workbench each have their own rules.
"""

from collections.abc import Iterator

from django.http import FileResponse, HttpResponse, HttpResponseBase, StreamingHttpResponse

from .exports import archive_name, kit_items, published_release, release_archive
from .gold_formats import empty_line_of
from .models import ImportRun, PageImage, Release
from .publishing.bare_images import bare_image
from .publishing.starter_kit import kit_name, starter_kit
from .release_files import ReleaseFile
from .selectors.import_files import import_report_file

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
    _keep_private(response)
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
    _keep_private(response)
    return response


def report_file_response(run: ImportRun, form: str, outcome: str = "") -> StreamingHttpResponse:
    """The report of an import as a file, sent while it is read from the database."""
    file = import_report_file(run, form, outcome=outcome)
    response = StreamingHttpResponse(file.pieces, content_type=file.media_type)
    response["Content-Disposition"] = f'attachment; filename="{file.name}"'
    _keep_private(response)
    return response


def thumbnail_response(data: bytes) -> HttpResponse:
    """A thumbnail; lists show many of them again and again, so browsers may keep it for a while."""
    response = HttpResponse(data, content_type="image/webp")
    response["Content-Security-Policy"] = IMAGE_POLICY
    _keep_private(response)
    response["Cache-Control"] = "private, max-age=600"
    return response


def release_response(
    release: Release, *, images: bool, seen: frozenset[str] | None = None
) -> StreamingHttpResponse:
    """The release's archive as a download, sent while it is made, with the gold that is `seen`."""
    pieces = release_archive(release, images=images, seen=seen)
    return _download(pieces, "application/zip", archive_name(release))


def release_file_response(
    release: Release, file: ReleaseFile, seen: frozenset[str] | None
) -> StreamingHttpResponse:
    """One file of a release, sent while it is made."""
    return _download(file.pieces(release, seen), file.media_type, file.name)


def starter_kit_response(release: Release, page: str) -> StreamingHttpResponse:
    """The starter kit; `page` is the absolute address of the release."""
    # Whoever downloads it is told nothing that only some may see.
    row = published_release(release, page=page, seen=frozenset())
    empty_line = empty_line_of(release.benchmark)
    pieces = starter_kit(row, lambda: kit_items(release), empty_line)
    return _download(pieces, "application/zip", kit_name(row))


def _download(pieces: Iterator[bytes], media_type: str, name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    _keep_private(response)
    return response


def _keep_private(response: HttpResponseBase) -> None:
    """Kept by nothing between the site and its reader, whose right to it may end."""
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private"
