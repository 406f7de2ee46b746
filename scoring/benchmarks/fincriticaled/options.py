"""The options of FinCriticalED: all that can change a figure."""

from collections.abc import Mapping

from portal.facts.spans import LABEL_SETS
from scoring.benchmarks.base import Options
from scoring.benchmarks.options import Option, complete_options
from scoring.judge.checks import OVERRIDES

from .labels import canonical_labels
from .matchers import canonical_beside, canonical_matcher, check_pair, judge_model

_MATCHER = Option("matcher", "aligned", canonical=canonical_matcher)
_BESIDE = Option("beside", "", canonical=canonical_beside)
OPTIONS = (
    Option("labels", ",".join(LABEL_SETS["v1"]), canonical=canonical_labels),
    _MATCHER,
    _BESIDE,
    Option("text", "visible", choices=("visible", "markup")),
    Option("missing", "zero", choices=("zero", "skip")),
)
# How far a judge's word is overruled: there only where one is asked.
OVERRIDE = Option("override", OVERRIDES[0], choices=OVERRIDES)


def check_options(raw: Mapping[str, object]) -> Options:
    """Complete, canonical options; raises OptionError.

    >>> check_options({"labels": "v1", "missing": "skip"})["missing"]
    'skip'
    >>> chosen = check_options({"matcher": "judge(gpt-4o)"})
    >>> chosen["matcher"], chosen["override"]
    ('judge(gpt-4o,facts-1)', 'paper')
    """
    asked = {o.name: o.check(raw.get(o.name, o.default)) for o in (_MATCHER, _BESIDE)}
    known = (*OPTIONS, OVERRIDE) if judge_model(asked) else OPTIONS
    options = complete_options(known, raw)
    check_pair(options)
    return options
