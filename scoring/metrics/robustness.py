"""Robustness: how much of a score is kept under harder conditions.

Source: FCMBench (arXiv 2601.00150), section 3.4: F1 per capture condition, divided by the F1 on
normal captures.
"""

import math
from collections.abc import Mapping


def relative_scores(scores: Mapping[str, float | None], baseline: str) -> dict[str, float | None]:
    """Each condition's score divided by that of the baseline condition; higher is better.

    `scores` are rates in [0, 1]; a ratio is at least 0 and may exceed 1. None where the condition
    has no score, and everywhere when the baseline has none or scores 0. The baseline's own ratio,
    1, is among them.

    >>> relative_scores({"normal": 0.8, "blur": 0.4, "glare": None}, "normal")
    {'normal': 1.0, 'blur': 0.5, 'glare': None}
    """
    base = scores.get(baseline)
    return {
        condition: score / base if score is not None and base else None
        for condition, score in scores.items()
    }


def mean_relative_score(scores: Mapping[str, float | None], baseline: str) -> float | None:
    """Mean of the ratios of all conditions but the baseline; None when there is no ratio.

    >>> mean_relative_score({"normal": 0.5, "blur": 0.25, "glare": 0.5}, "normal")
    0.75
    """
    ratios = [
        ratio
        for condition, ratio in relative_scores(scores, baseline).items()
        if condition != baseline and ratio is not None
    ]
    return math.fsum(ratios) / len(ratios) if ratios else None
