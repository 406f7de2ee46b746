"""What a matcher says of a fact."""

from dataclasses import dataclass

# Every fact that is not correct has one of these. METRICS: what each means stands in the
# benchmark's card.
ERROR_TYPES = (
    "missing",
    "sign",
    "decimal",
    "separator",
    "unit",
    "digit",
    "date",
    "truncated",
    "merged",
    "misplaced",
    "spacing",
    "other",
)


@dataclass(frozen=True)
class Verdict:
    """The verdict on one gold fact.

    `correct` implies `found`; `found` says that a recognisable form stands in the prediction.
    `matched_text` is that form, at `[start, end)` of the prediction's visible text (None when
    nothing was found). `error` is one of ERROR_TYPES, or None for a correct fact.

    `confidence` says how surely the matched place is the fact's place, in [0, 1]: strength times
    (1 + margin) / 2. The strength is half of the place's score (see PlaceJudge.fit, and 3 more or
    less where a table's headers speak), cut to [0, 1]; the margin is what that score is ahead of
    the next best occurrence of the value, at most 1. None where nothing was found, and from a
    matcher that sees no places.
    """

    correct: bool
    found: bool
    matched_text: str | None
    start: int | None
    end: int | None
    error: str | None
    confidence: float | None


MISSING = Verdict(False, False, None, None, None, "missing", None)
