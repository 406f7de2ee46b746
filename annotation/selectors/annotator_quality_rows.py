"""The quality of annotators as flat rows, for CSV."""

from collections.abc import Iterator

from annotation.gold_comparison import Tally

from .annotator_quality import AnnotatorQuality, CampaignQuality

COLUMNS = (
    "annotator",
    "scope",
    "subject",
    "gold_pages",
    "facts",
    "marked",
    "matched",
    "precision",
    "recall",
    "f1",
    "missed",
    "extra",
    "boundary",
    "label",
    "pages_submitted",
    "median_active_minutes",
    "pages_timed",
    "flagged",
    "skipped",
)

Cell = str | int | float


def quality_rows(quality: CampaignQuality) -> Iterator[list[Cell]]:
    """Rows under COLUMNS: for each annotator all of it, then each label, then each period.

    A rate that is undefined is an empty cell, never 0; what is told of a person as a whole stands
    in the first of their rows alone.
    """
    for each in quality.annotators:
        yield _row(each, "all", "", each.gold_pages, each.tally) + _person(each)
        for part in each.labels:
            yield _row(each, "label", part.name, part.pages, part.tally) + [""] * 5
        for part in each.periods:
            yield _row(each, quality.every, part.name, part.pages, part.tally) + [""] * 5


def _row(each: AnnotatorQuality, scope: str, subject: str, pages: int, tally: Tally) -> list[Cell]:
    rates = ("" if rate is None else rate for rate in (tally.precision, tally.recall, tally.f1))
    return [
        each.name, scope if not scope.isdigit() else f"{scope} pages", subject,
        pages, tally.expected, tally.marked, tally.matched, *rates,
        tally.missed, tally.extra, tally.boundary, tally.label,
    ]  # fmt: skip


def _person(each: AnnotatorQuality) -> list[Cell]:
    minutes = "" if each.minutes is None else each.minutes
    return [each.submitted, minutes, each.timed, each.flagged, each.skipped]
