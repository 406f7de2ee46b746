"""Near-identical submissions, as organisers are told of them. Nobody else is."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet

from scoring.models import Board, Likeness, Submission

from .figures import show

PER_PAGE = 20


@dataclass(frozen=True)
class AlikeLine:
    """A pair as it is seen from one of the two: the other one, and how many answers are alike."""

    submission: Submission
    counterpart: Submission
    same: int
    compared: int

    @property
    def share(self) -> str:
        return show(self.same / self.compared, decimals=1)


def alike_lines(submission: Submission) -> list[AlikeLine]:
    """The pairs of which the submission is one, most alike first. One query."""
    pairs = _pairs().filter(Q(submission=submission) | Q(counterpart=submission))
    lines = [
        AlikeLine(
            submission,
            pair.counterpart if pair.submission_id == submission.pk else pair.submission,
            pair.same,
            pair.compared,
        )
        for pair in pairs
    ]
    return sorted(lines, key=lambda line: -line.same / line.compared)


@dataclass(frozen=True)
class AlikeList:
    page: Page[Likeness]
    lines: list[AlikeLine]


def board_likenesses(board: Board, page: str = "1") -> AlikeList:
    """The pairs of a board, newest first. Two queries."""
    shown = Paginator(board_pairs(board), PER_PAGE).get_page(page)
    return AlikeList(shown, pair_lines(shown))


def board_pairs(board: Board) -> QuerySet[Likeness]:
    return _pairs().filter(submission__phase__board=board).order_by("-id")


def pair_lines(pairs: Iterable[Likeness]) -> list[AlikeLine]:
    return [
        AlikeLine(pair.submission, pair.counterpart, pair.same, pair.compared) for pair in pairs
    ]


def _pairs() -> QuerySet[Likeness]:
    return Likeness.objects.select_related(
        "submission__owner", "submission__phase", "counterpart__owner", "counterpart__phase"
    )
