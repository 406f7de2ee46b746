"""The spans of one assignment: as they are, as they were, and what is odd about them."""

from collections.abc import Sequence
from typing import Any

from annotation.models import Assignment, Span
from annotation.span_input import Draft, recorded_span
from portal.facts import SpanWarning, span_warnings
from portal.facts.spans import label_kind
from portal.web.prepared import Parameter, Prepared

from .page_facts import page_facts

_STORED = Prepared(
    lambda: (
        Span.objects.filter(assignment=Parameter("assignment"))
        .order_by("start")
        .values_list(*Draft._fields)
    )
)


def stored_spans(assignment: Assignment) -> list[Draft]:
    """The spans as saved, in text order."""
    return [Draft._make(row) for row in _STORED.rows(assignment=assignment.pk)]


def current_spans(assignment: Assignment) -> list[dict[str, Any]]:
    """The spans as saved, in text order, with the fields of the API."""
    return [draft._asdict() for draft in stored_spans(assignment)]


def spans_at(assignment: Assignment, number: int) -> list[Draft]:
    """The spans as they were after revision `number`, in text order; none after revision 0."""
    present: dict[str, Draft] = {}
    changes = assignment.revisions.filter(number__lte=number).order_by("number")
    for added, removed in changes.values_list("added", "removed").iterator():
        for span in removed:
            del present[span["key"]]
        present |= {span["key"]: recorded_span(span) for span in added}
    return sorted(present.values(), key=lambda draft: draft.start)


def warnings_of(assignment: Assignment, drafts: Sequence[Draft]) -> list[Sequence[SpanWarning]]:
    """What looks wrong with each of the spans. The assignment comes with its document's text."""
    if not drafts:
        return []
    document = assignment.campaign_document.document
    text, (borders, facts) = document.content.text, page_facts(document)
    return [
        span_warnings(text, borders, draft.start, draft.end, draft.label, facts, value=draft.value)
        for draft in drafts
    ]


def warning_rows(
    warnings: Sequence[SpanWarning], label: str, labels: Sequence[str]
) -> list[dict[str, str]]:
    """Warnings with the fields of the API; `label` is the one that would fit better, if any."""
    return [
        {
            "code": warning.code,
            "message": warning.message,
            "label": _fitting_label(label, labels) if warning.code == "wrong_type" else "",
        }
        for warning in warnings
    ]


def _fitting_label(label: str, labels: Sequence[str]) -> str:
    """The first label of the campaign for what is a date and no number, or the reverse."""
    others = (one for one in labels if label_kind(one) not in {None, label_kind(label)})
    return next(others, "")
