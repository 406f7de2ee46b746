"""The options of CC-OCR: all that can change a figure."""

from collections.abc import Mapping

from scoring.benchmarks.base import Options
from scoring.benchmarks.options import Option, complete_options
from scoring.metrics.reading import UnitRule

REFERENCE, PAPER = "reference", "paper"

# In the evaluator Arabic is read by characters, while the paper names Chinese, Japanese and Korean
# alone.
OPTIONS = (Option("units", REFERENCE, choices=(REFERENCE, PAPER)),)
_BY_CHARACTERS = {
    REFERENCE: frozenset({"Arabic", "Japanese", "Korean"}),
    PAPER: frozenset({"Japanese", "Korean"}),
}


def check_options(raw: Mapping[str, object]) -> Options:
    """Complete, canonical options; raises OptionError.

    >>> check_options({})
    {'units': 'reference'}
    """
    return complete_options(OPTIONS, raw)


def unit_rule(track: str, subset: str, options: Options) -> UnitRule:
    """What the basic units of a subset are.

    >>> unit_rule("multi_scene", "FUNSD", check_options({}))
    UnitRule(characters=False, alphanumeric=True)
    """
    characters = subset in _BY_CHARACTERS[options["units"]] or "zh" in subset
    return UnitRule(characters, alphanumeric=track == "multi_scene" and not characters)
