"""How much of a phase's limits somebody has used up, and when more is free again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, Min, Q
from django.utils import timezone

from portal.accounts.models import User
from scoring.models import Attempt, Phase

# A day is the last 24 hours: it begins anew for nobody at midnight somewhere.
DAY = timedelta(hours=24)


@dataclass(frozen=True)
class Allowance:
    """One limit: `used` of `limit`, of which `held` are still being graded.

    `free_at` is when the next place becomes free if none is left, None where that cannot be said.
    """

    name: str
    limit: int
    used: int
    held: int = 0
    free_at: datetime | None = None

    @property
    def left(self) -> int:
        return max(self.limit - self.used - self.held, 0)


@dataclass(frozen=True)
class Standing:
    """What a user may still submit to a phase. A limit that is not set is None."""

    phase: Phase
    day: Allowance | None
    total: Allowance | None
    failed: Allowance | None

    @property
    def allowances(self) -> Sequence[Allowance]:
        return [each for each in (self.day, self.total, self.failed) if each is not None]

    @property
    def spent(self) -> Allowance | None:
        """The limit that stands in the way of another submission; the longest lasting first."""
        spent = [each for each in (self.total, self.failed, self.day) if each and not each.left]
        return spent[0] if spent else None

    @property
    def free_at_words(self) -> str:
        """Such as “21 November 2026, 14:05 UTC”; empty where nothing is spent or nobody knows."""
        spent = self.spent
        return moment(self.phase, spent.free_at) if spent and spent.free_at else ""

    @property
    def refusal(self) -> str:
        """Why nothing more is taken, in one or two sentences; empty while something is."""
        spent = self.spent
        if spent is None:
            return ""
        words = f"You have used up your {spent.limit} {spent.name} in “{self.phase.title}”."
        if spent is self.total and not spent.held:
            return words
        if self.free_at_words:
            return f"{words} The next is free on {self.free_at_words}."
        return f"{words} One that is being graded still may give its place back."


def standing(phase: Phase, user: User) -> Standing:
    """What this user may still submit to this phase. One query."""
    return phase_standings(user, [phase])[0]


def phase_standings(user: User, phases: Sequence[Phase]) -> list[Standing]:
    """The standing in each phase. One query, none where no phase has a limit."""
    limited = [each for each in phases if _has_limits(each)]
    found = {row["phase"]: row for row in _counted(user, limited)} if limited else {}
    return [_standing(phase, found.get(phase.pk, {})) for phase in phases]


def _has_limits(phase: Phase) -> bool:
    return any(limit is not None for limit in (phase.per_day, phase.in_total, phase.failed_per_day))


def _counted(user: User, phases: Sequence[Phase]) -> Iterable[Mapping[str, Any]]:
    """By phase. Only scores use places up; attempts without a score have a limit of their own."""
    state, today = Attempt.State, Q(settled_at__gt=timezone.now() - DAY)
    charged_today, failed_today = Q(state=state.CHARGED) & today, Q(state=state.FAILED) & today
    attempts = Attempt.objects.filter(user=user, phase__in=phases).order_by()
    return attempts.values("phase").annotate(
        held=Count("pk", filter=Q(state=state.HELD)),
        charged=Count("pk", filter=Q(state=state.CHARGED)),
        charged_today=Count("pk", filter=charged_today),
        first_today=Min("settled_at", filter=charged_today),
        failed_today=Count("pk", filter=failed_today),
        first_failed=Min("settled_at", filter=failed_today),
    )


def _standing(phase: Phase, found: Mapping[str, Any]) -> Standing:
    held = found.get("held", 0)
    return Standing(
        phase=phase,
        day=_allowance(
            "scores within 24 hours",
            phase.per_day,
            found.get("charged_today", 0),
            held,
            found.get("first_today"),
        ),
        total=_allowance("scores", phase.in_total, found.get("charged", 0), held, None),
        failed=_allowance(
            "attempts without a score within 24 hours",
            phase.failed_per_day,
            found.get("failed_today", 0),
            0,
            found.get("first_failed"),
        ),
    )


def _allowance(
    name: str, limit: int | None, used: int, held: int, first: datetime | None
) -> Allowance | None:
    if limit is None:
        return None
    is_spent = used + held >= limit
    return Allowance(name, limit, used, held, first + DAY if first and is_spent else None)


def moment(phase: Phase, when: datetime | None) -> str:
    """A time in the phase's own time zone, which it names: “21 November 2026, 14:05 UTC”."""
    if when is None:
        return ""
    zone = UTC if phase.time_zone == "UTC" else ZoneInfo(phase.time_zone)
    return f"{when.astimezone(zone):%-d %B %Y, %H:%M} {phase.time_zone}"
