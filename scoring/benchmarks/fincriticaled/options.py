"""The options of FinCriticalED: all that can change a figure."""

from collections.abc import Mapping

from portal.facts.labels import LABEL_SETS
from scoring.benchmarks.base import Options
from scoring.benchmarks.options import Option, complete_options
from scoring.metrics.facts import MATCHERS

from .labels import canonical_labels

OPTIONS = (
    Option("labels", ",".join(LABEL_SETS["v1"]), canonical=canonical_labels),
    Option("matcher", "aligned", choices=tuple(MATCHERS)),
    Option("text", "visible", choices=("visible", "markup")),
    Option("missing", "zero", choices=("zero", "skip")),
)


def check_options(raw: Mapping[str, object]) -> Options:
    """Complete, canonical options; raises OptionError.

    >>> check_options({"labels": "v1", "missing": "skip"})
    {'labels': 'Number,Date', 'matcher': 'aligned', 'text': 'visible', 'missing': 'skip'}
    """
    return complete_options(OPTIONS, raw)
