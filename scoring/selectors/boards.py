"""What the list of boards shows, and which phases take submissions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, Prefetch, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from portal.accounts.access import is_organiser
from scoring.access import Viewer, may_open_release, visible_boards
from scoring.models import Board, Entry, Phase, Window
from scoring.models.boards import PhaseWindow, phase_windows


@dataclass(frozen=True)
class BoardLine:
    """One board in the list."""

    board: Board
    benchmark: str
    graded: int
    reported: int
    phases: tuple[PhaseWindow, ...]


def list_boards(user: Viewer) -> list[BoardLine]:
    """The boards this user may see, by title. Two queries."""
    return board_lines(boards_for_list(user))


def boards_for_list(user: Viewer) -> QuerySet[Board]:
    """By title, with all that a line shows of them."""
    phases = Phase.objects.select_related("release__dataset").order_by("id")
    return (
        visible_boards(user)
        .annotate(
            graded=Count("entries", filter=Q(entries__kind=Entry.Kind.GRADED)),
            reported=Count("entries", filter=Q(entries__kind=Entry.Kind.REPORTED)),
        )
        .prefetch_related(Prefetch("phases", queryset=phases))
        .order_by("title", "id")
    )


def board_lines(boards: Iterable[Board]) -> list[BoardLine]:
    now = timezone.now()
    return [_line(board, now) for board in boards]


def is_open_to(window: PhaseWindow, user: Viewer) -> bool:
    """Whether the phase takes this user's submissions now; organisers may try out a draft."""
    states = {Board.State.OPEN} | ({Board.State.DRAFT} if is_organiser(user) else set())
    return window.window == Window.OPEN and window.phase.board.state in states


def phases_for(user: Viewer, board: Board) -> list[Phase]:
    """The phases that take this user's submissions now."""
    return [each.phase for each in phase_windows(board) if is_open_to(each, user)]


def phase_ids(phase: Phase) -> list[str]:
    """The ids of what is graded, in its order. One query."""
    return list(phase.items.order_by("position").values_list("name", flat=True))


def precheck_data(user: Viewer, board: Board, phases: Sequence[Phase]) -> dict[str, Any]:
    """What the browser needs to look at a file before it is sent. Ids only where they are open.

    `complete` says by phase why a file must answer every item, where it must.
    """
    ids = {
        phase.pk: reverse("api:phase-ids", args=[board.slug, phase.slug])
        for phase in phases
        if may_open_release(user, phase.release)
    }
    return {
        "limit": settings.UPLOAD_LIMIT,
        "idKeys": board.spec.id_keys,
        "complete": {phase.pk: phase.completeness_rule for phase in phases},
        "ids": ids,
    }


def _line(board: Board, now: datetime) -> BoardLine:
    return BoardLine(
        board=board,
        benchmark=board.spec.title,
        graded=getattr(board, "graded", 0),
        reported=getattr(board, "reported", 0),
        phases=tuple(PhaseWindow(phase, phase.window(now)) for phase in board.phases.all()),
    )
