"""Data of the release pages: a dataset's list, one release with its items, and comparisons.

A comparison shows an item in full only if the reader may see its gold in both releases. For any
other item it shows only whether it was added, removed or changed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, Q, QuerySet, Sum, Window
from django.db.models.functions import Lead

from portal.accounts.access import is_organiser
from portal.datasets.access import (
    ALL_GOLD,
    GoldSplits,
    gold_splits_for,
    visible_releases,
)
from portal.datasets.models import Dataset, PageImage, Release, ReleaseItem
from portal.datasets.models.releases import JsonLength
from portal.datasets.releases.publishing.diff import (
    KINDS,
    ItemChange,
    Kind,
    ReleaseDiff,
    change_notes,
    diff_releases,
)
from portal.datasets.releases.publishing.rows import PublishedItem
from portal.web.queries import count_by

from .corrections import dispute_notes, settled_by, unsettled_disputes
from .exports import published_item, published_items


@dataclass(frozen=True)
class ReleaseRow:
    """An item of a release; `facts` (a count) and `sha256` are None where gold is hidden."""

    name: str
    split: str
    document: str
    """The document's name; empty if the item has none."""
    facts: int | None
    sha256: str | None
    images: list[PageImage]


@dataclass(frozen=True)
class SplitRow:
    """A split of a release: counts of its items, and of its facts where they are open."""

    split: str
    title: str
    items: int
    facts: int | None
    is_open: bool


def listed_releases(user: Any, dataset: Dataset) -> QuerySet[Release]:
    """The releases visible to the user, newest first, each with its numbers of items in the splits
    (`dev`, `test`) and the version of its predecessor (`previous`)."""
    order = (F("frozen_at").desc(), F("id").desc())
    splits = {
        split: Count("items", filter=Q(items__split=split)) for split in ReleaseItem.Split.values
    }
    releases = visible_releases(user, dataset).annotate(**splits)
    return releases.annotate(previous=Window(Lead("version"), order_by=order)).order_by(*order)


def exposed_items(release: Release) -> int:
    """The number of items meant to be hidden whose document another release shows.

    Shown to organisers only.
    """
    if release.is_gold_public:
        return 0
    items = release.items.filter(split__in=release.hidden_splits, document__isnull=False)
    documents = release.dataset.documents.order_by()
    open_documents = documents.filter(documents.open_condition_in(release.dataset))
    return items.filter(document__in=open_documents).count()


def _shows(gold_splits: GoldSplits, split: str) -> bool:
    return gold_splits is None or split in gold_splits


def split_rows(release: Release, gold_splits: GoldSplits) -> list[SplitRow]:
    """The splits that have items; none if the release is not split."""
    counts = count_by(release.items.exclude(split=""), "split")
    return [
        SplitRow(
            split=split,
            title=str(title),
            items=counts[split],
            facts=_facts_of(release, split) if _shows(gold_splits, split) else None,
            is_open=release.opens(split),
        )
        for split, title in ReleaseItem.Split.choices
        if split in counts
    ]


def _facts_of(release: Release, split: str) -> int:
    counted = release.items.filter(split=split).aggregate(facts=Sum(JsonLength("facts")))
    return counted["facts"] or 0


def release_items(release: Release) -> QuerySet[ReleaseItem]:
    """Items with their documents' images, without their gold, which is large."""
    items = release.items.select_related("document").prefetch_related("document__images")
    return items.defer("gold", "document__metadata")


def release_rows(user: Any, release: Release, items: Iterable[ReleaseItem]) -> list[ReleaseRow]:
    gold_splits = gold_splits_for(user, release)

    def row(item: ReleaseItem) -> ReleaseRow:
        gold = _shows(gold_splits, item.split)
        return ReleaseRow(
            name=item.name,
            split=item.split,
            document=item.document.name if item.document else "",
            facts=len(item.facts) if gold else None,
            sha256=item.sha256 if gold else None,
            images=_images(release, item),
        )

    return [row(item) for item in items]


def _images(release: Release, item: ReleaseItem) -> list[PageImage]:
    """The images with everything their URLs need, without further queries."""
    if item.document is None:
        return []
    item.document.dataset = release.dataset
    images = list(item.document.images.all())
    for image in images:
        image.document = item.document
    return images


CHANGES_PER_PAGE = 25
# Changes shown per item; any more are only counted.
MOST_CHANGES = 100
_AT_ONCE = 200


@dataclass(frozen=True)
class Counts:
    """How many were added, removed and changed."""

    added: int
    removed: int
    changed: int


@dataclass(frozen=True)
class ChangedItem:
    """An item that differs. If it is not open, only its name and kind are set."""

    name: str
    kind: Kind
    is_open: bool
    change: ItemChange | None
    facts: int | None
    """Number of facts of an added or removed item."""
    left_out: int
    """Number of changes of the item that are not shown."""


@dataclass(frozen=True)
class DiffPage:
    before: Release
    after: Release
    items: Counts
    unchanged: int
    facts: Counts
    hidden: int
    """Number of items of both releases that are not compared, because their gold is hidden."""
    kind: str
    may_manage: bool
    page: Page[ItemChange]
    rows: list[ChangedItem]


def diff_page(
    user: Any, one: Release, other: Release, *, kind: str = "", page: str = "1"
) -> DiffPage:
    """A page of the comparison of two releases of a dataset; the older one is `before`.

    Items with hidden gold are not compared: even their number would say something about its
    corrections.
    """
    before, after = sorted((one, other), key=lambda release: release.pk)
    hidden = _hidden_names(user, before, after)
    diff = compare(before, after, without=hidden)
    opened = _opened(user, before, after)
    shown = tuple(item for item in diff.items if opened(item))
    open_diff = ReleaseDiff(diff.before, diff.after, shown, 0)
    wanted = [item for item in shown if kind not in KINDS or item.kind == kind]
    pages = Paginator(wanted, CHANGES_PER_PAGE).get_page(page)
    return DiffPage(
        before=before,
        after=after,
        items=Counts(*(len(diff.of_kind(each)) for each in KINDS)),
        unchanged=diff.unchanged,
        facts=Counts(*(open_diff.facts_of_kind(each) for each in KINDS)),
        hidden=len(hidden),
        kind=kind if kind in KINDS else "",
        may_manage=is_organiser(user),
        page=pages,
        rows=[changed_item(item, is_open=opened(item)) for item in pages],
    )


def _hidden_names(user: Any, before: Release, after: Release) -> set[str]:
    """The items of both releases whose gold the user may not see in both."""
    names = [set(release.items.values_list("name", flat=True)) for release in (before, after)]
    closed: set[str] = set()
    for release in (before, after):
        splits = gold_splits_for(user, release)
        if splits is not None:
            items = release.items.exclude(split__in=splits)
            closed.update(items.values_list("name", flat=True))
    return closed & names[0] & names[1] if closed else closed


def compare(before: Release, after: Release, *, without: Set[str] = frozenset()) -> ReleaseDiff:
    """All differences, except those of the items `without`. Unchanged items are recognised by their
    hashes; their gold is not loaded."""
    was, now = (
        {name: row for name, row in _hashes(release).items() if name not in without}
        for release in (before, after)
    )
    differing = sorted(name for name in was.keys() | now.keys() if was.get(name) != now.get(name))
    diff = diff_releases(
        _named_items(before, differing),
        _named_items(after, differing),
        versions=(before.version, after.version),
    )
    same = len(was.keys() | now.keys()) - len(differing)
    return ReleaseDiff(diff.before, diff.after, diff.items, diff.unchanged + same)


def drafted_notes(coming: Release, rows: Sequence[ReleaseItem]) -> str:
    """Change notes for a release that is about to be frozen, compared with the newest release.

    Notes are public, so they never contain hidden gold. Empty for the first release.
    """
    newest = coming.dataset.releases.order_by("-pk").first()
    if newest is None:
        return ""
    diff = diff_releases(
        published_items(newest, ALL_GOLD),
        sorted(map(published_item, rows), key=lambda item: item.name),
        versions=(newest.version, coming.version or "the new version"),
    )
    by_name = {item.name: item for item in diff.items}

    def is_open(name: str) -> bool:
        item = by_name[name]
        return _opens(newest, item.before) and _opens(coming, item.after)

    disputes = dispute_notes(settled_by(rows, unsettled_disputes(coming.dataset)))
    return "\n".join(filter(None, [change_notes(diff, gold_is_open=is_open), disputes]))


def changed_item(item: ItemChange, *, is_open: bool) -> ChangedItem:
    if not is_open:
        return ChangedItem(item.name, item.kind, False, None, None, 0)
    side = item.after or item.before
    gold = side.gold if side else None
    more = len(item.facts) + len(item.fields) - MOST_CHANGES
    kept = replace(
        item,
        facts=item.facts[:MOST_CHANGES],
        fields=item.fields[: max(0, MOST_CHANGES - len(item.facts))],
    )
    facts = len(gold.facts) if gold and item.kind != "changed" else None
    return ChangedItem(item.name, item.kind, True, kept, facts, max(0, more))


def _hashes(release: Release) -> dict[str, tuple[str, str]]:
    rows = release.items.values_list("name", "sha256", "split")
    return {name: (sha256, split) for name, sha256, split in rows.iterator()}


def _named_items(release: Release, names: Sequence[str]) -> Iterator[PublishedItem]:
    for start in range(0, len(names), _AT_ONCE):
        yield from published_items(release, ALL_GOLD, names=names[start : start + _AT_ONCE])


def _opens(release: Release, item: PublishedItem | None) -> bool:
    return item is None or release.opens(item.split)


def _opened(user: Any, before: Release, after: Release) -> Callable[[ItemChange], bool]:
    """Whether the user may see the gold of an item in both releases."""
    splits_before, splits_after = gold_splits_for(user, before), gold_splits_for(user, after)

    def is_open(item: ItemChange) -> bool:
        sides = ((splits_before, item.before), (splits_after, item.after))
        return all(side is None or _shows(splits, side.split) for splits, side in sides)

    return is_open
