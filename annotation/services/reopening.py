"""Opening again what was decided: a case, or a place of a gold page that had none.

What was released stays as it is: releases never change.
"""

from django.db import transaction

from annotation.models import CampaignDocument, Case, Decision
from portal.accounts.models import User
from portal.audit.models import record_event

from .adjudicating import checked_reason, locked_document
from .errors import InvalidSpans, Refused

Stage = CampaignDocument.Stage


@transaction.atomic
def reopen_case(*, case: Case, reason: str, actor: User) -> Case:
    """Takes the decision and its gold back; the document goes back to adjudication.

    The decision stays in the case's history. Raises InvalidSpans without a reason and Refused when
    the case is open.
    """
    why = checked_reason(reason)
    campaign_document = locked_document(case.campaign_document_id)
    now = Case.objects.get(pk=case.pk)
    if now.state == Case.State.OPEN:
        raise Refused("This case is open already.", code="open")
    return _reopen(campaign_document, now, why, actor)


@transaction.atomic
def reopen_document(
    *, campaign_document: CampaignDocument, start: int, end: int, reason: str, actor: User
) -> Case:
    """Opens the place `[start, end)` of a page that is gold or in adjudication, for a correction.

    The case that was decided there is opened again; where there was none a case of the kind
    `review` begins, with the gold as it was for its only proposal. Raises InvalidSpans without a
    reason or for a place that is no text, and Refused where a case is open or several were decided.
    """
    why = checked_reason(reason)
    now = locked_document(campaign_document.pk)
    if now.stage not in {Stage.ADJUDICATION, Stage.GOLD}:
        raise Refused(f"The page is in {now.stage}: it has no gold to correct.", code="stage")
    start, end = _whole(now, start, end)
    cases = list(now.cases.filter(start__lt=end, end__gt=start))
    if any(case.state == Case.State.OPEN for case in cases):
        raise Refused("A case is open at this place already: decide it.", code="open")
    if len(cases) > 1:
        message = f"{len(cases)} cases were decided at this place: open the one that is meant."
        raise Refused(message, code="several")
    return _reopen(now, cases[0] if cases else _new_case(now, start, end), why, actor)


def _whole(campaign_document: CampaignDocument, start: int, end: int) -> tuple[int, int]:
    """The place with all of the gold that it cuts."""
    text = campaign_document.document.content.text
    if not 0 <= start < end <= len(text) or not text[start:end].strip():
        message = f"[{start}, {end}) is not a stretch of the page's text"
        raise InvalidSpans([{"field": "start", "code": "range", "message": message}])
    gold = campaign_document.gold_spans.filter(start__lt=end, end__gt=start)
    borders = list(gold.values_list("start", "end"))
    return min([start, *(s for s, _ in borders)]), max([end, *(e for _, e in borders)])


def _new_case(campaign_document: CampaignDocument, start: int, end: int) -> Case:
    gold = campaign_document.gold_spans.filter(start__lt=end, end__gt=start)
    was = list(gold.values("label", "start", "end", "quote", "value", "sign"))
    return Case(
        campaign_document=campaign_document,
        start=start,
        end=end,
        kind=Case.Kind.REVIEW,
        proposals=[{"assignment": None, "spans": was}],
    )


def _reopen(campaign_document: CampaignDocument, case: Case, reason: str, actor: User) -> Case:
    case.state, case.decision, case.reason = Case.State.OPEN, [], ""
    case.decided_by = case.decided_at = None
    case.save()
    # A review may have corrected what was decided here: that gold is the case's no longer.
    here = campaign_document.gold_spans.filter(start__lt=case.end, end__gt=case.start)
    taken = sum(rows.delete()[0] for rows in (case.gold_spans.all(), here))
    Decision.objects.create(
        case=case, choice=Decision.Choice.REOPENED, reason=reason, decided_by=actor
    )
    campaign_document.stage = Stage.ADJUDICATION
    campaign_document.gold_at = None
    campaign_document.save(update_fields=["stage", "gold_at"])
    record_event(verb="reopen_case", subject=case, actor=actor, kind=case.kind, gold=taken)
    return case
