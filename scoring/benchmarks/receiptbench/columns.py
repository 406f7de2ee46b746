"""The figures of ReceiptBench: its columns, further tables and charts."""

from pathlib import Path

from scoring.benchmarks.base import Column, Headline, Options, RuleTable, View, load_reported
from scoring.benchmarks.charts import Chart
from scoring.metrics.receipts import ERRORS, FIELDS, TASKS
from scoring.metrics.receipts.values import WEIGHTS

OVERALL = "overall"
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
_FIELD_NAMES = tuple(rule.name for rule in FIELDS)


def views_for(
    options: Options,  # noqa: ARG001 - the views are the same under all of them
) -> tuple[View, ...]:
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
    return View(part, title, help_text, columns, load_reported(_FOLDER / f"reported_{part}.csv"))


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
            "Overall F1 of all receipts that are not in English",
            rank="board",
        ),
    )
    return View(
        "languages",
        "By language",
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


def _by_field(part: str, title: str, help_text: str, total: str) -> View:
    """Return a view of error counts by field."""
    columns = (
        *(_count(part_key(part, name), name, title, f"{title} in {name}") for name in _FIELD_NAMES),
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
        "Weights",
        "Overall F1 with the lists matched under each of the paper's weights; ranks should not "
        "depend on them. Without a sentence embedding, A, B and D use only their lexical shares.",
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


# Appendix D.3: on 400 line-item lists, how often the matching agrees with three people.
_PREFERENCE = {"A": 0.92, "B": 0.91, "C": 0.88, "D": 0.90}
PREFERENCE = RuleTable(
    title="Weights and people",
    help="How often the paper's matching of lists agrees with three people who said whether a "
    "predicted list means the same as the gold, on 400 lists (appendix D.3). The weights were "
    "chosen by it. manage.py weigh_lists measures it on other lists.",
    heads=("Weights", "Levenshtein", "Token sort", "LCS", "Embedding", "Agreement (%)"),
    rows=tuple(
        (name, *(f"{share:g}" for share in weights), f"{100 * _PREFERENCE[name]:.0f}")
        for name, weights in WEIGHTS.items()
    ),
)

_VIEWS = (
    _part(BALANCED, "Receipts that the gold marks as balanced: equally many of each category."),
    _part(NON_ENGLISH, "Receipts whose stated language is not English."),
    _languages(),
    _precision(),
    _by_field(
        FALSE_POSITIVES,
        "False positives",
        "Values that the receipt does not have or that differ, counted by field.",
        "False positives in all fields",
    ),
    _by_field(
        WRONG,
        "Errors",
        "The number of errors of each field, of any kind.",
        "Errors in all fields",
    ),
    _weights(),
)


RATES = ("precision", "recall", "f1", "accuracy")

TASK_GROUP = "F1 by sub-task"
OVERALL_GROUP = "All fields"
CHECK_GROUP = "Checks"
RATE_GROUP = "Rates by sub-task"
FIELD_GROUP = "F1 by field"

_HELP = {
    "precision": "TP / (TP + FP)",
    "recall": "TP / (TP + FN)",
    "f1": "2 TP / (2 TP + FP + FN)",
    "accuracy": "(TP + TN) / (TP + FP + FN + TN)",
}
_LABELS = {"f1": "F1"}


def columns_for(
    options: Options,  # noqa: ARG001 - the columns are the same under all of them
) -> tuple[Column, ...]:
    """Return F1 of the four sub-tasks and overall in the order of table 3, then the detail
    columns."""
    return (
        *_TASK_COLUMNS,
        *_OVERALL_COLUMNS,
        *_CHECK_COLUMNS,
        *_rate_columns(),
        *_FIELD_COLUMNS,
    )


def headline_for(
    options: Options,  # noqa: ARG001 - the same under all of them
) -> Headline:
    return Headline(
        f"F1 over the {len(FIELDS)} fields of {{count}} receipts",
        "items",
        {task: task.capitalize() for task in ("perception", "normalization", "reasoning")},
    )


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
            RATE_GROUP,
            f"{_HELP[rate]} over {_size(task)}",
        )
        for task in TASKS
        for rate in RATES
        if rate != "f1"
    )


_TASK_COLUMNS = (
    *(
        Column(task, task.capitalize(), TASK_GROUP, f"micro F1 over {_size(task)}")
        for task in TASKS
    ),
    Column(
        OVERALL,
        "Overall",
        TASK_GROUP,
        f"Micro F1 over all {len(FIELDS)} fields",
        rank="board",
    ),
)
_OVERALL_COLUMNS = tuple(
    _detail(rate, _LABELS.get(rate, rate.capitalize()), OVERALL_GROUP, _HELP[rate])
    for rate in RATES
)
_CHECK_COLUMNS = (
    Column(
        "reward",
        "Reward",
        CHECK_GROUP,
        "metric-aware reward, mean over fields and receipts, from -0.5 to 1",
        unit="",
        decimals=4,
        headline=False,
    ),
    _detail(
        "arithmetic",
        "Adds up",
        CHECK_GROUP,
        "predictions whose line items add up to the total, of those that have both",
    ),
    _detail(
        "arithmetic_gold",
        "Gold adds up",
        CHECK_GROUP,
        "gold receipts whose line items add up to the total, of those that have both",
    ),
    Column(
        "unparseable",
        "Unparseable",
        CHECK_GROUP,
        "unreadable responses, of all responses",
        direction="down",
        headline=False,
    ),
    *(
        Column(
            error_key(error),
            f"Errors: {error}",
            CHECK_GROUP,
            f"share of {error} among all errors",
            direction="down",
            headline=False,
        )
        for error in ERRORS
    ),
)
_FIELD_COLUMNS = tuple(
    _detail(rule.name, rule.name, FIELD_GROUP, f"F1; {rule.kind}, {rule.task}") for rule in FIELDS
)


CHARTS = (
    Chart(
        "tasks",
        "profile",
        "Score by sub-task",
        "F1 of every system in each of the four sub-tasks. The best systems have colours.",
        TASKS,
    ),
    Chart(
        "languages",
        "profile",
        "Score by language",
        "F1 over all fields by the language of the receipt. The best systems have colours.",
        tuple(part_key("language", code) for code in (*LANGUAGES, OTHER)),
    ),
    Chart(
        "errors",
        "shares",
        "Error profile",
        "The kinds of errors of each system, as shares of all its errors.",
        tuple(error_key(error) for error in ERRORS),
    ),
)
