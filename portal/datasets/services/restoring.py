"""An exported release made again: its documents, as far as they are missing, and its gold."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.models import Dataset, Release
from portal.datasets.publishing.draws import read_draw
from portal.datasets.publishing.jsonl import FACT_LINES, GOLD_LINES, read_items, read_line
from portal.datasets.publishing.manifest import Manifest
from portal.datasets.publishing.rows import PublishingError
from portal.datasets.publishing.starter_kit import ITEM_LINES
from portal.datasets.publishing.verify import LIMITS, Archive, archive_lines, verify_release
from portal.files.archives import ArchiveFault, ArchiveLimits, open_archive

from .pinning import Restored
from .release_rows import ReleaseError
from .releases import freeze_lines, freeze_release
from .restored_documents import RestoredDocuments
from .restored_meta import read_meta

_MOST_FAULTS = 100


def restore_release(
    *, dataset: Dataset, path: Path, limits: ArchiveLimits = LIMITS, actor: User | None = None
) -> Release:
    """Freezes the release of an archive again, under its version and with its hash.

    The archive must be sound and hold the gold of all items. Documents that the dataset has are
    used, the others are made of the gold and of the images, if these are in the archive. When the
    release was first frozen is told in its notes. Raises ReleaseError with all faults; then nothing
    is written.
    """
    manifest = _verified(path, limits)
    if there := dataset.releases.filter(version=manifest.version).first():
        same = "with the same hash" if there.sha256 == manifest.sha256 else "with another hash"
        raise ReleaseError([f"the release {manifest.version} is here already, {same}"])
    try:
        with open_archive(path, limits) as archive, transaction.atomic():
            release = _restore(dataset, archive, manifest, actor)
            if release.sha256 != manifest.sha256:
                raise ReleaseError(
                    [f"frozen again its hash is {release.sha256}, in the archive {manifest.sha256}"]
                )
            record_event(
                verb="restore_release", subject=release, actor=actor, sha256=release.sha256
            )
    except (ArchiveFault, PublishingError) as error:
        raise ReleaseError([str(error)]) from error
    except IntegrityError as error:
        raise ReleaseError(["somebody changed the dataset meanwhile; try again"]) from error
    return release


def _verified(path: Path, limits: ArchiveLimits) -> Manifest:
    found = verify_release(path, limits=limits)
    if found.faults:
        faults = [str(fault) for fault in found.faults[:_MOST_FAULTS]]
        more = len(found.faults) - _MOST_FAULTS
        raise ReleaseError([*faults, *([f"and {more:,} more"] if more > 0 else [])])
    assert found.manifest is not None
    if found.hidden:
        raise ReleaseError(
            [f"the gold of {found.hidden:,} items is not in the archive: only the whole release"
             " can be restored, which organisers download"]
        )  # fmt: skip
    if not found.manifest.items:
        raise ReleaseError(["the archive has no items"])
    return found.manifest


def _restore(dataset: Dataset, archive: Archive, manifest: Manifest, actor: User | None) -> Release:
    about = dict(_descriptions(archive, manifest))
    documents = RestoredDocuments(dataset, archive, manifest, read_meta(archive, manifest))
    gold = archive_lines(archive, GOLD_LINES), archive_lines(archive, FACT_LINES)
    for item in read_items(manifest.items, *gold):
        documents.add(item, about.get(item.name, {}))
    if documents.faults:
        raise ReleaseError(documents.faults)
    terms = {
        **_terms(manifest),
        "dataset": dataset,
        "version": manifest.version,
        "actor": actor,
        "restored": _restored(manifest, documents),
    }
    if manifest.labels:
        return freeze_release(items=documents.items, labels=list(manifest.labels), **terms)
    return freeze_lines(
        benchmark=manifest.benchmark,
        lines=documents.lines,
        documents=documents.documents,
        **terms,
    )


def _terms(manifest: Manifest) -> dict[str, Any]:
    """What freezing takes of the manifest; it is checked there."""
    about = manifest.about
    splits = {item.name: item.split for item in manifest.items if item.split}
    citation = about.get("citation")
    return {
        "visibility": str(about.get("visibility", Release.Visibility.PRIVATE)),
        "notes": _notes(about),
        "licence": str(about.get("licence", "")) if about.get("must_accept") else "",
        "citation": _without_empty(citation) if isinstance(citation, Mapping) else {},
        "splits": splits or None,
        "draw": read_draw(about.get("draw")) if splits else {},
    }


def _restored(manifest: Manifest, documents: RestoredDocuments) -> Restored:
    """What the release had pinned, which is what its hash covers."""
    row = manifest.release
    if row is None:
        return Restored(manifest.scheme)
    about = {
        "dataset": row.dataset,
        "title": row.title,
        "description": row.description,
        "licence": row.licence,
        "keywords": list(row.keywords),
        "notes": row.notes,
        "frozen_at": row.frozen_at.isoformat(),
    }
    return Restored(manifest.scheme, about, documents.pinned)


def _without_empty(citation: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in citation.items() if value}


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
    """What the archive says of its items beside the gold; older archives say nothing."""
    if ITEM_LINES not in {file.path for file in manifest.files}:
        return
    for number, line in enumerate(archive_lines(archive, ITEM_LINES), 1):
        about = read_line(ITEM_LINES, number, line)
        yield str(about.get("id")), about
