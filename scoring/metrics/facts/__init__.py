"""Fact metrics: is every fact of a gold page recovered, and if not, what went wrong?

`page` reads gold and predictions, and a matcher (`match_aligned`, `match_substring`) gives a
verdict per fact. All are pure functions over plain values. The card of the benchmark
`fincriticaled` explains the verdicts.
"""

from collections.abc import Callable

from portal.facts.spans import Fact

from .matchers import ERROR_TYPES, MISSING, UNITS, Verdict, match_aligned, match_substring
from .page import FactTagError, Page, read_page, read_prediction

# All matchers have one signature, so that a benchmark can select one by name.
MATCHERS: dict[str, Callable[[Page, Page], list[Verdict]]] = {
    "aligned": match_aligned,
    "substring": match_substring,
}

__all__ = [
    "ERROR_TYPES",
    "MATCHERS",
    "MISSING",
    "UNITS",
    "Fact",
    "FactTagError",
    "Page",
    "Verdict",
    "match_aligned",
    "match_substring",
    "read_page",
    "read_prediction",
]
