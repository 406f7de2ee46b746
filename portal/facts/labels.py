"""Label sets, and which names can be a label: a label is also the name of an inline tag."""

import re
from collections.abc import Sequence
from typing import Literal

from portal.facts.elements import ELEMENT_NAMES

LABEL_SETS: dict[str, tuple[str, ...]] = {
    "v1": ("Number", "Date"),
    "v2": ("Number", "Temporal", "MonetaryUnit", "ReportingEntity", "FinancialConcept"),
}

# Every label of every shipped set, each once, in the order of the sets.
KNOWN_LABELS: tuple[str, ...] = tuple(
    dict.fromkeys(label for labels in LABEL_SETS.values() for label in labels)
)

_KINDS: dict[str, Literal["number", "date"]] = {
    "number": "number",
    "date": "date",
    "temporal": "date",
}

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def check_labels(labels: Sequence[str]) -> list[str]:
    """What is wrong with a label set, one sentence each; an empty list when it can be used.

    A label is 1 to 64 ASCII letters, digits, `-` or `_`, begins with a letter, is not the name of
    an HTML element and differs from the others in more than case.

    >>> check_labels(["Number", "Table"])
    ["label 'Table' is the name of an HTML element"]
    """
    problems = [] if labels else ["a label set needs at least one label"]
    seen: set[str] = set()
    for label in labels:
        if not _NAME.fullmatch(label):
            rule = "1 to 64 ASCII letters, digits, '-' or '_', a letter first"
            problems.append(f"label {label!r} cannot be a tag name ({rule})")
        elif label.lower() in ELEMENT_NAMES:
            problems.append(f"label {label!r} is the name of an HTML element")
        elif label.lower() in seen:
            problems.append(f"label {label!r} occurs twice (case is ignored)")
        seen.add(label.lower())
    return problems


def require_labels(labels: Sequence[str]) -> None:
    """Raises ValueError when the labels cannot be used as tag names."""
    if problems := check_labels(labels):
        raise ValueError("; ".join(problems))


def label_kind(label: str) -> Literal["number", "date"] | None:
    """What kind of value the facts of a label have; None for a label that has none."""
    return _KINDS.get(label.lower())
