"""Fact metrics: is every fact of a gold page recovered, and if not, what went wrong?

`page` reads gold and predictions, a matcher (`match_aligned`, `match_substring`) gives a verdict
per fact. Pure functions over plain values; what they mean stands in the card of the benchmark
`fincriticaled`.
"""

from collections.abc import Callable

from .matchers import ERROR_TYPES, MISSING, Verdict, match_aligned, match_substring
from .page import Fact, FactTagError, Page, read_page, read_prediction

# Every matcher has one form, so that a benchmark can choose it by name.
MATCHERS: dict[str, Callable[[Page, Page], list[Verdict]]] = {
    "aligned": match_aligned,
    "substring": match_substring,
}

__all__ = [
    "ERROR_TYPES",
    "MATCHERS",
    "MISSING",
    "Fact",
    "FactTagError",
    "Page",
    "Verdict",
    "match_aligned",
    "match_substring",
    "read_page",
    "read_prediction",
]
