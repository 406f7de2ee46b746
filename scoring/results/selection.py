"""Which entries are compared: two to five of one board that are graded alike."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from scoring.models import Board, Entry

FEWEST, MOST = 2, 5
# The most selected rows that a link keeps.
_MOST_KEPT = 20
_NUMBER = re.compile(r"[0-9]{1,15}")


class ComparisonRefused(ValueError):
    """These entries cannot be compared; the message gives the reason in a sentence."""


def entry_numbers(texts: Iterable[str]) -> list[int]:
    """Parse distinct numbers, in the requested order, from one or more texts such as `1,2`.

    >>> entry_numbers(["3,1", "3"])
    [3, 1]
    """
    words = [word.strip() for text in texts for word in text.split(",") if word.strip()]
    for word in words:
        if not _NUMBER.fullmatch(word):
            raise ComparisonRefused(f"“{word[:40]}” is not an entry number.")
    return list(dict.fromkeys(map(int, words)))


def selection_query(board: Board, texts: Iterable[str]) -> str:
    """The query of the leaderboard on which these entries are selected; empty without any. At most
    one query."""
    try:
        numbers = entry_numbers(texts)[:_MOST_KEPT]
    except ComparisonRefused:
        return ""
    entries = Entry.objects.filter(board=board, pk__in=numbers, phase__isnull=False)
    found = dict(entries.order_by("pk").values_list("pk", "phase__slug"))
    if not found:
        return ""
    kept = ",".join(str(number) for number in found)
    return urlencode({"phase": next(iter(found.values())), "entries": kept}, safe=",")


def entries_of_submissions(board: Board, submissions: Sequence[int]) -> list[int]:
    """The numbers of the entries of published submissions, in the requested order. Raises
    ComparisonRefused."""
    entries = dict(
        Entry.objects.filter(board=board, grading__submission__in=submissions).values_list(
            "grading__submission", "pk"
        )
    )
    for number in submissions:
        if number not in entries:
            raise ComparisonRefused(
                f"Submission {number} has no published result on this board to compare."
            )
    return [entries[number] for number in submissions]


def compared_entries(board: Board, numbers: Sequence[int]) -> list[Entry]:
    """Return the entries in the requested order, with all data that a comparison needs. One query.
    Raises ComparisonRefused if they cannot be compared."""
    if not FEWEST <= len(numbers) <= MOST:
        raise ComparisonRefused(
            f"Select {FEWEST} to {MOST} models to compare. You selected {len(numbers)}."
        )
    by_number = {
        entry.pk: entry
        for entry in Entry.objects.filter(board=board, pk__in=numbers).select_related(
            "phase",
            "grading__release__dataset",
            "grading__submission__phase__board",
            "grading__submission__team",
        )
    }
    for number in numbers:
        if number not in by_number:
            raise ComparisonRefused(f"This board has no entry {number}.")
    entries = [by_number[number] for number in numbers]
    for entry in entries:
        if entry.grading is None:
            raise ComparisonRefused(
                f"“{entry.name}” was not graded by Factboard, so it cannot be compared."
            )
    _check_alike(entries)
    return entries


def _check_alike(entries: Sequence[Entry]) -> None:
    first = entries[0]
    for other in entries[1:]:
        names = f"“{first.name}” and “{other.name}”"
        if first.phase_id != other.phase_id:
            raise ComparisonRefused(
                f"{names} belong to different phases. Choose models of one phase."
            )
        if _release(first) != _release(other):
            raise ComparisonRefused(
                f"{names} were graded on different releases. Choose models graded on the same one."
            )
        if first.signature != other.signature:
            raise ComparisonRefused(
                f"{names} have different signatures. Choose models graded with the same metric "
                "version and options."
            )


def _release(entry: Entry) -> int | None:
    return None if entry.grading is None else entry.grading.release_id
