"""Domain review: rounds that draw gold facts by a seed, and the verdicts on them."""

import secrets
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation.models import (
    Campaign,
    CampaignDocument,
    Case,
    GoldSpan,
    ReviewItem,
    ReviewRound,
)
from annotation.selectors.review import uncovered_pages
from annotation.selectors.review_items import OWN_WORK, standing_gold, worked_on
from portal.accounts.models import User
from portal.audit.models import record_event
from portal.facts.sampling import Key, draw

from .errors import Refused
from .review_effects import accept_fact, correct_fact, send_back

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
    standing = standing_gold(now)
    if verdict == Verdict.ACCEPTED:
        accept_fact(now, standing)
    elif verdict == Verdict.CORRECTED:
        now.correction = correct_fact(now, campaign_document, standing, correction)
    else:
        send_back(now, campaign_document, standing, reason, actor)
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
            "This fact is in work again. It can be reviewed when the page is gold.",
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
            *("verdict", "reason", "correction", "guidelines_version", "reviewer", "decided_at"),
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
