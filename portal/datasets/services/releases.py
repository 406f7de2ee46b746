"""Freezing a release: the only way gold leaves annotation, and the only way a Release is made.

`freeze_release` takes facts of documents, `freeze_lines` the gold lines of any other benchmark.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.curation.splits import SplitDraw
from portal.datasets.exports import published_item
from portal.datasets.models import Dataset, Document, Release, ReleaseItem
from portal.datasets.publishing.citation import read_citation
from portal.datasets.selectors.release_diff import drafted_notes
from portal.datasets.versions import Version

from .disputes import note_disputes, settle_disputes
from .pinning import Restored, pin_rows, seal
from .release_rows import AT_ONCE, GoldItem, ReleaseError, line_rows, page_rows
from .release_splits import Splits, put_in_splits

__all__ = [
    "GoldItem",
    "ReleaseError",
    "SplitDraw",
    "freeze_lines",
    "freeze_release",
    "suggest_version",
]

_LICENCE_LENGTH = 160


def freeze_release(
    *,
    dataset: Dataset,
    version: str,
    items: Sequence[GoldItem],
    labels: Sequence[str],
    notes: str | None = "",
    visibility: str = Release.Visibility.GOLD_HIDDEN,
    licence: str = "",
    citation: Mapping[str, Any] | None = None,
    splits: Splits = None,
    draw: Mapping[str, Any] | None = None,
    actor: User | None = None,
    restored: Restored | None = None,
    each: Callable[[], None] = lambda: None,
    then: Callable[[Release], None] | None = None,
) -> Release:
    """Freezes the items, in the order of their documents' names, as an immutable release.

    `version` is semantic and greater than any before; `labels` is the label set. An item's `sha256`
    is that of its gold line in canonical JSON, the release's that of its manifest, which covers all
    that belongs to it. `restored` is what a release from an archive had pinned; `each` is called
    for each item that is written, `then` in the transaction that stores the release. `licence` has
    to be accepted before a download; `citation` is {authors, year, doi, url}. Without `notes`
    (None) they are drafted. `splits` names the part of each item, "dev" or "test", or says how to
    draw it; with hidden gold the development part is open. `draw` is what an archive says of the
    draw of its splits. Raises ReleaseError with all faults; then nothing is written.
    """
    release = Release(
        dataset=dataset,
        version=version,
        notes=notes or "",
        visibility=visibility,
        labels=list(labels),
        licence=licence,
        citation=dict(citation or {}),
        draw=dict(draw or {}),
        frozen_by=actor,
    )
    faults = list(_request_faults(release))
    try:
        # Content never changes, so the lines can be made before the database is locked for writing.
        rows = page_rows(dataset, items, labels, each=each)
    except ReleaseError as error:
        raise ReleaseError([*faults, *error.faults]) from error
    if faults:
        raise ReleaseError(faults)
    if notes is None:
        _draft(release, rows, splits)
    return freeze_rows(release, rows, splits, restored, then)


def freeze_lines(
    *,
    dataset: Dataset,
    version: str,
    benchmark: str,
    lines: Mapping[str, Mapping[str, Any]],
    documents: Mapping[str, Document] | None = None,
    notes: str | None = "",
    visibility: str = Release.Visibility.GOLD_HIDDEN,
    licence: str = "",
    citation: Mapping[str, Any] | None = None,
    splits: Splits = None,
    draw: Mapping[str, Any] | None = None,
    actor: User | None = None,
    restored: Restored | None = None,
    each: Callable[[], None] = lambda: None,
    then: Callable[[Release], None] | None = None,
) -> Release:
    """Freezes gold lines by id, as the benchmark's reader made them, as an immutable release.

    `documents` are the dataset's documents by id of their line; by default a line belongs to the
    document of the same name, if there is one. The rest is as in `freeze_release`. Raises
    ReleaseError with all faults; then nothing is written.
    """
    release = Release(
        dataset=dataset,
        version=version,
        notes=notes or "",
        visibility=visibility,
        benchmark=benchmark,
        licence=licence,
        citation=dict(citation or {}),
        draw=dict(draw or {}),
        frozen_by=actor,
    )
    faults = list(_request_faults(release))
    try:
        rows = line_rows(dataset, lines, documents, each=each)
    except ReleaseError as error:
        raise ReleaseError([*faults, *error.faults]) from error
    if faults:
        raise ReleaseError(faults)
    if notes is None:
        _draft(release, rows, splits)
    return freeze_rows(release, rows, splits, restored, then)


def freeze_rows(
    release: Release,
    rows: list[ReleaseItem],
    splits: Splits,
    restored: Restored | None = None,
    then: Callable[[Release], None] | None = None,
) -> Release:
    """Stores a release and its items. Raises ReleaseError if its version was taken meanwhile.

    For the services of this package; the rows are whole but for their release.
    """
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=release.dataset_id)
        if late := _version_faults(release.dataset, release.version):
            raise ReleaseError(late)
        draw = put_in_splits(release.dataset, rows, splits, release.visibility)
        release.draw = draw or release.draw
        settled = note_disputes(release, rows)
        pin_rows(rows, restored)
        seal(release, rows, restored)
        release.save()
        for row in rows:
            row.release = release
        ReleaseItem.objects.bulk_create(rows, batch_size=AT_ONCE)
        _count_facts(rows)
        settle_disputes(settled, release)
        _record(release, draw)
        if then:
            then(release)
    return release


def drafted_rows(release: Release, rows: Sequence[ReleaseItem]) -> str:
    """The change notes of a coming release whose rows are in their splits."""
    return drafted_notes(release, [published_item(row) for row in rows])


def _draft(release: Release, rows: Sequence[ReleaseItem], splits: Splits) -> None:
    """A draw that is repeated draws the same, as long as nothing is frozen in between."""
    put_in_splits(release.dataset, rows, splits, release.visibility)
    release.notes = drafted_rows(release, rows)


def _count_facts(rows: Sequence[ReleaseItem]) -> None:
    """Tells the documents how many facts the newest release has of them."""
    counted = [
        Document(pk=row.document_id, fact_count=len(row.facts))
        for row in rows
        if row.document_id is not None
    ]
    Document.objects.bulk_update(counted, ["fact_count"], batch_size=AT_ONCE)


def suggest_version(dataset: Dataset) -> str:
    """The version after the latest, 1.0.0 for the first."""
    latest = _latest_version(dataset)
    return str(latest.next_patch()) if latest else "1.0.0"


def check_terms(
    dataset: Dataset, version: str, visibility: str, licence: str, citation: Mapping[str, Any]
) -> None:
    """Raises ReleaseError for what is wrong with a release before its gold is read."""
    terms = {"version": version, "visibility": visibility, "licence": licence}
    release = Release(dataset=dataset, citation=dict(citation), **terms)
    if faults := list(_request_faults(release)):
        raise ReleaseError(faults)


def _record(release: Release, draw: Mapping[str, Any]) -> None:
    record_event(
        verb="freeze_release",
        subject=release,
        actor=release.frozen_by,
        dataset=release.dataset.slug,
        version=release.version,
        visibility=release.visibility,
        items=release.item_count,
        facts=release.fact_count,
        sha256=release.sha256,
        **({"draw": dict(draw)} if draw else {}),
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


def _request_faults(release: Release) -> Iterator[str]:
    """What is wrong before any item is looked at."""
    if release.visibility not in Release.Visibility.values:
        yield f"{release.visibility!r} is none of {', '.join(Release.Visibility.values)}"
    if len(release.licence) > _LICENCE_LENGTH:
        yield f"the licence has more than {_LICENCE_LENGTH} characters"
    try:
        read_citation(release.citation)
    except ValueError as error:
        yield f"citation: {error}"
    yield from _version_faults(release.dataset, release.version)
