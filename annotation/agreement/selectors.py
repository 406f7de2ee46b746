"""The figures of the agreement page, its files and its API, from first submissions.

Only documents that all annotators have submitted count, because a figure could reveal labels that
are still blind. First submissions never change, so the figures can be cached.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from django.core.cache import cache
from django.db.models import Exists, OuterRef, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from annotation.assignments.returning import submissions_set_aside
from annotation.models import Assignment, Campaign, CampaignDocument, Case, FirstSubmission
from portal.accounts.models import User, display_name
from portal.datasets.models import DocumentContent, DocumentType
from portal.datasets.responses import TextFile
from portal.facts import Span as TextSpan
from portal.files.tables import (
    PACKAGES,
    Cell,
    Head,
    Heading,
    Line,
    Overall,
    Row,
    Table,
    csv_text,
    escaped,
)
from portal.web.charts import LineChart

from .shapes import (
    LEVELS,
    Agreement,
    ConfusedText,
    Figure,
    Level,
    LevelAgreement,
    Part,
    Reliability,
    SpanFigures,
    SubmittedWork,
    heat_map,
    trend_chart,
)

if TYPE_CHECKING:
    from .computing import LabelledDocument, TextCollector


# Change this whenever a figure or a shape changes, so that cached results expire.
_VERSION = "2"
# The same for every campaign, so that an imported campaign has the same intervals.
_SEED = "agreement"
_KEPT_SECONDS = 7 * 24 * 3600

# The works of one document, in the order of their annotators.
Team = list[SubmittedWork]


def campaign_agreement(campaign: Campaign) -> Agreement:
    """All figures on agreement, cached per set of submissions that count."""
    works = submitted_works(campaign)
    key = _cache_key(campaign, works)
    agreement: Agreement | None = cache.get(key)
    if agreement is None:
        agreement = _computed(campaign, works)
        cache.set(key, agreement, _KEPT_SECONDS)
    waiting = CampaignDocument.objects.filter(campaign=campaign).in_work()
    waiting = waiting.exclude(stage__in=CampaignDocument.SETTLED)
    return replace(agreement, waiting=waiting.count())


def counted_submissions(campaign: Campaign) -> QuerySet[FirstSubmission]:
    """First submissions on documents that all annotators have submitted.

    Withdrawn assignments and qualification rounds do not count.
    """
    active = Assignment.objects.active().filter(campaign_document=OuterRef("pk"))
    unsubmitted = active.filter(first_submission__isnull=True)
    documents = CampaignDocument.objects.filter(campaign=campaign).settled()
    return FirstSubmission.objects.filter(
        assignment__in=Assignment.objects.active(),
        assignment__campaign_document__in=documents.exclude(Exists(unsubmitted)),
    )


def submitted_works(campaign: Campaign) -> list[SubmittedWork]:
    """The submissions that count, by document and annotator, without their labels."""
    rows = counted_submissions(campaign).order_by(
        "assignment__campaign_document__document__name", "assignment__annotator_id"
    )
    return [
        SubmittedWork(pk, document, name, doc_type, annotator, _name(user, email), submitted_at)
        for pk, document, name, doc_type, annotator, user, email, submitted_at in rows.values_list(
            "pk",
            "assignment__campaign_document__document",
            "assignment__campaign_document__document__name",
            "assignment__campaign_document__document__doc_type",
            "assignment__annotator",
            "assignment__annotator__name",
            "assignment__annotator__email",
            "submitted_at",
        )
    ]


def _name(name: str, email: str) -> str:
    return display_name(User(name=name, email=email))


def _cache_key(campaign: Campaign, works: Sequence[SubmittedWork]) -> str:
    """A key that changes whenever a figure or a name could differ."""
    digest = hashlib.sha256(repr((_VERSION, campaign.labels, works)).encode())
    return f"agreement:{campaign.pk}:{digest.hexdigest()}"


def _computed(campaign: Campaign, works: Sequence[SubmittedWork]) -> Agreement:
    # Imported here because they load numerical libraries, which would slow down the start.
    from .computing import Names, TextCollector, figures_of

    teams: defaultdict[int, Team] = defaultdict(list)
    for work in works:
        teams[work.document].append(work)
    people = {work.annotator: work.name for work in works}
    texts = TextCollector()
    documents = list(_labelled(campaign, teams, sorted(people), texts))
    annotators = tuple(people[user] for user in sorted(people))
    found = figures_of(documents, Names(annotators, tuple(campaign.labels)), seed=_SEED)
    return replace(
        found, texts=texts.most_confused(campaign.labels), single=len(teams) - len(documents)
    )


def _labelled(
    campaign: Campaign, teams: Mapping[int, Team], people: Sequence[int], texts: "TextCollector"
) -> Iterator["LabelledDocument"]:
    """The documents with at least two annotators, by name. Streams their texts."""
    from scoring.metrics.agreement_counts import document_counts

    from .computing import LabelledDocument

    marks = _marks(campaign)
    place = {user: n for n, user in enumerate(people)}
    shared = [document for document, team in teams.items() if len(team) > 1]
    contents = DocumentContent.objects.filter(document__in=shared).order_by("document__name")
    for document, text in contents.values_list("document", "text").iterator(chunk_size=50):
        team = teams[document]
        annotations = [marks[work.assignment] for work in team]
        counts = document_counts(text, annotations, campaign.labels)
        texts.add(team[0].document_name, text, counts)
        completed = max(work.submitted_at for work in team)
        yield LabelledDocument(
            name=team[0].document_name,
            doc_type=str(DocumentType(team[0].doc_type).label),
            completed=timezone.localtime(completed).date(),
            annotators=tuple(place[work.annotator] for work in team),
            counts=counts,
        )


def _marks(campaign: Campaign) -> dict[int, list[TextSpan]]:
    """The spans of each first submission, by assignment."""
    rows = counted_submissions(campaign).values_list("pk", "spans").iterator(chunk_size=200)
    return {
        pk: [TextSpan(start, end, label) for start, end, label, *_ in spans] for pk, spans in rows
    }


# The CSV file has all of them.
SHOWN_DOCUMENTS = 12
SHOWN_TEXTS = 15
# A line needs two points.
_FEWEST_POINTS = 2


@dataclass(frozen=True)
class LinkedPart:
    """A document with the URL of its first case; empty if it has none."""

    part: Part
    url: str


@dataclass(frozen=True)
class LinkedText:
    text: ConfusedText
    url: str


@dataclass(frozen=True)
class AgreementPage:
    """`trend` is None if there are too few points for a line. `set_aside` counts returned empty
    submissions, which the figures exclude.
    """

    agreement: Agreement
    trend: LineChart | None
    worst: tuple[LinkedPart, ...]
    texts: tuple[LinkedText, ...]
    set_aside: int


def agreement_page(
    campaign: Campaign, agreement: Agreement, *, may_see_cases: bool
) -> AgreementPage:
    worst = agreement.documents[:SHOWN_DOCUMENTS]
    texts = agreement.texts[:SHOWN_TEXTS]
    names = {part.name for part in worst} | {text.document for text in texts}
    places = _case_places(campaign, names) if may_see_cases else {}
    several = len(agreement.trend.points) >= _FEWEST_POINTS
    return AgreementPage(
        agreement,
        trend_chart(agreement) if several else None,
        tuple(LinkedPart(part, _first(places.get(part.name))) for part in worst),
        tuple(LinkedText(text, _at(places.get(text.document), text)) for text in texts),
        submissions_set_aside(campaign),
    )


@dataclass(frozen=True)
class _Place:
    start: int
    end: int
    url: str


def _case_places(campaign: Campaign, names: Collection[str]) -> dict[str, list[_Place]]:
    """The cases of documents, by name and in the order of the text."""
    cases = Case.objects.filter(
        campaign_document__campaign=campaign, campaign_document__document__name__in=names
    ).order_by("campaign_document", "start")
    places: defaultdict[str, list[_Place]] = defaultdict(list)
    for name, start, end, pk in cases.values_list(
        "campaign_document__document__name", "start", "end", "pk"
    ):
        url = reverse("annotation:case", args=[campaign.slug, pk])
        places[name].append(_Place(start, end, url))
    return places


def _first(places: list[_Place] | None) -> str:
    return places[0].url if places else ""


def _at(places: list[_Place] | None, text: ConfusedText) -> str:
    """The URL of the case at the text, otherwise of the document's first case."""
    for place in places or []:
        if place.start < text.end and text.start < place.end:
            return place.url
    return _first(places)


COLUMNS = (
    "level",
    "scope",
    "subject",
    "other",
    "measure",
    "annotators_per_document",
    "value",
    "low_95",
    "high_95",
    "observed_agreement",
    "n",
    "documents",
)

RowCell = str | int | float


def agreement_rows(agreement: Agreement) -> Iterator[list[RowCell]]:
    """One row per figure under COLUMNS. Undefined figures are empty cells.

    The level of figures on spans is `span`. Rows of scope `confusion` count pairs of answers.
    """
    if agreement.overall is None:
        return
    yield from _part_rows("overall", agreement.overall)
    yield from _people(agreement)
    yield from _apart(agreement)
    for scope, parts in (
        ("label", agreement.labels),
        ("document_type", agreement.doc_types),
        (agreement.trend.by, [point.part for point in agreement.trend.points]),
        ("document", agreement.documents),
    ):
        for part in parts:
            yield from _part_rows(scope, part)
    for level in agreement.levels:
        yield from _confusions(level)


def _people(agreement: Agreement) -> Iterator[list[RowCell]]:
    names = agreement.annotators
    for pair in agreement.pairs:
        who = (names[pair.first - 1], names[pair.second - 1])
        yield _row("entity", "pair", *who, "cohen", 2, pair.entity)
        yield _row("token", "pair", *who, "cohen", 2, pair.token)
        yield _row("token", "pair", *who, "cohen_detection", 2, pair.detection)
        yield _row("entity", "pair", *who, "cohen_labelling", 2, pair.labelling)
        yield from _spans("pair", *who, pair.spans)
    for person in agreement.people:
        yield _row("entity", "annotator", person.name, "", "mean_cohen", "", person.entity)
        yield _row("token", "annotator", person.name, "", "mean_cohen", "", person.token)
        yield from _spans("annotator", person.name, "", person.spans)


def _apart(agreement: Agreement) -> Iterator[list[RowCell]]:
    if agreement.detection:
        yield from _reliability("token", "detection", "", agreement.detection.token)
        yield from _spans("detection", "", "", agreement.detection.spans)
    if agreement.labelling:
        for level in LEVELS:
            figure = getattr(agreement.labelling, level)
            yield _row(level, "labelling", "", "", "alpha", "", figure)


def _part_rows(scope: str, part: Part) -> Iterator[list[RowCell]]:
    for level in LEVELS:
        yield from _reliability(level, scope, part.name, getattr(part, level))
    yield from _spans(scope, part.name, "", part.spans)


def _reliability(
    level: Level, scope: str, subject: str, reliability: Reliability
) -> Iterator[list[RowCell]]:
    for overall in reliability.fleiss:
        yield _row(level, scope, subject, "", "fleiss", overall.annotators, overall.figure)
    yield _row(level, scope, subject, "", "alpha", "", reliability.alpha)


def _spans(scope: str, subject: str, other: str, spans: SpanFigures) -> Iterator[list[RowCell]]:
    yield _row("span", scope, subject, other, "f1_exact", "", spans.exact)
    yield _row("span", scope, subject, other, "f1_overlap", "", spans.overlap)


def _confusions(level: LevelAgreement) -> Iterator[list[RowCell]]:
    answers = level.confusion.answers
    for place, answer in enumerate(answers):
        for other in range(place, len(answers)):
            count = level.confusion.rows[place][other]
            start = [level.level, "confusion", answer, answers[other], "pairs"]
            yield [*start, 2, count, "", "", "", "", ""]


def _row(
    level: str, scope: str, subject: str, other: str, measure: str, size: RowCell, figure: Figure
) -> list[RowCell]:
    numbers = (figure.value, figure.low, figure.high, figure.observed)
    return [
        level,
        scope,
        subject,
        other,
        measure,
        size,
        *("" if number is None else number for number in numbers),
        figure.n,
        figure.documents,
    ]


_EMPTY = Cell("---", "---")
_ALPHA, _SPANS = "Krippendorff's alpha", "Span F1"
_PART_HEADS = (
    Head("Documents"),
    Head("Entities", group=_ALPHA),
    Head("Tokens", group=_ALPHA),
    Head("Exact", group=_SPANS),
    Head("Overlap", group=_SPANS),
)


def agreement_latex(agreement: Agreement, title: str) -> str:
    """The κ matrix of each level with the overall κ, and the figures of every part."""
    lines = [f"% Agreement in {escaped(title)}; needs {PACKAGES}."]
    for level in agreement.levels:
        lines += ["", *_matrix(level)]
    if agreement.overall:
        lines += ["", *_parts(agreement)]
    return "\n".join(lines) + "\n"


def _matrix(level: LevelAgreement) -> Iterator[str]:
    heads = [Head(str(row.number)) for row in level.matrix]
    lines: list[Line] = [
        Row(str(row.number), (), tuple(_cell(cell) if cell else _EMPTY for cell in row.cells))
        for row in level.matrix
    ]
    lines.append(Heading())
    several = len(level.overall.fleiss) > 1
    for overall in level.overall.fleiss:
        each = f", {overall.annotators} per document" if several else ""
        name = rf"Overall (Fleiss' $\kappa${each})"
        lines.append(Overall(name, _with_interval(overall.figure)))
    alpha = level.overall.alpha
    caption = (
        rf"Pairwise Cohen's $\kappa$ of annotators and overall Fleiss' $\kappa$, {level.level} "
        rf"level ($n = {alpha.n}$ items in {alpha.documents} documents; Krippendorff's $\alpha$: "
        rf"{_with_interval(alpha)}; 95\,\% bootstrap intervals over documents)."
    )
    table = Table(("Annotator",), heads, lines)
    yield from table.lines_of_latex(caption, f"agreement-{level.level}")


def _parts(agreement: Agreement) -> Iterator[str]:
    lines: list[Line] = []
    groups: list[Sequence[Part]] = [agreement.labels, agreement.doc_types]
    for parts in groups:
        lines += [_part_row(part.name, part) for part in parts]
        lines.append(Heading())
    if agreement.overall:
        lines.append(_part_row("All", agreement.overall))
    caption = (
        r"Krippendorff's $\alpha$ and span $F_1$ between annotators by label (against the rest) "
        r"and by document type, with 95\,\% bootstrap intervals over documents below."
    )
    table = Table(("Part",), _PART_HEADS, lines)
    yield from table.lines_of_latex(caption, "agreement-parts")


def _part_row(name: str, part: Part) -> Row:
    figures = (part.entity.alpha, part.token.alpha, part.spans.exact, part.spans.overlap)
    documents = Cell(str(part.documents), str(part.documents))
    return Row(name, (), (documents, *(_cell(figure, has_interval=True) for figure in figures)))


def _cell(figure: Figure, *, has_interval: bool = False) -> Cell:
    under = _ends(figure) if has_interval else ""
    return Cell(_value(figure), _value(figure), under)


def _ends(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f"[${figure.low:.2f}$, ${figure.high:.2f}$]"


def _value(figure: Figure) -> str:
    return "n/a" if figure.value is None else f"${figure.value:.4f}$"


def _with_interval(figure: Figure) -> str:
    return f"{_value(figure)} {_ends(figure)}".rstrip()


Form = Literal["csv", "latex", "matrix", "trend"]
FORMS: tuple[Form, ...] = get_args(Form)

SVG = "image/svg+xml"


class NothingToShow(Exception):
    """No document counts yet, so a chart cannot be drawn."""


def agreement_file(
    campaign: Campaign, agreement: Agreement, form: Form, level: Level = "entity"
) -> TextFile:
    """`level` applies to the matrix. Raises NothingToShow for a chart without figures."""
    stem = f"agreement-{campaign.slug}"
    if form == "csv":
        return TextFile(f"{stem}.csv", "text/csv", csv_text([COLUMNS, *agreement_rows(agreement)]))
    if form == "latex":
        text = agreement_latex(agreement, campaign.title)
        return TextFile(f"{stem}.tex", "application/x-tex", text)
    if agreement.overall is None:
        raise NothingToShow
    if form == "matrix":
        chart = render_to_string(
            "annotation/agreement/matrix.svg", {"chart": heat_map(agreement, level)}
        )
        return TextFile(f"{stem}-{level}-matrix.svg", SVG, chart)
    chart = render_to_string("charts/lines.svg", {"chart": trend_chart(agreement)})
    return TextFile(f"{stem}-trend.svg", SVG, chart)
