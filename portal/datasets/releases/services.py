"""Freezing a release: the only way gold leaves annotation and the only way to create a Release.

`freeze_gold` takes any gold, `freeze_release` the facts of documents, and `freeze_lines` the gold
lines of other benchmarks.
A release pins the images, prompts and metadata of its documents and its own description. The
published hash covers all of these.

`freeze_warnings`, `open_gold_of_dataset` and `documents_without_image` warn before it is too late,
for example about hidden gold that another release already shows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack
from uuid import uuid4

from django.db import transaction
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone

from portal.accounts.models import User
from portal.audit.models import record_event
from portal.datasets.access import ALL_GOLD
from portal.datasets.models import (
    Dataset,
    Document,
    LicenceAcceptance,
    PageImage,
    Release,
    ReleaseItem,
)
from portal.datasets.models.releases import Version
from portal.datasets.releases.publishing import covered, manifest
from portal.datasets.releases.publishing.croissant import read_citation
from portal.datasets.releases.publishing.rows import draw_deviations, draw_words

from .corrections import note_disputes, settle_disputes, unsettled_warning
from .exports import (
    canary_of,
    covered_prompts,
    document_images,
    document_meta,
    document_text,
    published_item,
    published_release,
    related_prompt,
    release_about,
)
from .gold import (
    AT_ONCE,
    Gold,
    GoldItem,
    ReleaseError,
    Splits,
    gold_rows,
    prompts_of,
    put_in_splits,
)
from .overlaps import check_overlaps, open_condition, own_hidden_gold
from .selectors import drafted_notes


@dataclass(frozen=True)
class Restored:
    """The data that a restored release had pinned: its hash scheme, its description (`about`) and,
    by item name, the values that differ from the document on this site.
    """

    scheme: str = manifest.NEWEST
    about: Mapping[str, Any] | None = None
    pinned: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def pin_rows(rows: Sequence[ReleaseItem], restored: Restored | None = None) -> None:
    """Copies the current data of the documents into the rows.

    Locks the documents so that nothing is added to them before the release is stored.
    """
    pinned = restored.pinned if restored else {}
    for start in range(0, len(rows), AT_ONCE):
        part = rows[start : start + AT_ONCE]
        keys = [row.document_id for row in part if row.document_id is not None]
        list(Document.objects.select_for_update().filter(pk__in=keys).order_by("pk").values("pk"))
        images = Prefetch("images", PageImage.objects.order_by("number"))
        documents = (
            Document.objects.select_related("record")
            .prefetch_related(images)
            .defer("record__gold")
            .in_bulk(keys)
        )
        for row in part:
            document = documents.get(row.document_id) if row.document_id else None
            row.pinned = _pins(document) | dict(pinned.get(row.name, {}))


def _pins(document: Document | None) -> dict[str, Any]:
    return {
        "document": document.name if document else "",
        "prompt": related_prompt(document),
        "images": document_images(document),
        "meta": document_meta(document).decode(),
        **document_text(document),
    }


def seal(release: Release, rows: Sequence[ReleaseItem], restored: Restored | None = None) -> None:
    """Sets the description and hashes of the release. The rows must be pinned and in splits."""
    release.scheme = restored.scheme if restored else manifest.NEWEST
    release.frozen_at = timezone.now()
    release.item_count = len(rows)
    release.fact_count = sum(len(row.facts) for row in rows)
    about = restored.about if restored else None
    pinned: dict[str, Any] = {"prompts": prompts_of(release.benchmark)}
    if release.visibility != Release.Visibility.PUBLIC and restored is None:
        pinned["canary"] = f"factboard canary {uuid4()}"
    release.about = release_about(release) | pinned | dict(about or {})
    release.gold_sha256 = manifest.release_sha256((row.name, row.sha256) for row in rows)
    release.sha256 = release.gold_sha256
    if release.scheme != manifest.GOLD_ONLY:
        release.sha256 = _whole_sha256(release, rows)


def _whole_sha256(release: Release, rows: Sequence[ReleaseItem]) -> str:
    def parts() -> Iterator[covered.Content]:
        for row in rows:
            assert row.pinned is not None
            pinned = row.pinned
            item = published_item(row, canary_of(release, row.split))
            yield covered.Content(item, pinned["document"], pinned["meta"].encode())

    items = [manifest.ItemEntry(row.name, row.sha256, row.split) for row in rows]
    content = covered.content_entries(parts, covered_prompts(release))
    return manifest.manifest_sha256(published_release(release, ALL_GOLD), items, content)


_LICENCE_LENGTH = 160


class Terms(TypedDict, total=False):
    """The optional arguments of freezing."""

    notes: str | None
    """Markdown; None drafts them. Empty by default."""
    visibility: str
    """Gold is hidden by default. With hidden gold the dev split is open."""
    licence: str
    """Users must accept it before a download; empty for none."""
    citation: Mapping[str, Any] | None
    """{authors, year, doi, url}, each optional."""
    splits: Splits
    """The split of each item, "dev" or "test", or how to draw it; None for no splits."""
    draw: Mapping[str, Any] | None
    """The draw recorded in an archive."""
    accept_overlaps: int
    """The number of documents that may be public here and hidden elsewhere, or the reverse."""
    actor: User | None
    restored: Restored | None
    """The pinned data of a release from an archive."""
    each: Callable[[], None]
    """Called for each item."""
    then: Callable[[Release], None] | None
    """Called in the transaction that stores the release."""


def freeze_release(
    *,
    dataset: Dataset,
    version: str,
    items: Sequence[GoldItem],
    labels: Sequence[str],
    **terms: Unpack[Terms],
) -> Release:
    """Freezes the items, sorted by document name, as an immutable release.

    `version` must be semantic and greater than all earlier versions. An item's `sha256` covers its
    gold line in canonical JSON; the release's covers its manifest and thereby all its content.
    Raises ReleaseError with all errors and writes nothing.
    """
    return freeze_gold(
        dataset=dataset, version=version, gold=Gold(items=items, labels=labels), **terms
    )


def freeze_lines(
    *,
    dataset: Dataset,
    version: str,
    benchmark: str,
    lines: Mapping[str, Mapping[str, Any]],
    documents: Mapping[str, Document] | None = None,
    **terms: Unpack[Terms],
) -> Release:
    """Freezes gold lines by id, as returned by the benchmark's reader, like `freeze_release`."""
    gold = Gold(benchmark, lines=lines, documents=documents)
    return freeze_gold(dataset=dataset, version=version, gold=gold, **terms)


def freeze_gold(*, dataset: Dataset, version: str, gold: Gold, **terms: Unpack[Terms]) -> Release:
    """Freezes any gold like `freeze_release`."""
    splits, draw = terms.get("splits"), terms.get("draw")
    base = gold.base or Release()
    if splits is None or splits == gold.kept_splits:
        splits, draw = gold.kept_splits, draw or base.draw
    release = Release(
        dataset=dataset,
        version=version,
        benchmark=gold.benchmark,
        labels=list(gold.labels),
        notes=terms.get("notes") or "",
        visibility=terms.get("visibility", Release.Visibility.GOLD_HIDDEN),
        licence=terms.get("licence") or base.licence,
        citation=dict(terms.get("citation") or base.citation),
        draw=dict(draw or {}),
        frozen_by=terms.get("actor"),
    )
    rows = _checked_rows(release, gold, terms.get("each", lambda: None))
    if terms.get("notes", "") is None:
        # Repeating a draw gives the same splits, unless a release is frozen in between.
        release.notes = notes_of_rows(release, rows, splits)
    accepted = terms.get("accept_overlaps", 0)
    return freeze_rows(release, rows, splits, terms.get("restored"), terms.get("then"), accepted)


def _checked_rows(release: Release, gold: Gold, each: Callable[[], None]) -> list[ReleaseItem]:
    """Checks the request and makes the rows. Raises ReleaseError with all errors of both."""
    faults = list(_request_faults(release))
    try:
        # Document content never changes, so no lock is needed yet.
        rows = gold_rows(release.dataset, gold, each)
    except ReleaseError as error:
        raise ReleaseError([*faults, *error.faults]) from error
    if faults:
        raise ReleaseError(faults)
    return rows


def freeze_rows(
    release: Release,
    rows: list[ReleaseItem],
    splits: Splits,
    restored: Restored | None = None,
    then: Callable[[Release], None] | None = None,
    accept_overlaps: int | None = None,
) -> Release:
    """Stores a release and its items. Raises ReleaseError if its version was taken meanwhile, and
    OverlapError; `accept_overlaps` is None for rows that cannot overlap.

    The rows must be complete except for `release`.
    """
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=release.dataset_id)
        if late := _version_faults(release.dataset, release.version):
            raise ReleaseError(late)
        draw = put_in_splits(release.dataset, rows, splits, release.visibility)
        release.draw = draw or release.draw
        if accept_overlaps is not None:
            check_overlaps(release, rows, accept_overlaps)
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


def notes_of_rows(release: Release, rows: Sequence[ReleaseItem], splits: Splits) -> str:
    """Drafts the change notes of a coming release and puts its rows in their splits."""
    put_in_splits(release.dataset, rows, splits, release.visibility)
    return drafted_notes(release, rows)


def _count_facts(rows: Sequence[ReleaseItem]) -> None:
    """Updates the fact counts of the documents to those of the newest release."""
    counted = [
        Document(pk=row.document_id, fact_count=len(row.facts))
        for row in rows
        if row.document_id is not None
    ]
    Document.objects.bulk_update(counted, ["fact_count"], batch_size=AT_ONCE)


def suggest_version(dataset: Dataset) -> str:
    """The patch version after the latest; 1.0.0 for the first."""
    latest = _latest_version(dataset)
    return str(latest.next_patch()) if latest else "1.0.0"


def check_terms(
    dataset: Dataset, version: str, visibility: str, licence: str, citation: Mapping[str, Any]
) -> None:
    """Raises ReleaseError if these fields are wrong; does not look at the gold."""
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
        return [f"version {version} must be higher than that of the latest release, {latest}"]
    return []


def _request_faults(release: Release) -> Iterator[str]:
    """The errors that can be found without looking at the items."""
    if release.visibility not in Release.Visibility.values:
        yield f"visibility must be one of {', '.join(Release.Visibility.values)}"
    if len(release.licence) > _LICENCE_LENGTH:
        yield f"the licence must have at most {_LICENCE_LENGTH} characters"
    try:
        read_citation(release.citation)
    except ValueError as error:
        yield f"citation: {error}"
    yield from _version_faults(release.dataset, release.version)


@transaction.atomic
def accept_licence(*, release: Release, actor: User) -> LicenceAcceptance:
    """Records that the user accepted the licence. Idempotent."""
    acceptance, is_new = LicenceAcceptance.objects.get_or_create(release=release, user=actor)
    if is_new:
        record_event(verb="accept_licence", subject=release, actor=actor, licence=release.licence)
    return acceptance


MOST_NAMED = 5


@dataclass(frozen=True)
class OpenGold:
    """Documents whose content is public with its gold, and the releases that show it."""

    documents: int
    releases: Sequence[str]
    """Dataset title and version of each, in order."""

    def words(self) -> str:
        """The warning text; empty if there is nothing to warn about."""
        if not self.documents:
            return ""
        named = ", ".join(self.releases[:MOST_NAMED])
        if more := len(self.releases) - MOST_NAMED:
            named += f" and {more:,} more" if more > 0 else ""
        what = "document already has" if self.documents == 1 else "documents already have"
        return (
            f"{self.documents:,} {what} public gold in {named}. Keep these documents out of"
            " hidden test sets: put them in the dev split, for example."
        )


def open_gold_of_dataset(dataset: Dataset) -> OpenGold:
    """The open gold of all documents that a release of the dataset could hide."""
    return _open_gold(dataset.documents.filter(state=Document.State.ACTIVE), _open_items())


def open_gold_of_release(release: Release) -> OpenGold:
    """The open gold of the items whose gold the release hides; none for a public release."""
    items = release.items.filter(split__in=release.hidden_splits, document__isnull=False)
    documents = Document.objects.filter(pk__in=items.values("document"))
    return _open_gold(documents, _open_items().exclude(release=release))


def _open_items() -> QuerySet[ReleaseItem]:
    """Items whose gold is public."""
    return ReleaseItem.objects.filter(
        open_condition(), release__dataset__in=Dataset.objects.public(), document__isnull=False
    ).order_by()


def _open_gold(documents: QuerySet[Document], items: QuerySet[ReleaseItem]) -> OpenGold:
    """Pages are matched by their text, pictures by the hash of image and question."""
    page = Document.Kind.PAGE
    same_text = items.filter(document__kind=page, document__text_sha256=OuterRef("text_sha256"))
    same_picture = items.exclude(document__kind=page).filter(
        document__html_sha256=OuterRef("html_sha256")
    )
    shown = documents.order_by().filter(
        Q(Exists(same_text), kind=page) | Q(~Q(kind=page), Exists(same_picture))
    )
    count = shown.count()
    if not count:
        return OpenGold(0, ())
    pages = shown.filter(kind=page).values("text_sha256")
    pictures = shown.exclude(kind=page).values("html_sha256")
    holding = items.filter(
        Q(document__kind=page, document__text_sha256__in=pages)
        | Q(~Q(document__kind=page), document__html_sha256__in=pictures)
    )
    found = Release.objects.filter(pk__in=holding.values("release")).select_related("dataset")
    names = [f"{release.dataset.title} {release.version}" for release in found.order_by("pk")]
    return OpenGold(count, names)


def documents_without_image(dataset: Dataset) -> str:
    """Warns about documents that the next release would contain without a page image."""
    return _without_image(dataset.documents.filter(state=Document.State.ACTIVE))


def _without_image(documents: QuerySet[Document]) -> str:
    """The warning text; empty if all documents have an image."""
    images = PageImage.objects.filter(document=OuterRef("pk"))
    missing = documents.filter(~Exists(images)).order_by("name").values_list("name", flat=True)
    count = missing.count()
    if not count:
        return ""
    named = ", ".join(missing[:MOST_NAMED])
    if more := max(count - MOST_NAMED, 0):
        named += f" and {more:,} more"
    what = "document has" if count == 1 else "documents have"
    return (
        f"{count:,} {what} no page image: {named}. Models that read images cannot answer for them,"
        " and the images of a released document cannot be added later."
    )


def freeze_remarks(release: Release) -> list[str]:
    """How the splits were drawn and how close they come to the requested share."""
    remarks = [draw_words(release.draw), draw_deviations(release.draw)]
    return [remark for remark in remarks if remark]


def freeze_warnings(release: Release) -> list[str]:
    """Accepted disputes that the release does not settle, hidden gold that is public elsewhere or
    becomes public, and documents with hidden gold that have no image.
    """
    hidden = release.items.filter(split__in=release.hidden_splits, document__isnull=False)
    warnings = [
        unsettled_warning(release.dataset),
        open_gold_of_release(release).words(),
        own_hidden_gold(release),
        _without_image(Document.objects.filter(pk__in=hidden.values("document"))),
    ]
    return [warning for warning in warnings if warning]
