"""What was right and wrong on the pages of a qualification round.

Known gold is told here, to the annotator alone and only of pages that they have submitted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.gold_comparison import (
    Compared,
    Outcome,
    Tally,
    compare_with_gold,
    spans_of,
    tally,
)
from annotation.models import Assignment, Campaign
from portal.facts import Span
from portal.facts.page_text import Context, Excerpts

from .adjudication import label_css
from .qualification import AnnotatorRound, PageRound


@dataclass(frozen=True)
class Side:
    """A mark or a known fact, with its label's class and what stands around it."""

    label: str
    css: str
    start: int
    end: int
    context: Context


@dataclass(frozen=True)
class Finding:
    """A compared stretch: what is known to be right there, and what the annotator marked."""

    outcome: Outcome
    gold: tuple[Side, ...]
    marked: tuple[Side, ...]


@dataclass(frozen=True)
class PageFindings:
    """A submitted page against its known gold: the figures, the errors, and what was right."""

    page: PageRound
    tally: Tally
    errors: tuple[Finding, ...]
    right: tuple[Finding, ...]


def page_findings(campaign: Campaign, done: AnnotatorRound) -> tuple[PageFindings, ...]:
    """Right and wrong facts of the pages that are submitted now. For their annotator alone."""
    submitted = {
        page.assignment.pk: page for page in done.pages if page.assignment and page.is_submitted
    }
    rows = (
        Assignment.objects.filter(pk__in=submitted)
        .select_related("campaign_document__known_gold", "campaign_document__document__content")
        .prefetch_related("spans")
    )
    found = {row.pk: _findings_of(campaign, submitted[row.pk], row) for row in rows}
    return tuple(found[pk] for pk in submitted)


def _findings_of(campaign: Campaign, page: PageRound, assignment: Assignment) -> PageFindings:
    document = assignment.campaign_document
    content = document.document.content
    marks = [(span.start, span.end, span.label) for span in assignment.spans.all()]
    gold = spans_of(document.known_gold.spans)
    compared = compare_with_gold(content.text, gold, spans_of(marks))
    excerpts = Excerpts(content.html, content.text)
    findings = [_finding(each, excerpts, campaign.labels) for each in compared]
    return PageFindings(
        page=page,
        tally=tally(compared),
        errors=tuple(each for each in findings if each.outcome != "right"),
        right=tuple(each for each in findings if each.outcome == "right"),
    )


def _finding(each: Compared, excerpts: Excerpts, labels: Sequence[str]) -> Finding:
    def side(span: Span) -> Side:
        context = excerpts.around(span.start, span.end)
        return Side(span.label, label_css(span.label, labels), span.start, span.end, context)

    return Finding(each.outcome, tuple(map(side, each.gold)), tuple(map(side, each.marked)))
