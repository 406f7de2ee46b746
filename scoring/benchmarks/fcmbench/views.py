"""The tables of FCMBench beside the main one: by language, and by capture condition."""

from pathlib import Path

from scoring.benchmarks.base import Column, Options, View
from scoring.benchmarks.reported import load_reported

from .tasks import CHINESE, CONDITIONS, ENGLISH, NORMAL, QUALITY_TASK, TASK_NAMES, TASKS

# Before the keys of a language's figures. There is no English RR.
PREFIXES = {CHINESE: "zh_", ENGLISH: "en_"}
LANGUAGE_TASKS = {CHINESE: TASKS, ENGLISH: tuple(task for task in TASKS if task != "RR")}
AVERAGE = "without_iqe"

_FOLDER = Path(__file__).parent


def views_for(
    options: Options,  # noqa: ARG001 - the views are the same under all of them
) -> tuple[View, ...]:
    """Tables A5 and A6 of the paper, and its ratios per capture condition."""
    return _VIEWS


def condition_key(condition: str) -> str:
    """The key of the column of a capture condition.

    >>> condition_key("Multi-doc Images")
    'relative_multi_doc_images'
    """
    return f"relative_{condition.lower().replace(' ', '_').replace('-', '_')}"


def _language(language: str) -> View:
    key, prefix, tasks = language.lower(), PREFIXES[language], LANGUAGE_TASKS[language]
    averaged = ", ".join(task for task in tasks if task != QUALITY_TASK)
    told = f"Mean of {averaged}: {QUALITY_TASK} is left out"
    columns = (
        *(Column(f"{prefix}{task}", task, language, TASK_NAMES[task]) for task in tasks),
        Column(f"{prefix}{AVERAGE}", "Average", language, told, rank="board"),
    )
    return View(
        key,
        language,
        f"F1 on {language} prompts and documents. The average takes {averaged}; it leaves "
        f"{QUALITY_TASK} out.",
        columns,
        load_reported(_FOLDER / f"reported_{key}.csv"),
    )


_CONDITIONS = View(
    "conditions",
    "Capture conditions",
    f"Mean F1 of the tasks but {QUALITY_TASK} under each condition, divided by the one on normal "
    "captures. More than 100 % means better than on normal captures.",
    (
        Column("f1_normal", NORMAL, "F1", f"mean of the tasks but {QUALITY_TASK}"),
        *(
            Column(
                condition_key(condition),
                condition,
                "Relative to normal captures",
                f"F1 under {condition} / F1 under {NORMAL}",
            )
            for condition in CONDITIONS
        ),
        Column(
            "relative",
            "Mean",
            "Relative to normal captures",
            "Mean of the ten conditions",
            rank="board",
        ),
    ),
)
_VIEWS = (_language(CHINESE), _language(ENGLISH), _CONDITIONS)
