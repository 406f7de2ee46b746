"""The options of ReceiptBench: all that can change a figure."""

from collections.abc import Mapping

from scoring.benchmarks.base import OptionError, Options
from scoring.benchmarks.options import Option, complete_options
from scoring.metrics.receipt_lists import WEIGHTS

OPTIONS = (
    Option("weights", "C", choices=tuple(WEIGHTS)),
    Option("mismatch", "both", choices=("both", "fp")),
    Option("missing", "zero", choices=("zero", "skip")),
)


def check_options(raw: Mapping[str, object], *, has_embedding: bool = False) -> Options:
    """Complete, canonical options; raises OptionError.

    Weights with a share for an embedding are refused where there is none.

    >>> check_options({"mismatch": "fp"})
    {'weights': 'C', 'mismatch': 'fp', 'missing': 'zero'}
    """
    options = complete_options(OPTIONS, raw)
    if WEIGHTS[options["weights"]].embedding and not has_embedding:
        raise OptionError(
            f"option weights: {options['weights']} needs a sentence embedding, and none is set up; "
            "C does without"
        )
    return options
