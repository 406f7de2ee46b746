"""What a save is answered with, however it came about."""

from collections.abc import Sequence
from typing import Any

from annotation.models import Assignment
from annotation.selectors.spans import spans_at, warning_rows, warnings_of
from annotation.services.saving import Saved
from annotation.span_input import Draft, recorded_span


def save_answer(assignment: Assignment, saved: Saved) -> dict[str, Any]:
    """For who sent the spans and has them: what our code adds to those that are new or changed."""
    return _answer(saved, span_remarks(assignment, [recorded_span(span) for span in saved.added]))


def replacement_answer(assignment: Assignment, saved: Saved) -> dict[str, Any]:
    """For who does not have them, as after a restore or an import: all of them, whole."""
    drafts = spans_at(assignment, saved.revision)
    remarks = span_remarks(assignment, drafts)
    whole = [draft._asdict() | remark for draft, remark in zip(drafts, remarks, strict=True)]
    return _answer(saved, whole)


def _answer(saved: Saved, spans: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "revision": saved.revision,
        "saved_at": saved.saved_at,
        "state": saved.state,
        "spans": spans,
    }


def span_remarks(assignment: Assignment, drafts: Sequence[Draft]) -> list[dict[str, Any]]:
    """The value, sign and warnings of each span."""
    labels = assignment.campaign_document.campaign.labels
    return [
        {
            "key": draft.key,
            "value": draft.value,
            "sign": draft.sign,
            "edited": draft.edited,
            "warnings": warning_rows(warnings, draft.label, labels),
        }
        for draft, warnings in zip(drafts, warnings_of(assignment, drafts), strict=True)
    ]
