"""Reads of the domain review: rounds, draws, single facts, and whether it blocks a release.

Reviewers see only gold: no annotators, and no marks that did not become gold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.urls import reverse

from annotation.access import worked_on
from annotation.models import (
    Campaign,
    CampaignDocument,
    GoldSpan,
    Membership,
    ReviewItem,
    ReviewRound,
)
from annotation.spans import fact_of, label_css
from portal.facts.page_text import Context, Excerpts
from portal.facts.sampling import Key, Range, draw, wilson

Verdict = ReviewItem.Verdict
Stage = CampaignDocument.Stage


@dataclass(frozen=True)
class Verdicts:
    """The facts of a draw by verdict."""

    accepted: int
    corrected: int
    sent_back: int
    pending: int

    @property
    def decided(self) -> int:
        return self.accepted + self.corrected + self.sent_back

    @property
    def total(self) -> int:
        return self.decided + self.pending

    @property
    def acceptance(self) -> float | None:
        """Share of the decided facts that were accepted, 0 to 1; None before the first verdict."""
        return self.accepted / self.decided if self.decided else None

    @property
    def interval(self) -> Range | None:
        """The 95% interval of the acceptance."""
        return wilson(self.accepted, self.decided)


@dataclass(frozen=True)
class Review:
    """All rounds, newest first. `waiting` gold pages are in no round; the next round opens after
    `missing` more.
    """

    rounds: list[Any]
    every: int
    share: float
    waiting: int
    blocks: str | None

    @property
    def is_wanted(self) -> bool:
        return self.every > 0

    @property
    def missing(self) -> int:
        return max(0, self.every - self.waiting)


@dataclass(frozen=True)
class Redrawn:
    """A repeated draw of a round. `population` is None if it was not recorded."""

    population: int | None
    drawn: tuple[Key, ...]
    stored: tuple[Key, ...]

    @property
    def is_same(self) -> bool:
        return self.population is not None and self.drawn == self.stored


def uncovered_pages(campaign: Campaign) -> QuerySet[CampaignDocument]:
    """Gold pages that are in no round."""
    return CampaignDocument.objects.in_work().filter(
        campaign=campaign, stage=Stage.GOLD, review_round=None
    )


def unreviewed_pages(campaign: Campaign) -> QuerySet[CampaignDocument]:
    """Gold pages in an open round, and those in no round unless reviews are turned off."""
    gold = CampaignDocument.objects.in_work().filter(campaign=campaign, stage=Stage.GOLD)
    unreviewed = Q(review_round__state=ReviewRound.State.OPEN)
    if campaign.review_pages:
        unreviewed |= Q(review_round=None)
    return gold.filter(unreviewed)


def review_blocks_release(campaign: Campaign) -> str | None:
    """The reason for which a release must wait, or None. Open rounds block it even if reviews were
    turned off since.
    """
    rounds = campaign.review_rounds.filter(state=ReviewRound.State.OPEN)
    numbers = [str(number) for number in rounds.order_by("number").values_list("number", flat=True)]
    if numbers:
        subject = f"Review {numbers[0]} is" if len(numbers) == 1 else f"Reviews {_and(numbers)} are"
        reason = f"{subject} open. Every sampled fact must be reviewed."
        if lacks_reviewer(campaign):
            reason += " The campaign has no reviewer. Invite one under People."
        return reason
    waiting = uncovered_pages(campaign).count() if campaign.review_pages else 0
    if waiting:
        pages = "1 gold document is" if waiting == 1 else f"{waiting} gold documents are"
        return f"{pages} not yet in a review. A lead can open a review."
    return None


def lacks_reviewer(campaign: Campaign) -> bool:
    reviewers = Membership.objects.filter(campaign=campaign, role=Membership.Role.REVIEWER)
    return not reviewers.exists()


def _and(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def review_of(campaign: Campaign) -> Review:
    """The rounds of a campaign, with a fixed number of queries."""
    return Review(
        rounds=with_verdicts(campaign.review_rounds.order_by("-number")),
        every=campaign.review_pages,
        share=campaign.review_share,
        waiting=uncovered_pages(campaign).count(),
        blocks=review_blocks_release(campaign),
    )


def with_verdicts(rounds: QuerySet[ReviewRound]) -> list[Any]:
    """The rounds with their `verdicts` (Verdicts). One query."""
    counts = {
        f"{verdict}_count": Count("items", filter=Q(items__verdict=verdict))
        for verdict in Verdict.values
    }
    counted: list[Any] = list(rounds.select_related("opened_by").annotate(**counts))
    for row in counted:
        row.verdicts = Verdicts(
            **{verdict: getattr(row, f"{verdict}_count") for verdict in Verdict.values}
        )
    return counted


def round_items(review_round: ReviewRound) -> QuerySet[ReviewItem]:
    """The drawn facts in the order of pages and text."""
    items = review_round.items.select_related("campaign_document__document", "reviewer")
    return items.order_by("position")


def redraw(drawn_round: ReviewRound) -> Redrawn:
    """Repeats the round's draw from the facts that were gold when it opened."""
    stored = drawn_round.items.order_by("position")
    rows = stored.values_list("campaign_document__document__name", "start")
    keys = tuple(Key(name, start) for name, start in rows)
    population = [
        Key(name, start) for name, starts in drawn_round.population.items() for start in starts
    ]
    if len(population) != drawn_round.facts:
        return Redrawn(None, (), keys)
    drawn = draw(population, drawn_round.share, drawn_round.seed)
    return Redrawn(len(population), tuple(drawn), keys)


def is_own(page: CampaignDocument, user: Any) -> bool:
    """Whether the user annotated or adjudicated the page."""
    return worked_on(user, CampaignDocument.objects.filter(pk=page.pk))


OWN_WORK = "You annotated or adjudicated this document. Another reviewer must review it."
IN_WORK = "This document was reopened. You can review its facts when it becomes gold again."


@dataclass(frozen=True)
class ItemView:
    """A drawn fact, the current gold at its place, and the text around it.

    `obstacle` is the reason for which the user cannot decide, or empty. `is_shown` is false while
    annotators work on the page again.
    """

    item: ReviewItem
    css: str
    context: Context | None
    gold_now: tuple[GoldSpan, ...]
    next_position: int | None
    pending: int
    obstacle: str

    @property
    def is_pending(self) -> bool:
        return self.item.verdict == Verdict.PENDING

    @property
    def is_shown(self) -> bool:
        return self.context is not None

    @property
    def has_changed(self) -> bool:
        """Whether the current gold differs from the drawn fact."""
        return [fact_of(span) for span in self.gold_now] != [fact_of(self.item)]


def next_pending(item: ReviewItem) -> int | None:
    """Position of the next fact without a verdict; after the last one, of the first."""
    pending = ReviewItem.objects.filter(round=item.round_id, verdict=Verdict.PENDING)
    others = pending.exclude(pk=item.pk).order_by("position")
    following = others.filter(position__gt=item.position).first() or others.first()
    return following.position if following else None


def current_gold(item: ReviewItem) -> list[GoldSpan]:
    """The current gold at the place of the drawn fact."""
    spans = GoldSpan.objects.filter(
        campaign_document=item.campaign_document_id, start__lt=item.end, end__gt=item.start
    )
    return list(spans.select_related("case").order_by("start"))


def item_view(campaign: Campaign, item: ReviewItem, reader: Any, *, may_decide: bool) -> ItemView:
    """One fact; `item` must come with its document's content."""
    page = item.campaign_document
    shown = page.stage in {Stage.GOLD, Stage.ADJUDICATION}
    excerpts = Excerpts(page.document.content.html, page.document.content.text)
    return ItemView(
        item=item,
        css=label_css(item.label, campaign.labels),
        context=excerpts.around(item.start, item.end) if shown else None,
        gold_now=tuple(current_gold(item)) if shown else (),
        next_position=next_pending(item),
        pending=ReviewItem.objects.filter(round=item.round_id, verdict=Verdict.PENDING).count(),
        obstacle=_obstacle(page, reader, shown=shown, may_decide=may_decide),
    )


def _obstacle(page: CampaignDocument, reader: Any, *, shown: bool, may_decide: bool) -> str:
    if not shown:
        return IN_WORK
    if not may_decide:
        return "Only the campaign's reviewers can give a verdict."
    if is_own(page, reader):
        return OWN_WORK
    return ""


def item_page_data(campaign: Campaign, view: ItemView) -> dict[str, Any]:
    """The data of the page's script: the fact, and the gold of the page."""
    item = view.item
    document = item.campaign_document.document
    place = [campaign.slug, item.round.number, item.position]
    gold = item.campaign_document.gold_spans.values_list("label", "start", "end")
    return {
        "fact": {"start": item.start, "end": item.end},
        "text_sha256": document.text_sha256,
        "text_chars": document.text_chars,
        "gold": [
            {"css": label_css(label, campaign.labels), "start": start, "end": end}
            for label, start, end in gold
        ],
        "html": reverse("annotation:review-html", args=place),
    }
