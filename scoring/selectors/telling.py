"""What of a grading's figures a reader is told: a hidden phase may round them, or tell them later.

Organisers read everything. Where figures are rounded, whatever could undo that is left out: counts,
parts, and the scores of single items.
"""

from collections.abc import Mapping
from copy import copy
from typing import Any

from scoring.access import Viewer, are_scores_told, is_rounding
from scoring.models import Grading, Phase


def as_told(user: Viewer, phase: Phase, grading: Grading) -> Grading:
    """The grading with the figures that this reader may know. It must not be saved."""
    shown = copy(grading)
    if not are_scores_told(user, phase):
        shown.scores, shown.counts, shown.subsets = {}, {}, {}
    elif is_rounding(user, phase):
        shown.scores = rounded_scores(phase, grading.scores)
        shown.counts, shown.subsets = {}, {}
    return shown


def rounded_scores(phase: Phase, scores: Mapping[str, Any]) -> dict[str, Any]:
    """Scores to as many decimals of a percentage as the phase tells; as they are if it does not.

    A score is a rate in [0, 1], so that one decimal of a percentage is the third of the rate.
    """
    if phase.score_decimals is None:
        return dict(scores)
    places = phase.score_decimals + 2
    return {key: None if value is None else round(value, places) for key, value in scores.items()}
