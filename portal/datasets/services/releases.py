"""Freezing a release: the only way gold leaves annotation, and the only way a Release is made.

`freeze_release` takes facts of documents, `freeze_lines` the gold lines of any other benchmark.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import (
    Dataset,
    Document,
    DocumentContent,
    DocumentType,
    Release,
    ReleaseItem,
)
from portal.datasets.publishing.manifest import gold_sha256, release_sha256
from portal.datasets.versions import Version
from portal.facts import (
    RefusedHtml,
    Span,
    TagError,
    check_labels,
    check_spans,
    read_tags,
    write_tags,
)

AT_ONCE = 200


@dataclass(frozen=True)
class GoldItem:
    """A document and its facts: spans of its canonical text that share no character."""

    document: Document
    spans: Sequence[Span]


class ReleaseError(Exception):
    """Why nothing was frozen: one sentence per fault, each naming the document it concerns."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = list(faults)


def freeze_release(
    *,
    dataset: Dataset,
    version: str,
    items: Sequence[GoldItem],
    labels: Sequence[str],
    notes: str = "",
    visibility: str = Release.Visibility.GOLD_HIDDEN,
    actor: User | None = None,
) -> Release:
    """Freezes the items, in the order of their documents' names, as an immutable release.

    `version` is semantic and greater than any before; `labels` is the label set. An item's `sha256`
    is that of its gold line in canonical JSON, the release's that of the manifest made of them.
    Raises ReleaseError with all faults; then nothing is written.
    """
    faults = list(_request_faults(dataset, items, labels, visibility))
    if faults := [*faults, *_version_faults(dataset, version)]:
        raise ReleaseError(faults)
    # Content never changes, so the lines can be made before the database is locked for writing.
    rows = _release_items(items, labels)
    release = Release(
        dataset=dataset,
        version=version,
        notes=notes,
        visibility=visibility,
        labels=list(labels),
        frozen_by=actor,
    )
    return _freeze(release, rows)


def freeze_lines(
    *,
    dataset: Dataset,
    version: str,
    benchmark: str,
    lines: Mapping[str, Mapping[str, Any]],
    notes: str = "",
    visibility: str = Release.Visibility.GOLD_HIDDEN,
    actor: User | None = None,
) -> Release:
    """Freezes gold lines by id, as the benchmark's reader made them, as an immutable release.

    A line belongs to the dataset's document of the same name, if there is one. The rest is as in
    `freeze_release`. Raises ReleaseError with all faults; then nothing is written.
    """
    faults = list(_visibility_faults(visibility))
    if not lines:
        faults.append("a release needs at least one item")
    if faults := [*faults, *_version_faults(dataset, version)]:
        raise ReleaseError(faults)
    documents = {document.name: document for document in dataset.documents.only("name")}
    rows = [
        ReleaseItem(
            position=position,
            name=name,
            document=documents.get(name),
            gold=dict(lines[name]),
            sha256=gold_sha256(lines[name]),
        )
        for position, name in enumerate(sorted(lines))
    ]
    release = Release(
        dataset=dataset,
        version=version,
        notes=notes,
        visibility=visibility,
        benchmark=benchmark,
        frozen_by=actor,
    )
    return _freeze(release, rows)


def _freeze(release: Release, rows: list[ReleaseItem]) -> Release:
    """Stores a release and its items. Raises ReleaseError if its version was taken meanwhile."""
    release.sha256 = release_sha256((row.name, row.sha256) for row in rows)
    release.item_count = len(rows)
    release.fact_count = sum(len(row.facts) for row in rows)
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=release.dataset_id)
        if late := _version_faults(release.dataset, release.version):
            raise ReleaseError(late)
        release.save()
        for row in rows:
            row.release = release
        ReleaseItem.objects.bulk_create(rows, batch_size=AT_ONCE)
        _record(release, release.frozen_by)
    return release


def suggest_version(dataset: Dataset) -> str:
    """The version after the latest, 1.0.0 for the first."""
    latest = _latest_version(dataset)
    return str(latest.next_patch()) if latest else "1.0.0"


def _record(release: Release, actor: User | None) -> None:
    record_event(
        verb="freeze_release",
        subject=release,
        actor=actor,
        dataset=release.dataset.slug,
        version=release.version,
        visibility=release.visibility,
        items=release.item_count,
        facts=release.fact_count,
        sha256=release.sha256,
    )


def _latest_version(dataset: Dataset) -> Version | None:
    versions = dataset.releases.values_list("version", flat=True)
    return max(map(Version.parse, versions), default=None)


def _version_faults(dataset: Dataset, version: str) -> list[str]:
    try:
        wanted = Version.parse(version)
    except ValueError as error:
        return [str(error)]
    latest = _latest_version(dataset)
    if latest is not None and not latest < wanted:
        return [f"version {version} is not greater than the latest release, {latest}"]
    return []


def _request_faults(
    dataset: Dataset, items: Sequence[GoldItem], labels: Sequence[str], visibility: str
) -> Iterator[str]:
    """What is wrong before any content is looked at."""
    yield from _visibility_faults(visibility)
    yield from check_labels(labels)
    if not items:
        yield "a release needs at least one document"
    seen: set[int] = set()
    for item in items:
        if item.document.dataset_id != dataset.pk:
            yield f"{item.document.name}: is a document of another dataset"
        if item.document.pk in seen:
            yield f"{item.document.name}: is given twice"
        seen.add(item.document.pk)


def _visibility_faults(visibility: str) -> Iterator[str]:
    if visibility not in Release.Visibility.values:
        yield f"{visibility!r} is none of {', '.join(Release.Visibility.values)}"


def _release_items(items: Sequence[GoldItem], labels: Sequence[str]) -> list[ReleaseItem]:
    """The rows without their release; raises ReleaseError with the faults of all items."""
    rows: list[ReleaseItem] = []
    faults: list[str] = []
    ordered = sorted(items, key=lambda item: item.document.name)
    for start in range(0, len(ordered), AT_ONCE):
        part = ordered[start : start + AT_ONCE]
        contents = DocumentContent.objects.in_bulk([item.document.pk for item in part])
        for item in part:
            try:
                rows.append(_release_item(item, contents[item.document.pk], labels, len(rows)))
            except ReleaseError as error:
                faults += error.faults
    if faults:
        raise ReleaseError(faults)
    return rows


def _release_item(
    item: GoldItem, content: DocumentContent, labels: Sequence[str], position: int
) -> ReleaseItem:
    name = item.document.name
    if faults := check_spans(content.text, item.spans, labels):
        raise ReleaseError([f"{name}: {fault.message}" for fault in faults])
    gold = {"id": name, "html": write_tags(content.html, item.spans)}
    if item.document.doc_type != DocumentType.OTHER:
        gold["doc_type"] = item.document.doc_type
    facts = _facts(name, gold["html"], content, item.spans, labels)
    return ReleaseItem(
        position=position,
        name=name,
        document=item.document,
        gold=gold,
        facts=facts,
        sha256=gold_sha256(gold),
    )


def _facts(
    name: str, html: str, content: DocumentContent, spans: Sequence[Span], labels: Sequence[str]
) -> list[dict[str, Any]]:
    """The facts as a reader of the gold finds them; raises ReleaseError unless they are `spans`.

    A frozen line cannot be mended, so it is read back before it is kept. Only white space at a
    span's edge may have been given up, where no tag can stand between the cells of a table.
    """
    try:
        page = read_tags(html, labels)
    except (TagError, RefusedHtml) as error:
        raise ReleaseError([f"{name}: its gold HTML cannot be read back: {error}"]) from error
    wanted = [(span.label, content.text[span.start : span.end].strip()) for span in sorted(spans)]
    found = [(span.label, content.text[span.start : span.end].strip()) for span in page.spans]
    if page.canonical.html != content.html or wanted != found:
        raise ReleaseError([f"{name}: its facts do not survive being written as tags"])
    return [
        {
            "n": n,
            "type": span.label,
            "value": content.text[span.start : span.end],
            "start": span.start,
            "end": span.end,
        }
        for n, span in enumerate(page.spans)
    ]
