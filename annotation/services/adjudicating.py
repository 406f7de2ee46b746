"""Adjudication: a lead decides what becomes of a case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import CampaignDocument, Case, GoldSpan
from annotation.span_values import settled_value
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.facts import FactValue, check_spans
from portal.facts import Span as TextSpan

from .errors import InvalidSpans, Refused


class AlreadyDecided(Refused):
    """Somebody, perhaps the same person by a second click, decided the case before."""

    code = "decided"

    def __init__(self, case: Case) -> None:
        when = f"{case.decided_at:%Y-%m-%d %H:%M} UTC"
        super().__init__(
            f"This case was decided by {case.decided_by} on {when}; nothing was changed now."
        )


@dataclass(frozen=True)
class Decided:
    """The decided case, and the stage its document has reached by it."""

    case: Case
    stage: str


def proposed_spans(case: Case, proposal: int) -> list[TextSpan]:
    """The spans of the `proposal`-th annotator (from 0); raises Refused when there is none."""
    if not 0 <= proposal < len(case.proposals):
        raise Refused(f"The case has {len(case.proposals)} proposals.", code="proposal")
    return [
        TextSpan(span["start"], span["end"], span["label"])
        for span in case.proposals[proposal]["spans"]
    ]


@transaction.atomic
def decide_case(
    *, case: Case, decision_spans: Sequence[TextSpan], reason: str, actor: User
) -> Decided:
    """Makes `decision_spans` gold in place of the case; none at all is a full answer.

    A span has the value that all who proposed it gave it, else the derived one. The last decision
    makes the document gold. Raises InvalidSpans for spans out of range, with an
    unknown label, overlapping each other or gold, or elsewhere than the case; AlreadyDecided when
    it was settled before.
    """
    campaign_document = (
        CampaignDocument.objects.select_for_update(of=("self",))
        .select_related("campaign", "document__content")
        .get(pk=case.campaign_document_id)
    )
    now = Case.objects.select_related("decided_by").get(pk=case.pk)
    if now.state != Case.State.OPEN:
        raise AlreadyDecided(now)
    spans = sorted(decision_spans, key=lambda span: span.start)
    _check(now, campaign_document, spans)
    gold = _write_gold(now, campaign_document, spans)
    _close(now, gold, reason, actor)
    record_event(verb="decide_case", subject=now, actor=actor, kind=now.kind, spans=len(gold))
    return Decided(now, _advance(campaign_document))


def _check(case: Case, campaign_document: CampaignDocument, spans: Sequence[TextSpan]) -> None:
    text = campaign_document.document.content.text
    labels = campaign_document.campaign.labels
    errors: list[dict[str, Any]] = [
        {"index": fault.index, "code": fault.code, "message": fault.message}
        for fault in check_spans(text, spans, labels)
    ]
    if not errors:
        gold = list(campaign_document.gold_spans.values("label", "start", "end", "quote"))
        for index, span in enumerate(spans):
            errors += _misplaced(index, span, case, gold)
    if errors:
        raise InvalidSpans(errors)


def _misplaced(
    index: int, span: TextSpan, case: Case, gold: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    if span.end <= case.start or span.start >= case.end:
        message = f"[{span.start}, {span.end}) lies outside the case, [{case.start}, {case.end})"
        return [{"index": index, "code": "outside", "message": message}]
    return [
        {
            "index": index,
            "code": "overlaps_gold",
            "message": f"[{span.start}, {span.end}) overlaps “{other['quote']}” "
            f"[{other['start']}, {other['end']}), which is gold already",
        }
        for other in gold
        if span.start < other["end"] and other["start"] < span.end
    ]


def _write_gold(
    case: Case, campaign_document: CampaignDocument, spans: Sequence[TextSpan]
) -> list[GoldSpan]:
    text = campaign_document.document.content.text
    rows = []
    for span in spans:
        quote = text[span.start : span.end]
        value = settled_value(_readings(case, span), quote, span.label)
        rows.append(
            GoldSpan(
                campaign_document=campaign_document,
                case=case,
                label=span.label,
                start=span.start,
                end=span.end,
                quote=quote,
                value=value.value,
                sign=value.sign,
                origin=GoldSpan.Origin.ADJUDICATED,
            )
        )
    return GoldSpan.objects.bulk_create(rows)


def _readings(case: Case, span: TextSpan) -> list[FactValue]:
    """The values that annotators gave this very span; cases of the first version have none."""
    return [
        FactValue(proposed["value"], proposed["sign"])
        for proposal in case.proposals
        for proposed in proposal["spans"]
        if (proposed["start"], proposed["end"], proposed["label"])
        == (span.start, span.end, span.label)
        and "value" in proposed
    ]


def _close(case: Case, gold: Sequence[GoldSpan], reason: str, actor: User) -> None:
    case.state = Case.State.DECIDED
    case.decision = [
        {
            "label": span.label,
            "start": span.start,
            "end": span.end,
            "quote": span.quote,
            "value": span.value,
            "sign": span.sign,
        }
        for span in gold
    ]
    case.reason = reason
    case.decided_by = actor
    case.decided_at = timezone.now()
    case.save(update_fields=["state", "decision", "reason", "decided_by", "decided_at"])


def _advance(campaign_document: CampaignDocument) -> str:
    """Makes the document gold when its last case is decided; returns its stage."""
    if campaign_document.cases.filter(state=Case.State.OPEN).exists():
        return campaign_document.stage
    campaign_document.stage = CampaignDocument.Stage.GOLD
    campaign_document.save(update_fields=["stage"])
    record_event(verb="finish_adjudication", subject=campaign_document)
    return str(campaign_document.stage)
