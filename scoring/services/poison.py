"""Items that cannot be graded: found one by one, and told by name.

A chunk that failed for good is cut into pieces, down to single items. An item that fails alone is
given up; everything beside it is graded. Such an item is no missing prediction: it counts neither
as zero nor as left out, so that the grading ends without figures (docs/decisions/015).
"""

import re
from collections.abc import Sequence

from portal.jobs.leases import HOOK_FAILED, LOST
from portal.jobs.models import Job
from scoring.access import is_release_open
from scoring.models import Grading
from scoring.selectors.progress import OWN_ERROR, owner_words

# Into so many pieces at most; with the usual chunk each is a single item at once. A piece of
# several gets one attempt, for what follows its failure is another attempt on less.
PIECES = 32
NAMES_SHOWN = 10
# A private item that the submitter did not name in the file: its id is not told.
UNNAMED = "an item without a prediction"


def pieces(positions: Sequence[int]) -> list[Sequence[int]]:
    """The positions in at most PIECES runs of equal length (the last may be shorter)."""
    size = -(-len(positions) // PIECES)
    return [positions[start : start + size] for start in range(0, len(positions), size)]


def given_up(grading: Grading, chunks: Sequence[Job], positions: Sequence[int]) -> str:
    """Why the items at these positions cannot be graded; `chunks` are the failed jobs, by id."""
    named = grading.items.filter(position__in=positions).order_by("position")
    first = list(named.values_list("position", "name")[:NAMES_SHOWN])
    told = _told_names(grading, [name for _, name in first])
    shown = [
        f"{f'“{name}”' if name in told else UNNAMED} ({_reason(chunks, position)})"
        for position, name in first
    ]
    more = len(positions) - len(shown)
    listed = ", ".join(shown) + (f" and {more} more" if more else "")
    return f"{len(positions)} of {grading.items_total} items cannot be graded: {listed}"


def _told_names(grading: Grading, names: Sequence[str]) -> set[str]:
    """Of these items those that the submitter may be told of by name."""
    if is_release_open(grading.release):
        return set(names)
    answered = grading.submission.predictions.filter(item__name__in=names)
    return set(answered.values_list("item__name", flat=True))


def _reason(chunks: Sequence[Job], position: int) -> str:
    """From the newest failed job that was to grade the item; nothing of gold or prediction."""
    for job in reversed(chunks):
        if job.payload["first"] <= position <= job.payload["last"]:
            return _words(job.error)
    return "it was not taken up"


def _words(error: str) -> str:
    error = error.partition(HOOK_FAILED)[0]
    if error == LOST:
        return "the worker was lost at it each time: it crashed or ran out of memory"
    kind = re.search(r"\((\w+)\)$", error) if error.startswith(OWN_ERROR) else None
    return f"the scorer stopped with {kind.group(1)}" if kind else owner_words(error)
