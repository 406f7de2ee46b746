"""The tables of ReceiptBench beside the main one."""

from pathlib import Path

from scoring.benchmarks.base import Column, Options, View
from scoring.benchmarks.reported import load_reported
from scoring.metrics.receipt_lists import WEIGHTS
from scoring.metrics.receipts import FIELDS, TASKS

OVERALL = "overall"
# Tables 9 and 10 have the main table's figures of other receipts: these stand before their keys.
BALANCED, NON_ENGLISH = "balanced", "non_english"
PARTS = {BALANCED: "Category-balanced", NON_ENGLISH: "Non-English"}
FALSE_POSITIVES, WRONG = "fp", "errors"

# The paper's table 6 by ISO 639-1, with what gold may call each language. What is none of them
# counts as OTHER.
LANGUAGES = {
    "en": ("English", "eng"),
    "fr": ("French", "fra", "fre"),
    "es": ("Spanish", "spa"),
    "de": ("German", "deu", "ger"),
    "id": ("Indonesian", "ind"),
    "pt": ("Portuguese", "por"),
    "ro": ("Romanian", "ron", "rum"),
}
OTHER = "other"
_CODES = {name.lower(): code for code, names in LANGUAGES.items() for name in (code, *names)}

_FOLDER = Path(__file__).parent
_FIELD_NAMES = tuple(rule.name for rule in FIELDS)


def views_for(
    options: Options,  # noqa: ARG001 - the views are the same under all of them
) -> tuple[View, ...]:
    """Tables 9 to 13 of the paper, F1 by language, and the fields that go wrong most."""
    return _VIEWS


def language_code(stated: str) -> str:
    """The language that gold states, as one of LANGUAGES or OTHER.

    >>> language_code("English"), language_code("fr"), language_code("Korean")
    ('en', 'fr', 'other')
    """
    return _CODES.get(stated.strip().lower(), OTHER)


def part_key(part: str, name: str) -> str:
    """The key of a figure of some of the receipts, or of one field's errors."""
    return f"{part}_{name}"


def weights_key(weights: str) -> str:
    """The key of overall F1 under weights such as A.

    >>> weights_key("A, lexical")
    'weights_a'
    """
    return f"weights_{weights[0].lower()}"


def _part(part: str, told: str) -> View:
    title = PARTS[part]
    columns = (
        *(
            Column(part_key(part, task), task.capitalize(), "F1 by sub-task", f"micro F1 of {task}")
            for task in TASKS
        ),
        Column(
            part_key(part, OVERALL),
            "Overall",
            "F1 by sub-task",
            "Micro F1 over all fields",
            rank="board",
        ),
    )
    return View(part, title, told, columns, load_reported(_FOLDER / f"reported_{part}.csv"))


def _languages() -> View:
    names = {**{code: names[0] for code, names in LANGUAGES.items()}, OTHER: "Others"}
    columns = (
        *(
            Column(part_key("language", code), name, "F1 by language", f"overall F1, {name}")
            for code, name in names.items()
        ),
        Column(
            part_key(NON_ENGLISH, OVERALL),
            "Non-English",
            "F1 by language",
            "Overall F1 of all receipts that are not English",
            rank="board",
        ),
    )
    return View(
        "languages",
        "Languages",
        "F1 over all fields by the language that the gold states.",
        columns,
    )


def _precision() -> View:
    columns = (
        *(
            Column(f"{task}_precision", task.capitalize(), "Precision", f"precision of {task}")
            for task in TASKS
        ),
        Column("precision", "Overall", "Precision", "Precision over all fields", rank="board"),
    )
    rows = load_reported(_FOLDER / "reported_precision.csv")
    return View("precision", "Precision", "TP / (TP + FP) by sub-task.", columns, rows)


def _by_field(part: str, title: str, told: str, total: str) -> View:
    """Counts of something bad, field by field."""
    columns = (
        *(_count(part_key(part, name), name, title, f"{title} in {name}") for name in _FIELD_NAMES),
        _count(part_key(part, OVERALL), "All", title, total, is_total=True),
    )
    path = _FOLDER / f"reported_{title.lower().replace(' ', '_')}.csv"
    keys = {column.key for column in columns}
    rows = load_reported(path, counts=keys) if path.is_file() else ()
    return View(title.lower().replace(" ", "_"), title, told, columns, rows)


def _count(key: str, label: str, group: str, told: str, *, is_total: bool = False) -> Column:
    return Column(
        key,
        label,
        group,
        told,
        unit="",
        direction="down",
        decimals=0,
        rank="board" if is_total else "",
    )


def _weights() -> View:
    return View(
        "weights",
        "Weights",
        "Overall F1 with the lists matched under each of the paper's weights; the ranks should not "
        "depend on them. Without a sentence embedding A, B and D stand for their lexical shares.",
        tuple(
            Column(
                weights_key(name),
                "Overall",
                f"Weights {name}",
                f"Overall F1 under weights {name}",
                rank="board" if name == "A" else "group",
            )
            for name in WEIGHTS
        ),
        load_reported(_FOLDER / "reported_weights.csv"),
    )


_VIEWS = (
    _part(BALANCED, "Receipts that the gold marks as balanced: as many of each category."),
    _part(NON_ENGLISH, "Receipts whose stated language is not English."),
    _languages(),
    _precision(),
    _by_field(
        FALSE_POSITIVES,
        "False positives",
        "Values that the receipt does not have, or not so, counted by field.",
        "False positives in all fields",
    ),
    _by_field(
        WRONG,
        "Errors",
        "How often each field goes wrong, of whatever kind: the error-prone fields.",
        "Errors in all fields",
    ),
    _weights(),
)
