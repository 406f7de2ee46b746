"""Which suggestions the annotators of a document see, and what becomes of them.

They are fixed when the first annotator opens the page, so that all annotators of a document get the
same ones, whatever the lead uploads or chooses later. Outcomes are counted at the first submission.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Sum

from annotation.agreement.selectors import counted_submissions
from annotation.errors import InvalidSpans
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDocument,
    FirstSubmission,
    ModelSuggestions,
    OfferedSuggestions,
    SuggestionOutcome,
    SuggestionSource,
)
from portal.datasets.responses import TextFile
from portal.files.tables import csv_text

from .suggestions import Suggestion, page_suggestions

UNCHANGED, CHANGED, DISMISSED, LEFT = "unchanged", "changed", "dismissed", "left"


class Mark(NamedTuple):
    """A label in the text."""

    start: int
    end: int
    label: str


def offered_suggestions(assignment: Assignment) -> list[Suggestion]:
    """The suggestions of an annotator's page. Fixes them if the annotator is the first to ask.

    A page that another annotator has begun without suggestions stays without them.
    """
    page = assignment.campaign_document
    offered = OfferedSuggestions.objects.filter(pk=page.pk).first()
    if offered is None:
        if not page.campaign.suggestion_sources or not assignment.is_workable:
            return []
        offered = _fix(assignment)
    return [Suggestion(*row) for row in offered.suggestions]


def _fix(assignment: Assignment) -> OfferedSuggestions:
    page = assignment.campaign_document
    others = page.assignments.active().exclude(pk=assignment.pk)
    suggestions = [] if others.filter(revision__gt=0).exists() else page_suggestions(page)
    upload = None
    if any(suggestion.source == SuggestionSource.MODEL for suggestion in suggestions):
        upload = ModelSuggestions.objects.values_list("upload", flat=True).get(pk=page.pk)
    # If two annotators ask at the same time, both get the suggestions of one of them.
    offered, _ = OfferedSuggestions.objects.get_or_create(
        campaign_document=page,
        defaults={
            "upload_id": upload,
            "suggestions": [list(suggestion) for suggestion in suggestions],
        },
    )
    return offered


def read_dismissed(value: Sequence[Any]) -> frozenset[Mark]:
    """The suggestions that a browser reports as dismissed; raises InvalidSpans."""
    marks = set()
    for number, suggestion in enumerate(value):
        try:
            start, end, label = suggestion["start"], suggestion["end"], suggestion["label"]
        except (TypeError, KeyError, IndexError):
            start = end = label = None
        if type(start) is not int or type(end) is not int or not isinstance(label, str):
            where = f"dismissed[{number}]"
            message = f"{where} must be an object with start, end and label"
            raise InvalidSpans([{"field": where, "code": "dismissed", "message": message}])
        marks.add(Mark(start, end, label))
    return frozenset(marks)


def keep_outcomes(assignment: Assignment, dismissed: Collection[Mark]) -> None:
    """Counts what became of the page's suggestions. Only the first submission is counted."""
    offered = OfferedSuggestions.objects.filter(pk=assignment.campaign_document_id).first()
    if offered is None or not offered.suggestions:
        return
    submission = FirstSubmission.objects.get(pk=assignment.pk)
    spans = [Mark(start, end, label) for start, end, label, *_ in submission.spans]
    counts: dict[str, Counter[str]] = {}
    suggestions = [Suggestion(*row) for row in offered.suggestions]
    reached = outcomes(suggestions, spans, dismissed)
    for suggestion, outcome in zip(suggestions, reached, strict=True):
        counts.setdefault(suggestion.source, Counter())[outcome] += 1
    SuggestionOutcome.objects.bulk_create(
        [
            SuggestionOutcome(
                submission=submission,
                source=source,
                upload_id=offered.upload_id if source == SuggestionSource.MODEL else None,
                **{name: outcome_counts[name] for name in (UNCHANGED, CHANGED, DISMISSED, LEFT)},
            )
            for source, outcome_counts in counts.items()
        ],
        ignore_conflicts=True,
    )


def outcomes(
    suggestions: Sequence[Suggestion], spans: Iterable[Mark], dismissed: Collection[Mark]
) -> list[str]:
    """The outcome of each suggestion. Both are in text order, without overlaps.

    `unchanged` if a span has its offsets and label, `changed` if a span overlaps it. A span that an
    annotator made without looking at the suggestion counts as well.
    """
    labelled = sorted(spans)
    exact = set(labelled)
    results = []
    place = 0
    for suggestion in suggestions:
        mark = Mark(suggestion.start, suggestion.end, suggestion.label)
        while place < len(labelled) and labelled[place].end <= suggestion.start:
            place += 1
        if mark in exact:
            results.append(UNCHANGED)
        elif place < len(labelled) and labelled[place].start < suggestion.end:
            results.append(CHANGED)
        else:
            results.append(DISMISSED if mark in dismissed else LEFT)
    return results


@dataclass(frozen=True)
class SourceAcceptance:
    """The outcomes of the suggestions of a source, over the submissions that count.

    `model` and `prompt` are those of the upload, and empty for other sources. A suggestion that two
    annotators saw counts twice.
    """

    source: str
    model: str
    prompt: str
    submissions: int
    offered: int
    unchanged: int
    changed: int
    dismissed: int
    left: int

    @property
    def accepted_share(self) -> float:
        return (self.unchanged + self.changed) / self.offered


COLUMNS = (
    "source", "model", "prompt", "submissions", "offered", "accepted_unchanged",
    "accepted_after_change", "dismissed", "left", "accepted_share",
)  # fmt: skip


def suggestion_acceptance(campaign: Campaign) -> list[SourceAcceptance]:
    """The acceptance of suggestions by source and model.

    It counts first submissions of documents that all their annotators have submitted, so that it
    reveals nothing about work that is still blind.
    """
    rows = (
        SuggestionOutcome.objects.filter(submission__in=counted_submissions(campaign))
        .exclude(
            submission__assignment__campaign_document__purpose=(
                CampaignDocument.Purpose.QUALIFICATION
            )
        )
        .values_list("source", "upload__model", "upload__prompt")
        .annotate(Count("pk"), *(Sum(name) for name in (UNCHANGED, CHANGED, DISMISSED, LEFT)))
    )
    accepted = [
        SourceAcceptance(source, model or "", prompt or "", number, sum(counts), *counts)
        for source, model, prompt, number, *counts in rows
    ]
    order = list(SuggestionSource.values)
    return sorted(accepted, key=lambda row: (order.index(row.source), row.model, row.prompt))


def acceptance_file(campaign: Campaign) -> TextFile:
    lines = [
        [
            *(row.source, row.model, row.prompt, row.submissions, row.offered, row.unchanged),
            *(row.changed, row.dismissed, row.left, row.accepted_share),
        ]
        for row in suggestion_acceptance(campaign)
    ]
    name = f"suggestions-{campaign.slug}.csv"
    return TextFile(name, "text/csv", csv_text([COLUMNS, *lines]))
