"""What leads do: decide cases, open them again, and judge work that failed integrity validation.

Every decision is kept, with its reason. What was released stays as it is: releases never change.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.errors import CampaignNotOpen, InvalidSpans, Refused, check_reason
from annotation.models import Assignment, Campaign, CampaignDocument, Case, Decision, GoldSpan
from annotation.spans import Meaning, derived, meaning_problem, settled_value
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.facts import FactValue, check_spans
from portal.facts import Span as TextSpan

from .cases import Answer, answers_of, both, majority
from .settling import decided_span, make_gold, settle_document

MAX_REASON = 2_000
Choice = Decision.Choice


class AlreadyDecided(Refused):
    """Somebody, perhaps the same person by a second click, decided the case before."""

    code = "decided"

    def __init__(self, case: Case) -> None:
        who = str(case.decided_by) if case.decided_by else "the majority rule"
        when = f"{case.decided_at:%Y-%m-%d %H:%M} UTC"
        super().__init__(f"This case was decided by {who} on {when}; nothing was changed now.")


@dataclass(frozen=True)
class Decided:
    """The decided case, and the stage its document has reached by it."""

    case: Case
    stage: str


def checked_reason(reason: str) -> str:
    """The reason without white space around it; raises InvalidSpans when there is none."""
    plain = reason.strip()
    if not plain:
        raise InvalidSpans([_fault("reason", "A reason is needed: it stays with the decision.")])
    if len(plain) > MAX_REASON:
        raise InvalidSpans([_fault("reason", f"The reason is longer than {MAX_REASON} characters")])
    if "\x00" in plain or any("\ud800" <= character <= "\udfff" for character in plain):
        raise InvalidSpans([_fault("reason", "The reason contains NUL or half a character")])
    return plain


def _fault(name: str, message: str) -> dict[str, Any]:
    return {"field": name, "code": name, "message": message}


def locked_document(pk: int) -> CampaignDocument:
    """The document with its text, locked: what is decided on it comes one after the other."""
    return (
        CampaignDocument.objects.select_for_update(of=("self",))
        .select_related("campaign", "document__content")
        .defer("document__content__html")
        .get(pk=pk)
    )


@transaction.atomic
def decide_case(
    *,
    case: Case,
    choice: str,
    reason: str,
    actor: User,
    proposal: int | None = None,
    spans: Sequence[Answer] = (),
) -> Decided:
    """Makes the chosen marks gold in place of the case; the last decision of a document makes it
    gold.

    `choice` is one of Decision.Choice but `reopened`. `proposal` is the place of an annotator's
    marks, from 0, for `proposal`; `spans` are for `edit`. A span of an edit without a value has the
    one that all who marked it gave it, else the derived one. Everything but `majority` needs a
    reason. Raises InvalidSpans for a missing reason and for spans out of range, with an unknown
    label or an impossible value, overlapping each other or gold, or elsewhere than the case;
    Refused for a choice that the case does not offer; AlreadyDecided when it was settled before.
    """
    campaign_document = locked_document(case.campaign_document_id)
    now = Case.objects.select_related("decided_by").get(pk=case.pk)
    if now.state != Case.State.OPEN:
        raise AlreadyDecided(now)
    answers = sorted(_answers(now, choice, proposal, spans), key=lambda one: one.start)
    why = checked_reason(reason) if choice != Choice.MAJORITY or reason.strip() else ""
    _check_places(now, campaign_document, answers)
    gold = _gold(now, campaign_document, answers)
    GoldSpan.objects.bulk_create(gold)
    _close(now, gold, why, actor)
    Decision.objects.create(
        case=now,
        choice=choice,
        proposal=proposal if choice == Choice.PROPOSAL else None,
        spans=now.decision,
        reason=why,
        decided_by=actor,
    )
    record_event(
        verb="decide_case", subject=now, actor=actor, kind=now.kind, choice=choice, spans=len(gold)
    )
    return Decided(now, _advance(campaign_document))


def _answers(
    case: Case, choice: str, proposal: int | None, spans: Sequence[Answer]
) -> Iterable[Answer]:
    """The marks that the choice means; raises Refused for one that the case does not offer."""
    if choice == Choice.PROPOSAL:
        return proposed_answers(case, -1 if proposal is None else proposal)
    if choice == Choice.MAJORITY:
        most = majority(case.proposals, by_value=case.kind == Case.Kind.VALUE)
        if most is None:
            raise Refused("The case has no majority.", code="choice")
        return most
    if choice == Choice.BOTH:
        together = both(case.proposals)
        if together is None:
            raise Refused("No two proposals of the case fit beside each other.", code="choice")
        return together.answers
    if choice == Choice.NEITHER:
        return ()
    if choice == Choice.EDIT:
        if not spans:
            raise Refused("The edit holds no span. Choose “neither” to mark nothing.", code="spans")
        return spans
    raise Refused(f"A case cannot be decided by {choice!r}.", code="choice")


def proposed_answers(case: Case, proposal: int) -> tuple[Answer, ...]:
    """The marks of the `proposal`-th annotator (from 0); raises Refused when there is none."""
    if not 0 <= proposal < len(case.proposals):
        raise Refused(f"The case has {len(case.proposals)} proposals.", code="proposal")
    return answers_of(case.proposals[proposal])


def _check_places(
    case: Case, campaign_document: CampaignDocument, answers: Sequence[Answer]
) -> None:
    text = campaign_document.document.content.text
    spans = [TextSpan(one.start, one.end, one.label) for one in answers]
    errors: list[dict[str, Any]] = [
        {"index": fault.index, "code": fault.code, "message": fault.message}
        for fault in check_spans(text, spans, campaign_document.campaign.labels)
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


def _gold(
    case: Case, campaign_document: CampaignDocument, answers: Sequence[Answer]
) -> list[GoldSpan]:
    """The rows to be; raises InvalidSpans for a value that does not go with its label."""
    text = campaign_document.document.content.text
    rows, errors = [], []
    for index, one in enumerate(answers):
        quote = text[one.start : one.end]
        value, sign = _value(case, one, quote)
        if problem := meaning_problem(Meaning(value, sign, edited=True), one.label):
            errors.append({"index": index, "code": "value", "message": f"“{quote}”: {problem}"})
        rows.append(
            GoldSpan(
                campaign_document=campaign_document,
                case=case,
                label=one.label,
                start=one.start,
                end=one.end,
                quote=quote,
                value=value,
                sign=sign,
                origin=GoldSpan.Origin.ADJUDICATED,
            )
        )
    if errors:
        raise InvalidSpans(errors)
    return rows


def _value(case: Case, answer: Answer, quote: str) -> FactValue:
    if answer.value is None and answer.sign is None:
        return settled_value(_readings(case, answer), quote, answer.label)
    own = derived(quote, answer.label)
    return FactValue(
        own.value if answer.value is None else answer.value,
        own.sign if answer.sign is None else answer.sign,
    )


def _readings(case: Case, answer: Answer) -> list[FactValue]:
    """The values that annotators gave this very span; cases of the first version have none."""
    return [
        FactValue(given.value, given.sign or "")
        for proposal in case.proposals
        for given in answers_of(proposal)
        if given.mark == answer.mark and given.value is not None
    ]


def _close(case: Case, gold: Sequence[GoldSpan], reason: str, actor: User) -> None:
    case.state = Case.State.DECIDED
    case.decision = [decided_span(span) for span in gold]
    case.reason = reason
    case.decided_by = actor
    case.decided_at = timezone.now()
    case.save(update_fields=["state", "decision", "reason", "decided_by", "decided_at"])


def _advance(campaign_document: CampaignDocument) -> str:
    """Makes the document gold when its last case is decided; returns its stage."""
    if campaign_document.cases.filter(state=Case.State.OPEN).exists():
        return campaign_document.stage
    return make_gold(campaign_document=campaign_document)


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


@transaction.atomic
def send_back(
    *, campaign_document: CampaignDocument, assignments: Collection[int], reason: str, actor: User
) -> CampaignDocument:
    """Gives faulty work (primary keys) back to its annotators, who are told the reason.

    They go on from what they submitted; the first submission stays as it was, for agreement. When
    everybody has submitted again the document is validated again. Raises Refused when the document
    is not in validation, or one of the works is not of it.
    """
    why = check_reason(reason)
    document = _in_validation(campaign_document)
    if document.campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    works = list(
        document.assignments.active()
        .select_for_update(of=("self",))
        .filter(pk__in=set(assignments))
    )
    if not works or len(works) != len(set(assignments)):
        raise Refused("Choose whose work goes back, among that of this page.", code="assignments")
    for work in works:
        work.state, work.submitted_at = Assignment.State.IN_PROGRESS, None
        work.return_reason = why
        work.save(update_fields=["state", "submitted_at", "return_reason"])
    document.stage, document.faults = Stage.ANNOTATION, []
    document.save(update_fields=["stage", "faults"])
    record_event(
        verb="send_back", subject=document, actor=actor, assignments=[work.pk for work in works],
        reason=why,
    )  # fmt: skip
    return document


@transaction.atomic
def let_pass(*, campaign_document: CampaignDocument, reason: str, actor: User) -> str:
    """Accepts the faults; returns the stage the document reaches by being settled now."""
    why = check_reason(reason)
    document = _in_validation(campaign_document)
    record_event(
        verb="let_pass", subject=document, actor=actor, faults=len(document.faults),
        reason=why,
    )  # fmt: skip
    return settle_document(campaign_document=document, accept_faults=True)


def _in_validation(campaign_document: CampaignDocument) -> CampaignDocument:
    document = (
        CampaignDocument.objects.select_for_update(of=("self",))
        .select_related("campaign", "document")
        .get(pk=campaign_document.pk)
    )
    if document.stage != Stage.VALIDATION:
        raise Refused(
            f"This document does not wait for validation any more: it is in {document.stage}.",
            code="stage",
        )
    return document
