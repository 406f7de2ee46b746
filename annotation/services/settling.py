"""What becomes of a document once everybody has submitted it: agreed gold, and cases to decide."""

from collections.abc import Sequence

from annotation.knots import Knot, knots
from annotation.models import Assignment, CampaignDocument, Case, GoldSpan
from portal.audit.models import record_event
from portal.facts import Span as TextSpan


def settle_document(*, campaign_document: CampaignDocument) -> str:
    """Compares the submitted spans; returns the document's stage.

    Where all annotators marked alike the span is gold; every other knot becomes an open case.
    Without cases the document is gold at once. Does nothing unless the document is in annotation
    and all have submitted. Runs in the caller's transaction, which must hold the lock of the
    document's row.
    """
    if campaign_document.stage != CampaignDocument.Stage.ANNOTATION:
        return campaign_document.stage
    assignments = list(campaign_document.assignments.order_by("id").prefetch_related("spans"))
    if not assignments or not all(assignment.is_submitted for assignment in assignments):
        return campaign_document.stage
    text = campaign_document.document.content.text
    marks = [
        [TextSpan(span.start, span.end, span.label) for span in assignment.spans.all()]
        for assignment in assignments
    ]
    found = knots(marks)
    agreed = [_gold(campaign_document, knot, text) for knot in found if knot.is_unanimous]
    cases = [
        _case(campaign_document, knot, assignments, text) for knot in found if not knot.is_unanimous
    ]
    GoldSpan.objects.bulk_create(agreed)
    Case.objects.bulk_create(cases)
    stage = CampaignDocument.Stage.ADJUDICATION if cases else CampaignDocument.Stage.GOLD
    campaign_document.stage = stage
    campaign_document.save(update_fields=["stage"])
    record_event(
        verb="settle_document", subject=campaign_document, agreed=len(agreed), cases=len(cases)
    )
    return str(stage)


def _gold(campaign_document: CampaignDocument, knot: Knot, text: str) -> GoldSpan:
    (span,) = knot.marks[0]
    return GoldSpan(
        campaign_document=campaign_document,
        label=span.label,
        start=span.start,
        end=span.end,
        quote=text[span.start : span.end],
        origin=GoldSpan.Origin.AGREED,
    )


def _case(
    campaign_document: CampaignDocument, knot: Knot, assignments: Sequence[Assignment], text: str
) -> Case:
    return Case(
        campaign_document=campaign_document,
        start=knot.start,
        end=knot.end,
        kind=knot.kind,
        proposals=[
            {
                "assignment": assignment.pk,
                "spans": [
                    {
                        "label": span.label,
                        "start": span.start,
                        "end": span.end,
                        "quote": text[span.start : span.end],
                    }
                    for span in spans
                ],
            }
            for assignment, spans in zip(assignments, knot.marks, strict=True)
        ],
    )
