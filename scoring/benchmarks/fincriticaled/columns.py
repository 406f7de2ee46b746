"""The figures of FinCriticalED: its columns, further tables and charts.

Severity-weighted accuracy takes into account that some errors are graver than others; severity.toml
has the weights.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from portal.facts.spans import LABEL_SETS
from scoring.benchmarks.base import (
    Column,
    Headline,
    Options,
    ReportedRow,
    RuleTable,
    View,
    load_reported,
)
from scoring.benchmarks.charts import Chart
from scoring.benchmarks.judging import NAMES, TITLES
from scoring.metrics.facts import ERROR_TYPES

from .options import (
    FIRST_FFA,
    accuracy_of,
    first_labels,
    judge_model,
    labels_of,
    main_matcher,
    matcher_key,
    other_matchers,
)


@dataclass(frozen=True)
class Severity:
    """The weights of the error types, each in [0, 1], with the reason for each."""

    version: str
    weights: Mapping[str, float]
    reasons: Mapping[str, str]

    def weighted_accuracy(self, errors: Mapping[str, int], facts: int) -> float | None:
        """1 - sum of weight(error) over the facts that are wrong / number of facts.

        In [0, 1], higher is better. A correct fact loses nothing and the gravest error loses the
        whole fact, so the figure is at least FFA, and equal to it if every error weighs 1. None
        without facts.

        >>> SEVERITY.weighted_accuracy({"sign": 1, "separator": 1}, 4)
        0.7
        """
        if not facts:
            return None
        lost = sum(self.weights[error] * count for error, count in sorted(errors.items()))
        return 1 - lost / facts

    def table(self) -> RuleTable:
        """The weights, gravest first, as a table for the rules."""
        return RuleTable(
            title="Severity of errors",
            help=f"Version {self.version}. Severity-weighted accuracy = 1 - sum of the weights of "
            "all errors / number of facts.",
            heads=("Error", "Weight", "Such a fact"),
            rows=tuple(
                (error, f"{weight:g}", self.reasons[error])
                for error, weight in sorted(
                    self.weights.items(), key=lambda pair: (-pair[1], pair[0])
                )
            ),
        )


def _load(path: Path) -> Severity:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = content["weight"]
    return Severity(
        version=content["version"],
        weights={row["error"]: row["weight"] for row in rows},
        reasons={row["error"]: row["reason"] for row in rows},
    )


SEVERITY = _load(Path(__file__).with_name("severity.toml"))


GENERAL = "General"
FACT_LEVEL = "Fact-level"
RECOVERY = "Recovery"
ERRORS = "Errors"

GENERAL_COLUMNS = (
    Column("r1", "R1", GENERAL, "ROUGE-1 F-measure of the text, mean over pages"),
    Column("rl", "RL", GENERAL, "ROUGE-L F-measure of the text, mean over pages"),
    Column(
        "edit_distance",
        "E",
        GENERAL,
        "Levenshtein distance of the text / longer length, mean over pages",
        direction="down",
    ),
    Column(
        "general",
        "Mean",
        GENERAL,
        "(R1 + RL + 1 - E) / 3, the figure of the general rank",
        headline=False,
        rank="group",
    ),
)
_WEIGHTED_COLUMN = Column(
    "weighted_ffa",
    "Weighted FFA",
    FACT_LEVEL,
    f"1 - weights of the errors / facts; severity weights, version {SEVERITY.version}",
    headline=False,
)
_RECOVERY_COLUMNS = (
    Column("found", "Found", RECOVERY, "facts in whose place something was read", headline=False),
    Column("missing_rate", "Missing", RECOVERY, "1 - found", direction="down", headline=False),
    Column("precision", "Precision", RECOVERY, "correct facts of those found", headline=False),
    Column(
        "hallucinated",
        "Hallucinated",
        RECOVERY,
        "numbers and dates of the prediction that match nothing in the gold page, of all in the "
        "prediction",
        direction="down",
        headline=False,
    ),
)
_ERROR_COLUMNS = tuple(
    Column(
        f"err_{error}",
        error.capitalize(),
        ERRORS,
        f"wrong facts with the error type {error!r}",
        direction="down",
        headline=False,
    )
    for error in ERROR_TYPES
)


def columns_for(options: Options) -> tuple[Column, ...]:
    """Return the columns in the order of the papers' tables, one accuracy for each fact type."""
    accuracies = (
        Column(*accuracy_of(label), FACT_LEVEL, f"correct facts of type {label}, over all pages")
        for label in labels_of(options)
    )
    ffa = Column(
        "ffa",
        "FFA",
        FACT_LEVEL,
        "correct facts, over all pages; the figure of the fact rank",
        rank="board",
    )
    return (
        *GENERAL_COLUMNS,
        *accuracies,
        ffa,
        _WEIGHTED_COLUMN,
        *_RECOVERY_COLUMNS,
        *_ERROR_COLUMNS,
    )


def headline_for(options: Options) -> Headline:
    place = ", in place" if main_matcher(options) == "aligned" else ""
    return Headline(
        f"share of {{count}} financial facts reproduced exactly{place}",
        "facts",
        {"n_ffa": "Numbers", "t_ffa": "Dates", "general": "Text"},
    )


# The paper's five document types, with the words used in gold and datasets; all others are "other".
OTHER = "other"
DOCUMENT_TYPES = {
    "financial_statement": "Financial statement",
    "supplemental_report": "Supplemental report",
    "tax_form": "Tax form",
    "securities_transaction": "Securities transaction",
    "financial_legal": "Financial legal document",
    OTHER: "Other or not stated",
}

_LABELS = {
    "financial_statement": "Statement",
    "supplemental_report": "Report",
    "tax_form": "Tax form",
    "securities_transaction": "Securities",
    "financial_legal": "Legal",
    OTHER: "Other",
}
_GROUP = "FFA by document type"
_BY_MATCHER = "FFA by matcher"
_JUDGED = "Pages by the judge"
_PAGE_SCORES = (
    Column("judge_structure", "Structure", _JUDGED, "0 to 2, mean over pages", unit=""),
    Column(
        "judge_overall",
        "Overall",
        _JUDGED,
        "0 to 10: 2 x structure + 5 x correct facts of the page, mean over pages with facts",
        unit="",
    ),
)


def document_type(stated: str) -> str:
    """Return the document type that gold states, as a key of DOCUMENT_TYPES.

    >>> document_type("tax_form"), document_type("Tax form"), document_type("poem")
    ('tax_form', 'tax_form', 'other')
    """
    key = stated.strip().lower().replace(" ", "_")
    return key if key in DOCUMENT_TYPES else OTHER


def type_key(document_type: str) -> str:
    """Return the key of the fact-level accuracy on pages of a document type."""
    return f"ffa_{document_type}"


def views_for(options: Options) -> tuple[View, ...]:
    """Return correct facts by document type; if more fact types are counted than in the paper's
    first version, also its table; accuracy among the found facts; the comparison of matchers."""
    first = (_FIRST,) if first_labels(options) else ()
    matchers = (_matchers(options),) if other_matchers(options) or judge_model(options) else ()
    return (_VIEW, *first, _found_facts(options), *matchers)


def found_key(label: str) -> str:
    """Return the key of the correct facts among the found ones of a type.

    >>> found_key("Number"), found_key("FinancialConcept")
    ('n_precision', 'fc_precision')
    """
    return accuracy_of(label)[0].removesuffix("_ffa") + "_precision"


_OF_FOUND, _OF_ALL = "Correct of found", "Correct of all"
_FOUND_FACTS = "found_facts"


def _found_facts(options: Options) -> View:
    """Return the two accuracies of every fact type: of the found facts, as the later release of the
    benchmark reports it, and of all."""
    labels = labels_of(options)
    return View(
        _FOUND_FACTS,
        "Found facts",
        "Correct facts of those that were found, as the benchmark's later release reports them, "
        "and of all facts. The first does not count missing facts.",
        (
            *GENERAL_COLUMNS,
            *(
                Column(
                    found_key(label),
                    _short(label),
                    _OF_FOUND,
                    f"correct facts of type {label} / those found",
                )
                for label in labels
            ),
            Column("precision", "All", _OF_FOUND, "Correct facts / facts found", rank="board"),
            *(
                Column(
                    accuracy_of(label)[0],
                    _short(label),
                    _OF_ALL,
                    f"correct facts of type {label} / all of the type",
                )
                for label in labels
            ),
            Column("ffa", "All", _OF_ALL, "Correct facts / all facts"),
        ),
        _later_rows() if set(labels) == set(LABEL_SETS["v2"]) else (),
        needs="precision",
    )


def _short(label: str) -> str:
    return accuracy_of(label)[1].removesuffix("-FFA")


def _matchers(options: Options) -> View:
    """Return the view of fact-level accuracy by each matcher, the board's own last."""
    beside = (
        Column(
            matcher_key(name), TITLES[name], _BY_MATCHER, f"Correct facts by {name}, over all pages"
        )
        for name in NAMES
        if name in other_matchers(options)
    )
    own = main_matcher(options)
    decides = f"Correct facts by {own}, over all pages; the board ranks by it"
    return View(
        "matchers",
        "Matchers",
        "The same predictions scored by each matcher, to show how much the matcher changes the "
        "figure.",
        (
            *beside,
            Column("ffa", TITLES[own], _BY_MATCHER, decides, rank="board"),
            *(_PAGE_SCORES if judge_model(options) else ()),
        ),
    )


# Table 4 of the paper's first version, and the results published with the later release.
REPORTED = load_reported(Path(__file__).with_name("reported.csv"))


def _later_rows() -> tuple[ReportedRow, ...]:
    """Return the results published with the later release, each an accuracy among found facts."""
    keys = {"ffa": "precision"}
    keys |= {accuracy_of(label)[0]: found_key(label) for label in LABEL_SETS["v2"]}
    return tuple(
        replace(row, scores={keys.get(key, key): value for key, value in row.scores.items()})
        for row in REPORTED
        if row.protocol == "v2"
    )


def _first_rows() -> tuple[ReportedRow, ...]:
    """Return table 4 of the paper's first version, with its accuracy under the name used here."""
    names = {"ffa": FIRST_FFA}
    return tuple(
        replace(row, scores={names.get(key, key): value for key, value in row.scores.items()})
        for row in REPORTED
        if row.protocol == "v1"
    )


_FIRST = View(
    "first_version",
    "Numbers and dates",
    "The table of the paper's first version, which counts only numbers and dates.",
    (
        *GENERAL_COLUMNS,
        Column("n_ffa", "N-FFA", FACT_LEVEL, "correct numbers, over all pages"),
        Column("t_ffa", "T-FFA", FACT_LEVEL, "correct dates, over all pages"),
        Column(
            FIRST_FFA, "FFA", FACT_LEVEL, "Correct numbers and dates, over all pages", rank="board"
        ),
    ),
    _first_rows(),
)
_VIEW = View(
    "document_types",
    "By document type",
    "Correct facts by the document type that the gold states.",
    (
        *(
            Column(type_key(key), _LABELS[key], _GROUP, f"{title}: correct facts")
            for key, title in DOCUMENT_TYPES.items()
        ),
        Column("ffa", "All", _GROUP, "Correct facts, over all pages", rank="board"),
    ),
)


CHARTS = (
    Chart(
        "text-and-facts",
        "pair",
        "Text-level and fact-level",
        "How well the text is read (mean of R1, RL and 1 - E) against the share of correct facts. "
        "Text that looks right does not imply correct facts.",
        ("general", "ffa"),
    ),
    Chart(
        "metrics",
        "bars",
        "All metrics",
        "The six main figures of every system, text-level and fact-level. A star marks the best.",
        ("r1", "rl", "edit_distance", "n_ffa", "t_ffa", "ffa"),
    ),
    Chart(
        "ranks",
        "ranks",
        "Text-level rank and fact-level rank",
        "Each line connects a system's rank by text with its rank by facts. Crossing lines are "
        "systems whose order depends on the figure.",
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
        "The kinds of errors of each system, as shares of all facts.",
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
