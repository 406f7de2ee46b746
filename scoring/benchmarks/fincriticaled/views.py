"""The table of FinCriticalED beside the main one: by document type."""

from scoring.benchmarks.base import Column, Options, View

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


def views_for(
    options: Options,  # noqa: ARG001 - the view is the same under all of them
) -> tuple[View, ...]:
    """Correct facts by the type of the document they stand in."""
    return (_VIEW,)


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
