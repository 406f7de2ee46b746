"""The submissions of a leaderboard as a board's judge scores them."""

from dataclasses import dataclass
from typing import Any

from portal.accounts.access import is_organiser
from scoring.access import Viewer
from scoring.leaderboard.disclosure import hides_gold, is_shown_in_parts
from scoring.models import Entry, JudgeRun, Phase


@dataclass(frozen=True)
class SubmissionLine:
    """Scores as shown on the leaderboard; the judge's cover the pages with a verdict."""

    run: JudgeRun
    ffa: float | None
    judged: dict[str, Any]


def judged_submissions(user: Viewer, phase: Phase, version: str) -> list[SubmissionLine]:
    """The submissions on the phase's leaderboard with the newest runs of this version, the judge's
    best first. Two queries.

    Empty if the phase's scores are split in parts, because the judge's scores count all pages, or
    protect hidden gold, because they count only the pages with a verdict.
    """
    if is_shown_in_parts(user, phase) or (hides_gold(phase) and not is_organiser(user)):
        return []
    entries = Entry.objects.filter(phase=phase, kind=Entry.Kind.GRADED).select_related("grading")
    scores = {entry.grading.submission_id: entry.scores for entry in entries if entry.grading}
    runs = JudgeRun.objects.filter(
        submission__in=scores, release=phase.release_id, state=JudgeRun.State.DONE
    ).select_related("submission")
    newest = {run.submission_id: run for run in runs.order_by("id") if run.version == version}
    lines = [
        SubmissionLine(run, scores[pk].get("ffa"), _rounded(phase, run))
        for pk, run in newest.items()
    ]
    return sorted(lines, key=lambda line: -(line.judged["entity_accuracy"] or 0))


def _rounded(phase: Phase, run: JudgeRun) -> dict[str, Any]:
    """The paper's points reveal accuracy and structure, so that rounding phases leave them out."""
    accuracy = run.summary.get("entity_accuracy")
    if phase.score_decimals is not None:
        places = phase.score_decimals + 2
        return {"entity_accuracy": None if accuracy is None else round(accuracy, places)}
    points = {name: run.summary.get(name) for name in ("structure_score", "overall_score")}
    return {"entity_accuracy": accuracy, **points}
