"""Which entries are to be compared, and whether they can be."""

import re
from collections.abc import Iterable, Sequence

from scoring.models import Board, Entry

FEWEST, MOST = 2, 5
_NUMBER = re.compile(r"[0-9]{1,15}")


class ComparisonRefused(ValueError):
    """These entries cannot be compared; the message says why, in a sentence."""


def entry_numbers(texts: Iterable[str]) -> list[int]:
    """Each once, in the order in which they were asked for, from `1,2` or from several of these.

    >>> entry_numbers(["3,1", "3"])
    [3, 1]
    """
    words = [word.strip() for text in texts for word in text.split(",") if word.strip()]
    for word in words:
        if not _NUMBER.fullmatch(word):
            raise ComparisonRefused(f"“{word[:40]}” is not the number of an entry.")
    return list(dict.fromkeys(map(int, words)))


def compared_entries(board: Board, numbers: Sequence[int]) -> list[Entry]:
    """The entries in the order asked for, with all that a comparison needs. One query. Raises
    ComparisonRefused for entries that cannot be compared."""
    if not FEWEST <= len(numbers) <= MOST:
        raise ComparisonRefused(
            f"Choose {FEWEST} to {MOST} entries to compare, not {len(numbers)}."
        )
    found = {
        entry.pk: entry
        for entry in Entry.objects.filter(board=board, pk__in=numbers).select_related(
            "phase",
            "grading__release__dataset",
            "grading__submission__phase__board",
            "grading__submission__team",
        )
    }
    for number in numbers:
        if number not in found:
            raise ComparisonRefused(f"Entry {number} is not on this board.")
    entries = [found[number] for number in numbers]
    for entry in entries:
        if entry.grading is None:
            raise ComparisonRefused(
                f"“{entry.name}” was not graded here: of its items nothing is known."
            )
    _check_alike(entries)
    return entries


def _check_alike(entries: Sequence[Entry]) -> None:
    first = entries[0]
    for other in entries[1:]:
        names = f"“{first.name}” and “{other.name}”"
        if first.phase_id != other.phase_id:
            raise ComparisonRefused(f"{names} are of different phases.")
        if _release(first) != _release(other):
            raise ComparisonRefused(f"{names} were graded on different releases of the gold.")
        if first.signature != other.signature:
            raise ComparisonRefused(f"{names} were graded by different rules.")


def _release(entry: Entry) -> int | None:
    return None if entry.grading is None else entry.grading.release_id
