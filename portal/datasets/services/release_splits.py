"""Into which part of a release each of its items comes: told, or drawn by lot."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from portal.datasets.curation.filings import group_of
from portal.datasets.curation.splits import SplitDraw, draw_splits
from portal.datasets.curation.stratified import Unit
from portal.datasets.models import Dataset, DocumentType, Release, ReleaseItem

from .release_rows import AT_ONCE, ReleaseError

# Which split an item belongs to by its name, or how to draw it; None for a release in one piece.
Splits: TypeAlias = Mapping[str, str] | SplitDraw | None

# What says of a gold line what kind of item it is, where its document does not.
_KINDS = ("doc_type", "task", "track", "category")
_MOST_NAMED = 20


def put_in_splits(
    dataset: Dataset, rows: Sequence[ReleaseItem], splits: Splits, visibility: str
) -> dict[str, Any]:
    """Sets the split of every row; gives what is kept of a draw, empty without one. Raises
    ReleaseError.
    """
    if splits is None:
        return {}
    draw: dict[str, Any] = {}
    if isinstance(splits, SplitDraw):
        groups = _groups(dataset, rows, splits.group_by)
        wanted, splits = splits, _drawn(dataset, rows, splits, groups)
        draw = wanted.as_json() | _outcome(rows, splits, groups)
    if faults := list(_faults(rows, splits, visibility)):
        raise ReleaseError(faults)
    for row in rows:
        row.split = splits[row.name]
    return draw


def kept_splits(dataset: Dataset) -> dict[str, str]:
    """The split that each item had in the newest release in splits that held it."""
    items = ReleaseItem.objects.filter(release__dataset=dataset).exclude(split="")
    return dict(items.order_by("release_id").values_list("name", "split"))


def _groups(dataset: Dataset, rows: Sequence[ReleaseItem], group_by: str) -> dict[str, str]:
    """What names the group of each item, by the item's name."""
    documents = dataset.documents.only("name", "company", "source_url", "metadata")
    found: dict[int | None, str] = {
        document.pk: group_of(
            group_by,
            document.name,
            metadata=document.metadata,
            company=document.company,
            source_url=document.source_url,
        )
        for document in documents.iterator(chunk_size=AT_ONCE)
    }
    return {
        row.name: found.get(row.document_id) or group_of(group_by, row.name, metadata={})
        for row in rows
    }


def _outcome(
    rows: Sequence[ReleaseItem],
    splits: Mapping[str, str],
    groups: Mapping[str, str],
) -> dict[str, Any]:
    """What a draw came to: items and groups, and by kind of item how many are in the test part.

    `divided` are groups that earlier releases have put into both parts.
    """
    parts: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        parts[groups[row.name]].add(splits[row.name])
    items = Counter(_kind(row) for row in rows)
    test = Counter(_kind(row) for row in rows if splits[row.name] == ReleaseItem.Split.TEST)
    return {
        "items": len(rows),
        "test_items": test.total(),
        "groups": len(parts),
        "divided": sum(len(found) > 1 for found in parts.values()),
        "kinds": [
            {"kind": kind, "items": count, "test_items": test[kind]}
            for kind, count in sorted(items.items())
        ],
    }


def _drawn(
    dataset: Dataset, rows: Sequence[ReleaseItem], draw: SplitDraw, groups: Mapping[str, str]
) -> dict[str, str]:
    if len(rows) < 2:
        raise ReleaseError(["one item alone cannot be drawn into two parts"])
    units = [Unit(row.name, (_kind(row),)) for row in rows]
    try:
        return draw_splits(units, draw, kept_splits(dataset), groups)
    except ValueError as error:
        raise ReleaseError([str(error)]) from error


def _kind(row: ReleaseItem) -> str:
    if row.document is not None and row.document.doc_type != DocumentType.OTHER:
        return row.document.doc_type
    return next((str(row.gold[key]) for key in _KINDS if row.gold.get(key)), "")


def _faults(
    rows: Sequence[ReleaseItem], splits: Mapping[str, str], visibility: str
) -> Iterator[str]:
    names = {row.name for row in rows}
    known = ReleaseItem.Split.values
    yield from _few(
        [
            f"{name}: {split!r} is no split; there are {' and '.join(known)}"
            for name, split in splits.items()
            if name in names and split not in known
        ]
    )
    yield from _few([f"{name}: has no split" for name in sorted(names - set(splits))])
    yield from _few([f"{name}: is no item of the release" for name in sorted(set(splits) - names)])
    hidden = visibility == Release.Visibility.GOLD_HIDDEN
    if hidden and ReleaseItem.Split.TEST not in splits.values():
        yield "no item is in the test part, so that no gold would be hidden"


def _few(faults: list[str]) -> list[str]:
    more = len(faults) - _MOST_NAMED
    return [*faults[:_MOST_NAMED], *([f"and {more:,} more like it"] if more > 0 else [])]
