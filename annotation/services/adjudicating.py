"""Adjudication: a lead decides what becomes of a case. Every decision is kept, with its reason."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import CampaignDocument, Case, Decision, GoldSpan
from annotation.proposals import Answer, answers_of, both, majority
from annotation.span_values import Meaning, derived, meaning_problem, settled_value
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.facts import FactValue, check_spans
from portal.facts import Span as TextSpan

from .errors import InvalidSpans, Refused
from .settling import decided_span
from .staging import make_gold

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
