"""What a board's leaderboard depends on, read in one query: for ETags, and for the page itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, QuerySet

from portal.accounts.access import is_organiser
from portal.datasets.models import Dataset
from portal.web.conditional import etag_of
from portal.web.prepared import Parameter, Prepared
from scoring.access import Viewer, board_for, is_time_to_tell
from scoring.models import Board, Phase
from scoring.models.boards import BoardQuerySet, PhaseWindow, windows_of, with_releases


@dataclass(frozen=True)
class StampedBoard:
    """A board with its phases, oldest first, and their releases and datasets."""

    board: Board
    windows: Sequence[PhaseWindow]

    def etag(self, user: Viewer, asked: Mapping[str, Any]) -> str:
        """Of the leaderboard for this reader: rows are counted by the board's revision, all else
        is here, the phases' windows at this moment too."""
        parts = [
            [
                _fields(each.phase),
                _fields(each.phase.release),
                _fields(each.phase.release.dataset),
                each.window,
                is_time_to_tell(each.phase),
            ]
            for each in self.windows
        ]
        return etag_of(_fields(self.board), parts, dict(asked), is_organiser(user))

    def stamp(self, user: Viewer, asked: Mapping[str, Any]) -> str:
        """Under which the table may be kept for readers like this one; empty where something is
        shown that no stamp counts."""
        is_counted = bool(self.windows) and not self.has_variants
        return self.etag(user, asked) if is_counted else ""

    @property
    def has_variants(self) -> bool:
        """Whether rows of other boards may be shown beside, which no stamp of this one counts."""
        datasets: list[Dataset] = [each.phase.release.dataset for each in self.windows]
        return any(dataset.derived_from_id is not None for dataset in datasets)


def _phases_of(boards: BoardQuerySet) -> QuerySet[Phase]:
    phases = Phase.objects.filter(board__slug=Parameter("slug"), board__in=boards)
    return with_releases(phases).select_related("board", "release__dataset")


# Asked for with every leaderboard, also where it has not changed.
_ALL_PHASES = Prepared(lambda: _phases_of(Board.objects.all()))
_PUBLISHED_PHASES = Prepared(lambda: _phases_of(Board.objects.published()))


def stamped_board(user: Viewer, slug: str) -> StampedBoard:
    """404 unless the user may see the board. One query; two for a board without phases."""
    phases = _ALL_PHASES if is_organiser(user) else _PUBLISHED_PHASES
    found = phases.rows(slug=slug)
    if not found:
        return StampedBoard(board_for(user, slug), [])
    board = found[0].board
    return StampedBoard(board, windows_of(board, found))


def _fields(row: Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
