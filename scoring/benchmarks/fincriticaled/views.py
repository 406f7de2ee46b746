"""The tables of FinCriticalED beside the main one: by document type, and of the first version."""

from dataclasses import replace
from pathlib import Path

from scoring.benchmarks.base import Column, Options, ReportedRow, View
from scoring.benchmarks.matcher_names import NAMES, TITLES
from scoring.benchmarks.reported import load_reported

from .columns import FACT_LEVEL, GENERAL_COLUMNS
from .labels import FIRST_FFA, first_labels
from .matchers import beside_key, judge_model, main_matcher, matchers_beside

# The paper's five document types, by the words that gold and datasets use; all else is "other".
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
    """The document type that gold states, as a key of DOCUMENT_TYPES.

    >>> document_type("tax_form"), document_type("Tax form"), document_type("poem")
    ('tax_form', 'tax_form', 'other')
    """
    key = stated.strip().lower().replace(" ", "_")
    return key if key in DOCUMENT_TYPES else OTHER


def type_key(document_type: str) -> str:
    """The key of the fact-level accuracy on pages of a document type."""
    return f"ffa_{document_type}"


def views_for(options: Options) -> tuple[View, ...]:
    """Correct facts by the type of the document they stand in; where more fact types are counted
    than in the paper's first version, also its table; and the matchers side by side."""
    first = (_FIRST,) if first_labels(options) else ()
    matchers = (_matchers(options),) if matchers_beside(options) or judge_model(options) else ()
    return (_VIEW, *first, *matchers)


def _matchers(options: Options) -> View:
    """Fact-level accuracy as each matcher sees it, the board's own last."""
    beside = (
        Column(
            beside_key(name), TITLES[name], _BY_MATCHER, f"Correct facts by {name}, over all pages"
        )
        for name in NAMES
        if name in matchers_beside(options)
    )
    own = main_matcher(options)
    decides = f"Correct facts by {own}, over all pages; the board ranks by it"
    return View(
        "matchers",
        "Matchers",
        "The same predictions by each matcher: how much of a figure is the matcher's doing.",
        (
            *beside,
            Column("ffa", TITLES[own], _BY_MATCHER, decides, rank="board"),
            *(_PAGE_SCORES if judge_model(options) else ()),
        ),
    )


def _first_rows() -> tuple[ReportedRow, ...]:
    """Table 4 of the paper's first version, with its accuracy under the name that it has here."""
    names = {"ffa": FIRST_FFA}
    rows = load_reported(Path(__file__).with_name("reported.csv"))
    return tuple(
        replace(row, scores={names.get(key, key): value for key, value in row.scores.items()})
        for row in rows
        if row.protocol == "v1"
    )


_FIRST = View(
    "first_version",
    "Numbers and dates",
    "The table of the paper's first version: of the facts only numbers and dates are counted.",
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
    "Document types",
    "Correct facts by the type of document that the gold states.",
    (
        *(
            Column(type_key(key), _LABELS[key], _GROUP, f"{title}: correct facts")
            for key, title in DOCUMENT_TYPES.items()
        ),
        Column("ffa", "All", _GROUP, "Correct facts, over all pages", rank="board"),
    ),
)
