"""Financial document accuracy: numbers, line items, sections and disclosures of a statement. See
README.md in this folder."""

from hashlib import sha256

from scoring.benchmarks.base import Benchmark, Options

from .graded import FIELD_GRADES
from .readers import read_gold, read_predictions
from .scorer import (
    CHARTS,
    aggregate,
    check_options,
    columns_for,
    contributions,
    headline_for,
    phrases_of,
    score_item,
    summarise,
)

KEY = "findoc"
VERSION = "1"

# Longer lists appear in the signature as their length and a digest, so that it fits a table.
_LONGEST_LIST = 90


def signature(options: Options) -> str:
    """Return everything that can change a figure, in one line.

    >>> signature(check_options({"sections": "notes", "disclosures": ""}))
    'findoc|v1|matching:exact|sections:notes|disclosures:|missing:zero'
    """
    chosen = (f"{name}:{_short(options, name)}" for name in options)
    return "|".join([KEY, f"v{VERSION}", *chosen])


def _short(options: Options, name: str) -> str:
    value = options[name]
    if len(value) <= _LONGEST_LIST:
        return value
    return f"{len(phrases_of(options, name))} phrases {sha256(value.encode()).hexdigest()[:12]}"


FINDOC = Benchmark(
    key=KEY,
    version=VERSION,
    title="Financial document accuracy",
    check_options=check_options,
    columns_for=columns_for,
    read_gold=read_gold,
    read_predictions=read_predictions,
    score_item=score_item,
    aggregate=aggregate,
    signature=signature,
    summarise=summarise,
    field_grades=FIELD_GRADES,
    contributions=contributions,
    headline_for=headline_for,
    charts=CHARTS,
    example='{"id": "report-2023", "text": "Balance sheet as at March 31 …"}',
    layouts=("a ZIP of ID.txt.",),
)
