"""The file by which a sample board can be tried: one of its sample submissions."""

from dataclasses import dataclass
from pathlib import PurePath

from scoring.models import Board, Submission


@dataclass(frozen=True)
class ExampleFile:
    """A published sample submission, whose file anybody may download, and its phase."""

    submission: Submission

    @property
    def name(self) -> str:
        """Tells the downloads of several boards apart."""
        board = self.submission.phase.board.slug
        return f"{board}-{PurePath(self.submission.filename).name}"


def example_file(board: Board) -> ExampleFile | None:
    """The first sample submission of a sample board to a phase whose gold is open.

    Where gold is hidden no file is given away, for outputs may tell of it. One query, none on
    boards that are no sample.
    """
    if not board.is_sample:
        return None
    found = (
        Submission.objects.filter(
            phase__board=board,
            is_sample=True,
            publication=Submission.Publication.PUBLIC,
            withdrawn_at=None,
        )
        .select_related("phase__release__dataset")
        .order_by("phase_id", "id")
    )
    for submission in found:
        submission.phase.board = board
        if submission.phase.release.opens(submission.phase.split):
            return ExampleFile(submission)
    return None
