"""What becomes of a document once everyone has submitted it: faults, agreed gold, or cases.

Faults of structure (`structural_faults`) make an annotator's work unusable: it goes back. Those of
a value (`value_problem`) concern one fact that all agree on, and are settled like a difference.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.utils import timezone

from annotation.models import Assignment, CampaignDocument, Case, Decision, GoldSpan
from annotation.review.services import open_due_round
from annotation.spans import SpanGroup, settled_value, span_groups
from portal.audit.models import record_event
from portal.facts import FactValue, check_spans, check_value
from portal.facts import Span as TextSpan
from portal.facts.spans import label_kind


class SubmittedSpan(Protocol):
    """A span as an annotator submitted it."""

    @property
    def key(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def quote(self) -> str: ...


@dataclass(frozen=True)
class IntegrityFault:
    """What is wrong with the span `key`, or with the whole page when that is empty."""

    key: str
    code: str
    message: str


def structural_faults(
    text: str, text_sha256: str, spans: Iterable[SubmittedSpan], labels: Sequence[str]
) -> list[IntegrityFault]:
    """Overlapping or nested spans, unknown labels, offsets that do not fit the text, a lost key.

    `text_sha256` is the hash the text had when it was imported.
    """
    if hashlib.sha256(text.encode()).hexdigest() != text_sha256:
        message = "the page's text is not the one that was imported: its hash differs"
        return [IntegrityFault("", "text_hash", message)]
    listed = list(spans)
    marks = [TextSpan(span.start, span.end, span.label) for span in listed]
    faults = [
        IntegrityFault(listed[fault.index].key, fault.code, fault.message)
        for fault in check_spans(text, marks, labels)
    ]
    for span in listed:
        if not span.key:
            faults.append(IntegrityFault("", "key", f"the span at {span.start} has no key"))
        if text[span.start : span.end] != span.quote:
            message = f"“{span.quote}” does not stand at [{span.start}, {span.end}) of the text"
            faults.append(IntegrityFault(span.key, "quote", message))
    return faults


def value_problem(values: Iterable[FactValue], label: str) -> str | None:
    """Why the values that annotators gave one fact cannot simply be gold; None when they can.

    A number or date needs a value, in the right form, that all gave alike.
    """
    if label_kind(label) is None:
        return None
    distinct = sorted(set(values))
    if len(distinct) > 1:
        return "the annotators' values differ"
    value = distinct[0]
    if not value.value:
        return f"the {label_kind(label)} has no value"
    return check_value(value.value, value.sign, label)


def make_gold(*, campaign_document: CampaignDocument) -> str:
    """Makes a document without open cases gold, which may make a domain review due.

    Returns its stage. Runs in the caller's transaction, which must hold the lock of the document's
    row.
    """
    campaign_document.stage = CampaignDocument.Stage.GOLD
    campaign_document.gold_at = timezone.now()
    campaign_document.save(update_fields=["stage", "gold_at"])
    record_event(verb="make_gold", subject=campaign_document)
    open_due_round(campaign=campaign_document.campaign)
    return str(campaign_document.stage)


Readings = dict[TextSpan, FactValue]
Stage = CampaignDocument.Stage


def settle_document(*, campaign_document: CampaignDocument, accept_faults: bool = False) -> str:
    """Validates and compares the submitted spans; returns the document's stage.

    With faults of structure the document waits for a lead, unless `accept_faults`. What all marked
    alike is gold, and what most marked where the agreement reaches the campaign's threshold; the
    rest becomes open cases. Without any the document is gold at once. Does nothing unless the
    document is in annotation, or in validation with its faults accepted, and everybody has
    submitted. Runs in the caller's transaction, which must hold the lock of the document's row.
    """
    assignments = _submitted(campaign_document, accept_faults)
    if not assignments:
        return campaign_document.stage
    campaign_document.settled_at = campaign_document.settled_at or timezone.now()
    if not accept_faults:
        campaign_document.faults = _faults(campaign_document, assignments)
    if campaign_document.faults and not accept_faults:
        return _hold(campaign_document)
    return _Settling(campaign_document, assignments).settle()


def _submitted(campaign_document: CampaignDocument, accept_faults: bool) -> list[Assignment]:
    """Everybody's work; nothing while somebody's is missing, or when it was settled before."""
    waits = Stage.VALIDATION if accept_faults else Stage.ANNOTATION
    if campaign_document.stage != waits:
        return []
    access = campaign_document.assignments.active()
    assignments = list(access.order_by("id").prefetch_related("spans"))
    everybody = all(assignment.is_submitted for assignment in assignments)
    return assignments if everybody else []


def _faults(
    campaign_document: CampaignDocument, assignments: Sequence[Assignment]
) -> list[dict[str, Any]]:
    document, labels = campaign_document.document, campaign_document.campaign.labels
    return [
        {
            "assignment": assignment.pk,
            "key": fault.key,
            "code": fault.code,
            "message": fault.message,
        }
        for assignment in assignments
        for fault in structural_faults(
            document.content.text, document.text_sha256, assignment.spans.all(), labels
        )
    ]


def _hold(campaign_document: CampaignDocument) -> str:
    campaign_document.stage = Stage.VALIDATION
    campaign_document.save(update_fields=["stage", "faults", "settled_at"])
    record_event(
        verb="fail_validation", subject=campaign_document, faults=len(campaign_document.faults)
    )
    return str(campaign_document.stage)


class _Settling:
    """One document: its text, and what each annotator marked in it with the values they gave."""

    def __init__(
        self, campaign_document: CampaignDocument, assignments: Sequence[Assignment]
    ) -> None:
        self.campaign_document = campaign_document
        self.assignments = assignments
        self.text = campaign_document.document.content.text
        self.threshold = campaign_document.campaign.agreement_threshold
        self.marks: list[Readings] = [_readings(assignment) for assignment in assignments]

    def settle(self) -> str:
        agreed, by_majority, cases = self._sorted()
        GoldSpan.objects.bulk_create(self._gold(span, GoldSpan.Origin.AGREED) for span in agreed)
        Case.objects.bulk_create(cases)
        for knot, marks in by_majority:
            self._decide_by_majority(knot, marks)
        document = self.campaign_document
        document.stage = Stage.ADJUDICATION
        document.save(update_fields=["stage", "faults", "settled_at"])
        record_event(
            verb="settle_document",
            subject=document,
            agreed=len(agreed),
            majority=len(by_majority),
            cases=len(cases),
        )
        return str(document.stage) if cases else make_gold(campaign_document=document)

    def _sorted(
        self,
    ) -> tuple[list[TextSpan], list[tuple[SpanGroup, tuple[TextSpan, ...]]], list[Case]]:
        agreed: list[TextSpan] = []
        by_majority: list[tuple[SpanGroup, tuple[TextSpan, ...]]] = []
        cases: list[Case] = []
        for knot in span_groups([list(readings) for readings in self.marks]):
            if knot.is_unanimous:
                (span,) = knot.marks[0]
                problem = value_problem((readings[span] for readings in self.marks), span.label)
                if problem is None:
                    agreed.append(span)
                else:
                    cases.append(self._case(knot, Case.Kind.VALUE))
            elif knot.majority is not None and knot.score >= self.threshold:
                by_majority.append((knot, knot.majority))
            else:
                cases.append(self._case(knot, knot.kind))
        return agreed, by_majority, cases

    def _gold(self, span: TextSpan, origin: str, case: Case | None = None) -> GoldSpan:
        quote = self.text[span.start : span.end]
        readings = (marks[span] for marks in self.marks if span in marks)
        value = settled_value(readings, quote, span.label)
        return GoldSpan(
            campaign_document=self.campaign_document,
            label=span.label,
            start=span.start,
            end=span.end,
            quote=quote,
            value=value.value,
            sign=value.sign,
            origin=origin,
            case=case,
        )

    def _decide_by_majority(self, knot: SpanGroup, marks: tuple[TextSpan, ...]) -> None:
        """A decided case, so that the lead can read it, and open it again."""
        case = self._case(knot, knot.kind)
        gold = [self._gold(span, GoldSpan.Origin.MAJORITY, case) for span in marks]
        case.state = Case.State.DECIDED
        case.decided_at = timezone.now()
        case.reason = f"{knot.marks.count(marks)} of {len(knot.marks)} annotators marked it so."
        case.decision = [decided_span(span) for span in gold]
        case.save()
        GoldSpan.objects.bulk_create(gold)
        Decision.objects.create(
            case=case, choice=Decision.Choice.MAJORITY, spans=case.decision, reason=case.reason
        )

    def _case(self, knot: SpanGroup, kind: str) -> Case:
        return Case(
            campaign_document=self.campaign_document,
            start=knot.start,
            end=knot.end,
            kind=kind,
            score=knot.score,
            proposals=[
                {
                    "assignment": assignment.pk,
                    "spans": [self._proposed(span, readings[span]) for span in spans],
                }
                for assignment, readings, spans in zip(
                    self.assignments, self.marks, knot.marks, strict=True
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


def decided_span(span: GoldSpan) -> dict[str, Any]:
    """A gold span as decisions keep it."""
    return {
        "label": span.label,
        "start": span.start,
        "end": span.end,
        "quote": span.quote,
        "value": span.value,
        "sign": span.sign,
    }


def _readings(assignment: Assignment) -> Readings:
    return {
        TextSpan(span.start, span.end, span.label): FactValue(span.value, span.sign)
        for span in assignment.spans.all()
    }
