"""Which facts of an item were added, removed or changed between two releases."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from .rows import Fact

Kind = Literal["added", "removed", "changed"]


@dataclass(frozen=True)
class FactChange:
    """A fact as it was and as it is; None on the side on which it is not."""

    before: Fact | None
    after: Fact | None

    @property
    def kind(self) -> Kind:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def aspects(self) -> tuple[str, ...]:
        """What of a changed one is another: of `label`, `borders` and `value`."""
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
    """The changes, in the order of their places.

    In the same text facts are matched by their offsets: first those with the same borders, then
    overlapping ones, those of one label and with the most characters in common first. In another
    text offsets say nothing: there facts are matched by label and value, in their order, and new
    places are no change. Within each release no two facts share a character.
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
    """Numbers follow from the order, and change with every fact before."""
    return (_place(was), was.type, was.value) == (_place(now), now.type, now.value)


def _same_borders(before: Sequence[Fact], after: Sequence[Fact]) -> dict[Fact, Fact]:
    by_place = {_place(fact): fact for fact in after}
    return {fact: by_place[_place(fact)] for fact in before if _place(fact) in by_place}


def _overlapping(before: Sequence[Fact], after: Sequence[Fact]) -> dict[Fact, Fact]:
    """Pairs of facts that share characters, each fact in one pair at most."""
    pairs: dict[Fact, Fact] = {}
    taken: set[Fact] = set()
    for _, _, _, was, now in sorted(_overlaps(before, after), key=lambda found: found[:3]):
        if was not in pairs and now not in taken:
            pairs[was] = now
            taken.add(now)
    return pairs


def _overlaps(
    before: Sequence[Fact], after: Sequence[Fact]
) -> list[tuple[bool, int, int, Fact, Fact]]:
    """(other label, -characters in common, start, was, now), in one walk over both."""
    was_in_order, now_in_order = sorted(before, key=_place), sorted(after, key=_place)
    found: list[tuple[bool, int, int, Fact, Fact]] = []
    i = j = 0
    while i < len(was_in_order) and j < len(now_in_order):
        was, now = was_in_order[i], now_in_order[j]
        common = min(was.end, now.end) - max(was.start, now.start)
        if common > 0:
            found.append((was.type != now.type, -common, was.start, was, now))
        if was.end <= now.end:
            i += 1
        else:
            j += 1
    return found


def _same_sequence(before: Sequence[Fact], after: Sequence[Fact]) -> dict[Fact, Fact]:
    """Facts of the same label and value that come in the same order."""
    was = [(fact.type, fact.value) for fact in before]
    now = [(fact.type, fact.value) for fact in after]
    pairs: dict[Fact, Fact] = {}
    for a, b, size in SequenceMatcher(None, was, now, autojunk=False).get_matching_blocks():
        pairs.update(zip(before[a : a + size], after[b : b + size], strict=True))
    return pairs


def _rest(facts: Sequence[Fact], taken: "set[Fact] | dict[Fact, Fact]") -> list[Fact]:
    return [fact for fact in facts if fact not in taken]


def _order(change: FactChange) -> tuple[int, int, bool]:
    fact = change.after or change.before
    assert fact is not None
    return fact.start, fact.end, change.before is None
