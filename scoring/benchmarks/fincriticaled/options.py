"""The options of FinCriticalED. They hold everything that can change a figure.

They name the label set, which says which fact tags count, and the matchers: the one that the board
ranks by, and others to compare it with.
"""

import re
from collections.abc import Mapping

from portal.facts.spans import LABEL_SETS, check_labels
from scoring.benchmarks.items import Options
from scoring.benchmarks.options import (
    NAMES,
    JudgeChoice,
    Option,
    OptionError,
    complete_options,
    judge_prompt,
    short_name,
)
from scoring.judge.checks import OVERRIDES
from scoring.judge.questions import FACT_PROMPTS
from scoring.metrics.facts import MATCHERS, UNITS

_MOST_LABELS = 20

# Column and short name of each published fact type's accuracy. Date and Temporal are the same type
# under the names of two releases.
_ACCURACIES = {
    "number": ("n_ffa", "N-FFA"),
    "date": ("t_ffa", "T-FFA"),
    "temporal": ("t_ffa", "T-FFA"),
    "monetaryunit": ("m_ffa", "M-FFA"),
    "reportingentity": ("r_ffa", "R-FFA"),
    "financialconcept": ("fc_ffa", "FC-FFA"),
}

# The fact types that the paper's first version counts.
FIRST_ACCURACIES = ("n_ffa", "t_ffa")
# Column of the accuracy over both of them, if others are counted too.
FIRST_FFA = "first_ffa"


def accuracy_of(label: str) -> tuple[str, str]:
    """Return column key and short name of the accuracy of a fact type.

    >>> accuracy_of("Number"), accuracy_of("Ratio")
    (('n_ffa', 'N-FFA'), ('ratio_ffa', 'Ratio-FFA'))
    """
    return _ACCURACIES.get(label.lower(), (f"{label.lower()}_ffa", f"{label}-FFA"))


def labels_of(options: Options) -> tuple[str, ...]:
    """Return the labels in checked options."""
    return tuple(options["labels"].split(","))


def first_labels(options: Options) -> tuple[str, ...]:
    """Return the labels of the two fact types of the paper's first version if there are others too;
    else none.

    >>> first_labels({"labels": "Number,Temporal,MonetaryUnit"}), first_labels({"labels": "Number"})
    (('Number', 'Temporal'), ())
    """
    labels = labels_of(options)
    first = tuple(label for label in labels if accuracy_of(label)[0] in FIRST_ACCURACIES)
    return first if len(first) == len(FIRST_ACCURACIES) < len(labels) else ()


def canonical_labels(value: object) -> str:
    """Return the option's canonical form, labels joined by commas, from a set's name, a list or a
    text.

    >>> canonical_labels("v1")
    'Number,Date'
    """
    if isinstance(value, str):
        labels = LABEL_SETS.get(value) or tuple(name.strip() for name in value.split(","))
    elif isinstance(value, list | tuple):
        labels = tuple(str(name) for name in value)
    else:
        raise OptionError(f"option labels must be a label set or a list of labels, not {value!r}")
    problems = check_labels(labels)
    if len(labels) > _MOST_LABELS:
        problems.append(f"more than {_MOST_LABELS} labels")
    elif len({accuracy_of(label)[0] for label in labels}) < len(labels):
        problems.append("two of the labels would share a column")
    if problems:
        sets = " and ".join(LABEL_SETS)
        raise OptionError(f"option labels: {'; '.join(problems)} (label sets are {sets})")
    return ",".join(labels)


# The judge's page scores, by the names of their columns and of the keys in the page's result.
PAGE_SCORES = {"judge_structure": "structure_score", "judge_overall": "overall_score"}

# A comma that separates matchers, not one inside the name of a judge.
_BETWEEN = re.compile(r",(?![^(]*\))")


# The matcher that the board ranks by.
MATCHER = JudgeChoice("matcher", tuple(MATCHERS), FACT_PROMPTS)


def canonical_matchers(value: object) -> str:
    """Return matchers joined by commas, in the order of NAMES. Raises OptionError.

    >>> canonical_matchers("judge(gpt-4o), substring")
    'substring,judge(gpt-4o,facts-1)'
    """
    texts = [text for text in _BETWEEN.split(str(value)) if text.strip()]
    matchers = {short_name(each): each for each in map(MATCHER.canonical, texts)}
    if len(matchers) < len(texts):
        raise OptionError(f"option `beside` names a matcher twice, or two judges: {value!r}")
    return ",".join(matchers[name] for name in NAMES if name in matchers)


def main_matcher(options: Mapping[str, str]) -> str:
    """Return the short name of the matcher that the board ranks by."""
    return short_name(options["matcher"])


def other_matchers(options: Mapping[str, str]) -> tuple[str, ...]:
    """Return the short names of the other matchers. Old gradings have none."""
    beside = options.get("beside", "")
    return tuple(short_name(each) for each in _BETWEEN.split(beside) if each)


def check_pair(options: Mapping[str, str]) -> None:
    """Raise OptionError if the main matcher is also among the other matchers."""
    if main_matcher(options) in other_matchers(options):
        raise OptionError(
            f"option `beside` must not contain {main_matcher(options)}, which is the main matcher"
        )


def judge_model(options: Mapping[str, str]) -> str:
    """Return the judge in these options, as its endpoint names it; empty if none.

    >>> judge_model({"matcher": "aligned", "beside": "substring,judge(gpt-4o,facts-1)"})
    'gpt-4o'
    """
    return next(filter(None, map(MATCHER.model, _matchers(options))), "")


def matcher_key(matcher: str) -> str:
    """Return the column of the accuracy by one of the other matchers."""
    return f"ffa_by_{matcher}"


# Whether the markup of a page's form counts in the text metrics, and only Latin words are words.
FACTBOARD, REFERENCE = "factboard", "reference"
_MATCHER = Option("matcher", "aligned", canonical=MATCHER.canonical)
_BESIDE = Option("beside", "", canonical=canonical_matchers)
OPTIONS = (
    Option("labels", ",".join(LABEL_SETS["v1"]), canonical=canonical_labels),
    _MATCHER,
    _BESIDE,
    Option("unit", UNITS[0], choices=UNITS),
    Option("text", "visible", choices=("visible", "markup")),
    Option("text_rules", FACTBOARD, choices=(FACTBOARD, REFERENCE)),
    Option("missing", "zero", choices=("zero", "skip")),
)
# How often the judge is overruled. Only present if a judge is used.
OVERRIDE = Option("override", OVERRIDES[0], choices=OVERRIDES)


def check_options(raw: Mapping[str, object]) -> Options:
    """Return complete, canonical options. Raises OptionError.

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


def judge_version(options: Mapping[str, str]) -> str:
    """Return the version of the judge's prompt in these options; empty if there is no judge."""
    return next(filter(None, map(judge_prompt, _matchers(options))), "")


def lacking(options: Mapping[str, str]) -> str:
    """Return why the judge's prompt cannot be used here; empty if it can."""
    return next(filter(None, map(MATCHER.lacking, _matchers(options))), "")


def _matchers(options: Mapping[str, str]) -> list[str]:
    return _BETWEEN.split(f"{options['matcher']},{options.get('beside', '')}")
