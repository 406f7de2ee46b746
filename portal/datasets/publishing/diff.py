"""Two releases compared: which items and facts were added, removed or changed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .fact_changes import FactChange, Kind, compare_facts
from .rows import ItemGold, PublishedItem

_END = None


@dataclass(frozen=True)
class FieldChange:
    """A value of the gold line, such as `fields.total`; None where there is none."""

    path: str
    before: Any
    after: Any


@dataclass(frozen=True)
class ItemChange:
    """An item as it was and as it is; None on the side on which it is not.

    `text` says whether its canonical text is another one, `markup` whether its gold HTML differs
    although text and facts are the same.
    """

    name: str
    before: PublishedItem | None
    after: PublishedItem | None
    facts: tuple[FactChange, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    text: bool = False
    markup: bool = False

    @property
    def kind(self) -> Kind:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def splits(self) -> tuple[str, str] | None:
        """Its split before and after, if they differ."""
        if self.before is None or self.after is None or self.before.split == self.after.split:
            return None
        return self.before.split, self.after.split


@dataclass(frozen=True)
class ReleaseDiff:
    """The changes by item, sorted by name, and how many items are the same."""

    before: str
    after: str
    items: tuple[ItemChange, ...]
    unchanged: int

    def of_kind(self, kind: Kind) -> list[ItemChange]:
        return [item for item in self.items if item.kind == kind]

    def facts_of_kind(self, kind: Kind) -> int:
        """Facts of all items; those of an item that came or went came or went with it."""
        return sum(_facts_of_kind(item, kind) for item in self.items)


def diff_releases(
    before: Iterable[PublishedItem],
    after: Iterable[PublishedItem],
    *,
    versions: tuple[str, str],
) -> ReleaseDiff:
    """What changed between two releases, matched by name and offsets.

    Both sides come sorted by name, as a release keeps its items, and are read once, one item at a
    time. Gold is compared where both sides have it. Raises ValueError if a side is not sorted.
    """
    changes: list[ItemChange] = []
    unchanged = 0
    for was, now in _paired(_sorted(before), _sorted(after)):
        change = _compare(was, now)
        if change:
            changes.append(change)
        else:
            unchanged += 1
    return ReleaseDiff(*versions, tuple(changes), unchanged)


def _sorted(items: Iterable[PublishedItem]) -> Iterator[PublishedItem]:
    last: str | None = None
    for item in items:
        if last is not None and item.name <= last:
            raise ValueError(f"items must be sorted by name: {item.name} comes after {last}")
        last = item.name
        yield item


def _paired(
    before: Iterator[PublishedItem], after: Iterator[PublishedItem]
) -> Iterator[tuple[PublishedItem | None, PublishedItem | None]]:
    """Items of the same name together, the others alone."""
    was, now = next(before, _END), next(after, _END)
    while was or now:
        if now is None or (was is not None and was.name < now.name):
            yield was, None
            was = next(before, _END)
        elif was is None or now.name < was.name:
            yield None, now
            now = next(after, _END)
        else:
            yield was, now
            was, now = next(before, _END), next(after, _END)


def _compare(was: PublishedItem | None, now: PublishedItem | None) -> ItemChange | None:
    """The change, None if there is none."""
    if was is None or now is None:
        one = was or now
        assert one is not None
        return ItemChange(one.name, was, now)
    if was.gold and now.gold and not _same_gold(was.gold, now.gold):
        return _changed(was, now, was.gold, now.gold)
    return ItemChange(now.name, was, now) if was.split != now.split else None


def _same_gold(was: ItemGold, now: ItemGold) -> bool:
    """Facts that were not written into the HTML do not count in the hash."""
    return was.sha256 == now.sha256 and was.facts == now.facts


def _changed(
    was: PublishedItem, now: PublishedItem, before: ItemGold, after: ItemGold
) -> ItemChange:
    other_text = _differ(before.text_sha256, after.text_sha256)
    facts = compare_facts(before.facts, after.facts, same_text=not other_text)
    other_html = before.line.get("html") != after.line.get("html")
    return ItemChange(
        name=now.name,
        before=was,
        after=now,
        facts=tuple(facts),
        fields=tuple(_fields("", _without_html(before), _without_html(after))),
        text=other_text,
        markup=other_html and not other_text and not facts,
    )


def _differ(was: str | None, now: str | None) -> bool:
    return was is not None and now is not None and was != now


def _without_html(gold: ItemGold) -> dict[str, Any]:
    return {key: value for key, value in gold.line.items() if key != "html"}


def _fields(path: str, was: Any, now: Any) -> Iterator[FieldChange]:
    """The innermost values that differ: `fields.items[2].amount`."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in sorted({*was, *now}):
            yield from _fields(f"{path}.{key}" if path else key, was.get(key), now.get(key))
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for index, (one, other) in enumerate(zip(was, now, strict=True)):
            yield from _fields(f"{path}[{index}]", one, other)
    # 1 and 1.0, or true, are not the same gold.
    elif (type(was), was) != (type(now), now):
        yield FieldChange(path, was, now)


def _facts_of_kind(item: ItemChange, kind: Kind) -> int:
    if item.kind == "changed":
        return sum(fact.kind == kind for fact in item.facts)
    side = item.after or item.before
    gold = side.gold if side else None
    return len(gold.facts) if gold and item.kind == kind else 0
