"""Holds a judge's rows against gold and prediction. What a text can refute does not stand.

Every count is made here from the checked rows; a judge's own counts are never read.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from scoring.metrics.facts import MISSING, Page, Verdict, read_prediction
from scoring.metrics.facts.errors import explain, worst
from scoring.metrics.facts.gold_facts import GoldFact, gold_fact
from scoring.metrics.facts.occurrences import (
    Occurrence,
    errors_around,
    find_occurrences,
    stands_alone,
)

from .schema import FactRow

# What matched text that equals the value makes of a fact: found, as the paper wants the same place,
# or correct, as the script of the later release has it.
Override = Literal["paper", "reference"]
OVERRIDES: tuple[Override, ...] = ("paper", "reference")

_MOST_OCCURRENCES = 1000

NOT_THERE = "the matched text does not stand in the prediction"
NOTHING_NAMED = "no matched text was named"
IS_VALUE = "the matched text is the value"
NOT_VALUE = "the matched text is not the value"
NOT_ALONE = "the value stands nowhere for itself"
TAKEN = "other facts with this value have all its occurrences"


@dataclass(frozen=True)
class Overrule:
    """A row that does not stand: what the judge said of fact `n`, what stands, and why."""

    n: int
    said_found: bool
    said_correct: bool
    said_matched_text: str
    found: bool
    correct: bool
    why: str


@dataclass(frozen=True)
class Checked:
    """A verdict per gold fact, in order, and what was overruled."""

    verdicts: list[Verdict]
    overruled: list[Overrule]


@dataclass(frozen=True)
class _Claim:
    """A row, its matched text normalised, and what of it stands so far."""

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
    """The verdicts that stand, from a row for every fact of `gold`; raises KeyError without.

    Matched text that does not stand in the prediction's visible text is no match: not found, not
    correct. Matched text that is the value, typography aside, makes a fact found; with
    `reference` correct, and there ends the check. Correct stands only where the matched text is the
    value, the value stands for itself (not inside a longer number), and no more facts claim it
    than it has occurrences; of too many, the first ones keep it.
    """
    text = prediction.normalised.text
    claims = [
        _checked(gold_fact(fact, gold.normalised), rows[fact.n], text, override)
        for fact in gold.facts
    ]
    if override == "paper":
        claims = _share_out(claims, text)
    return Checked(
        [_verdict(claim, prediction) for claim in claims],
        [_overrule(claim) for claim in claims if claim.why],
    )


def _checked(fact: GoldFact, row: FactRow, text: str, override: Override) -> _Claim:
    """The row held against the text alone."""
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


def _share_out(claims: Sequence[_Claim], text: str) -> list[_Claim]:
    """Correct claims of equal values share out the occurrences where the value stands alone."""
    groups: defaultdict[tuple[str, str], list[_Claim]] = defaultdict(list)
    for claim in claims:
        if claim.correct:
            groups[claim.fact.value, claim.fact.kind].append(claim)
    refuted: dict[int, _Claim] = {}
    for (value, _), group in groups.items():
        occurrences = find_occurrences(text, value, limit=_MOST_OCCURRENCES)
        free = list(occurrences)
        for claim in group:
            own = next((each for each in free if _is_alone(claim.fact, each)), None)
            if own is not None:
                free.remove(own)
                continue
            is_taken = any(_is_alone(claim.fact, each) for each in occurrences)
            refuted[claim.fact.n] = claim.but(
                found=not is_taken, correct=False, why=TAKEN if is_taken else NOT_ALONE
            )
    return [refuted.get(claim.fact.n, claim) for claim in claims]


def _is_alone(fact: GoldFact, occurrence: Occurrence) -> bool:
    return stands_alone(fact.value, fact.kind, occurrence, fact.place)


def _verdict(claim: _Claim, prediction: Page) -> Verdict:
    """The place is told where the matched text stands once: a judge does not say which it means."""
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
    """The error type of what was matched: of the exact value what touches it, and where nothing
    does, its place."""
    fact = claim.fact
    if claim.form != fact.value:
        error = explain(fact.value, claim.form, fact.kind, fact.place.before, fact.place.behind)
        return error or "other"
    occurrences = find_occurrences(text, fact.value, limit=_MOST_OCCURRENCES)
    if any(_is_alone(fact, each) for each in occurrences):
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
