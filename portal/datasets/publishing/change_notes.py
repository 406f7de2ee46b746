"""A comparison of two releases as a note in Markdown, for those who use the data."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from .diff import FieldChange, ItemChange, ReleaseDiff
from .fact_changes import FactChange, Kind
from .manifest import canonical_json
from .rows import Fact

# So many are named of each kind of change; the rest is counted.
MOST_ITEMS = 200
MOST_CHANGES = 50
LONGEST_QUOTE = 80
_BACKTICKS = re.compile("`+")
_KINDS: tuple[Kind, ...] = ("added", "removed", "changed")


def change_notes(diff: ReleaseDiff, *, gold_is_open: Callable[[str], bool]) -> str:
    """The note, in Markdown, without a heading of its own.

    Notes are read by everybody: of an item for whose name `gold_is_open` is false they tell that
    it came, went or changed, and nothing of its facts, not even their number.
    """
    opened = {item.name for item in diff.items if gold_is_open(item.name)}
    lines = [_summary(diff, opened)]
    for kind in _KINDS:
        items = diff.of_kind(kind)
        if items:
            lines += ["", f"### Items {kind}", ""]
            for item in items[:MOST_ITEMS]:
                lines += _item_lines(item, is_open=item.name in opened)
            lines += _left_out(len(items) - MOST_ITEMS, "- ")
    return "\n".join(lines) + "\n"


def code(text: str, longest: int = LONGEST_QUOTE) -> str:
    """Any text as a code span of Markdown, on one line and cut short.

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
    counts = ", ".join(f"{len(diff.of_kind(kind)):,} {kind}" for kind in _KINDS)
    text = f"Since {diff.before}: items {counts}, {diff.unchanged:,} unchanged."
    shown = tuple(item for item in diff.items if item.name in opened)
    if shown:
        told = ReleaseDiff(diff.before, diff.after, shown, 0)
        text += f" Facts {', '.join(f'{told.facts_of_kind(kind):,} {kind}' for kind in _KINDS)}"
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
        yield "another text"
    if item.markup:
        yield "other markup"
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
