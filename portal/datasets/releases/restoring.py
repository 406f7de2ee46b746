"""Restoring a release from its archive, with its gold and any missing documents.

Documents that the dataset lacks are created from the archive. Older archives hold less data.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from django.db import IntegrityError, transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.imaging.pictures import Picture, PictureError, check_picture
from portal.datasets.imaging.services import is_pinned, release_reason, store_picture
from portal.datasets.imports.items import DocumentMeta, check_plain, described, read_text
from portal.datasets.imports.storing import create_document, picture_sha256
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentRecord,
    DocumentType,
    Release,
)
from portal.datasets.models.documents import document_name, document_source, strata_of
from portal.datasets.releases.publishing.formats import (
    FACT_LINES,
    GOLD_LINES,
    read_items,
    read_line,
)
from portal.datasets.releases.publishing.kits import ITEM_LINES, PROMPTS, read_prompts
from portal.datasets.releases.publishing.manifest import Manifest
from portal.datasets.releases.publishing.rows import (
    LANGUAGE,
    META_LINES,
    PublishedItem,
    PublishingError,
    read_draw,
)
from portal.datasets.releases.publishing.verify import (
    LIMITS,
    Archive,
    archive_lines,
    verify_release,
)
from portal.facts import Canonical, RefusedHtml, TagError, read_tags
from portal.files.archives import ArchiveFault, ArchiveLimits, open_archive

from .exports import ABOUT, document_images
from .gold import Gold, GoldItem, ReleaseError, text_difference
from .services import Restored, Terms, freeze_gold


@dataclass(frozen=True)
class RestoredMeta:
    meta: DocumentMeta = field(default_factory=DocumentMeta)
    language: str = ""
    line: str = ""
    """The line of the archive, including its line break."""

    def fields(self, benchmark: str) -> dict[str, Any]:
        """The keyword arguments of Document."""
        source = document_source(self.meta.source_url, benchmark)
        return {**self.meta.fields(), "language": self.language, "source": source}


def read_meta(archive: Archive, manifest: Manifest) -> Mapping[str, RestoredMeta]:
    """Metadata by document; empty for older archives. Raises PublishingError."""
    if META_LINES not in {file.path for file in manifest.files}:
        return {}
    meta: dict[str, RestoredMeta] = {}
    for number, line in enumerate(archive_lines(archive, META_LINES), 1):
        about = read_line(META_LINES, number, line)
        try:
            name, restored = _read(about, line)
        except ValueError as error:
            raise PublishingError(f"{META_LINES}:{number}", str(error)) from error
        meta[name] = restored
    return meta


def _read(about: dict[str, Any], line: bytes) -> tuple[str, RestoredMeta]:
    check_plain(about)
    name, language = about.pop("id", None), about.pop(LANGUAGE, "")
    if not isinstance(name, str):
        raise ValueError("id: missing or not a string")
    try:
        written = line.decode() + "\n"
        return name, RestoredMeta(described(about), read_text(LANGUAGE, language), written)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


class _UnfitError(Exception):
    """An item cannot be restored; the message gives the reason without the item's name."""


class RestoredDocuments:
    """Collects the gold and documents to freeze, item by item, and all faults.

    Creates documents, so use it in a transaction that is rolled back if there are faults.
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
        """The pinned data of each item, if the release's hash covers it."""
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
        """The pinned data from the archive; images missing there and here get an empty path."""
        images, paths = document_images(document), _image_paths(about)
        wanted = {PurePosixPath(path).name: self._covered.get(path, "") for path in paths}
        if images and {image["name"]: image["sha256"] for image in images} != wanted:
            raise _UnfitError("its images on this site differ from those of the release")
        missing = [{"name": name, "path": "", "sha256": sha} for name, sha in wanted.items()]
        doc_name = str(about.get("document") or item.name)
        assert item.gold is not None
        has_document = document is not None or doc_name in self._meta
        return {
            "document": doc_name if has_document else "",
            "prompt": _prompt(about),
            "images": images or missing,
            "meta": self._meta.get(doc_name, RestoredMeta()).line,
            "text_chars": item.gold.text_chars,
            "text_sha256": item.gold.text_sha256,
        }

    def _add_page(self, name: str, line: Mapping[str, Any], about: Mapping[str, Any]) -> Document:
        if not isinstance(line.get("html"), str) or line.get("id") != name:
            raise _UnfitError("its gold line is not a page with this name")
        try:
            page = read_tags(line["html"], self._manifest.labels)
        except TagError as error:
            raise _UnfitError(str(error)) from error
        doc_type = str(line.get("doc_type", DocumentType.OTHER))
        if doc_type not in DocumentType.values:
            raise _UnfitError(f"{doc_type!r} is not a document type")
        document = self._known.get(document_name(name))
        if document is None:
            document = self._new_page(name, page.canonical, doc_type)
        elif document.kind == Document.Kind.PICTURE:
            raise _UnfitError("is an image document on this site but a page in the archive")
        elif document.text_sha256 != page.canonical.text_sha256:
            raise _UnfitError(text_difference(page.canonical.text, document))
        elif document.doc_type != doc_type:
            raise _UnfitError(
                f"has type {document.doc_type} on this site but {doc_type} in the archive"
            )
        self._add_images(document, self._pictures(about))
        if _prompt(about):
            self._add_record(document, line, _prompt(about))
        self.items.append(GoldItem(document, page.spans))
        return document

    def _new_page(self, name: str, canonical: Canonical, doc_type: str) -> Document:
        if other := self._by_html.get(canonical.html_sha256):
            raise _UnfitError(f"has the same content as the existing document {other}")
        return self._create(name, canonical.html_sha256, canonical, doc_type=doc_type)

    def _add_line(
        self, name: str, line: Mapping[str, Any], about: Mapping[str, Any]
    ) -> Document | None:
        self.lines[name] = line
        doc_name = str(about.get("document") or name)
        document = self._known.get(doc_name)
        pictures = self._pictures(about)
        if document is None and pictures:
            name_here = document_name(doc_name)
            document = self._new_picture(name_here, _prompt(about), pictures, **strata_of(line))
            self._add_record(document, line, _prompt(about))
        if document is not None:
            self._add_images(document, pictures)
            self.documents[name] = document
        return document

    def _new_picture(
        self, name: str, prompt: str, pictures: list[Picture], **strata: str
    ) -> Document:
        benchmark = self._manifest.benchmark
        digest = picture_sha256(name=name, benchmark=benchmark, prompt=prompt, pictures=pictures)
        return self._create(name, digest, None, **strata)

    def _create(
        self, name: str, sha256: str, canonical: Canonical | None = None, **fields: Any
    ) -> Document:
        fields = self._meta.get(name, RestoredMeta()).fields(self._manifest.benchmark) | fields
        document = create_document(
            self._dataset, name, canonical, source_sha256=sha256, html_sha256=sha256, **fields
        )
        self._known[name] = document
        self._by_html[sha256] = name
        return document

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
        """The pictures in the archive, which may leave out images that the hash covers."""
        paths = _image_paths(about)
        return [check_picture(self._archive.read(path)) for path in paths if path in self._here]

    def _add_images(self, document: Document, pictures: list[Picture]) -> None:
        """Adds images to a document without any, unless a release pins it with other images."""
        if pictures and not document.images.exists():
            if not is_pinned(document, [picture.sha256 for picture in pictures]):
                raise _UnfitError(f"images cannot be added: {release_reason(document)}")
            for number, picture in enumerate(pictures, start=1):
                store_picture(document, picture, number)


def _image_paths(about: Mapping[str, Any]) -> list[str]:
    paths = about.get("images") or []
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise _UnfitError("images: must be a list of paths")
    return paths


def _prompt(about: Mapping[str, Any]) -> str:
    prompt = about.get("prompt", "")
    return prompt if isinstance(prompt, str) else ""


def restore_release(
    *,
    dataset: Dataset,
    path: Path,
    limits: ArchiveLimits = LIMITS,
    actor: User | None = None,
    accept_overlaps: int = 0,
) -> Release:
    """Freezes the release of an archive again, with the same version and hash.

    The archive must be valid and hold the gold of all items. Missing documents are created from the
    gold and, if the archive has them, the images. The notes record when the release was first
    frozen. Raises ReleaseError with all faults and writes nothing.
    """
    manifest = _verified(path, limits)
    if there := dataset.releases.filter(version=manifest.version).first():
        same = "with the same hash" if there.sha256 == manifest.sha256 else "with another hash"
        raise ReleaseError([f"release {manifest.version} already exists, {same}"])
    try:
        with open_archive(path, limits) as archive, transaction.atomic():
            release = _restore(dataset, archive, manifest, actor, accept_overlaps)
            if release.sha256 != manifest.sha256:
                raise ReleaseError(
                    [f"the restored hash is {release.sha256}, the archive's {manifest.sha256}"]
                )
            record_event(
                verb="restore_release", subject=release, actor=actor, sha256=release.sha256
            )
    except (ArchiveFault, PublishingError) as error:
        raise ReleaseError([str(error)]) from error
    except IntegrityError as error:
        raise ReleaseError(["the dataset was changed at the same time; try again"]) from error
    return release


def _verified(path: Path, limits: ArchiveLimits) -> Manifest:
    result = verify_release(path, limits=limits)
    if result.faults:
        raise ReleaseError([str(fault) for fault in result.faults])
    assert result.manifest is not None
    if result.hidden:
        raise ReleaseError(
            [f"the archive lacks the gold of {result.hidden:,} items; restore from an archive that"
             " an organiser downloaded"]
        )  # fmt: skip
    if not result.manifest.items:
        raise ReleaseError(["the archive has no items"])
    return result.manifest


def _restore(
    dataset: Dataset,
    archive: Archive,
    manifest: Manifest,
    actor: User | None,
    accept_overlaps: int,
) -> Release:
    about = dict(_descriptions(archive, manifest))
    documents = RestoredDocuments(dataset, archive, manifest, read_meta(archive, manifest))
    gold_lines = archive_lines(archive, GOLD_LINES)
    fact_lines = archive_lines(archive, FACT_LINES)
    for item in read_items(manifest.items, gold_lines, fact_lines):
        documents.add(item, about.get(item.name, {}))
    if documents.faults:
        raise ReleaseError(documents.faults)
    gold = Gold(
        manifest.benchmark,
        items=documents.items,
        labels=manifest.labels,
        lines=None if manifest.labels else documents.lines,
        documents=documents.documents,
    )
    terms = _terms(manifest)
    terms["actor"], terms["accept_overlaps"] = actor, accept_overlaps
    terms["restored"] = _restored(archive, manifest, documents)
    return freeze_gold(dataset=dataset, gold=gold, version=manifest.version, **terms)


def _terms(manifest: Manifest) -> Terms:
    """The arguments of freezing from the manifest, not yet checked."""
    about = manifest.about
    splits = {item.name: item.split for item in manifest.items if item.split}
    citation = about.get("citation")
    if not isinstance(citation, Mapping):
        citation = {}
    return {
        "visibility": str(about.get("visibility", Release.Visibility.PRIVATE)),
        "notes": _notes(about),
        "licence": str(about.get("licence", "")) if about.get("must_accept") else "",
        "citation": {key: value for key, value in citation.items() if value},
        "splits": splits or None,
        "draw": read_draw(about.get("draw")) if splits else {},
    }


def _restored(archive: Archive, manifest: Manifest, documents: RestoredDocuments) -> Restored:
    """The pinned data of the release, which its hash covers."""
    row = manifest.release
    if row is None:
        return Restored(manifest.scheme)
    about: dict[str, Any] = {key: getattr(row, key) for key in ABOUT}
    about |= {"keywords": list(row.keywords), "frozen_at": row.frozen_at.isoformat()}
    if row.canary:
        about["canary"] = row.canary
    if PROMPTS in {entry.path for entry in manifest.content}:
        about["prompts"] = read_prompts(archive_lines(archive, PROMPTS))
    return Restored(manifest.scheme, about, documents.pinned)


def _notes(about: Mapping[str, Any]) -> str:
    notes = str(about.get("notes", ""))
    try:
        first = datetime.fromisoformat(str(about.get("frozen_at", "")))
    except ValueError:
        return notes
    if "Restored from an archive" in notes:
        return notes
    return f"{notes}\n\nRestored from an archive; first frozen on {first:%Y-%m-%d}.".strip()


def _descriptions(archive: Archive, manifest: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of items.jsonl by item; empty for older archives."""
    if ITEM_LINES not in {file.path for file in manifest.files}:
        return
    for number, line in enumerate(archive_lines(archive, ITEM_LINES), 1):
        about = read_line(ITEM_LINES, number, line)
        yield str(about.get("id")), about
