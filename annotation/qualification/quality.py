"""Annotators compared with gold: results of the qualification round, and quality over time.

Known gold is shown only to the annotator, and only for pages that they have submitted. Quality
uses gold pages with at least two annotators, because the marks of a single annotator become gold
unchanged.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import floor
from statistics import median

from django.db.models import Count, Q, QuerySet

from annotation.models import Assignment, Campaign, CampaignDocument, GoldSpan, Membership
from annotation.spans import (
    Compared,
    Outcome,
    Tally,
    compare_with_gold,
    label_css,
    spans_of,
    tally,
    tally_by_label,
)
from portal.accounts.models import User, display_name
from portal.datasets.models import DocumentContent
from portal.facts import Span
from portal.facts.page_text import Context, Excerpts

from .selectors import AnnotatorRound, PageRound

WIDTH, HEIGHT = 120, 28
# Room for a point's own radius.
MARGIN = 4


@dataclass(frozen=True)
class Point:
    """A point in pixels from the upper left corner, with its name and value."""

    x: float
    y: float
    name: str
    value: float


@dataclass(frozen=True)
class Sparkline:
    width: int
    height: int
    points: tuple[Point, ...]

    @property
    def last(self) -> Point | None:
        return self.points[-1] if self.points else None

    @property
    def path(self) -> str:
        """The points as the attribute of an SVG polyline."""
        return " ".join(f"{point.x:g},{point.y:g}" for point in self.points)


@dataclass(frozen=True)
class Sparklines:
    """Lines by key. `lowest` is the value at the bottom of their common scale."""

    lowest: float
    lines: dict[int, Sparkline]


def sparklines(series: Mapping[int, Sequence[tuple[str, float]]]) -> Sparklines:
    """Lines through (name, value), values 0 to 1, evenly spaced in the given order.

    >>> drawn = sparklines({1: [("a", 0.75), ("b", 1.0)]})
    >>> drawn.lowest, drawn.lines[1].path
    (0.7, '4,20.6667 116,4')
    """
    values = [value for points in series.values() for _, value in points]
    # Rounded first, because 0.7 * 10 < 7 in binary. At most 0.9, so that a line at 1 has a scale.
    lowest = min(floor(round(min(values, default=0.9) * 10, 6)) / 10, 0.9)
    return Sparklines(lowest, {key: _line(points, lowest) for key, points in series.items()})


def _line(points: Sequence[tuple[str, float]], lowest: float) -> Sparkline:
    step = (WIDTH - 2 * MARGIN) / max(len(points) - 1, 1)
    rise = (HEIGHT - 2 * MARGIN) / (1 - lowest)
    return Sparkline(
        WIDTH,
        HEIGHT,
        tuple(
            Point(
                round(MARGIN + place * step, 2), round(MARGIN + (1 - value) * rise, 4), name, value
            )
            for place, (name, value) in enumerate(points)
        ),
    )


WEEK = "week"
# The period of a point, by its name in URLs.
PERIODS = {
    WEEK: "week",
    "5": "5 gold documents",
    "10": "10 gold documents",
    "25": "25 gold documents",
}


@dataclass(frozen=True)
class Part:
    """A label or a period: its name, number of pages, and counts."""

    name: str
    pages: int
    tally: Tally


@dataclass(frozen=True)
class AnnotatorQuality:
    """One annotator. `minutes` is the median of active minutes per page, or None.

    The median is over the `timed` pages that are fully submitted and have a measured time.
    """

    user: int
    name: str
    submitted: int
    gold_pages: int
    tally: Tally
    labels: tuple[Part, ...]
    periods: tuple[Part, ...]
    minutes: float | None
    timed: int
    flagged: int
    skipped: int
    line: Sparkline


@dataclass(frozen=True)
class CampaignQuality:
    """All annotators, in the order of joining. The common scale of the lines is from `lowest` to 1.
    `single` counts gold pages with one annotator, which are excluded.
    """

    every: str
    annotators: tuple[AnnotatorQuality, ...]
    pages: int
    single: int
    lowest: float


@dataclass(frozen=True)
class _Measured:
    """One annotator's first submission of a gold page, counted by label."""

    submitted_at: datetime
    by_label: Mapping[str, Tally]

    @property
    def tally(self) -> Tally:
        return sum(self.by_label.values(), Tally())


@dataclass(frozen=True)
class _Work:
    """One annotator's work on all pages except those of the qualification round."""

    submitted: int
    flagged: int
    skipped: int
    seconds: Sequence[int]


_NONE = _Work(0, 0, 0, ())


def chosen_period(asked: str) -> str:
    """The requested key of PERIODS, by default weeks."""
    return asked if asked in PERIODS else WEEK


def campaign_quality(campaign: Campaign, every: str = WEEK) -> CampaignQuality:
    """The figures of all annotators. `every` is a key of PERIODS."""
    teams = _teams(campaign)
    counted = {page for page, team in teams.items() if len(team) > 1}
    measured: defaultdict[int, list[_Measured]] = defaultdict(list)
    for user, page in _measured(campaign, counted):
        measured[user].append(page)
    work = _work(campaign)
    periods = {user: _periods(pages, every) for user, pages in measured.items()}
    people = _people(campaign, work)
    scale = sparklines({user: _points(periods.get(user, ())) for user in people})
    return CampaignQuality(
        every=every,
        annotators=tuple(
            _annotator(user, name, campaign, work.get(user, _NONE), measured[user], periods, scale)
            for user, name in people.items()
        ),
        pages=len(counted),
        single=len(teams) - len(counted),
        lowest=scale.lowest,
    )


def _annotator(
    user: int,
    name: str,
    campaign: Campaign,
    work: _Work,
    measured: Sequence[_Measured],
    periods: Mapping[int, tuple[Part, ...]],
    scale: Sparklines,
) -> AnnotatorQuality:
    return AnnotatorQuality(
        user=user,
        name=name,
        submitted=work.submitted,
        gold_pages=len(measured),
        tally=sum((page.tally for page in measured), Tally()),
        labels=tuple(_label(label, measured) for label in campaign.labels),
        periods=periods.get(user, ()),
        minutes=median(work.seconds) / 60 if work.seconds else None,
        timed=len(work.seconds),
        flagged=work.flagged,
        skipped=work.skipped,
        line=scale.lines[user],
    )


def _label(label: str, measured: Sequence[_Measured]) -> Part:
    tallies = [page.by_label[label] for page in measured if label in page.by_label]
    return Part(label, len(tallies), sum(tallies, Tally()))


def _periods(measured: Sequence[_Measured], every: str) -> tuple[Part, ...]:
    """Periods in chronological order, named by their Monday (UTC) or their pages, from 1."""
    ordered = sorted(measured, key=lambda page: page.submitted_at)
    groups: dict[str, list[_Measured]] = defaultdict(list)
    if every == WEEK:
        for page in ordered:
            day = page.submitted_at.date()
            groups[str(day - timedelta(days=day.weekday()))].append(page)
    else:
        size = int(every)
        for first in range(0, len(ordered), size):
            run = ordered[first : first + size]
            groups[f"{first + 1}–{first + len(run)}"] = run
    return tuple(
        Part(name, len(pages), sum((page.tally for page in pages), Tally()))
        for name, pages in groups.items()
    )


def _points(periods: Sequence[Part]) -> list[tuple[str, float]]:
    """(name, F1) of the periods with an F1."""
    return [(part.name, part.tally.f1) for part in periods if part.tally.f1 is not None]


def _in_work(campaign: Campaign) -> QuerySet[Assignment]:
    pages = CampaignDocument.objects.in_work().filter(campaign=campaign)
    return Assignment.objects.active().filter(campaign_document__in=pages)


def _of_gold(campaign: Campaign) -> QuerySet[Assignment]:
    return _in_work(campaign).filter(
        campaign_document__stage=CampaignDocument.Stage.GOLD, first_submission__isnull=False
    )


def _teams(campaign: Campaign) -> dict[int, list[int]]:
    """The annotators of each gold page, by document."""
    teams: defaultdict[int, list[int]] = defaultdict(list)
    for document, user in _of_gold(campaign).values_list(
        "campaign_document__document", "annotator"
    ):
        teams[document].append(user)
    return teams


def _measured(campaign: Campaign, counted: set[int]) -> Iterator[tuple[int, _Measured]]:
    """(annotator, first submission of a gold page), with one text in memory at a time."""
    rows: defaultdict[int, list[tuple[int, list[Span], datetime]]] = defaultdict(list)
    for document, user, spans, at in _of_gold(campaign).values_list(
        "campaign_document__document",
        "annotator",
        "first_submission__spans",
        "first_submission__submitted_at",
    ):
        if document in counted:
            rows[document].append((user, spans_of(spans), at))
    gold = GoldSpan.objects.filter(campaign_document__campaign=campaign).by_document()
    contents = DocumentContent.objects.filter(
        document__in=_of_gold(campaign).values("campaign_document__document")
    )
    for document, text in contents.values_list("document", "text").iterator(chunk_size=50):
        for user, marks, at in rows[document]:
            compared = compare_with_gold(text, gold[document], marks)
            yield user, _Measured(at, tally_by_label(compared))


def _work(campaign: Campaign) -> dict[int, _Work]:
    flag = Assignment.Flag
    counts = (
        _in_work(campaign)
        .order_by("annotator")
        .values_list("annotator")
        .annotate(
            submitted=Count("id", filter=Q(state=Assignment.State.SUBMITTED)),
            flagged=Count("id", filter=Q(flag=flag.FLAGGED)),
            skipped=Count("id", filter=Q(flag=flag.SKIPPED)),
        )
    )
    seconds: defaultdict[int, list[int]] = defaultdict(list)
    # Work sent by the API has no time. The time on a page could reveal its number of facts, so it
    # counts only after all annotators have submitted.
    timed = _in_work(campaign).filter(
        state=Assignment.State.SUBMITTED,
        active_seconds__gt=0,
        campaign_document__stage__in=CampaignDocument.SETTLED,
    )
    for user, active in timed.values_list("annotator", "active_seconds"):
        seconds[user].append(active)
    return {
        user: _Work(submitted, flagged, skipped, seconds[user])
        for user, submitted, flagged, skipped in counts
    }


def _people(campaign: Campaign, work: Mapping[int, _Work]) -> dict[int, str]:
    """Names of the annotators in the order of joining, then of former ones with submissions."""
    members = campaign.memberships.filter(role=Membership.Role.ANNOTATOR).select_related("user")
    people = {member.user_id: display_name(member.user) for member in members.order_by("id")}
    left = [user for user, done in work.items() if done.submitted and user not in people]
    others = User.objects.filter(pk__in=left).order_by("pk")
    return people | {user.pk: display_name(user) for user in others}


COLUMNS = (
    "annotator", "scope", "subject", "gold_pages", "facts", "marked", "matched", "precision",
    "recall", "f1", "missed", "extra", "boundary", "label", "pages_submitted",
    "median_active_minutes", "pages_timed", "flagged", "skipped",
)  # fmt: skip

Cell = str | int | float


def quality_rows(quality: CampaignQuality) -> Iterator[list[Cell]]:
    """Rows under COLUMNS: for each annotator the total, then each label, then each period.

    Undefined rates are empty cells. Figures of the annotator's work are only in the total row.
    """
    for annotator in quality.annotators:
        yield _row(annotator, "all", "", annotator.gold_pages, annotator.tally) + _person(annotator)
        for part in annotator.labels:
            yield _row(annotator, "label", part.name, part.pages, part.tally) + [""] * 5
        for part in annotator.periods:
            yield _row(annotator, quality.every, part.name, part.pages, part.tally) + [""] * 5


def _row(
    annotator: AnnotatorQuality, scope: str, subject: str, pages: int, tally: Tally
) -> list[Cell]:
    rates = ("" if rate is None else rate for rate in (tally.precision, tally.recall, tally.f1))
    return [
        annotator.name, scope if not scope.isdigit() else f"{scope} pages", subject,
        pages, tally.expected, tally.marked, tally.matched, *rates,
        tally.missed, tally.extra, tally.boundary, tally.label,
    ]  # fmt: skip


def _person(annotator: AnnotatorQuality) -> list[Cell]:
    minutes = "" if annotator.minutes is None else annotator.minutes
    return [annotator.submitted, minutes, annotator.timed, annotator.flagged, annotator.skipped]


@dataclass(frozen=True)
class Side:
    """A mark or a known fact, with the CSS class of its label and its context."""

    label: str
    css: str
    start: int
    end: int
    context: Context


@dataclass(frozen=True)
class Finding:
    """A compared range: the known facts and the annotator's marks in it."""

    outcome: Outcome
    gold: tuple[Side, ...]
    marked: tuple[Side, ...]


@dataclass(frozen=True)
class PageFindings:
    """A submitted page compared with its known gold: counts, errors, and right facts."""

    page: PageRound
    tally: Tally
    errors: tuple[Finding, ...]
    right: tuple[Finding, ...]


def page_findings(campaign: Campaign, done: AnnotatorRound) -> tuple[PageFindings, ...]:
    """The findings of the submitted pages. Show them only to their annotator."""
    submitted = {
        page.assignment.pk: page for page in done.pages if page.assignment and page.is_submitted
    }
    rows = (
        Assignment.objects.filter(pk__in=submitted)
        .select_related("campaign_document__known_gold", "campaign_document__document__content")
        .prefetch_related("spans")
    )
    findings = {row.pk: _findings_of(campaign, submitted[row.pk], row) for row in rows}
    return tuple(findings[pk] for pk in submitted)


def _findings_of(campaign: Campaign, page: PageRound, assignment: Assignment) -> PageFindings:
    document = assignment.campaign_document
    content = document.document.content
    marks = [(span.start, span.end, span.label) for span in assignment.spans.all()]
    gold = spans_of(document.known_gold.spans)
    compared = compare_with_gold(content.text, gold, spans_of(marks))
    excerpts = Excerpts(content.html, content.text)
    findings = [_finding(part, excerpts, campaign.labels) for part in compared]
    return PageFindings(
        page=page,
        tally=tally(compared),
        errors=tuple(finding for finding in findings if finding.outcome != "right"),
        right=tuple(finding for finding in findings if finding.outcome == "right"),
    )


def _finding(compared: Compared, excerpts: Excerpts, labels: Sequence[str]) -> Finding:
    def side(span: Span) -> Side:
        context = excerpts.around(span.start, span.end)
        return Side(span.label, label_css(span.label, labels), span.start, span.end, context)

    gold, marked = (tuple(map(side, spans)) for spans in (compared.gold, compared.marked))
    return Finding(compared.outcome, gold, marked)
