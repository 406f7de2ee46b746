"""What changed from one release of a dataset to another, as far as its reader may know.

An item is told in full where its gold is open to the reader in every release that is compared; of
any other it is told that it came, went or changed, and no more.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.core.paginator import Page, Paginator

from portal.accounts.access import is_organiser
from portal.datasets.access import seen_splits
from portal.datasets.exports import published_items
from portal.datasets.models import Release
from portal.datasets.publishing.change_notes import change_notes
from portal.datasets.publishing.diff import ItemChange, ReleaseDiff, diff_releases
from portal.datasets.publishing.fact_changes import Kind
from portal.datasets.publishing.rows import PublishedItem

from .dispute_notes import NewGold, dispute_notes, settled_by, unsettled_disputes

PER_PAGE = 25
# Changes of one item that are shown; more are counted.
MOST_CHANGES = 100
KINDS: tuple[Kind, ...] = ("added", "removed", "changed")
_AT_ONCE = 200


@dataclass(frozen=True)
class Counts:
    """How many were added, removed and changed."""

    added: int
    removed: int
    changed: int


@dataclass(frozen=True)
class ChangedItem:
    """An item that differs. Where it is not open, there is only its name and what became of it."""

    name: str
    kind: Kind
    is_open: bool
    change: ItemChange | None
    facts: int | None
    """Of an item that came or went."""
    left_out: int
    """Changes of the item that are not shown."""


@dataclass(frozen=True)
class DiffPage:
    before: Release
    after: Release
    items: Counts
    unchanged: int
    facts: Counts
    """Of the open items alone."""
    hidden: int
    """Changed items of which nothing but the name is told."""
    kind: str
    may_manage: bool
    page: Page[ItemChange]
    rows: list[ChangedItem]


def diff_page(
    user: Any, one: Release, other: Release, *, kind: str = "", page: str = "1"
) -> DiffPage:
    """The comparison of two releases of a dataset, the older first, in pages."""
    before, after = sorted((one, other), key=lambda release: release.pk)
    diff = compare(before, after)
    opened = _opened(user, before, after)
    shown = tuple(item for item in diff.items if opened(item))
    told = ReleaseDiff(diff.before, diff.after, shown, 0)
    wanted = [item for item in diff.items if kind not in KINDS or item.kind == kind]
    pages = Paginator(wanted, PER_PAGE).get_page(page)
    return DiffPage(
        before=before,
        after=after,
        items=Counts(*(len(diff.of_kind(each)) for each in KINDS)),
        unchanged=diff.unchanged,
        facts=Counts(*(told.facts_of_kind(each) for each in KINDS)),
        hidden=len(diff.items) - len(shown),
        kind=kind if kind in KINDS else "",
        may_manage=is_organiser(user),
        page=pages,
        rows=[changed_item(item, is_open=opened(item)) for item in pages],
    )


def compare(before: Release, after: Release) -> ReleaseDiff:
    """Everything that differs. Items that are the same are told by their hashes, and their gold
    is not loaded.
    """
    was, now = _hashes(before), _hashes(after)
    differing = sorted(name for name in was.keys() | now.keys() if was.get(name) != now.get(name))
    diff = diff_releases(
        _named_items(before, differing),
        _named_items(after, differing),
        versions=(before.version, after.version),
    )
    same = len(was.keys() | now.keys()) - len(differing)
    return ReleaseDiff(diff.before, diff.after, diff.items, diff.unchanged + same)


def drafted_notes(coming: Release, items: Sequence[PublishedItem]) -> str:
    """Change notes of a release that is about to be frozen, by comparison with the newest one.

    Everybody reads notes: only what everybody may see is told. Empty for the first release.
    """
    newest = coming.dataset.releases.order_by("-pk").first()
    if newest is None:
        return ""
    diff = diff_releases(
        published_items(newest),
        sorted(items, key=lambda item: item.name),
        versions=(newest.version, coming.version or "the new version"),
    )
    by_name = {item.name: item for item in diff.items}

    def is_open(name: str) -> bool:
        item = by_name[name]
        return _opens(newest, item.before) and _opens(coming, item.after)

    gold = {item.name: _new_gold(item) for item in items}
    disputes = dispute_notes(settled_by(gold, unsettled_disputes(coming.dataset)))
    return "\n".join(filter(None, [change_notes(diff, gold_is_open=is_open), disputes]))


def _new_gold(item: PublishedItem) -> NewGold:
    assert item.gold is not None
    return NewGold(item.gold.sha256, [asdict(fact) for fact in item.gold.facts])


def changed_item(item: ItemChange, *, is_open: bool) -> ChangedItem:
    if not is_open:
        return ChangedItem(item.name, item.kind, False, None, None, 0)
    side = item.after or item.before
    gold = side.gold if side else None
    more = len(item.facts) + len(item.fields) - MOST_CHANGES
    kept = ItemChange(
        name=item.name,
        before=item.before,
        after=item.after,
        facts=item.facts[:MOST_CHANGES],
        fields=item.fields[: max(0, MOST_CHANGES - len(item.facts))],
        text=item.text,
        markup=item.markup,
    )
    facts = len(gold.facts) if gold and item.kind != "changed" else None
    return ChangedItem(item.name, item.kind, True, kept, facts, max(0, more))


def _hashes(release: Release) -> dict[str, tuple[str, str]]:
    rows = release.items.values_list("name", "sha256", "split")
    return {name: (sha256, split) for name, sha256, split in rows.iterator()}


def _named_items(release: Release, names: Sequence[str]) -> Iterator[PublishedItem]:
    for start in range(0, len(names), _AT_ONCE):
        yield from published_items(release, names=names[start : start + _AT_ONCE])


def _opens(release: Release, item: PublishedItem | None) -> bool:
    return item is None or release.opens(item.split)


def _opened(user: Any, before: Release, after: Release) -> Callable[[ItemChange], bool]:
    sides = [(seen_splits(user, before), "before"), (seen_splits(user, after), "after")]

    def is_open(item: ItemChange) -> bool:
        return all(
            seen is None or getattr(item, side) is None or getattr(item, side).split in seen
            for seen, side in sides
        )

    return is_open
