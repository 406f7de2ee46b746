"""What becomes of a document once everybody has submitted it: agreed gold, and cases to decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.knots import Knot, knots
from annotation.models import Assignment, CampaignDocument, Case, GoldSpan
from annotation.span_values import settled_value
from portal.audit.models import record_event
from portal.facts import FactValue
from portal.facts import Span as TextSpan

Readings = dict[TextSpan, FactValue]


def settle_document(*, campaign_document: CampaignDocument) -> str:
    """Compares the submitted spans; returns the document's stage.

    Where all annotators marked alike the span is gold, with the value all of them gave it or, where
    their values differ, the derived one; every other knot becomes an open case.
    Without cases the document is gold at once. Does nothing unless the document is in annotation
    and all have submitted. Runs in the caller's transaction, which must hold the lock of the
    document's row.
    """
    if campaign_document.stage != CampaignDocument.Stage.ANNOTATION:
        return campaign_document.stage
    assignments = list(campaign_document.assignments.order_by("id").prefetch_related("spans"))
    if not assignments or not all(assignment.is_submitted for assignment in assignments):
        return campaign_document.stage
    marks = [_readings(assignment) for assignment in assignments]
    found = knots([list(readings) for readings in marks])
    settling = _Settling(campaign_document, campaign_document.document.content.text, marks)
    agreed = [settling.gold(knot) for knot in found if knot.is_unanimous]
    cases = [settling.case(knot, assignments) for knot in found if not knot.is_unanimous]
    GoldSpan.objects.bulk_create(agreed)
    Case.objects.bulk_create(cases)
    stage = CampaignDocument.Stage.ADJUDICATION if cases else CampaignDocument.Stage.GOLD
    campaign_document.stage = stage
    campaign_document.save(update_fields=["stage"])
    record_event(
        verb="settle_document", subject=campaign_document, agreed=len(agreed), cases=len(cases)
    )
    return str(stage)


def _readings(assignment: Assignment) -> Readings:
    return {
        TextSpan(span.start, span.end, span.label): FactValue(span.value, span.sign)
        for span in assignment.spans.all()
    }


@dataclass(frozen=True)
class _Settling:
    """A document's text, and what each annotator marked in it, with the values they gave."""

    campaign_document: CampaignDocument
    text: str
    marks: Sequence[Readings]

    def gold(self, knot: Knot) -> GoldSpan:
        (span,) = knot.marks[0]
        quote = self.text[span.start : span.end]
        value = settled_value((readings[span] for readings in self.marks), quote, span.label)
        return GoldSpan(
            campaign_document=self.campaign_document,
            label=span.label,
            start=span.start,
            end=span.end,
            quote=quote,
            value=value.value,
            sign=value.sign,
            origin=GoldSpan.Origin.AGREED,
        )

    def case(self, knot: Knot, assignments: Sequence[Assignment]) -> Case:
        return Case(
            campaign_document=self.campaign_document,
            start=knot.start,
            end=knot.end,
            kind=knot.kind,
            proposals=[
                {
                    "assignment": assignment.pk,
                    "spans": [self._proposed(span, readings[span]) for span in spans],
                }
                for assignment, readings, spans in zip(
                    assignments, self.marks, knot.marks, strict=True
                )
            ],
        )

    def _proposed(self, span: TextSpan, value: FactValue) -> dict[str, Any]:
        return {
            "label": span.label,
            "start": span.start,
            "end": span.end,
            "quote": self.text[span.start : span.end],
            "value": value.value,
            "sign": value.sign,
        }
