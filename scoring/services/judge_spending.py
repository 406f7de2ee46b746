"""What work spends of a board's month: never beyond the budget, whoever else spends of it.

A row holds what a piece of work has spent and a few calls ahead, all of it counted as spent. It
grows in a transaction that locks the board's endpoint, so two workers never both take the last of
it. Killed, the work leaves the row as it is: too much is counted then, by a few calls, and never
too little.
"""

import threading
from datetime import date

from django.db import connection, transaction

from scoring.models import JudgeEndpoint, JudgeSpending
from scoring.models.judge_endpoints import JudgeSpendingQuerySet, month_of_now

# Calls for which money is set aside at once: a kill costs as many, and the lock is seldom needed.
_AHEAD = 10


class MonthlyAllowance:
    """An `Allowance` over the board's budget per calendar month; without one it only keeps count.

    Used by the threads of one piece of work, opened and closed by one of them, and never inside a
    transaction: what is set aside must be seen by others at once.
    """

    def __init__(self, board_id: int, what: str) -> None:
        self.refusal = ""
        self._board_id = board_id
        self._what = what[: JudgeSpending._meta.get_field("what").max_length]
        self._opener = threading.get_ident()
        self._row: JudgeSpending | None = None
        # Of all that the work has used, what stands in rows of earlier months.
        self._earlier = 0.0

    def covers(self, used: float, cost: float) -> bool:
        row = self._row
        if row and row.month == month_of_now() and used + cost <= self._earlier + row.amount:
            return True
        try:
            return self._grow(used, cost)
        finally:
            # Threads that ask have connections of their own, which nobody else would close.
            if threading.get_ident() != self._opener:
                connection.close()

    @transaction.atomic
    def _grow(self, used: float, cost: float) -> bool:
        locked = JudgeEndpoint.objects.select_for_update().filter(board=self._board_id)
        endpoint = locked.first()
        if endpoint is None:
            self.refusal = "the board's own endpoint was taken away"
            return False
        month = month_of_now()
        self._leave_month(month, used)
        needed = used - self._earlier + cost
        amount = needed + _AHEAD * cost
        if endpoint.budget is not None:
            left = endpoint.budget - self._others(month).total()
            if needed > left:
                self.refusal = self._used_up(endpoint.budget, month)
                return False
            amount = min(amount, left)
        self._write(month, amount)
        return True

    def _others(self, month: date) -> JudgeSpendingQuerySet:
        rows = JudgeSpending.objects.of(self._board_id, month)
        return rows.exclude(pk=self._row.pk) if self._row else rows

    def _used_up(self, budget: float, month: date) -> str:
        told = f"the board's budget of {budget:.10g} for {month:%B %Y} is used up"
        ahead = self._others(month).filter(is_open=True).total()
        return f"{told}, with what is set aside for other work under way" if ahead else told

    def _leave_month(self, month: date, used: float) -> None:
        """What was used before midnight stays in the month in which it was."""
        if self._row is None or self._row.month == month:
            return
        self._settle(self._row, used - self._earlier)
        self._earlier, self._row = used, None

    def _write(self, month: date, amount: float) -> None:
        if self._row is not None:
            JudgeSpending.objects.filter(pk=self._row.pk).update(amount=amount)
            self._row.amount = amount
            return
        if self._what:
            # Left open by a worker that was killed: it stays counted as it stands. To one that is
            # still at it, as another part of the same work, being closed is no matter.
            same = JudgeSpending.objects.filter(board=self._board_id, what=self._what)
            same.filter(is_open=True).update(is_open=False)
        self._row = JudgeSpending.objects.create(
            board_id=self._board_id, month=month, what=self._what, amount=amount
        )

    def close(self, used: float) -> None:
        """The work has ended, having used as much in all."""
        if self._row is not None:
            self._settle(self._row, used - self._earlier)

    def _settle(self, row: JudgeSpending, amount: float) -> None:
        """Rows of nothing are dropped."""
        rows = JudgeSpending.objects.filter(pk=row.pk)
        if amount > 0:
            rows.update(amount=amount, is_open=False)
        else:
            rows.delete()
