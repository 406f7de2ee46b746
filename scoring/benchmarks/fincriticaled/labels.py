"""Label sets of FinCriticalED: which fact tags count, and what the accuracy of each is called."""

from portal.facts.spans import LABEL_SETS, check_labels
from scoring.benchmarks.base import OptionError, Options

_MOST_LABELS = 20

# Column and short name of each published fact type's accuracy. Date and Temporal are the same
# type under the names of two releases.
_ACCURACIES = {
    "number": ("n_ffa", "N-FFA"),
    "date": ("t_ffa", "T-FFA"),
    "temporal": ("t_ffa", "T-FFA"),
    "monetaryunit": ("m_ffa", "M-FFA"),
    "reportingentity": ("r_ffa", "R-FFA"),
    "financialconcept": ("fc_ffa", "FC-FFA"),
}

# Of the types that the paper's first version counts.
FIRST_ACCURACIES = ("n_ffa", "t_ffa")
# Column of the accuracy over both of them, where others are counted, too.
FIRST_FFA = "first_ffa"


def accuracy_of(label: str) -> tuple[str, str]:
    """Column key and short name of the accuracy of a fact type.

    >>> accuracy_of("Number"), accuracy_of("Ratio")
    (('n_ffa', 'N-FFA'), ('ratio_ffa', 'Ratio-FFA'))
    """
    return _ACCURACIES.get(label.lower(), (f"{label.lower()}_ffa", f"{label}-FFA"))


def labels_of(options: Options) -> tuple[str, ...]:
    """The labels that checked options name."""
    return tuple(options["labels"].split(","))


def first_labels(options: Options) -> tuple[str, ...]:
    """The labels of the two fact types that the paper's first version counts, where there are
    others beside both of them; else none.

    >>> first_labels({"labels": "Number,Temporal,MonetaryUnit"}), first_labels({"labels": "Number"})
    (('Number', 'Temporal'), ())
    """
    labels = labels_of(options)
    first = tuple(label for label in labels if accuracy_of(label)[0] in FIRST_ACCURACIES)
    return first if len(first) == len(FIRST_ACCURACIES) < len(labels) else ()


def canonical_labels(value: object) -> str:
    """The option's canonical form, labels joined by commas, from a set's name, a list or a text.

    >>> canonical_labels("v1")
    'Number,Date'
    """
    if isinstance(value, str):
        labels = LABEL_SETS.get(value) or tuple(name.strip() for name in value.split(","))
    elif isinstance(value, list | tuple):
        labels = tuple(str(name) for name in value)
    else:
        raise OptionError(f"option labels must be a label set or labels, not {value!r}")
    problems = check_labels(labels)
    if len(labels) > _MOST_LABELS:
        problems.append(f"more than {_MOST_LABELS} labels")
    elif len({accuracy_of(label)[0] for label in labels}) < len(labels):
        problems.append("two of the labels would share a column")
    if problems:
        sets = " and ".join(LABEL_SETS)
        raise OptionError(f"option labels: {'; '.join(problems)} (label sets are {sets})")
    return ",".join(labels)
