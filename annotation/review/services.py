"""The domain review: rounds that draw gold facts by a seed, and what a verdict does to the gold."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max, Q
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
from annotation.spans import meaning_of, meaning_problem
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.facts import Span as TextSpan
from portal.facts import check_spans
from portal.facts.sampling import Key, draw

from .selectors import OWN_WORK, current_gold, uncovered_pages, worked_on

Stage = CampaignDocument.Stage
_FIELDS = ("label", "start", "end", "quote", "value", "sign")


def accept_fact(item: ReviewItem, access: Sequence[GoldSpan]) -> None:
    """Leaves the gold as it is; raises Refused when it is no longer what was drawn."""
    if [fact_of(span) for span in access] != [fact_of(item)]:
        raise Refused(
            "The gold here has changed since the fact was drawn. Say what it should be, or send "
            "the page back.",
            code="changed",
        )


def correct_fact(
    item: ReviewItem,
    campaign_document: CampaignDocument,
    access: Sequence[GoldSpan],
    correction: Mapping[str, Any] | None,
) -> dict[str, Any] | None:
    """Replaces what is gold at the fact by the correction, or removes it for None.

    Where the gold has changed since the draw, the correction may be what it says now.
    Returns the fact as it is afterwards. Raises InvalidSpans for a correction out of range, with an
    unknown label or a value that is none, elsewhere than the fact, or overlapping other gold or an
    open case; Refused when it changes nothing.
    """
    replacement = None if correction is None else _checked(item, campaign_document, correction)
    now = [fact_of(span) for span in access]
    if replacement is not None and now == [replacement] == [fact_of(item)]:
        raise Refused("The correction is what the gold says already.", code="unchanged")
    # It stays with its case, so that opening the case again finds it.
    case = next((span.case for span in access if span.case), None)
    GoldSpan.objects.filter(pk__in=[span.pk for span in access]).delete()
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
    access: Sequence[GoldSpan],
    reason: str,
    actor: User,
) -> Case:
    """Opens a case over the fact, with the gold as it was as its proposal; the page is not gold.

    A fact that came out of a case opens that one again, so that the decisions before stay in one
    history: the gold as it was becomes one more proposal.
    """
    start = min([item.start, *(span.start for span in access)])
    end = max([item.end, *(span.end for span in access)])
    case = _case_at(campaign_document, access, start, end)
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
    campaign_document: CampaignDocument, access: Sequence[GoldSpan], start: int, end: int
) -> Case:
    """The case that the place came out of, widened to hold it, else a new one.

    Where a case begins at the place it is that one: two may not begin at the same.
    """
    there = campaign_document.cases.filter(start=start).first()
    former = there or next((span.case for span in access if span.case), None)
    if former is None:
        return Case(campaign_document=campaign_document, start=start, end=end, proposals=[])
    former.start, former.end = min(former.start, start), max(former.end, end)
    return former


def fact_of(span: GoldSpan | ReviewItem) -> dict[str, Any]:
    """What makes a fact the same: label, place, quote, value and sign."""
    return {field: getattr(span, field) for field in _FIELDS}


# Above 2^53 numbers of JSON lose their last digits in JavaScript.
MAX_SEED = 2**53 - 1
MAX_REASON = 2000
Verdict = ReviewItem.Verdict


class AlreadyReviewed(Refused):
    """Somebody, perhaps the same person by a second click, gave a verdict before."""

    code = "decided"

    def __init__(self, item: ReviewItem) -> None:
        when = f"{item.decided_at:%Y-%m-%d %H:%M} UTC"
        super().__init__(
            f"Fact {item.position} was {item.get_verdict_display()} by {item.reviewer} on {when}; "
            "nothing was changed now."
        )


def open_due_round(*, campaign: Campaign) -> ReviewRound | None:
    """Opens a round when enough gold pages wait for one, or when the last page became gold.

    Runs in the caller's transaction. The campaign's row is locked, so that of two pages which
    become gold at the same time the second sees the first.
    """
    if not campaign.review_pages:
        return None
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if not locked.review_pages:  # switched off while this waited
        return None
    pages = _lock_uncovered(locked)
    if not pages or (len(pages) < locked.review_pages and _has_unfinished(locked)):
        return None
    return _open(locked, pages, seed=secrets.randbits(32), actor=None)


@transaction.atomic
def open_round_now(*, campaign: Campaign, actor: User, seed: int | None = None) -> ReviewRound:
    """Draws from the gold pages that no round has covered, however few they are.

    Raises Refused when there are none, when the campaign has no review, or for a seed below 0 or
    above `MAX_SEED`.
    """
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if not locked.review_pages:
        raise Refused("The campaign's settings have no domain review.", code="no_review")
    if seed is not None and not 0 <= seed <= MAX_SEED:
        raise Refused(f"The seed must be from 0 to {MAX_SEED}.", code="seed")
    pages = _lock_uncovered(locked)
    if not pages:
        raise Refused("Every gold page is in a review already.", code="nothing")
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
    found = ReviewRound.objects.create(
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
        _item(found, position, facts[key]) for position, key in enumerate(drawn, start=1)
    )
    CampaignDocument.objects.filter(pk__in=[page.pk for page in pages]).update(review_round=found)
    record_event(
        verb="open_review_round", subject=found, actor=actor, number=found.number, seed=seed,
        pages=len(pages), facts=len(facts), items=len(drawn),
    )  # fmt: skip
    _close_if_done(found)
    return found


def _item(found: ReviewRound, position: int, fact: GoldSpan) -> ReviewItem:
    return ReviewItem(
        round=found,
        position=position,
        campaign_document=fact.campaign_document,
        label=fact.label,
        start=fact.start,
        end=fact.end,
        quote=fact.quote,
        value=fact.value,
        sign=fact.sign,
    )


def _by_document(keys: Mapping[Key, GoldSpan]) -> dict[str, list[int]]:
    """What was drawn from, kept so that the draw can be made again when the gold has changed."""
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
    """Records a reviewer's verdict on a fact that was drawn, and does to the gold what it says.

    `accepted` leaves the gold; `corrected` puts `correction` ({label, start, end, value?, sign?})
    in the fact's place, or removes the fact for None; `sent_back` gives the page to adjudication
    again. The latter two need a reason. The round is done with its last verdict.

    Raises AlreadyReviewed; InvalidSpans for a correction that cannot be taken; Refused for a
    missing reason, for a page the reviewer worked on, and while the fact is in work again.
    """
    campaign_document = (
        CampaignDocument.objects.select_for_update(of=("self",))
        .select_related("campaign", "document__content")
        .get(pk=item.campaign_document_id)
    )
    found = ReviewRound.objects.select_for_update().get(pk=item.round_id)
    now = ReviewItem.objects.select_related("reviewer").get(pk=item.pk)
    if now.verdict != Verdict.PENDING:
        raise AlreadyReviewed(now)
    _check(now, campaign_document, verdict, reason, actor)
    access = current_gold(now)
    if verdict == Verdict.ACCEPTED:
        accept_fact(now, access)
    elif verdict == Verdict.CORRECTED:
        now.correction = correct_fact(now, campaign_document, access, correction)
    else:
        send_back(now, campaign_document, access, reason, actor)
    _record(now, campaign_document.campaign, verdict, reason, actor)
    _close_if_done(found)
    return now


def _check(
    item: ReviewItem, campaign_document: CampaignDocument, verdict: str, reason: str, actor: User
) -> None:
    if verdict not in {Verdict.ACCEPTED, Verdict.CORRECTED, Verdict.SENT_BACK}:
        raise Refused("The verdict must be accepted, corrected or sent_back.", code="verdict")
    if verdict != Verdict.ACCEPTED and not reason.strip():
        raise Refused("Say why: the reason is the feedback to the guidelines.", code="reason")
    if len(reason) > MAX_REASON:
        raise Refused(f"The reason is longer than {MAX_REASON} characters.", code="reason")
    if worked_on(actor, campaign_document):
        raise Refused(OWN_WORK, code="own_work")
    stage = CampaignDocument.Stage
    open_cases = campaign_document.cases.filter(
        state=Case.State.OPEN, start__lt=item.end, end__gt=item.start
    )
    if campaign_document.stage not in {stage.GOLD, stage.ADJUDICATION} or open_cases.exists():
        raise Refused(
            "This fact is in work again. It can be reviewed when the page is gold.", code="in_work"
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


def _close_if_done(found: ReviewRound) -> None:
    """Runs under the lock of the round's row, or before anybody else can see the round."""
    if found.items.filter(verdict=Verdict.PENDING).exists():
        return
    found.state = ReviewRound.State.DONE
    found.closed_at = timezone.now()
    found.save(update_fields=["state", "closed_at"])
    verdicts = Counter(found.items.values_list("verdict", flat=True))
    record_event(verb="close_review_round", subject=found, verdicts=verdicts)
