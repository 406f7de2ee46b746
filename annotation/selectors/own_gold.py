"""An annotator's own marks beside the gold of their page, once the page is gold.

Nothing of the other annotators is told: no mark, no name, not how many marked what.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from annotation.gold_comparison import Compared, Outcome, compare_with_gold
from annotation.models import Assignment, CampaignDocument, Case, GoldSpan, ReviewItem, Span
from portal.facts import Span as TextSpan
from portal.facts import trim_span

from .adjudication import label_css

# Outcomes in the order in which they are counted.
OUTCOMES: tuple[Outcome, ...] = ("right", "boundary", "label", "missed", "extra")


@dataclass(frozen=True)
class Reading:
    """A mark or a gold fact as it is shown."""

    label: str
    css: str
    start: int
    end: int
    quote: str
    value: str
    sign: str


@dataclass(frozen=True)
class OwnFact:
    """A stretch with one's own marks and the gold in it, and why the gold is so where somebody said
    it. `value_differs` for what is right in place and label but was read otherwise.
    """

    outcome: Outcome
    start: int
    end: int
    own: tuple[Reading, ...]
    gold: tuple[Reading, ...]
    value_differs: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class OutcomeCount:
    outcome: Outcome
    count: int


@dataclass(frozen=True)
class OwnGold:
    facts: tuple[OwnFact, ...]
    counts: tuple[OutcomeCount, ...]
    values_differ: int

    @property
    def differing(self) -> tuple[OwnFact, ...]:
        return tuple(fact for fact in self.facts if fact.outcome != "right" or fact.value_differs)


@dataclass(frozen=True)
class _Remark:
    start: int
    end: int
    text: str


def is_gold(assignment: Assignment) -> bool:
    return assignment.campaign_document.stage == CampaignDocument.Stage.GOLD


def own_gold(assignment: Assignment) -> OwnGold:
    """The comparison for a page that is gold; ask `is_gold` before."""
    page = assignment.campaign_document
    text, labels = page.document.content.text, page.campaign.labels
    own = _readings(assignment.spans.all(), text, labels)
    gold = _readings(page.gold_spans.all(), text, labels)
    remarks = _remarks(page)
    compared = compare_with_gold(text, gold, own)
    counts = Counter(found.outcome for found in compared)
    facts = tuple(_fact(found, own, gold, remarks) for found in compared)
    return OwnGold(
        facts=facts,
        counts=tuple(OutcomeCount(outcome, counts[outcome]) for outcome in OUTCOMES),
        values_differ=sum(fact.value_differs for fact in facts),
    )


def _readings(
    spans: Iterable[Span | GoldSpan], text: str, labels: Sequence[str]
) -> dict[TextSpan, Reading]:
    """By place and label without white space at the ends, as they are compared."""
    return {
        trim_span(text, TextSpan(span.start, span.end, span.label)): Reading(
            label=span.label,
            css=label_css(span.label, labels),
            start=span.start,
            end=span.end,
            quote=span.quote,
            value=span.value,
            sign=span.sign,
        )
        for span in spans
    }


def _fact(
    found: Compared,
    own: Mapping[TextSpan, Reading],
    gold: Mapping[TextSpan, Reading],
    remarks: Sequence[_Remark],
) -> OwnFact:
    mine = tuple(own[span] for span in found.marked)
    right = tuple(gold[span] for span in found.gold)
    values = [[(reading.value, reading.sign) for reading in side] for side in (mine, right)]
    reasons = (r.text for r in remarks if r.start < found.end and found.start < r.end)
    return OwnFact(
        outcome=found.outcome,
        start=found.start,
        end=found.end,
        own=mine,
        gold=right,
        value_differs=found.outcome == "right" and values[0] != values[1],
        reasons=tuple(dict.fromkeys(reasons)),
    )


def _remarks(page: CampaignDocument) -> list[_Remark]:
    """Reasons of leads and reviewers. What the majority rule wrote counts marks of others."""
    cases = page.cases.filter(state=Case.State.DECIDED, decided_by__isnull=False)
    items = ReviewItem.objects.filter(
        campaign_document=page,
        verdict__in=[ReviewItem.Verdict.CORRECTED, ReviewItem.Verdict.SENT_BACK],
    )
    rows = [
        *cases.exclude(reason="").order_by("start").values_list("start", "end", "reason"),
        *items.order_by("start").values_list("start", "end", "reason"),
    ]
    return [_Remark(*row) for row in rows]


def own_gold_page_data(assignment: Assignment, found: OwnGold) -> dict[str, Any]:
    """What the page's JavaScript needs: where the rows of the list stand in the page."""
    document = assignment.campaign_document.document
    return {
        "text_sha256": document.text_sha256,
        "facts": [
            {
                "outcome": "value" if fact.value_differs else fact.outcome,
                "start": fact.start,
                "end": fact.end,
            }
            for fact in found.facts
        ],
        "html": reverse("annotation:assignment-html", args=[assignment.pk]),
    }
