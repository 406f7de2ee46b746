"""Receipts: 19 fields compared by the rules of ReceiptBench.

`fields` has the protocol, `values` compares lists, `meaning` texts by their words, `amounts` reads
amounts of any notation, `facts` finds the dates, times, numbers and identifiers of a text, and
`calendars` writes the dates of all calendars and languages in one form. A module imports those
named after it.
"""

from scoring.metrics import Strict

from .fields import (
    DEFAULT,
    DETAIL,
    ERRORS,
    FIELDS,
    SEMANTIC_THRESHOLD,
    TASKS,
    Counts,
    Judge,
    Mismatch,
    Outcome,
    Protocol,
    Rates,
    Rule,
    adds_up,
    compare_field,
    compare_weighted,
    rates,
    receipt_currency,
    receipt_reward,
    strict_counts,
)

__all__ = [
    "DEFAULT",
    "DETAIL",
    "ERRORS",
    "FIELDS",
    "SEMANTIC_THRESHOLD",
    "TASKS",
    "Counts",
    "Judge",
    "Mismatch",
    "Outcome",
    "Protocol",
    "Rates",
    "Rule",
    "Strict",
    "adds_up",
    "compare_field",
    "compare_weighted",
    "rates",
    "receipt_currency",
    "receipt_reward",
    "strict_counts",
]
