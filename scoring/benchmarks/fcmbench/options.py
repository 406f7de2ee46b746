"""The options of FCMBench: all that can change a figure."""

from collections.abc import Mapping

from scoring.benchmarks.base import Options
from scoring.benchmarks.options import Option, complete_options

OPTIONS = (Option("missing", "zero", choices=("zero", "skip")),)


def check_options(raw: Mapping[str, object]) -> Options:
    """Complete, canonical options; raises OptionError.

    >>> check_options({})
    {'missing': 'zero'}
    """
    return complete_options(OPTIONS, raw)
