"""Compares two releases: the items and facts that were added, removed or changed.

`change_notes` writes the comparison as Markdown for the release notes.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Literal

from portal.facts import Fact

from .manifest import canonical_json
from .rows import ItemGold, PublishedItem

Kind = Literal["added", "removed", "changed"]


def _kind(before: object | None, after: object | None) -> Kind:
    if before is None:
        return "added"
    return "removed" if after is None else "changed"


@dataclass(frozen=True)
class FactChange:
    """A fact before and after; None where it does not exist."""

    before: Fact | None
    after: Fact | None

    @property
    def kind(self) -> Kind:
        return _kind(self.before, self.after)

    @property
    def aspects(self) -> tuple[str, ...]:
        """The parts of a changed fact that differ: `label`, `borders` or `value`."""
        if self.before is None or self.after is None:
            return ()
        pairs = {
            "label": (self.before.type, self.after.type),
            "borders": (_place(self.before), _place(self.after)),
            "value": (self.before.value, self.after.value),
        }
        return tuple(aspect for aspect, (was, now) in pairs.items() if was != now)


def compare_facts(
    before: Sequence[Fact], after: Sequence[Fact], *, same_text: bool = True
) -> list[FactChange]:
    """The changes, sorted by position.

    If the text is the same, facts are matched by offsets: first those with the same borders, then
    overlapping ones, preferring equal labels and the longest overlap. If the text differs, offsets
    cannot be compared: facts are matched by label and value in order, and a new position is not a
    change. Facts of one release must not overlap.
    """
    if same_text:
        pairs = _same_borders(before, after)
        pairs |= _overlapping(_rest(before, pairs), _rest(after, set(pairs.values())))
        changed = [FactChange(was, now) for was, now in pairs.items() if not _equal(was, now)]
    else:
        pairs = _same_sequence(before, after)
        changed = []
    removed = [FactChange(fact, None) for fact in _rest(before, pairs)]
    added = [FactChange(None, fact) for fact in _rest(after, set(pairs.values()))]
    return sorted(changed + removed + added, key=_order)


def _place(fact: Fact) -> tuple[int, int]:
    return fact.start, fact.end


def _equal(was: Fact, now: Fact) -> bool:
    """Ignores the number, which changes when an earlier fact is added or removed."""
    return (_place(was), was.type, was.value) == (_place(now), now.type, now.value)


def _same_borders(before: Sequence[Fact], after: Sequence[Fact]) -> dict[Fact, Fact]:
    by_place = {_place(fact): fact for fact in after}
    return {fact: by_place[_place(fact)] for fact in before if _place(fact) in by_place}


def _overlapping(before: Sequence[Fact], after: Sequence[Fact]) -> dict[Fact, Fact]:
    """Pairs of overlapping facts; each fact is in at most one pair."""
    pairs: dict[Fact, Fact] = {}
    paired: set[Fact] = set()
    for _, _, _, was, now in sorted(_overlaps(before, after), key=lambda overlap: overlap[:3]):
        if was not in pairs and now not in paired:
            pairs[was] = now
            paired.add(now)
    return pairs


def _overlaps(
    before: Sequence[Fact], after: Sequence[Fact]
) -> list[tuple[bool, int, int, Fact, Fact]]:
    """(label differs, -length of the overlap, start, was, now) of all overlapping pairs."""
    was_in_order, now_in_order = sorted(before, key=_place), sorted(after, key=_place)
    overlaps: list[tuple[bool, int, int, Fact, Fact]] = []
    i = j = 0
    while i < len(was_in_order) and j < len(now_in_order):
        was, now = was_in_order[i], now_in_order[j]
        common = min(was.end, now.end) - max(was.start, now.start)
        if common > 0:
            overlaps.append((was.type != now.type, -common, was.start, was, now))
        if was.end <= now.end:
            i += 1
        else:
            j += 1
    return overlaps


def _same_sequence(before: Sequence[Fact], after: Sequence[Fact]) -> dict[Fact, Fact]:
    """Facts with the same label and value in the same order."""
    was = [(fact.type, fact.value) for fact in before]
    now = [(fact.type, fact.value) for fact in after]
    pairs: dict[Fact, Fact] = {}
    for a, b, size in SequenceMatcher(None, was, now, autojunk=False).get_matching_blocks():
        pairs.update(zip(before[a : a + size], after[b : b + size], strict=True))
    return pairs


def _rest(facts: Sequence[Fact], matched: "set[Fact] | dict[Fact, Fact]") -> list[Fact]:
    return [fact for fact in facts if fact not in matched]


def _order(change: FactChange) -> tuple[int, int, bool]:
    fact = change.after or change.before
    assert fact is not None
    return fact.start, fact.end, change.before is None


_END = None


@dataclass(frozen=True)
class FieldChange:
    """A changed value of the gold line, such as `fields.total`; None where it does not exist."""

    path: str
    before: Any | None
    after: Any | None


@dataclass(frozen=True)
class ItemChange:
    """An item before and after; None where it does not exist.

    `text`: its canonical text differs. `markup`: its gold HTML differs, but not text or facts.
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
        return _kind(self.before, self.after)

    @property
    def splits(self) -> tuple[str, str] | None:
        """The splits before and after; None if they are equal."""
        if self.before is None or self.after is None or self.before.split == self.after.split:
            return None
        return self.before.split, self.after.split


@dataclass(frozen=True)
class ReleaseDiff:
    """The changed items, sorted by name, and the number of unchanged items."""

    before: str
    after: str
    items: tuple[ItemChange, ...]
    unchanged: int

    def of_kind(self, kind: Kind) -> list[ItemChange]:
        return [item for item in self.items if item.kind == kind]

    def facts_of_kind(self, kind: Kind) -> int:
        """The number of facts changed in this way; facts of added and removed items count."""
        return sum(_facts_of_kind(item, kind) for item in self.items)


def diff_releases(
    before: Iterable[PublishedItem],
    after: Iterable[PublishedItem],
    *,
    versions: tuple[str, str],
) -> ReleaseDiff:
    """The differences between two releases, matched by item name and offsets.

    Both sides must be sorted by name, as in a release; they are read once, one item at a time. Gold
    is compared if both sides have it. Raises ValueError if a side is not sorted.
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
    """Pairs of items with the same name; None for a missing side."""
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
    """The change; None if there is none."""
    if was is None or now is None:
        item = was or now
        assert item is not None
        return ItemChange(item.name, was, now)
    # The hash misses facts that are not in the HTML.
    if (
        was.gold
        and now.gold
        and (was.gold.sha256, was.gold.facts)
        != (
            now.gold.sha256,
            now.gold.facts,
        )
    ):
        return _changed(was, now, was.gold, now.gold)
    return ItemChange(now.name, was, now) if was.split != now.split else None


def _changed(
    was: PublishedItem, now: PublishedItem, before: ItemGold, after: ItemGold
) -> ItemChange:
    texts = (before.text_sha256, after.text_sha256)
    other_text = None not in texts and texts[0] != texts[1]
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


def _without_html(gold: ItemGold) -> dict[str, Any]:
    return {key: value for key, value in gold.line.items() if key != "html"}


def _fields(path: str, was: Any, now: Any) -> Iterator[FieldChange]:
    """The innermost values that differ, such as `fields.items[2].amount`."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in sorted({*was, *now}):
            yield from _fields(f"{path}.{key}" if path else key, was.get(key), now.get(key))
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for index, (before, after) in enumerate(zip(was, now, strict=True)):
            yield from _fields(f"{path}[{index}]", before, after)
    # 1 and 1.0, or true, are not the same gold.
    elif (type(was), was) != (type(now), now):
        yield FieldChange(path, was, now)


def _facts_of_kind(item: ItemChange, kind: Kind) -> int:
    if item.kind == "changed":
        return sum(fact.kind == kind for fact in item.facts)
    side = item.after or item.before
    gold = side.gold if side else None
    return len(gold.facts) if gold and item.kind == kind else 0


# Items listed per kind of change; the rest are counted.
MOST_ITEMS = 200
MOST_CHANGES = 50
LONGEST_QUOTE = 80
_BACKTICKS = re.compile("`+")
KINDS: tuple[Kind, ...] = ("added", "removed", "changed")


def change_notes(diff: ReleaseDiff, *, gold_is_open: Callable[[str], bool]) -> str:
    """The notes in Markdown, without a heading.

    Notes are public: if `gold_is_open` is false for an item's name, they say only that it was added
    or removed, and not how many facts it has. Its changes are left out.
    """
    opened = {item.name for item in diff.items if gold_is_open(item.name)}
    diff = without_hidden_changes(diff, opened)
    lines = [_summary(diff, opened)]
    for kind in KINDS:
        items = diff.of_kind(kind)
        if items:
            lines += ["", f"### Items {kind}", ""]
            for item in items[:MOST_ITEMS]:
                lines += _item_lines(item, is_open=item.name in opened)
            lines += _left_out(len(items) - MOST_ITEMS, "- ")
    return "\n".join(lines) + "\n"


def without_hidden_changes(diff: ReleaseDiff, opened: Collection[str]) -> ReleaseDiff:
    """The differences without the changed items whose gold is hidden; the changes would show which
    gold was corrected, and how much."""
    items = tuple(item for item in diff.items if item.name in opened or item.kind != "changed")
    left_out = len(diff.items) - len(items)
    return replace(diff, items=items, unchanged=diff.unchanged + left_out)


def code(text: str, longest: int = LONGEST_QUOTE) -> str:
    """Any text as a Markdown code span, on one line and truncated.

    >>> print(code("1,200"), code("a `b`"))
    `1,200` `` a `b` ``
    """
    line = " ".join(text.split())
    if not line:
        return "(empty)"
    shown = line if len(line) <= longest else f"{line[:longest]}…"
    fence = "`" * (max(map(len, _BACKTICKS.findall(shown)), default=0) + 1)
    pad = " " if len(fence) > 1 else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _summary(diff: ReleaseDiff, opened: set[str]) -> str:
    counts = ", ".join(f"{len(diff.of_kind(kind)):,} {kind}" for kind in KINDS)
    text = f"Since {diff.before}: items {counts}, {diff.unchanged:,} unchanged."
    shown = tuple(item for item in diff.items if item.name in opened)
    if shown:
        opened_diff = ReleaseDiff(diff.before, diff.after, shown, 0)
        facts = (f"{opened_diff.facts_of_kind(kind):,} {kind}" for kind in KINDS)
        text += f" Facts {', '.join(facts)}"
        text += "." if len(shown) == len(diff.items) else ", in items whose gold is open."
    return text


def _item_lines(item: ItemChange, *, is_open: bool) -> Iterator[str]:
    name = f"- {code(item.name, longest=len(item.name))}"
    if not is_open:
        yield f"{name}: the gold is hidden"
        return
    if item.kind != "changed":
        gold = next((side.gold for side in (item.after, item.before) if side), None)
        yield f"{name}{_fact_count(len(gold.facts)) if gold else ''}"
        return
    yield name
    changes = list(_changes(item))
    yield from (f"  - {change}" for change in changes[:MOST_CHANGES])
    yield from _left_out(len(changes) - MOST_CHANGES, "  - ")


def _fact_count(count: int) -> str:
    return f" ({count:,} fact{'' if count == 1 else 's'})"


def _changes(item: ItemChange) -> Iterator[str]:
    if item.splits:
        was, now = (split or "none" for split in item.splits)
        yield f"split: {was} → {now}"
    if item.text:
        yield "text changed"
    if item.markup:
        yield "markup changed"
    yield from map(_fact_change, item.facts)
    yield from map(_field_change, item.fields)


def _fact_change(change: FactChange) -> str:
    was, now = change.before, change.after
    if was is None or now is None:
        fact = was or now
        assert fact is not None
        return f"{change.kind}: {_fact(fact)}"
    return f"{' and '.join(change.aspects)} changed: {_fact(was)} → {_fact(now)}"


def _fact(fact: Fact) -> str:
    return f"{fact.type} {code(fact.value)} at {fact.start}–{fact.end}"


def _field_change(change: FieldChange) -> str:
    return f"{code(change.path)}: {_value(change.before)} → {_value(change.after)}"


def _value(value: Any) -> str:
    return "none" if value is None else code(canonical_json(value))


def _left_out(count: int, bullet: str) -> list[str]:
    return [f"{bullet}and {count:,} more"] if count > 0 else []
