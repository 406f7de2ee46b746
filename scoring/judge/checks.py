"""Checks a judge's rows against gold and prediction, and overrules claims that the text refutes.

All counts come from the checked rows, never from the judge. The scores of a page have the form of
the paper's judge.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from scoring.metrics.facts import MISSING, Fact, Page, Verdict, read_prediction
from scoring.metrics.facts.errors import explain, worst
from scoring.metrics.facts.occurrences import (
    GoldFact,
    Occurrence,
    errors_around,
    find_occurrences,
    gold_fact,
    is_whole_value,
)

from .questions import FactRow

# The effect of matched text that equals the value: the fact is found (“paper”, which also wants the
# same place) or correct (“reference”, like the script of the later release).
Override = Literal["paper", "reference"]
OVERRIDES: tuple[Override, ...] = ("paper", "reference")

_MOST_OCCURRENCES = 1000

NOT_THERE = "the matched text is not in the prediction"
NOTHING_NAMED = "there is no matched text"
IS_VALUE = "the matched text is the value"
NOT_VALUE = "the matched text is not the value"
NOT_ALONE = "the value occurs only inside longer values"
TAKEN = "other facts with this value account for all its occurrences"


@dataclass(frozen=True)
class Overrule:
    """An overruled row: the judge's claim about fact `n`, the verdict after the check, and why."""

    n: int
    said_found: bool
    said_correct: bool
    said_matched_text: str
    found: bool
    correct: bool
    why: str


@dataclass(frozen=True)
class Checked:
    """A verdict per gold fact, in order, and the overruled rows."""

    verdicts: list[Verdict]
    overruled: list[Overrule]


@dataclass(frozen=True)
class _Claim:
    """A row with its normalised matched text and its verdict so far."""

    fact: GoldFact
    row: FactRow
    form: str
    found: bool
    correct: bool
    why: str = ""

    def but(self, *, found: bool, correct: bool, why: str) -> "_Claim":
        if (found, correct) == (self.found, self.correct):
            return self
        return _Claim(self.fact, self.row, self.form, found, correct, why)


def check_rows(
    gold: Page, prediction: Page, rows: Mapping[int, FactRow], override: Override = "paper"
) -> Checked:
    """The checked verdicts, from one row for every fact of `gold`. Raises KeyError if one is
    missing.

    Without matched text in the prediction's visible text, a fact is neither found nor correct. If
    the matched text is the value, apart from typography, the fact is found; with `reference` it is
    correct and the check ends. With `paper` a claim of correct holds only if the matched text is
    the value, occurs outside of longer numbers, and has enough occurrences for all facts that claim
    it; the first facts get them.
    """
    text = prediction.normalised.text
    claims = [
        _checked(gold_fact(fact, gold.normalised), rows[fact.n], text, override)
        for fact in gold.facts
    ]
    if override == "paper":
        claims = _assign_occurrences(claims, text)
    return Checked(
        [_verdict(claim, prediction) for claim in claims],
        [_overrule(claim) for claim in claims if claim.why],
    )


def _checked(fact: GoldFact, row: FactRow, text: str, override: Override) -> _Claim:
    """Checks the row against the text only."""
    form = read_prediction(row.matched_text).normalised.text.strip()
    claim = _Claim(fact, row, form, row.found, row.correct)
    if not form:
        return claim.but(found=False, correct=False, why=NOTHING_NAMED)
    if form not in text:
        return claim.but(found=False, correct=False, why=NOT_THERE)
    if form == fact.value:
        is_correct = row.correct or override == "reference"
        return claim.but(found=True, correct=is_correct, why=IS_VALUE)
    if row.correct:
        return claim.but(found=True, correct=False, why=NOT_VALUE)
    return claim


def _assign_occurrences(claims: Sequence[_Claim], text: str) -> list[_Claim]:
    """Assigns occurrences outside of longer values to the correct claims of equal values."""
    groups: defaultdict[tuple[str, str], list[_Claim]] = defaultdict(list)
    for claim in claims:
        if claim.correct:
            groups[claim.fact.value, claim.fact.kind].append(claim)
    refuted: dict[int, _Claim] = {}
    for (value, _), group in groups.items():
        occurrences = find_occurrences(text, value, limit=_MOST_OCCURRENCES)
        free = list(occurrences)
        for claim in group:
            own = next((place for place in free if _is_alone(claim.fact, place)), None)
            if own is not None:
                free.remove(own)
                continue
            is_taken = any(_is_alone(claim.fact, place) for place in occurrences)
            refuted[claim.fact.n] = claim.but(
                found=not is_taken, correct=False, why=TAKEN if is_taken else NOT_ALONE
            )
    return [refuted.get(claim.fact.n, claim) for claim in claims]


def _is_alone(fact: GoldFact, occurrence: Occurrence) -> bool:
    return is_whole_value(fact.value, fact.kind, occurrence, fact.place)


def _verdict(claim: _Claim, prediction: Page) -> Verdict:
    """The verdict has a position only if the matched text occurs once: otherwise it is unknown
    which occurrence the judge means."""
    if not claim.found:
        return MISSING
    text = prediction.normalised
    at = text.text.find(claim.form)
    is_only = text.text.find(claim.form, at + 1) < 0
    start, end = text.source_span(at, at + len(claim.form))
    return Verdict(
        correct=claim.correct,
        found=True,
        matched_text=prediction.text[start:end],
        start=start if is_only else None,
        end=end if is_only else None,
        error=None if claim.correct else _error(claim, text.text),
        confidence=None,
    )


def _error(claim: _Claim, text: str) -> str:
    """The error type of the matched text. For the exact value it is that of the surrounding text,
    or “misplaced” if it occurs alone."""
    fact = claim.fact
    if claim.form != fact.value:
        error = explain(fact.value, claim.form, fact.kind, fact.place.before, fact.place.behind)
        return error or "other"
    occurrences = find_occurrences(text, fact.value, limit=_MOST_OCCURRENCES)
    if any(_is_alone(fact, place) for place in occurrences):
        return "misplaced"
    return worst(errors_around(fact.value, fact.kind, occurrences[0], fact.place)) or "other"


def _overrule(claim: _Claim) -> Overrule:
    row = claim.row
    return Overrule(
        n=claim.fact.n,
        said_found=row.found,
        said_correct=row.correct,
        said_matched_text=row.matched_text,
        found=claim.found,
        correct=claim.correct,
        why=claim.why,
    )


ENTITY_POINTS = 5
STRUCTURE_POINTS = 2
MOST_POINTS = 10
# The paper lowers the score of a severely broken structure without giving a number.
MOST_WITHOUT_STRUCTURE = 3

Summary = dict[str, Any]


def overall_score(structure_score: int, entity_score: float) -> float:
    """2 · structure + entity score, in [0, 10]; at most 3 if structure is 0. Higher is better.

    Source: FinCriticalED, appendix C, step 4.

    >>> overall_score(2, 4.5), overall_score(1, 3.05), overall_score(0, 5.0)
    (8.5, 5.05, 3.0)
    """
    most = MOST_POINTS if structure_score else MOST_WITHOUT_STRUCTURE
    return min(max(STRUCTURE_POINTS * structure_score + entity_score, 0.0), float(most))


def page_summary(
    structure_score: int, facts: Sequence[Fact], verdicts: Sequence[Verdict]
) -> Summary:
    """Counts and scores from the checked verdicts, unrounded.

    `entity_accuracy` is correct / all facts, in [0, 1], and `entity_score` 5 times that. Both and
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
    """The summary of many pages. Facts are summed, and their accuracy is that of the sums.
    Structure score is a mean over pages, overall score over pages with facts. None without any."""
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
