"""The count of changes of a board: tells a reader's copy of its leaderboard from a newer one."""

from typing import Any

from django.db.models import F

from portal.accounts.models import Team
from scoring.models import Board


def bump_board(board_id: int) -> None:
    """In the transaction that writes, changes or deletes entries; what the board and its phases say
    of themselves is looked at without. The board is the last row to be locked."""
    Board.objects.filter(pk=board_id).update(revision=F("revision") + 1)


def bump_boards_of_team(instance: Team, **_: Any) -> None:
    """After a team was saved: its name stands in the rows of its submissions."""
    boards = Board.objects.filter(entries__grading__submission__team=instance).values("pk")
    Board.objects.filter(pk__in=boards).update(revision=F("revision") + 1)
