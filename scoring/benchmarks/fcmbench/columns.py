"""FCMBench: its tasks and options, columns, tables by language and by capture condition, charts.

Some subtasks have their own rules. Section 3.3 of the paper assigns the tasks to the steps of a
credit review; the wording is ours.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scoring.benchmarks.base import (
    Column,
    Headline,
    Option,
    Options,
    TaskTree,
    TreeItem,
    TreeStage,
    TreeTask,
    View,
    complete_options,
    load_reported,
)
from scoring.benchmarks.charts import Chart

PERCEPTION = ("IQE", "DTR", "KIE")
REASONING = ("CC", "VC", "NC", "RR")
TASKS = (*PERCEPTION, *REASONING)

TASK_NAMES = {
    "IQE": "Image Quality Evaluation",
    "DTR": "Document Type Recognition",
    "KIE": "Key Information Extraction",
    "CC": "Consistency Checking",
    "VC": "Validity Checking",
    "NC": "Numerical Calculation",
    "RR": "Rationality Review",
}

# Asks which distortion an image has, so comparisons of conditions and languages leave it out.
QUALITY_TASK = "IQE"
CALCULATION = "NC"
NORMAL = "Normal Captures"
# The other conditions, in the order of the paper's table 2.
CONDITIONS = (
    "Off-axis Viewpoints",
    "Uneven Illumination",
    "Specular Reflections",
    "Out-of-focus",
    "Small ROIs",
    "Secondary Captures",
    "Cluttered Background",
    "Overlaid Watermarks",
    "Cropped Captures",
    "Multi-doc Images",
)

CHINESE, ENGLISH = "Chinese", "English"
_ENGLISH_PREFIX = "en."

_NUMBER = ("num_cal_001", "num_cal_002")
_PRESENT_ONLY = "doc_cla_003"
_LEFT_OUT = "num_cal_005"


def language_of(subtask: str) -> str:
    """Return the language: English subtasks begin with `en.`; all others are Chinese."""
    return ENGLISH if subtask.startswith(_ENGLISH_PREFIX) else CHINESE


def asks_for_a_number(subtask: str) -> bool:
    """Whether the answer is one number, correct if it is close enough."""
    return subtask.endswith(_NUMBER)


def calculates(question: Mapping[str, Any]) -> bool:
    """Whether the question belongs to Numerical Calculation."""
    return bool(question["task"] == CALCULATION)


def counts_present_only(subtask: str) -> bool:
    """Whether only the document types reported as present count, not those reported as missing."""
    return subtask.endswith(_PRESENT_ONLY)


def is_left_out(subtask: str) -> bool:
    """Whether the published evaluator does not grade the subtask."""
    return subtask.endswith(_LEFT_OUT)


_ASKS = {
    "IQE": "Which defect, if any, does the image have?",
    "DTR": "Which documents are in the images, and is a required one missing?",
    "KIE": "What does the document say in the requested fields?",
    "CC": "Do several documents refer to the same people, items and payments?",
    "VC": "Is the document in force, and does it follow the rules for its type?",
    "NC": "Which number follows from the documents: a total, a difference, a ratio?",
    "RR": "Can the figures of several documents all be true?",
}
_STAGES = (
    TreeStage(
        "Document collection",
        "The borrower sends photographs. Unreadable ones are sent back before review.",
        ("IQE",),
    ),
    TreeStage(
        "Completeness screening",
        "The documents are sorted and compared with the list that the loan requires.",
        ("DTR",),
    ),
    TreeStage(
        "Profile construction",
        "The contents of the documents are entered into the borrower's file.",
        ("KIE", "NC"),
    ),
    TreeStage(
        "Cross-document consistency checks",
        "The documents are compared with each other. Information that appears in two of them must "
        "agree.",
        ("CC",),
    ),
    TreeStage(
        "Compliance checks",
        "Each document is checked against the rules: dates, formats, signs that it is genuine.",
        ("VC",),
    ),
    TreeStage(
        "Income rationality and risk assessment",
        "Income, taxes, payments and collateral are calculated and compared with the loan.",
        ("NC", "RR"),
    ),
)


def _read(gold: Mapping[str, Any]) -> TreeItem:
    return TreeItem(gold["task"], gold["subtask"], gold["robustness"], gold["response"])


TREE = TaskTree(
    work="a credit review",
    stages=_STAGES,
    tasks=tuple(TreeTask(key, title, _ASKS[key]) for key, title in TASK_NAMES.items()),
    task_field="task",
    read=_read,
)


# Identifiers are compared as text or, as in the published evaluator, as floats. Numbers may differ
# by a little in all calculations, as in the paper, or in those of the evaluator.
TEXT, PAPER, REFERENCE = "text", "paper", "reference"
OPTIONS = (
    Option("identifiers", TEXT, choices=(TEXT, REFERENCE)),
    Option("tolerance", PAPER, choices=(PAPER, REFERENCE)),
    Option("missing", "zero", choices=("zero", "skip")),
)


def check_options(raw: Mapping[str, object]) -> Options:
    """Return complete, canonical options. Raises OptionError.

    >>> check_options({})
    {'identifiers': 'text', 'tolerance': 'paper', 'missing': 'zero'}
    """
    return complete_options(OPTIONS, raw)


TASK_GROUP = "F1 by task"
STRICT_GROUP = "Strict"
OTHER_GROUP = "Other means"


def columns_for(
    options: Options,  # noqa: ARG001 - the columns are the same under all of them
) -> tuple[Column, ...]:
    """Return the seven tasks and their mean in the order of table 4, then the detail columns."""
    return (*_task_columns(), *_STRICT_COLUMNS, *_OTHER_COLUMNS)


def headline_for(
    options: Options,  # noqa: ARG001 - the same under all of them
) -> Headline:
    return Headline(
        "mean F1 of seven tasks of a credit review, over {count} questions",
        "items",
        {"perception": "Perception", "reasoning": "Reasoning"},
    )


def _task_columns() -> tuple[Column, ...]:
    return (
        *(_task(key) for key in TASKS),
        Column(
            "perception",
            "Perception",
            TASK_GROUP,
            f"mean of {', '.join(PERCEPTION)}",
            headline=False,
        ),
        Column(
            "reasoning",
            "Reasoning",
            TASK_GROUP,
            f"mean of {', '.join(REASONING)}",
            headline=False,
        ),
        Column("overall", "Overall", TASK_GROUP, "Mean of the tasks", rank="board"),
    )


def _task(key: str) -> Column:
    return Column(key, key, TASK_GROUP, f"{TASK_NAMES[key]}: mean F1 of its subtasks")


_STRICT_COLUMNS = (
    Column(
        "overall_strict",
        "Overall, strict",
        STRICT_GROUP,
        "overall, with every unreadable answer counted as 0",
        headline=False,
    ),
    Column(
        "unparseable",
        "Unparseable",
        STRICT_GROUP,
        "answers without readable JSON, of all graded answers",
        direction="down",
        headline=False,
    ),
)
_OTHER_COLUMNS = (
    Column("f1", "Per answer", OTHER_GROUP, "mean F1 over all answers", headline=False),
    Column(
        "without_iqe",
        "Without IQE",
        OTHER_GROUP,
        "mean of the tasks except IQE, as in tables A5 and A6 and the capture conditions",
        headline=False,
    ),
    Column(
        "relative",
        "Relative",
        OTHER_GROUP,
        "F1 without IQE under a capture condition / on normal captures, mean of the conditions",
        headline=False,
    ),
)


# Prefixes of the keys of a language's figures. There is no English RR.
PREFIXES = {CHINESE: "zh_", ENGLISH: "en_"}
LANGUAGE_TASKS = {CHINESE: TASKS, ENGLISH: tuple(task for task in TASKS if task != "RR")}
AVERAGE = "without_iqe"

_FOLDER = Path(__file__).parent


def views_for(
    options: Options,  # noqa: ARG001 - the views are the same under all of them
) -> tuple[View, ...]:
    """Return tables A5 and A6 of the paper, its ratios per capture condition, and the columns of
    the benchmark's leaderboard."""
    return _VIEWS


def condition_key(condition: str) -> str:
    """Return the key of the column of a capture condition.

    >>> condition_key("Multi-doc Images")
    'relative_multi_doc_images'
    """
    return f"relative_{condition.lower().replace(' ', '_').replace('-', '_')}"


def _language(language: str) -> View:
    key, prefix, tasks = language.lower(), PREFIXES[language], LANGUAGE_TASKS[language]
    averaged = ", ".join(task for task in tasks if task != QUALITY_TASK)
    help_text = f"Mean of {averaged}: {QUALITY_TASK} is left out"
    columns = (
        *(Column(f"{prefix}{task}", task, language, TASK_NAMES[task]) for task in tasks),
        Column(f"{prefix}{AVERAGE}", "Average", language, help_text, rank="board"),
    )
    return View(
        key,
        language,
        f"F1 on {language} prompts and documents. The average is over {averaged}; {QUALITY_TASK} "
        "is left out.",
        columns,
        load_reported(_FOLDER / f"reported_{key}.csv"),
    )


_CONDITIONS = View(
    "conditions",
    "Robustness",
    f"Mean F1 of the tasks except {QUALITY_TASK} under each condition, divided by that on normal "
    "captures. More than 100 % is better than on normal captures.",
    (
        Column("f1_normal", NORMAL, "F1", f"mean of the tasks except {QUALITY_TASK}"),
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
# A figure of reported rows alone: which items the published subset has is not known here.
SUBSET = "overall_subset"
_OFFICIAL = View(
    "official",
    "Full and subset",
    "The columns of the benchmark's own leaderboard: the mean of the tasks on the full test set "
    "and on its published subset. The subset has figures in reported rows only.",
    (
        Column("overall", "Full", "Overall", "Mean of the tasks, full test set", rank="board"),
        Column(SUBSET, "Subset", "Overall", "Mean of the tasks, published subset"),
        *(_task(key) for key in TASKS),
    ),
    needs=SUBSET,
)
_VIEWS = (_language(CHINESE), _language(ENGLISH), _CONDITIONS, _OFFICIAL)


CHARTS = (
    Chart(
        "tasks",
        "bars",
        "Score by task",
        "F1 of every system in each of the seven tasks. A star marks the best.",
        TASKS,
    ),
    Chart(
        "tasks-radar",
        "radar",
        "Profile over the tasks",
        "F1 of the best systems in each of the seven tasks.",
        TASKS,
    ),
    Chart(
        "perception-and-reasoning",
        "pair",
        "Perception and reasoning",
        "Mean F1 of the perception tasks against that of the reasoning tasks.",
        ("perception", "reasoning"),
    ),
    Chart(
        "spread",
        "spread",
        "Distribution of the scores",
        "The number of systems by overall F1, as in the paper's figure 5a.",
        ("overall",),
    ),
    Chart(
        "scaling",
        "scaling",
        "Parameters and score",
        "Overall F1 against all parameters, dense models and mixtures of experts apart, as in the "
        "paper's figure 5d.",
        ("overall",),
    ),
    Chart(
        "active",
        "active",
        "Active parameters and score",
        "Overall F1 against the parameters that are used for one token: all of a dense model, and "
        "the active ones of a mixture of experts.",
        ("overall",),
    ),
    Chart(
        "reasoning",
        "reasoning",
        "Reasoning mode and score",
        "Overall F1 against the output tokens per item, by the model's reasoning mode, after the "
        "paper's figures A7 and A8.",
        ("overall",),
    ),
    Chart(
        "robustness",
        "profile",
        "Robustness",
        "F1 under each capture condition relative to normal captures (the line at 100 %).",
        tuple(condition_key(condition) for condition in CONDITIONS),
        reference=1,
    ),
)
