"""Archives, folders, images and releases for tests of the dataset manager."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from portal.accounts.models import User
from portal.datasets.imaging.pictures import check_picture
from portal.datasets.imaging.services import store_picture
from portal.datasets.models import Dataset, Document, ImportItem, ImportRun, PageImage, Release
from portal.datasets.releases.gold import GoldItem
from portal.datasets.releases.services import freeze_release
from portal.facts import Span
from tests.factories import empty_dataset, make_document

LABELS = ("Number", "Date")

# Texts that occur only in hidden content.
SECRET = "4,711,000"
SECRET_COMPANY = "Veiled Holdings"

Files = Mapping[str, bytes | str]


def page(text: str = "Net sales 1,200 at March 31, 2025") -> bytes:
    return f"<html><body><p>{text}</p></body></html>".encode()


@cache
def png(width: int = 40, height: int = 30, shade: int = 200) -> bytes:
    stream = io.BytesIO()
    Image.new("L", (width, height), shade).save(stream, "PNG")
    return stream.getvalue()


@cache
def jpeg() -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (40, 30), "white").save(stream, "JPEG")
    return stream.getvalue()


def meta_lines(*lines: dict[str, Any]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def zip_bytes(files: Files) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in files.items():
            bundle.writestr(name, data)
    return stream.getvalue()


def zip_upload(files: Files, name: str = "pages.zip") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, zip_bytes(files), "application/zip")


def write_folder(root: Path, files: Files) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return root


def outcomes(run: ImportRun) -> dict[str, tuple[str, str]]:
    """Return outcome and code by file."""
    items = ImportItem.objects.filter(run=run)
    return {item.name: (item.outcome, item.code) for item in items}


def stored_bytes(image: PageImage) -> bytes:
    with image.file.open("rb") as file:
        data: bytes = file.read()
    return data


def body_of(response: Any) -> bytes:
    """Return all bytes of a response, including a streaming one."""
    data: bytes = response.getvalue() if response.streaming else response.content
    return data


def spans_of(document: Document, **quotes: Sequence[str]) -> list[Span]:
    """Return spans of the first occurrences of quotes: `spans_of(d, Number=["1,200"])`."""
    text = document.content.text
    return [
        Span(text.index(quote), text.index(quote) + len(quote), label)
        for label, listed in quotes.items()
        for quote in listed
    ]


def add_image(document: Document, data: bytes | None = None) -> None:
    store_picture(document, check_picture(data or png()))


def make_release(
    dataset: Dataset,
    *,
    version: str = "1.0.0",
    visibility: str = "public",
    documents: Sequence[Document] | None = None,
    actor: User | None = None,
    accept_overlaps: int = 0,
) -> Release:
    """Freeze a release of all or some documents, in which every “1,200” is a Number."""
    chosen = list(dataset.documents.all()) if documents is None else documents
    items = [
        GoldItem(document, spans_of(document, Number=["1,200"]))
        if "1,200" in document.content.text
        else GoldItem(document, [])
        for document in chosen
    ]
    return freeze_release(
        dataset=dataset,
        version=version,
        items=items,
        labels=LABELS,
        visibility=visibility,
        actor=actor,
        accept_overlaps=accept_overlaps,
    )


def secret_document(dataset: Dataset, name: str = "secret") -> Document:
    """A document with an image. Hidden releases must not reveal its HTML, text and company."""
    document = make_document(dataset, name, f"<p>Total 1,200 and {SECRET}</p>")
    document.company = SECRET_COMPANY
    document.source_url = "https://example.org/secret-source"
    document.metadata = {"source_path": "secret/path"}
    document.save()
    add_image(document)
    return document


def make_world(visibility: str, release_visibility: str) -> Document:
    """The document `secret` in the dataset `world`, frozen as release 1.0.0."""
    dataset = empty_dataset(slug="world", title="World", visibility=visibility)
    document = secret_document(dataset)
    make_release(dataset, visibility=release_visibility)
    return document
