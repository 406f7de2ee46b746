"""Decide cases, reopen them, and handle work that failed integrity validation.

Every decision is kept with its reason. Releases never change. Every service raises OwnWork if the
actor annotated the document.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.doubts import DoubtfulFact, doubtful_facts
from annotation.errors import CampaignNotOpen, InvalidSpans, OwnWork, Refused, check_reason
from annotation.models import Assignment, Campaign, CampaignDocument, Case, Decision, GoldSpan
from annotation.review.services import open_again
from annotation.spans import (
    FACT,
    Meaning,
    derived,
    fact_of,
    meaning_problem,
    misplaced,
    settled_value,
)
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.facts import FactValue, check_spans
from portal.facts import Span as TextSpan
from portal.facts.spans import characters

from .settling import Answer, answers_of, both, majority, make_gold, settle_document

MAX_REASON = 2_000
Choice = Decision.Choice


class AlreadyDecided(Refused):
    """The case is already decided, by someone else or by an earlier click."""

    code = "decided"

    def __init__(self, case: Case) -> None:
        who = str(case.decided_by) if case.decided_by else "the majority rule"
        when = f"{case.decided_at:%Y-%m-%d %H:%M} UTC"
        super().__init__(f"This case was decided by {who} on {when}. Your decision was not saved.")


def checked_reason(reason: str) -> str:
    """The stripped reason; raises InvalidSpans if it is empty, too long or not storable."""
    plain = reason.strip()
    if not plain:
        raise InvalidSpans([_fault("reason", "Enter a reason. It is saved with the decision.")])
    if len(plain) > MAX_REASON:
        raise InvalidSpans(
            [_fault("reason", f"The reason is longer than {MAX_REASON} characters.")]
        )
    if "\x00" in plain or any("\ud800" <= character <= "\udfff" for character in plain):
        raise InvalidSpans(
            [_fault("reason", "The reason contains a NUL or an incomplete character.")]
        )
    return plain


def _fault(name: str, message: str) -> dict[str, Any]:
    return {"field": name, "code": name, "message": message}


def locked_document(pk: int, actor: User) -> CampaignDocument:
    """The document with its text, locked so that its decisions are made one at a time.

    Raises OwnWork if the actor annotated it.
    """
    rows = CampaignDocument.objects.locked("document__content")
    document: CampaignDocument = rows.defer("document__content__html").get(pk=pk)
    if document.is_labelled_by(actor):
        raise OwnWork
    return document


@transaction.atomic
def decide_case(
    *,
    case: Case,
    choice: str,
    reason: str,
    actor: User,
    proposal: int | None = None,
    spans: Sequence[Answer] = (),
) -> Case:
    """Makes the chosen marks gold; the last decision of a document makes the document gold.

    `choice` is one of Decision.Choice except `reopened`. The choice `proposal` needs `proposal`,
    an index from 0; the choice `edit` needs `spans`. An edited span without a value gets the value
    that its annotators share, otherwise the derived one. Every choice except `majority` needs a
    reason. Raises InvalidSpans for a missing reason and for spans that are out of range, have an
    unknown label or an invalid value, overlap each other or gold, or lie outside the case; Refused
    for a choice that the case does not offer; AlreadyDecided if the case is not open.
    """
    campaign_document = locked_document(case.campaign_document_id, actor)
    now = Case.objects.select_related("decided_by").get(pk=case.pk)
    now.campaign_document = campaign_document
    if now.state != Case.State.OPEN:
        raise AlreadyDecided(now)
    answers = sorted(_answers(now, choice, proposal, spans), key=lambda answer: answer.start)
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
    if not campaign_document.cases.filter(state=Case.State.OPEN).exists():
        make_gold(campaign_document=campaign_document)
    return now


def _answers(
    case: Case, choice: str, proposal: int | None, spans: Sequence[Answer]
) -> Iterable[Answer]:
    """The marks of the choice; raises Refused for one that the case does not offer."""
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
            raise Refused("No two proposals of this case can be combined.", code="choice")
        return together.answers
    if choice == Choice.NEITHER:
        return ()
    if choice == Choice.EDIT:
        if not spans:
            raise Refused(
                "Add at least one span, or choose neither if there is no fact.", code="spans"
            )
        return spans
    raise Refused(f"A case cannot be decided by {choice!r}.", code="choice")


def proposed_answers(case: Case, proposal: int) -> tuple[Answer, ...]:
    """The marks of the `proposal`-th proposal (from 0); raises Refused if there is none."""
    if not 0 <= proposal < len(case.proposals):
        raise Refused(
            f"Choose one of the {len(case.proposals)} proposals of this case.", code="proposal"
        )
    return answers_of(case.proposals[proposal])


def _check_places(
    case: Case, campaign_document: CampaignDocument, answers: Sequence[Answer]
) -> None:
    text = campaign_document.document.content.text
    spans = [TextSpan(answer.start, answer.end, answer.label) for answer in answers]
    errors: list[dict[str, Any]] = [
        {"index": fault.index, "code": fault.code, "message": fault.message}
        for fault in check_spans(text, spans, campaign_document.campaign.labels)
    ]
    if not errors:
        gold = list(campaign_document.gold_spans.all())
        for index, span in enumerate(spans):
            errors += misplaced(index, span, "the case", case, gold)
    if errors:
        raise InvalidSpans(errors)


def _gold(
    case: Case, campaign_document: CampaignDocument, answers: Sequence[Answer]
) -> list[GoldSpan]:
    """The gold rows, unsaved; raises InvalidSpans for a value that does not fit its label."""
    text = campaign_document.document.content.text
    rows, errors = [], []
    for index, answer in enumerate(answers):
        quote = text[answer.start : answer.end]
        value, sign = _value(case, answer, quote)
        if problem := meaning_problem(Meaning(value, sign, edited=True), answer.label):
            errors.append({"index": index, "code": "value", "message": f"“{quote}”: {problem}"})
        rows.append(
            GoldSpan(
                campaign_document=campaign_document,
                case=case,
                label=answer.label,
                start=answer.start,
                end=answer.end,
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
    """The annotators' values of this exact span. Old cases have none."""
    return [
        FactValue(given.value, given.sign or "")
        for proposal in case.proposals
        for given in answers_of(proposal)
        if given.mark == answer.mark and given.value is not None
    ]


def _close(case: Case, gold: Sequence[GoldSpan], reason: str, actor: User) -> None:
    case.state = Case.State.DECIDED
    case.decision = [fact_of(span) for span in gold]
    case.reason = reason
    case.decided_by = actor
    case.decided_at = timezone.now()
    case.save(update_fields=["state", "decision", "reason", "decided_by", "decided_at"])


Stage = CampaignDocument.Stage


@transaction.atomic
def reopen_case(*, case: Case, reason: str, actor: User) -> Case:
    """Removes the decision and its gold, and returns the document to adjudication.

    The decision stays in the case's history. Raises InvalidSpans without a reason and Refused if
    the case is open.
    """
    why = checked_reason(reason)
    campaign_document = locked_document(case.campaign_document_id, actor)
    now = Case.objects.get(pk=case.pk)
    if now.state == Case.State.OPEN:
        raise Refused("This case is already open.", code="open")
    return _reopen(campaign_document, now, why, actor)


@transaction.atomic
def reopen_document(
    *, campaign_document: CampaignDocument, start: int, end: int, reason: str, actor: User
) -> Case:
    """Opens the range `[start, end)` of a page that is gold or in adjudication, for a correction.

    Reopens the decided case in the range. Without one it creates a case of the kind `review` whose
    only proposal is the current gold. Raises InvalidSpans without a reason or for a range without
    text, and Refused if the range has an open case or several decided ones.
    """
    why = checked_reason(reason)
    now = locked_document(campaign_document.pk, actor)
    if now.stage not in {Stage.ADJUDICATION, Stage.GOLD}:
        raise Refused(f"The document is in {now.stage} and has no gold to correct.", code="stage")
    start, end = _whole(now, start, end)
    cases = list(now.cases.filter(start__lt=end, end__gt=start))
    if any(case.state == Case.State.OPEN for case in cases):
        raise Refused("This range already has an open case. Decide that case first.", code="open")
    if len(cases) > 1:
        message = f"{len(cases)} decided cases are in this range. Reopen one of them instead."
        raise Refused(message, code="several")
    return _reopen(now, cases[0] if cases else _new_case(now, start, end), why, actor)


@dataclass(frozen=True)
class OpenedCases:
    """The keys of the opened cases, and the number of documents with the actor's own labels, which
    were left out.
    """

    cases: list[int]
    own: int


def open_doubtful_cases(*, campaign: Campaign, actor: User) -> OpenedCases:
    """Opens a case for every gold fact of the campaign with a warning on which no one decided.

    Each document is one transaction, so that a second call continues where the first ended.
    """
    pages = CampaignDocument.objects.filter(campaign=campaign, stage=Stage.GOLD)
    undecided: dict[str, list[DoubtfulFact]] = defaultdict(list)
    for fact in doubtful_facts(pages):
        if not fact.is_signed:
            undecided[fact.document].append(fact)
    opened: list[int] = []
    own = 0
    for page in pages.filter(document__name__in=undecided).select_related("document"):
        try:
            opened += _open_doubtful(page, undecided[page.document.name], actor)
        except OwnWork:
            own += 1
    return OpenedCases(opened, own)


@transaction.atomic
def _open_doubtful(page: CampaignDocument, facts: Iterable[DoubtfulFact], actor: User) -> list[int]:
    return [
        reopen_document(
            campaign_document=page,
            start=fact.start,
            end=fact.end,
            reason=" ".join(fact.messages),
            actor=actor,
        ).pk
        for fact in facts
    ]


def _whole(campaign_document: CampaignDocument, start: int, end: int) -> tuple[int, int]:
    """The range, extended to the ends of the gold spans that it overlaps."""
    text = campaign_document.document.content.text
    if not 0 <= start < end <= len(text) or not text[start:end].strip():
        message = f"{characters(start, end)}: not a range of the document's text"
        raise InvalidSpans([{"field": "start", "code": "range", "message": message}])
    gold = campaign_document.gold_spans.filter(start__lt=end, end__gt=start)
    borders = list(gold.values_list("start", "end"))
    return min([start, *(s for s, _ in borders)]), max([end, *(e for _, e in borders)])


def _new_case(campaign_document: CampaignDocument, start: int, end: int) -> Case:
    gold = campaign_document.gold_spans.filter(start__lt=end, end__gt=start)
    was = list(gold.values(*FACT))
    return Case(
        campaign_document=campaign_document,
        start=start,
        end=end,
        kind=Case.Kind.REVIEW,
        proposals=[{"assignment": None, "spans": was}],
    )


def _reopen(campaign_document: CampaignDocument, case: Case, reason: str, actor: User) -> Case:
    removed = open_again(case, campaign_document, reason, actor)
    record_event(verb="reopen_case", subject=case, actor=actor, kind=case.kind, gold=removed)
    return case


@transaction.atomic
def send_back(
    *, campaign_document: CampaignDocument, assignments: Collection[int], reason: str, actor: User
) -> CampaignDocument:
    """Returns assignments (primary keys) to their annotators, who see the reason.

    They continue from their submitted spans. The first submission is kept for agreement. The
    document is validated again after all have resubmitted. Raises Refused if the document is not in
    validation or an assignment belongs to another document.
    """
    why = check_reason(reason)
    document = _in_validation(campaign_document, actor)
    if document.campaign.state != Campaign.State.OPEN:
        raise CampaignNotOpen
    works = list(
        document.assignments.active()
        .select_for_update(of=("self",))
        .filter(pk__in=set(assignments))
    )
    if not works or len(works) != len(set(assignments)):
        raise Refused("Choose at least one annotator of this document.", code="assignments")
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
def let_pass(*, campaign_document: CampaignDocument, reason: str, actor: User) -> CampaignDocument:
    """Accepts the faults and settles the document."""
    why = check_reason(reason)
    document = _in_validation(campaign_document, actor)
    record_event(
        verb="let_pass", subject=document, actor=actor, faults=len(document.faults),
        reason=why,
    )  # fmt: skip
    settle_document(campaign_document=document, accept_faults=True)
    return document


def _in_validation(campaign_document: CampaignDocument, actor: User) -> CampaignDocument:
    document = CampaignDocument.objects.locked().get(pk=campaign_document.pk)
    if document.stage != Stage.VALIDATION:
        raise Refused(
            f"This document is no longer in validation. It is in {document.stage}.",
            code="stage",
        )
    if document.is_labelled_by(actor):
        raise OwnWork
    return document
