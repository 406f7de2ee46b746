"""The task tree of FCMBench: the steps of a credit review, and what is asked in each.

Which task belongs to which step is section 3.3 of the paper; the words are our own.
"""

from collections.abc import Mapping
from typing import Any

from scoring.benchmarks.task_tree import TaskTree, TreeItem, TreeStage, TreeTask

from .tasks import TASK_NAMES

_ASKS = {
    "IQE": "Which defect spoils the picture, if any?",
    "DTR": "Which documents are in the pictures, and is one missing that must be there?",
    "KIE": "What does the document say in the fields that are asked for?",
    "CC": "Do several documents speak of the same people, things and payments?",
    "VC": "Is the document in force, and written as its rules want it?",
    "NC": "Which number follows from what the documents say: a total, a difference, a ratio?",
    "RR": "Can the figures of several documents all be true together?",
}
_STAGES = (
    TreeStage(
        "Document collection",
        "The borrower sends photographs. What cannot be read goes back before anybody works on it.",
        ("IQE",),
    ),
    TreeStage(
        "Completeness screening",
        "The documents are sorted, and compared with the list of those that the loan requires.",
        ("DTR",),
    ),
    TreeStage(
        "Profile construction",
        "What the documents say is entered into the borrower's file.",
        ("KIE", "NC"),
    ),
    TreeStage(
        "Cross-document consistency checks",
        "The documents are laid beside each other: whatever two of them say must agree.",
        ("CC",),
    ),
    TreeStage(
        "Compliance checks",
        "Each document is held against the rules: dates, formats, signs that it is genuine.",
        ("VC",),
    ),
    TreeStage(
        "Income rationality and risk assessment",
        "Income, taxes, payments and collateral are worked out and weighed against the loan.",
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
