"""The documents of a release that is restored: found in the dataset, or made of what an archive
holds.
"""

import hashlib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from portal.datasets.exports import document_images
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentContent,
    DocumentRecord,
    DocumentType,
)
from portal.datasets.models.documents import document_name
from portal.datasets.publishing.manifest import Manifest
from portal.datasets.publishing.rows import PublishedItem
from portal.datasets.publishing.verify import Archive
from portal.datasets.sources.pictures import Picture, PictureError, check_picture
from portal.facts import Canonical, RefusedHtml, TagError, read_tags
from portal.files.archives import ArchiveFault

from .gold import text_difference
from .judging import picture_sha256
from .release_rows import GoldItem
from .released import is_pinned, release_reason
from .restored_meta import RestoredMeta
from .storing import store_picture

_EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()


class _UnfitError(Exception):
    """Why an item cannot be restored; the message does not name it."""


class RestoredDocuments:
    """Collects what is to be frozen, item by item, and every fault.

    To be used inside a transaction that is given up if there are faults.
    """

    def __init__(
        self,
        dataset: Dataset,
        archive: Archive,
        manifest: Manifest,
        meta: Mapping[str, RestoredMeta],
    ) -> None:
        self.items: list[GoldItem] = []
        self.lines: dict[str, Mapping[str, Any]] = {}
        self.documents: dict[str, Document] = {}
        self.faults: list[str] = []
        self.pinned: dict[str, dict[str, Any]] = {}
        """What the release had pinned of each item, where its hash covers that."""
        self._dataset = dataset
        self._archive = archive
        self._manifest = manifest
        self._meta = meta
        self._known = {row.name: row for row in dataset.documents.defer("metadata")}
        self._by_html = {row.html_sha256: row.name for row in self._known.values()}
        self._covered = {entry.path: entry.sha256 for entry in manifest.content}
        self._here = {file.path for file in manifest.files}

    def add(self, item: PublishedItem, about: Mapping[str, Any]) -> None:
        """`about` is the item's line in `items.jsonl`: its document, prompt and images."""
        assert item.gold is not None
        line = item.gold.line
        try:
            if self._manifest.labels:
                document: Document | None = self._add_page(item.name, line, about)
            else:
                document = self._add_line(item.name, line, about)
            if self._covered:
                self.pinned[item.name] = self._pins(item, document, about)
        except (_UnfitError, ValueError, ArchiveFault, PictureError, RefusedHtml) as error:
            self.faults.append(f"{item.name}: {error}")

    def _pins(
        self, item: PublishedItem, document: Document | None, about: Mapping[str, Any]
    ) -> dict[str, Any]:
        """As the archive has it; an image that neither it nor the document has gets no path."""
        images, paths = document_images(document), _image_paths(about)
        wanted = {PurePosixPath(path).name: self._covered.get(path, "") for path in paths}
        if images and {image["name"]: image["sha256"] for image in images} != wanted:
            raise _UnfitError("its images here are not those of the release")
        missing = [{"name": name, "path": "", "sha256": sha} for name, sha in wanted.items()]
        called = str(about.get("document") or item.name)
        assert item.gold is not None
        has_document = document is not None or called in self._meta
        return {
            "document": called if has_document else "",
            "prompt": _prompt(about),
            "images": images or missing,
            "meta": self._meta.get(called, RestoredMeta()).line,
            "text_chars": item.gold.text_chars,
            "text_sha256": item.gold.text_sha256,
        }

    def _add_page(self, name: str, line: Mapping[str, Any], about: Mapping[str, Any]) -> Document:
        if not isinstance(line.get("html"), str) or line.get("id") != name:
            raise _UnfitError("its gold line is not that of a page of this name")
        try:
            page = read_tags(line["html"], self._manifest.labels)
        except TagError as error:
            raise _UnfitError(str(error)) from error
        doc_type = str(line.get("doc_type", DocumentType.OTHER))
        if doc_type not in DocumentType.values:
            raise _UnfitError(f"{doc_type!r} is no type of documents")
        document = self._known.get(document_name(name))
        if document is None:
            document = self._new_page(name, page.canonical, doc_type)
        elif document.kind == Document.Kind.PICTURE:
            raise _UnfitError("is a picture here, in the archive a page")
        elif document.text_sha256 != page.canonical.text_sha256:
            raise _UnfitError(text_difference(page.canonical.text, document))
        elif document.doc_type != doc_type:
            raise _UnfitError(f"is of the type {document.doc_type} here, in the archive {doc_type}")
        self._add_images(document, self._pictures(about))
        if _prompt(about):
            self._add_record(document, line, _prompt(about))
        self.items.append(GoldItem(document, page.spans))
        return document

    def _new_page(self, name: str, canonical: Canonical, doc_type: str) -> Document:
        if other := self._by_html.get(canonical.html_sha256):
            raise _UnfitError(f"has the same content as {other}, which is here already")
        document = Document.objects.create(
            dataset=self._dataset,
            name=name,
            source_sha256=canonical.html_sha256,
            html_sha256=canonical.html_sha256,
            text_sha256=canonical.text_sha256,
            text_chars=len(canonical.text),
            **{**self._described(name), "doc_type": doc_type},
        )
        DocumentContent.objects.create(document=document, html=canonical.html, text=canonical.text)
        self._keep(document)
        return document

    def _add_line(
        self, name: str, line: Mapping[str, Any], about: Mapping[str, Any]
    ) -> Document | None:
        self.lines[name] = line
        called = str(about.get("document") or name)
        document = self._known.get(called)
        pictures = self._pictures(about)
        if document is None and pictures:
            document = self._new_picture(document_name(called), _prompt(about), pictures)
            self._add_record(document, line, _prompt(about))
        if document is not None:
            self._add_images(document, pictures)
            self.documents[name] = document
        return document

    def _new_picture(self, name: str, prompt: str, pictures: list[Picture]) -> Document:
        benchmark = self._manifest.benchmark
        digest = picture_sha256(name=name, benchmark=benchmark, prompt=prompt, pictures=pictures)
        document = Document.objects.create(
            dataset=self._dataset,
            name=name,
            kind=Document.Kind.PICTURE,
            source_sha256=digest,
            html_sha256=digest,
            text_sha256=_EMPTY_SHA256,
            text_chars=0,
            **self._described(name),
        )
        self._keep(document)
        return document

    def _described(self, name: str) -> dict[str, Any]:
        return self._meta.get(name, RestoredMeta()).fields(self._manifest.benchmark)

    def _keep(self, document: Document) -> None:
        self._known[document.name] = document
        self._by_html[document.html_sha256] = document.name

    def _add_record(self, document: Document, line: Mapping[str, Any], prompt: str) -> None:
        DocumentRecord.objects.get_or_create(
            document=document,
            defaults={
                "benchmark": self._manifest.benchmark,
                "gold": dict(line),
                "prompt": prompt,
            },
        )

    def _pictures(self, about: Mapping[str, Any]) -> list[Picture]:
        """Those that are in the archive; a hash may cover images that were left out of it."""
        paths = _image_paths(about)
        return [check_picture(self._archive.read(path)) for path in paths if path in self._here]

    def _add_images(self, document: Document, pictures: list[Picture]) -> None:
        """Images that are here already stay, and so does what another release shows."""
        if pictures and not document.images.exists():
            if not is_pinned(document, [picture.sha256 for picture in pictures]):
                raise _UnfitError(f"has no images here: {release_reason(document)}")
            for number, picture in enumerate(pictures, start=1):
                store_picture(document, picture, number)


def _image_paths(about: Mapping[str, Any]) -> list[str]:
    paths = about.get("images") or []
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise _UnfitError("images: not a list of paths")
    return paths


def _prompt(about: Mapping[str, Any]) -> str:
    prompt = about.get("prompt", "")
    return prompt if isinstance(prompt, str) else ""
