"""Where a board's judge answers, and how much of its month is spent."""

from dataclasses import dataclass
from datetime import date

from scoring.models import Board, JudgeEndpoint, JudgeSpending
from scoring.models.judge_endpoints import month_of_now


@dataclass(frozen=True)
class MonthSpent:
    """Money of one calendar month (UTC), in the currency of the prices."""

    month: date
    spent: float
    ahead: float
    """Set aside by work under way, or left so by work that was killed; it counts as spent."""
    budget: float | None

    @property
    def left(self) -> float | None:
        """None without a budget."""
        if self.budget is None:
            return None
        return max(self.budget - self.spent - self.ahead, 0.0)


def endpoint_of(board: Board) -> JudgeEndpoint | None:
    """The board's own; None where its judge is the one that the settings name."""
    return JudgeEndpoint.objects.filter(board=board).select_related("set_by").first()


def spent_this_month(board: Board, endpoint: JudgeEndpoint | None) -> MonthSpent:
    month = month_of_now()
    rows = JudgeSpending.objects.of(board.pk, month)
    return MonthSpent(
        month=month,
        spent=rows.filter(is_open=False).total(),
        ahead=rows.filter(is_open=True).total(),
        budget=endpoint.budget if endpoint else None,
    )
