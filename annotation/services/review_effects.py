"""What a reviewer's verdict does to the gold. Everything runs in the caller's transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Q

from annotation.models import CampaignDocument, Case, Decision, GoldSpan, ReviewItem
from annotation.span_values import meaning_of, meaning_problem
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.facts import Span as TextSpan
from portal.facts import check_spans

from .errors import InvalidSpans, Refused

Stage = CampaignDocument.Stage
_FIELDS = ("label", "start", "end", "quote", "value", "sign")


def accept_fact(item: ReviewItem, standing: Sequence[GoldSpan]) -> None:
    """Leaves the gold as it is; raises Refused when it is no longer what was drawn."""
    if [fact_of(span) for span in standing] != [fact_of(item)]:
        raise Refused(
            "The gold here has changed since the fact was drawn. Say what it should be, or send "
            "the page back.",
            code="changed",
        )


def correct_fact(
    item: ReviewItem,
    campaign_document: CampaignDocument,
    standing: Sequence[GoldSpan],
    correction: Mapping[str, Any] | None,
) -> dict[str, Any] | None:
    """Replaces what is gold at the fact by the correction, or removes it for None.

    Where the gold has changed since the draw, the correction may be what it says now.
    Returns the fact as it is afterwards. Raises InvalidSpans for a correction out of range, with an
    unknown label or a value that is none, elsewhere than the fact, or overlapping other gold or an
    open case; Refused when it changes nothing.
    """
    replacement = None if correction is None else _checked(item, campaign_document, correction)
    now = [fact_of(span) for span in standing]
    if replacement is not None and now == [replacement] == [fact_of(item)]:
        raise Refused("The correction is what the gold says already.", code="unchanged")
    # It stays with its case, so that opening the case again finds it.
    case = next((span.case for span in standing if span.case), None)
    GoldSpan.objects.filter(pk__in=[span.pk for span in standing]).delete()
    if replacement is not None:
        GoldSpan.objects.create(
            campaign_document=campaign_document,
            origin=GoldSpan.Origin.REVIEWED,
            case=case,
            **replacement,
        )
    return replacement


def _checked(
    item: ReviewItem, campaign_document: CampaignDocument, correction: Mapping[str, Any]
) -> dict[str, Any]:
    text = campaign_document.document.content.text
    span = TextSpan(correction["start"], correction["end"], correction["label"])
    faults: list[tuple[str, str]] = [
        (fault.code, fault.message)
        for fault in check_spans(text, [span], campaign_document.campaign.labels)
    ]
    faults = faults or _misplaced(item, campaign_document, span)
    if faults:
        raise InvalidSpans([{"index": 0, "code": code, "message": why} for code, why in faults])
    quote = text[span.start : span.end]
    meaning = meaning_of({**correction, "quote": quote})
    problem = meaning_problem(meaning, span.label)
    if problem is not None:
        raise InvalidSpans([{"index": 0, "code": "value", "message": problem}])
    place = {"label": span.label, "start": span.start, "end": span.end, "quote": quote}
    return place | {"value": meaning.value, "sign": meaning.sign}


def _misplaced(
    item: ReviewItem, campaign_document: CampaignDocument, span: TextSpan
) -> list[tuple[str, str]]:
    place = f"[{span.start}, {span.end})"
    if span.end <= item.start or span.start >= item.end:
        return [("outside", f"{place} lies outside the fact, [{item.start}, {item.end})")]
    others = campaign_document.gold_spans.filter(start__lt=span.end, end__gt=span.start)
    faults = [
        (
            "overlaps_gold",
            f"{place} overlaps “{other.quote}” [{other.start}, {other.end}), which is gold already",
        )
        for other in others.exclude(start__lt=item.end, end__gt=item.start)
    ]
    open_cases = campaign_document.cases.filter(
        state=Case.State.OPEN, start__lt=span.end, end__gt=span.start
    )
    return faults + [
        ("overlaps_case", f"{place} overlaps an open case at [{case.start}, {case.end})")
        for case in open_cases
    ]


def send_back(
    item: ReviewItem,
    campaign_document: CampaignDocument,
    standing: Sequence[GoldSpan],
    reason: str,
    actor: User,
) -> Case:
    """Opens a case over the fact, with the gold as it was as its proposal; the page is not gold.

    A fact that came out of a case opens that one again, so that the decisions before stay in one
    history: the gold as it was becomes one more proposal.
    """
    start = min([item.start, *(span.start for span in standing)])
    end = max([item.end, *(span.end for span in standing)])
    case = _case_at(campaign_document, standing, start, end)
    place = Q(start__lt=case.end, end__gt=case.start)
    taken = list(campaign_document.gold_spans.filter(place | Q(case=case.pk) if case.pk else place))
    was = {"assignment": None, "spans": [fact_of(span) for span in taken], "reason": reason}
    # Decisions name proposals by their place, so that none may move.
    annotators = [proposal for proposal in case.proposals if proposal["assignment"] is not None]
    case.proposals = [*annotators, was]
    case.kind = Case.Kind.REVIEW
    case.state = Case.State.OPEN
    case.decision, case.reason, case.decided_by, case.decided_at = [], "", None, None
    case.save()
    GoldSpan.objects.filter(pk__in=[span.pk for span in taken]).delete()
    Decision.objects.create(
        case=case, choice=Decision.Choice.REOPENED, reason=reason, decided_by=actor
    )
    campaign_document.stage = Stage.ADJUDICATION
    campaign_document.gold_at = None
    campaign_document.save(update_fields=["stage", "gold_at"])
    record_event(verb="send_back", subject=case, actor=actor, item=item.pk)
    return case


def _case_at(
    campaign_document: CampaignDocument, standing: Sequence[GoldSpan], start: int, end: int
) -> Case:
    """The case that the place came out of, widened to hold it, else a new one.

    Where a case begins at the place it is that one: two may not begin at the same.
    """
    there = campaign_document.cases.filter(start=start).first()
    former = there or next((span.case for span in standing if span.case), None)
    if former is None:
        return Case(campaign_document=campaign_document, start=start, end=end, proposals=[])
    former.start, former.end = min(former.start, start), max(former.end, end)
    return former


def fact_of(span: GoldSpan | ReviewItem) -> dict[str, Any]:
    """What makes a fact the same: label, place, quote, value and sign."""
    return {field: getattr(span, field) for field in _FIELDS}
