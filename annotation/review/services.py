"""Open review rounds, which draw gold facts by a seed, and apply verdicts to the gold."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from annotation.errors import InvalidSpans, Refused
from annotation.models import (
    Campaign,
    CampaignDocument,
    Case,
    Decision,
    GoldSpan,
    ReviewItem,
    ReviewRound,
)
from annotation.spans import Fault, fact_of, meaning_of, meaning_problem, misplaced
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.facts import Span as TextSpan
from portal.facts import check_spans
from portal.facts.sampling import Key, draw
from portal.facts.spans import characters

from .selectors import OWN_WORK, current_gold, is_own, uncovered_pages

Stage = CampaignDocument.Stage


def accept_fact(item: ReviewItem, current: Sequence[GoldSpan]) -> None:
    """Accepts the gold; raises Refused if it is no longer the drawn fact."""
    if [fact_of(span) for span in current] != [fact_of(item)]:
        raise Refused(
            "The gold has changed since the fact was sampled. Correct it or send it back.",
            code="changed",
        )


def correct_fact(
    item: ReviewItem,
    campaign_document: CampaignDocument,
    current: Sequence[GoldSpan],
    correction: Mapping[str, Any] | None,
) -> dict[str, Any] | None:
    """Replaces the gold at the fact by the correction, or removes it for None.

    If the gold has changed since the draw, the correction may equal the current gold. Returns the
    new fact. Raises InvalidSpans for a correction that is out of range, has an unknown label or an
    invalid value, lies outside the fact, or overlaps other gold or an open case; Refused if it
    changes nothing.
    """
    replacement = None if correction is None else _checked(item, campaign_document, correction)
    now = [fact_of(span) for span in current]
    if replacement is not None and now == [replacement] == [fact_of(item)]:
        raise Refused("The correction is the same as the current gold.", code="unchanged")
    # The new gold keeps its case, so that reopening the case finds it.
    case = next((span.case for span in current if span.case), None)
    GoldSpan.objects.filter(pk__in=[span.pk for span in current]).delete()
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
    faults: list[Fault] = [
        {"index": 0, "code": fault.code, "message": fault.message}
        for fault in check_spans(text, [span], campaign_document.campaign.labels)
    ]
    if faults := faults or _misplaced(item, campaign_document, span):
        raise InvalidSpans(faults)
    quote = text[span.start : span.end]
    meaning = meaning_of({**correction, "quote": quote})
    if problem := meaning_problem(meaning, span.label):
        raise InvalidSpans([{"index": 0, "code": "value", "message": problem}])
    place = {"label": span.label, "start": span.start, "end": span.end, "quote": quote}
    return place | {"value": meaning.value, "sign": meaning.sign}


def _misplaced(
    item: ReviewItem, campaign_document: CampaignDocument, span: TextSpan
) -> list[Fault]:
    others = campaign_document.gold_spans.exclude(start__lt=item.end, end__gt=item.start)
    faults = misplaced(0, span, "the fact", item, others)
    if any(fault["code"] == "outside" for fault in faults):
        return faults
    place = f"the span ({characters(span.start, span.end)})"
    open_cases = campaign_document.cases.filter(
        state=Case.State.OPEN, start__lt=span.end, end__gt=span.start
    )
    for case in open_cases:
        message = f"{place} overlaps an open case ({characters(case.start, case.end)})"
        faults.append({"index": 0, "code": "overlaps_case", "message": message})
    return faults


def send_back(
    item: ReviewItem,
    campaign_document: CampaignDocument,
    current: Sequence[GoldSpan],
    reason: str,
    actor: User,
) -> Case:
    """Opens a case at the fact with the former gold as a proposal; the page is no longer gold.

    If the fact was decided in a case, that case is reopened and keeps its history. The former gold
    becomes an additional proposal.
    """
    start = min([item.start, *(span.start for span in current)])
    end = max([item.end, *(span.end for span in current)])
    case = _case_at(campaign_document, current, start, end)
    removed = [fact_of(span) for span in _gold_of(campaign_document, case)]
    was = {"assignment": None, "spans": removed, "reason": reason}
    # Decisions refer to proposals by index, so the order must not change.
    annotators = [proposal for proposal in case.proposals if proposal["assignment"] is not None]
    case.proposals = [*annotators, was]
    case.kind = Case.Kind.REVIEW
    open_again(case, campaign_document, reason, actor)
    record_event(verb="send_back", subject=case, actor=actor, item=item.pk)
    return case


def _gold_of(campaign_document: CampaignDocument, case: Case) -> QuerySet[GoldSpan]:
    """The gold of a case, and what a review has put into its place."""
    inside = Q(start__lt=case.end, end__gt=case.start)
    return campaign_document.gold_spans.filter(inside | Q(case=case.pk) if case.pk else inside)


def open_again(case: Case, campaign_document: CampaignDocument, reason: str, actor: User) -> int:
    """Opens a case, and returns its page to adjudication. Returns the number of removed facts."""
    removed, _ = _gold_of(campaign_document, case).delete()
    case.state, case.decision, case.reason = Case.State.OPEN, [], ""
    case.decided_by = case.decided_at = None
    case.save()
    Decision.objects.create(
        case=case, choice=Decision.Choice.REOPENED, reason=reason, decided_by=actor
    )
    campaign_document.stage = Stage.ADJUDICATION
    campaign_document.gold_at = None
    campaign_document.save(update_fields=["stage", "gold_at"])
    return removed


def _case_at(
    campaign_document: CampaignDocument, current: Sequence[GoldSpan], start: int, end: int
) -> Case:
    """The case in which the range was decided, widened to contain it, or a new one.

    A case with the same start has priority, because starts are unique.
    """
    there = campaign_document.cases.filter(start=start).first()
    former = there or next((span.case for span in current if span.case), None)
    if former is None:
        return Case(campaign_document=campaign_document, start=start, end=end, proposals=[])
    former.start, former.end = min(former.start, start), max(former.end, end)
    return former


# JavaScript cannot represent larger integers of JSON exactly.
MAX_SEED = 2**53 - 1
MAX_REASON = 2000
Verdict = ReviewItem.Verdict


class AlreadyReviewed(Refused):
    """The fact already has a verdict, by another reviewer or by an earlier click."""

    code = "decided"

    def __init__(self, item: ReviewItem) -> None:
        when = f"{item.decided_at:%Y-%m-%d %H:%M} UTC"
        super().__init__(
            f"Fact {item.position} was {item.get_verdict_display()} by {item.reviewer} on {when}. "
            "Your verdict was not saved."
        )


def open_due_round(*, campaign: Campaign) -> ReviewRound | None:
    """Opens a round if enough gold pages are in none, or if the last page became gold.

    Runs in the caller's transaction. Locks the campaign's row, so that pages that become gold at
    the same time are counted one after the other.
    """
    if not campaign.review_pages:
        return None
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if not locked.review_pages:  # disabled while this call was blocked
        return None
    pages = _lock_uncovered(locked)
    if not pages or (len(pages) < locked.review_pages and _has_unfinished(locked)):
        return None
    return _open(locked, pages, seed=secrets.randbits(32), actor=None)


@transaction.atomic
def open_round_now(*, campaign: Campaign, actor: User, seed: int | None = None) -> ReviewRound:
    """Draws from all gold pages that are in no round yet.

    Raises Refused if there are none, if the campaign has no review, or for a seed below 0 or above
    `MAX_SEED`.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if not locked.review_pages:
        raise Refused("Reviews are turned off in the campaign's settings.", code="no_review")
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise Refused(f"The seed must be from 0 to {MAX_SEED}.", code="seed")
    pages = _lock_uncovered(locked)
    if not pages:
        raise Refused("Every gold document is already in a review.", code="nothing")
    return _open(locked, pages, secrets.randbits(32) if seed is None else seed, actor)


def _lock_uncovered(campaign: Campaign) -> list[CampaignDocument]:
    rows = uncovered_pages(campaign).select_related("document").select_for_update(of=("self",))
    return list(rows.order_by("id"))


def _has_unfinished(campaign: Campaign) -> bool:
    return (
        CampaignDocument.objects.in_work()
        .filter(campaign=campaign)
        .exclude(stage=CampaignDocument.Stage.GOLD)
        .exists()
    )


def _open(
    campaign: Campaign, pages: list[CampaignDocument], seed: int, actor: User | None
) -> ReviewRound:
    facts = {
        Key(fact.campaign_document.document.name, fact.start): fact
        for fact in GoldSpan.objects.filter(campaign_document__in=pages).select_related(
            "campaign_document__document"
        )
    }
    drawn = draw(facts, campaign.review_share, seed)
    last = campaign.review_rounds.aggregate(last=Max("number"))["last"] or 0
    opened = ReviewRound.objects.create(
        campaign=campaign,
        number=last + 1,
        seed=seed,
        share=campaign.review_share,
        pages=len(pages),
        facts=len(facts),
        population=_by_document(facts),
        guidelines_version=campaign.guidelines_version,
        opened_by=actor,
    )
    ReviewItem.objects.bulk_create(
        _item(opened, position, facts[key]) for position, key in enumerate(drawn, start=1)
    )
    CampaignDocument.objects.filter(pk__in=[page.pk for page in pages]).update(review_round=opened)
    record_event(
        verb="open_review_round", subject=opened, actor=actor, number=opened.number, seed=seed,
        pages=len(pages), facts=len(facts), items=len(drawn),
    )  # fmt: skip
    _close_if_done(opened)
    return opened


def _item(review_round: ReviewRound, position: int, fact: GoldSpan) -> ReviewItem:
    return ReviewItem(
        round=review_round,
        position=position,
        campaign_document=fact.campaign_document,
        **fact_of(fact),
    )


def _by_document(keys: Mapping[Key, GoldSpan]) -> dict[str, list[int]]:
    """The starts of all facts by document, stored so that the draw can be repeated later."""
    starts: dict[str, list[int]] = defaultdict(list)
    for key in sorted(keys):
        starts[key.document].append(key.start)
    return starts


@transaction.atomic
def decide_item(
    *,
    item: ReviewItem,
    verdict: str,
    correction: Mapping[str, Any] | None = None,
    reason: str = "",
    actor: User,
) -> ReviewItem:
    """Records a reviewer's verdict on a drawn fact, and applies it to the gold.

    `accepted` keeps the gold; `corrected` replaces the fact by `correction` ({label, start, end,
    value?, sign?}), or removes it for None; `sent_back` returns the page to adjudication. The
    latter two need a reason. The last verdict completes the round.

    Raises AlreadyReviewed; InvalidSpans for an invalid correction; Refused for a missing reason,
    for a page the reviewer worked on, and while the page is in work again.
    """
    pages = CampaignDocument.objects.locked("document__content")
    campaign_document = pages.get(pk=item.campaign_document_id)
    review_round = ReviewRound.objects.select_for_update().get(pk=item.round_id)
    now = ReviewItem.objects.select_related("reviewer").get(pk=item.pk)
    if now.verdict != Verdict.PENDING:
        raise AlreadyReviewed(now)
    _check(now, campaign_document, verdict, reason, actor)
    current = current_gold(now)
    if verdict == Verdict.ACCEPTED:
        accept_fact(now, current)
    elif verdict == Verdict.CORRECTED:
        now.correction = correct_fact(now, campaign_document, current, correction)
    else:
        send_back(now, campaign_document, current, reason, actor)
    _record(now, campaign_document.campaign, verdict, reason, actor)
    _close_if_done(review_round)
    return now


def _check(
    item: ReviewItem, campaign_document: CampaignDocument, verdict: str, reason: str, actor: User
) -> None:
    if verdict not in {Verdict.ACCEPTED, Verdict.CORRECTED, Verdict.SENT_BACK}:
        raise Refused("Choose the verdict accepted, corrected or sent_back.", code="verdict")
    if verdict != Verdict.ACCEPTED and not reason.strip():
        raise Refused("Enter a reason. It becomes feedback for the guidelines.", code="reason")
    if len(reason) > MAX_REASON:
        raise Refused(f"Enter at most {MAX_REASON} characters.", code="reason")
    if is_own(campaign_document, actor):
        raise Refused(OWN_WORK, code="own_work")
    stage = CampaignDocument.Stage
    open_cases = campaign_document.cases.filter(
        state=Case.State.OPEN, start__lt=item.end, end__gt=item.start
    )
    if campaign_document.stage not in {stage.GOLD, stage.ADJUDICATION} or open_cases.exists():
        raise Refused(
            "This document was reopened. Review the fact when the document is gold again.",
            code="in_work",
        )


def _record(item: ReviewItem, campaign: Campaign, verdict: str, reason: str, actor: User) -> None:
    item.verdict = verdict
    item.reason = reason.strip()
    item.guidelines_version = campaign.guidelines_version
    item.reviewer = actor
    item.decided_at = timezone.now()
    item.save(
        update_fields=[
            *("verdict", "reason", "correction", "guidelines_version", "reviewer", "decided_at")
        ]
    )
    record_event(
        verb="decide_review_item", subject=item, actor=actor, verdict=verdict,
        guidelines=campaign.guidelines_version,
    )  # fmt: skip


def _close_if_done(review_round: ReviewRound) -> None:
    """The caller must hold the lock of the round's row, or have created it."""
    if review_round.items.filter(verdict=Verdict.PENDING).exists():
        return
    review_round.state = ReviewRound.State.DONE
    review_round.closed_at = timezone.now()
    review_round.save(update_fields=["state", "closed_at"])
    verdicts = Counter(review_round.items.values_list("verdict", flat=True))
    record_event(verb="close_review_round", subject=review_round, verdicts=verdicts)
