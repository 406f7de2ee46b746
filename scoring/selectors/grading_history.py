"""All results that a submission has had: what was graded again stays readable."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404

from scoring.access import Viewer, rights_for
from scoring.benchmarks import deciding_column
from scoring.models import Entry, Grading, RankMove, Submission

from .figures import Figure, columns_of, figure
from .telling import as_told


@dataclass(frozen=True)
class HistoryLine:
    """One result: when, on which gold, by which rules, and the figure its board is ordered by."""

    grading: Grading
    figure: Figure | None
    """None where the reader is told no scores yet."""
    is_current: bool


def gradings_in_force(submission: Submission) -> list[Grading]:
    """All that count or counted, newest first, with their releases. One query."""
    gradings = submission.gradings.in_force().select_related("release__dataset")
    return list(gradings.order_by("-id"))


def readable_results(
    user: Viewer, submission: Submission, gradings: Sequence[Grading]
) -> list[Grading]:
    """Of the submission's gradings in force those that are done; for others than its keepers those
    that stand or stood on the leaderboard, as long as the submission is public."""
    done = [each for each in gradings if each.state == Grading.State.DONE]
    if rights_for(user, submission).is_keeper or not done:
        return done
    if submission.publication != Submission.Publication.PUBLIC:
        return []
    moves = RankMove.objects.filter(submission=submission)
    entries = Entry.objects.filter(grading__submission=submission)
    stood = {
        *moves.values_list("grading_before", flat=True),
        *entries.values_list("grading", flat=True),
    }
    return [each for each in done if each.pk in stood]


def earlier_grading(user: Viewer, submission: Submission, wanted: str) -> Grading:
    """The result of this number; 404 for what is none, or not for this reader."""
    for grading in readable_results(user, submission, gradings_in_force(submission)):
        if str(grading.pk) == wanted:
            return grading
    raise Http404("There is no such result.")


def grading_history(
    user: Viewer, submission: Submission, gradings: Sequence[Grading], current: Grading | None
) -> list[HistoryLine]:
    """Empty where there is no result but the one that counts."""
    if all(each == current for each in gradings if each.state == Grading.State.DONE):
        return []
    results = readable_results(user, submission, gradings)
    return [_line(user, submission, each, is_current=each == current) for each in results]


def _line(
    user: Viewer, submission: Submission, grading: Grading, *, is_current: bool
) -> HistoryLine:
    told = as_told(user, submission.phase, grading)
    if not told.scores:
        return HistoryLine(grading, None, is_current)
    column = deciding_column(columns_of(submission.phase.board.spec, told.options))
    return HistoryLine(grading, figure(column, told.scores, told.counts), is_current)
