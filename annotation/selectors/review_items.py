"""One fact that the domain review drew: the gold there, the text around it, who may decide it.

Reviewers see gold and nothing of its making: no annotator, and no mark that did not become gold.
"""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from annotation.models import Campaign, CampaignDocument, Decision, GoldSpan, ReviewItem
from portal.facts.page_text import Context, Excerpts

from .adjudication import label_css

Verdict = ReviewItem.Verdict
Stage = CampaignDocument.Stage
OWN_WORK = "You annotated or adjudicated this page yourself; another reviewer has to look at it."
IN_WORK = "This page is in work again. Its facts can be reviewed when it is gold."


@dataclass(frozen=True)
class ItemView:
    """A fact that was drawn, what is gold there now, and the text around it.

    `obstacle` says why the reader cannot decide it; `is_shown` is off while annotators work on the
    page again.
    """

    item: ReviewItem
    document_name: str
    css: str
    context: Context | None
    standing: tuple[GoldSpan, ...]
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
        """Whether the gold here is another by now."""
        drawn = _identity(self.item)
        return tuple(_identity(span) for span in self.standing) != (drawn,)


def next_pending(item: ReviewItem) -> int | None:
    """Position of the next fact without a verdict, after the last from the beginning again."""
    pending = ReviewItem.objects.filter(round=item.round_id, verdict=Verdict.PENDING)
    others = pending.exclude(pk=item.pk).order_by("position")
    following = others.filter(position__gt=item.position).first() or others.first()
    return following.position if following else None


def standing_gold(item: ReviewItem) -> list[GoldSpan]:
    """What is gold now where the fact was drawn: mostly the fact itself."""
    spans = GoldSpan.objects.filter(
        campaign_document=item.campaign_document_id, start__lt=item.end, end__gt=item.start
    )
    return list(spans.select_related("case").order_by("start"))


def worked_on(user: Any, campaign_document: CampaignDocument) -> bool:
    """Whether the user annotated the page or adjudicated one of its cases."""
    decided = Decision.objects.filter(case__campaign_document=campaign_document, decided_by=user)
    return (
        campaign_document.assignments.filter(annotator=user).exists()
        or campaign_document.cases.filter(decided_by=user).exists()
        # Sending a page back opens its case again; that is the review's own act.
        or decided.exclude(choice=Decision.Choice.REOPENED).exists()
    )


def item_view(campaign: Campaign, item: ReviewItem, reader: Any, *, may_decide: bool) -> ItemView:
    """One fact; `item` must come with its document's content."""
    page = item.campaign_document
    shown = page.stage in {Stage.GOLD, Stage.ADJUDICATION}
    excerpts = Excerpts(page.document.content.html, page.document.content.text)
    return ItemView(
        item=item,
        document_name=page.document.name,
        css=label_css(item.label, campaign.labels),
        context=excerpts.around(item.start, item.end) if shown else None,
        standing=tuple(standing_gold(item)) if shown else (),
        next_position=next_pending(item),
        pending=ReviewItem.objects.filter(round=item.round_id, verdict=Verdict.PENDING).count(),
        obstacle=_obstacle(page, reader, shown=shown, may_decide=may_decide),
    )


def _obstacle(page: CampaignDocument, reader: Any, *, shown: bool, may_decide: bool) -> str:
    if not shown:
        return IN_WORK
    if not may_decide:
        return "You can read the review; verdicts are given by the campaign's reviewers."
    if worked_on(reader, page):
        return OWN_WORK
    return ""


def item_page_data(campaign: Campaign, view: ItemView) -> dict[str, Any]:
    """What the page's JavaScript needs: the fact, and the gold of the page."""
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


def _identity(span: GoldSpan | ReviewItem) -> tuple[str, int, int, str, str]:
    return span.label, span.start, span.end, span.value, span.sign
