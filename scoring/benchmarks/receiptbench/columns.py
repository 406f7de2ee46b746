"""The figures of ReceiptBench: its columns and further tables.

figures.toml has the columns that are not listed here, and the charts.
"""

from itertools import chain
from pathlib import Path

from scoring.benchmarks.base import (
    Column,
    Headline,
    RuleTable,
    View,
    load_figures,
    load_reported,
)
from scoring.benchmarks.items import Options
from scoring.metrics.receipts import ERRORS, FIELDS, TASKS
from scoring.metrics.receipts.values import WEIGHTS

from .scorer import OVERALL

# Tables 9 and 10 have the main table's figures for other receipts, under keys with these prefixes.
BALANCED, NON_ENGLISH = "balanced", "non_english"
PARTS = {BALANCED: "Category-balanced", NON_ENGLISH: "Non-English"}
FALSE_POSITIVES, WRONG = "fp", "errors"

# The paper's table 6 by ISO 639-1, with the names that gold may use for each language. All other
# names count as OTHER.
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
FIGURES = load_figures(_FOLDER / "figures.toml")
_FIELD_NAMES = tuple(rule.name for rule in FIELDS)


def views_for(_: Options) -> tuple[View, ...]:
    """Return tables 9 to 13 of the paper, F1 by language, and the most error-prone fields."""
    return _VIEWS


def language_code(stated: str) -> str:
    """Return the language that gold states, as one of LANGUAGES or OTHER.

    >>> language_code("English"), language_code("fr"), language_code("Korean")
    ('en', 'fr', 'other')
    """
    return _CODES.get(stated.strip().lower(), OTHER)


def part_key(part: str, name: str) -> str:
    """Return the key of a figure of some of the receipts, or of one field's errors."""
    return f"{part}_{name}"


def weights_key(weights: str) -> str:
    """Return the key of overall F1 under weights such as A.

    >>> weights_key("A, lexical")
    'weights_a'
    """
    return f"weights_{weights[0].lower()}"


def _part(part: str, help_text: str) -> View:
    title = PARTS[part]
    columns = (
        *(
            Column(
                part_key(part, task),
                task.capitalize(),
                "F1 by sub-task",
                f"Micro F1 over the {task} fields",
            )
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
    return View(part, title, help_text, columns, load_reported(_FOLDER / f"reported_{part}.csv"))


def _languages() -> View:
    names = {**{code: names[0] for code, names in LANGUAGES.items()}, OTHER: "Others"}
    columns = (
        *(
            Column(
                part_key("language", code),
                name,
                "F1 by language",
                "Micro F1 over all fields",
            )
            for code, name in names.items()
        ),
        Column(
            part_key(NON_ENGLISH, OVERALL),
            "Non-English",
            "F1 by language",
            "Micro F1 over all fields of receipts not in English",
            rank="board",
        ),
    )
    return View(
        "languages",
        "By language",
        "F1 over all fields, by language of the receipt.",
        columns,
    )


def _precision() -> View:
    columns = (
        *(
            Column(
                f"{task}_precision",
                task.capitalize(),
                "Precision",
                f"Precision over the {task} fields",
            )
            for task in TASKS
        ),
        Column("precision", "Overall", "Precision", "Precision over all fields", rank="board"),
    )
    rows = load_reported(_FOLDER / "reported_precision.csv")
    return View("precision", "Precision", "Precision, TP / (TP + FP), by sub-task.", columns, rows)


def _by_field(part: str, title: str, help_text: str, total: str) -> View:
    """Return a view of error counts by field."""
    columns = (
        *(
            _count(part_key(part, name), name, title, f"{title} in this field")
            for name in _FIELD_NAMES
        ),
        _count(part_key(part, OVERALL), "All", title, total, is_total=True),
    )
    path = _FOLDER / f"reported_{title.lower().replace(' ', '_')}.csv"
    keys = {column.key for column in columns}
    rows = load_reported(path, counts=keys) if path.is_file() else ()
    return View(title.lower().replace(" ", "_"), title, help_text, columns, rows)


def _count(key: str, label: str, group: str, help_text: str, *, is_total: bool = False) -> Column:
    return Column(
        key,
        label,
        group,
        help_text,
        unit="",
        direction="down",
        decimals=0,
        rank="board" if is_total else "",
    )


def _weights() -> View:
    return View(
        "weights",
        "Matching weights",
        "Overall F1 under each of the paper's list-matching weights (A–D). Without a sentence "
        "embedding, A, B and D use only their lexical parts.",
        tuple(
            Column(
                weights_key(name),
                "Overall",
                f"Weights {name}",
                f"Overall F1 with list-matching weights {name}",
                rank="board" if name == "A" else "group",
            )
            for name in WEIGHTS
        ),
        load_reported(_FOLDER / "reported_weights.csv"),
    )


# Appendix D.3: on 400 line-item lists, how often the matching agrees with three people.
_PREFERENCE = {"A": 0.92, "B": 0.91, "C": 0.88, "D": 0.90}
PREFERENCE = RuleTable(
    title="Agreement of list matching with human judgement",
    help="How often list matching agrees with three human judges on whether a predicted list "
    "means the same as the gold (400 lists, appendix D.3 of the paper).",
    heads=("Weights", "Levenshtein", "Token sort", "LCS", "Embedding", "Agreement (%)"),
    rows=tuple(
        (name, *(f"{share:g}" for share in weights), f"{100 * _PREFERENCE[name]:.0f}")
        for name, weights in WEIGHTS.items()
    ),
)

_VIEWS = (
    _part(BALANCED, "Subset with equal numbers of receipts per category."),
    _part(NON_ENGLISH, "Receipts in languages other than English."),
    _languages(),
    _precision(),
    _by_field(
        FALSE_POSITIVES,
        "False positives",
        "False positives by field: values that the receipt does not have or that differ.",
        "False positives in all fields",
    ),
    _by_field(
        WRONG,
        "Errors",
        "Number of errors by field, over all error types.",
        "Errors in all fields",
    ),
    _weights(),
)


RATES = ("precision", "recall", "f1", "accuracy")

_RATE_GROUP = "Rates by sub-task"

_HELP = {
    "precision": "TP / (TP + FP)",
    "recall": "TP / (TP + FN)",
    "f1": "2 TP / (2 TP + FP + FN)",
    "accuracy": "(TP + TN) / (TP + FP + FN + TN)",
}


def columns_for(_: Options) -> tuple[Column, ...]:
    """Return F1 of the four sub-tasks and overall in the order of table 3, then the detail
    columns."""
    shared = (FIGURES.columns[group] for group in ("tasks", "overall", "checks"))
    return (*chain(*shared), *_ERROR_COLUMNS, *_rate_columns(), *_FIELD_COLUMNS)


def headline_for(_: Options) -> Headline | None:
    return FIGURES.headline


def error_key(error: str) -> str:
    return f"err_{error}"


def _size(task: str) -> str:
    number = sum(rule.task == task for rule in FIELDS)
    return "1 field" if number == 1 else f"{number} fields"


def _detail(key: str, label: str, group: str, text: str) -> Column:
    return Column(key, label, group, text, headline=False)


def _rate_columns() -> tuple[Column, ...]:
    return tuple(
        _detail(
            f"{task}_{rate}",
            f"{task.capitalize()}, {rate}",
            _RATE_GROUP,
            f"{_HELP[rate]} over {_size(task)}",
        )
        for task in TASKS
        for rate in RATES
        if rate != "f1"
    )


_ERROR_COLUMNS = tuple(
    Column(
        error_key(error),
        f"Errors: {error}",
        "Checks",
        "Share of this error type among all errors",
        direction="down",
        headline=False,
    )
    for error in ERRORS
)
_FIELD_COLUMNS = tuple(
    _detail(rule.name, rule.name, "F1 by field", f"F1; {rule.kind}, {rule.task}") for rule in FIELDS
)
