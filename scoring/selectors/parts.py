"""The public and the private part of a phase: whose scores are told while it is open, and after.

Which items are in which part is told to nobody: they are drawn by a secret of the phase, so that
the same items are drawn each time. Of every subset, task or kind of document the public part has
its share.
"""

import hmac
from datetime import datetime
from itertools import groupby
from typing import Any

from scoring.models import Phase, Window

PUBLIC, PRIVATE, ALL = "public", "private", "all"
PARTS = {PUBLIC: "Public part", PRIVATE: "Private part", ALL: "All items"}
# What the strata are made by; where the gold has no such field it makes no difference.
_STRATA = ("gold__subset", "gold__task", "document__doc_type")


def told_part(phase: Phase, now: datetime) -> str:
    """The part whose scores are told now: from the closing instant on the private one."""
    return PRIVATE if phase.window(now) == Window.CLOSED else PUBLIC


def public_count(total: int, share: int) -> int:
    """How many items are public: `share` percent, rounded half up, at least one in each part.

    >>> public_count(10, 25), public_count(3, 1), public_count(3, 99)
    (3, 1, 2)
    """
    return min(max((total * share + 50) // 100, 1), total - 1)


def public_items(phase: Phase, release: int) -> frozenset[int]:
    """Keys of the items of the public part, in the release with this key; of all items where the
    phase has no parts. One query."""
    items = phase.items_of(release)
    rows: list[tuple[Any, ...]] = list(items.values_list("pk", "name", *_STRATA))
    if phase.public_share is None or len(rows) < 2:
        return frozenset(row[0] for row in rows)
    rows.sort(key=lambda row: (_stratum(row), _place(phase.part_salt, row[1])))
    left, places = public_count(len(rows), phase.public_share), len(rows)
    drawn: set[int] = set()
    for _, members in groupby(rows, key=_stratum):
        stratum = list(members)
        # What rounding takes from one stratum the next ones get, so that the sum is exact.
        here = round(left * len(stratum) / places)
        drawn.update(row[0] for row in stratum[:here])
        left, places = left - here, places - len(stratum)
    return frozenset(drawn)


def _stratum(row: tuple[Any, ...]) -> list[str]:
    return [str(value or "") for value in row[2:]]


def _place(salt: str, name: str) -> str:
    return hmac.digest(salt.encode(), name.encode(), "sha256").hex()
