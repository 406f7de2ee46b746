"""Whose turn it is: the order in which one worker takes due jobs."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Min

from portal.jobs.handlers import HANDLERS
from portal.jobs.models import Job

# After so many finishing jobs without a break, other work gets one turn, so that it never stops.
FINISHING_IN_A_ROW = 4


@dataclass(frozen=True)
class Head:
    """A group's oldest due job of one kind."""

    group: str
    kind: str
    job_id: int

    @property
    def is_finishing(self) -> bool:
        handler = HANDLERS.get(self.kind)
        return handler is not None and handler.is_finishing


def due_heads(kinds: Collection[str], now: datetime) -> list[Head]:
    """The oldest due job of each group and kind. One query, however many jobs are due."""
    due = Job.objects.due(now).filter(kind__in=kinds).order_by()
    firsts = due.values("group", "kind").annotate(first=Min("id"))
    return [Head(*row) for row in firsts.values_list("group", "kind", "first")]


@dataclass
class Turns:
    """A worker's memory of its turns.

    Finishing jobs go first: what they put together is done but for them. Otherwise groups take
    turns, the one served longest ago first, so that ten thousand jobs of one group do not keep
    three jobs of another waiting.
    """

    served: dict[str, int] = field(default_factory=dict)
    finishing: int = 0
    """Finishing jobs taken in a row."""

    def order(self, heads: Iterable[Head]) -> list[Head]:
        is_break_due = self.finishing >= FINISHING_IN_A_ROW

        def place(head: Head) -> tuple[bool, int, int]:
            is_later = head.is_finishing is is_break_due
            return is_later, self.served.get(head.group, -1), head.job_id

        return sorted(heads, key=place)

    def took(self, head: Head) -> None:
        self.served[head.group] = max(self.served.values(), default=-1) + 1
        self.finishing = self.finishing + 1 if head.is_finishing else 0
