"""The charts of FinCriticalED."""

from scoring.benchmarks.charts import Chart
from scoring.metrics.facts import ERROR_TYPES

from .labels import accuracy_of

CHARTS = (
    Chart(
        "text-and-facts",
        "pair",
        "Text-level and fact-level",
        "How well the text is read (mean of R1, RL and 1 - E) against how many facts are right: "
        "text that looks right does not mean right facts.",
        ("general", "ffa"),
    ),
    Chart(
        "ranks",
        "ranks",
        "Text-level rank and fact-level rank",
        "Each line joins a system's rank by text with its rank by facts; lines that cross are "
        "systems whose order depends on which of the two one looks at.",
        ("general", "ffa"),
    ),
    Chart(
        "numbers-and-dates",
        "pair",
        "Numbers and dates",
        "Correct numbers (N-FFA) against correct dates (T-FFA).",
        ("n_ffa", "t_ffa"),
    ),
    Chart(
        "errors",
        "shares",
        "Error profile",
        "Which errors the facts of each system have, of all facts.",
        tuple(f"err_{error}" for error in ERROR_TYPES),
    ),
    Chart(
        "documents-and-facts",
        "parts",
        "Document types and fact types",
        "Correct facts by the type of the document and of the fact.",
        tuple(
            accuracy_of(label)[0]
            for label in ("Number", "Date", "MonetaryUnit", "ReportingEntity", "FinancialConcept")
        ),
    ),
)
