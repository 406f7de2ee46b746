"""What a leaderboard's table looks like, before any of its rows is read."""

from dataclasses import dataclass

from scoring.benchmarks import Column, View
from scoring.models import Board, Phase

from .headings import BoardColumn, Sort, board_columns, of_groups


@dataclass(frozen=True)
class TableFrame:
    """One table of a board: the benchmark's own, or that of a view."""

    views: tuple[View, ...]
    view: View | None
    columns: tuple[BoardColumn, ...]
    ranking: tuple[BoardColumn, ...]
    """All columns of the table, those that the board does not show too."""
    sort: Sort


def table_frame(board: Board, phase: Phase | None, sort: str = "", *, view: str = "") -> TableFrame:
    """`view` is the key of one of the benchmark's views; any other gives the benchmark's own table.
    Without a `sort` it is the board's own. No query."""
    views = board_views(board, phase)
    chosen = next((each for each in views if each.key == view), None)
    ranking = board_columns(chosen.columns if chosen else main_columns(board, phase))
    columns = ranking if chosen else of_groups(ranking, board.column_groups)
    order = Sort.parse(sort or board.default_sort, columns)
    return TableFrame(views, chosen, columns, ranking, order)


def main_columns(board: Board, phase: Phase | None) -> tuple[Column, ...]:
    return board.spec.columns if phase is None else phase.columns


def board_views(board: Board, phase: Phase | None) -> tuple[View, ...]:
    spec = board.spec
    return spec.views_for(spec.check_options({} if phase is None else phase.options))
