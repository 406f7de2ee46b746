"""The scores of one page in the form in which the paper's judge gives them."""

from collections.abc import Mapping, Sequence
from typing import Any

from scoring.metrics.facts import Fact, Verdict

ENTITY_POINTS = 5
STRUCTURE_POINTS = 2
MOST_POINTS = 10
# The paper wants the score of a severely broken structure lowered, and gives no number.
MOST_WITHOUT_STRUCTURE = 3

Summary = dict[str, Any]


def overall_score(structure_score: int, entity_score: float) -> float:
    """2 · structure + entity score, in [0, 10]; with structure 0 at most 3. Higher is better.

    Source: FinCriticalED, appendix C, step 4.

    >>> overall_score(2, 4.5), overall_score(1, 3.05), overall_score(0, 5.0)
    (8.5, 5.05, 3.0)
    """
    most = MOST_POINTS if structure_score else MOST_WITHOUT_STRUCTURE
    return min(max(STRUCTURE_POINTS * structure_score + entity_score, 0.0), float(most))


def page_summary(
    structure_score: int, facts: Sequence[Fact], verdicts: Sequence[Verdict]
) -> Summary:
    """Counts and scores from the verdicts that stand, unrounded.

    `entity_accuracy` = correct / all facts in [0, 1], `entity_score` 5 times that; both and
    `overall_score` are None on a page without facts.
    """
    correct = [fact for fact, verdict in zip(facts, verdicts, strict=True) if verdict.correct]
    accuracy = len(correct) / len(facts) if facts else None
    points = None if accuracy is None else ENTITY_POINTS * accuracy
    return {
        "structure_score": structure_score,
        "total_entities": len(facts),
        **_by_type("total_entities", facts, facts),
        "correct_entities": len(correct),
        **_by_type("correct_entities", correct, facts),
        "entity_accuracy": accuracy,
        "entity_score": points,
        "overall_score": None if points is None else overall_score(structure_score, points),
    }


def mean_summary(summaries: Sequence[Mapping[str, Any]]) -> Summary:
    """Of many pages: facts are summed and their accuracy is that of the sums; structure and overall
    score are means over pages (of overall score those with facts). None where there are none."""
    total = sum(page["total_entities"] for page in summaries)
    correct = sum(page["correct_entities"] for page in summaries)
    accuracy = correct / total if total else None
    return {
        "structure_score": _mean([page["structure_score"] for page in summaries]),
        "total_entities": total,
        "correct_entities": correct,
        "entity_accuracy": accuracy,
        "entity_score": None if accuracy is None else ENTITY_POINTS * accuracy,
        "overall_score": _mean(
            [page["overall_score"] for page in summaries if page["overall_score"] is not None]
        ),
    }


def _by_type(name: str, counted: Sequence[Fact], facts: Sequence[Fact]) -> dict[str, int]:
    types = dict.fromkeys(fact.type for fact in facts)
    return {f"{name}_with_{kind}_type": sum(f.type == kind for f in counted) for kind in types}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
