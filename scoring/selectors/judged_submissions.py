"""What the judge makes of whole submissions, beside what the matcher makes of them."""

from dataclasses import dataclass
from typing import Any

from scoring.access import Viewer
from scoring.models import Entry, JudgeRun, Phase

from .telling import is_told_in_parts, rounded_scores


@dataclass(frozen=True)
class SubmissionLine:
    """Scores as the leaderboard tells them; the judge's are of the pages that have a verdict."""

    run: JudgeRun
    ffa: float | None
    judged: dict[str, Any]


def judged_submissions(user: Viewer, phase: Phase, version: str) -> list[SubmissionLine]:
    """Of the phase's leaderboard, by the newest runs of this version, the judge's best first.

    None where the phase tells its scores in parts: the judge's count all pages. Two queries.
    """
    if is_told_in_parts(user, phase):
        return []
    entries = Entry.objects.filter(phase=phase, kind=Entry.Kind.GRADED).select_related("grading")
    scores = {entry.grading.submission_id: entry.scores for entry in entries if entry.grading}
    runs = JudgeRun.objects.filter(
        submission__in=scores, release=phase.release_id, state=JudgeRun.State.DONE
    ).select_related("submission")
    newest = {run.submission_id: run for run in runs.order_by("id") if run.version == version}
    lines = [
        SubmissionLine(run, scores[pk].get("ffa"), _told(phase, run)) for pk, run in newest.items()
    ]
    return sorted(lines, key=lambda line: -(line.judged["entity_accuracy"] or 0))


def _told(phase: Phase, run: JudgeRun) -> dict[str, Any]:
    """The paper's points follow from accuracy and structure, and are as exact as these."""
    told = rounded_scores(phase, {"entity_accuracy": run.summary.get("entity_accuracy")})
    if phase.score_decimals is None:
        told |= {name: run.summary.get(name) for name in ("structure_score", "overall_score")}
    return told
