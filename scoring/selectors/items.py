"""One item of a submission: fact by fact with the prediction's text marked where there are facts,
else its gold, prediction and result field by field."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser
from portal.datasets.access import visible_datasets, visible_releases
from portal.datasets.models import Dataset, ReleaseItem
from portal.facts import visible_text
from scoring.access import Viewer, require_items, shows_pages
from scoring.models import Grading, ItemScore, Phase, Prediction, Submission

from .fact_places import ItemImage, item_images, placed
from .figures import Figure, columns_of, figure, show
from .payloads import FieldTable, field_table
from .submissions import finished_grading

PER_PAGE = 50
# What the page says already.
_REPEATED = frozenset({"id", "missing"})


@dataclass(frozen=True)
class ItemLine:
    """One item of a grading with its own figures."""

    name: str
    is_missing: bool
    figures: tuple[Figure, ...]
    counts: dict[str, int]

    @property
    def scores(self) -> dict[str, float | None]:
        return {figure.key: figure.value for figure in self.figures}


@dataclass(frozen=True)
class ItemList:
    page: Page[ItemScore]
    heads: tuple[Figure, ...]
    lines: list[ItemLine]

    @property
    def has_facts(self) -> bool:
        return any("facts" in line.counts for line in self.lines)


def item_scores(grading: Grading) -> QuerySet[ItemScore]:
    """The scored items in the release's order, without their gold, which is large."""
    scores = grading.item_scores.select_related("item").defer("item__gold", "item__facts")
    return scores.order_by("item__position")


def item_list(submission: Submission, grading: Grading, page: str) -> ItemList:
    """The scored items in the release's order. Two queries."""
    shown = Paginator(item_scores(grading), PER_PAGE).get_page(page)
    lines = [item_line(submission, grading, score) for score in shown]
    return ItemList(shown, lines[0].figures if lines else (), lines)


def item_line(submission: Submission, grading: Grading, score: ItemScore) -> ItemLine:
    """An item's figures are those of a submission that consists of it alone."""
    spec = submission.phase.board.spec
    columns = [column for column in columns_of(spec, grading.options) if column.headline]
    result: dict[str, Any] = score.result
    alone = spec.aggregate([result], spec.check_options(grading.options))
    return ItemLine(
        name=score.item.name,
        is_missing=alone.missing > 0,
        figures=tuple(figure(column, alone.scores, alone.counts) for column in columns),
        counts=alone.counts,
    )


@dataclass(frozen=True)
class FactLine:
    """A gold fact and its verdict. `matched_text` is None where nothing was found."""

    n: int
    type: str
    label: int
    """1-based place of the type in the label set, for its colour."""
    value: str
    correct: bool
    found: bool
    matched_text: str | None
    error: str | None
    start: int | None
    end: int | None
    confidence: float | None = None
    """How well the context speaks for the match, in [0, 1]; None where that is not known."""

    @property
    def confidence_text(self) -> str:
        return show(self.confidence, decimals=0)


@dataclass(frozen=True)
class Extra:
    """Numbers and dates of the prediction that match nothing in the gold page."""

    tokens: int
    count: int
    shown: tuple[str, ...]

    @property
    def hidden_count(self) -> int:
        return self.count - len(self.shown)


@dataclass(frozen=True)
class Segment:
    """A piece of the prediction's text and the facts that were matched there."""

    text: str
    facts: tuple[FactLine, ...]
    starts: tuple[int, ...]
    """Numbers of the facts whose match begins here: the targets of links."""

    @property
    def is_wrong(self) -> bool:
        return any(not fact.correct for fact in self.facts)


@dataclass(frozen=True)
class ItemPage:
    """One item as one reader may see it. None where the phase shows less."""

    submission: Submission
    grading: Grading
    line: ItemLine
    facts: list[FactLine] | None
    segments: list[Segment] | None
    extra: Extra | None
    tables: list[FieldTable] | None
    """Gold, prediction and result, for benchmarks without facts."""
    images: list[ItemImage]
    may_dispute: bool
    """Whether the reader can challenge the gold facts where they are published."""
    previous: str
    next: str

    @property
    def placed(self) -> frozenset[int]:
        """Numbers of the facts that are shown on an image."""
        return placed(self.images)

    @property
    def name(self) -> str:
        return self.line.name

    @property
    def is_missing(self) -> bool:
        return self.line.is_missing

    @property
    def scores(self) -> dict[str, float | None]:
        return self.line.scores


def item_page(user: Viewer, submission: Submission, name: str) -> ItemPage:
    """404 unless the phase shows single items to this user and the item was scored."""
    level = require_items(user, submission)
    grading = finished_grading(submission)
    score = get_object_or_404(
        item_scores(grading).select_related("item__document"), item__name=name
    )
    shows_all, has_facts = level == Phase.Diagnostics.FACTS, "facts" in score.result
    facts = fact_lines(score, grading) if shows_all and has_facts else None
    with_page = shows_pages(level, submission.phase.release, score.item.split)
    before, after = _neighbours(score)
    return ItemPage(
        submission=submission,
        grading=grading,
        line=item_line(submission, grading, score),
        facts=facts,
        segments=_segments(score, grading, facts) if with_page and facts is not None else None,
        extra=_extra(score.result) if shows_all else None,
        tables=_tables(score, grading, with_gold=with_page)
        if shows_all and not has_facts
        else None,
        images=_images(user, submission, score, facts or []) if with_page else [],
        may_dispute=facts is not None and _may_dispute(user, submission),
        previous=before,
        next=after,
    )


def fact_lines(score: ItemScore, grading: Grading) -> list[FactLine]:
    labels = _labels(grading)
    return [
        FactLine(
            n=fact["n"],
            type=fact["type"],
            label=labels.index(fact["type"]) + 1 if fact["type"] in labels else len(labels) + 1,
            value=fact["value"],
            correct=fact["correct"],
            found=fact["found"],
            matched_text=fact["matched_text"],
            error=fact["error"],
            start=fact["start"],
            end=fact["end"],
            confidence=fact.get("confidence"),
        )
        for fact in score.result["facts"]
    ]


def _extra(result: Mapping[str, Any]) -> Extra | None:
    found = result.get("hallucinated")
    if not isinstance(found, dict):
        return None
    return Extra(found["tokens"], found["count"], tuple(found["shown"]))


def _tables(score: ItemScore, grading: Grading, *, with_gold: bool) -> list[FieldTable]:
    """The result, and where the reader may see them the gold and the prediction."""
    result = field_table("Result", score.result, without=_REPEATED)
    if not with_gold:
        return [result]
    gold: dict[str, Any] = ReleaseItem.objects.values_list("gold", flat=True).get(pk=score.item_id)
    prediction = _prediction(score, grading)
    return [
        field_table("Gold", gold, without=_REPEATED),
        field_table("Prediction", prediction or {}, without=_REPEATED),
        result,
    ]


def _prediction(score: ItemScore, grading: Grading) -> dict[str, Any] | None:
    predictions = Prediction.objects.filter(submission=grading.submission_id, item=score.item_id)
    payload: dict[str, Any] | None = predictions.values_list("payload", flat=True).first()
    return payload


def _labels(grading: Grading) -> list[str]:
    return str(grading.options.get("labels", "")).split(",")


def _segments(
    score: ItemScore, grading: Grading, facts: Sequence[FactLine]
) -> list[Segment] | None:
    """The prediction's visible text, cut where matches begin and end; None without a prediction."""
    html = (_prediction(score, grading) or {}).get("html")
    if not isinstance(html, str):
        return None
    return mark(visible_text(html, _labels(grading)), facts)


def mark(text: str, facts: Iterable[FactLine]) -> list[Segment]:
    """Cuts the text at every edge of a match; joined, the pieces are the text again."""
    matches = [
        (fact.start, min(fact.end, len(text)), fact)
        for fact in facts
        if fact.start is not None and fact.end is not None and fact.start < len(text)
    ]
    coming = sorted(matches, key=lambda match: match[:2], reverse=True)
    cuts = sorted({0, len(text)}.union(*((start, end) for start, end, _ in matches)))
    segments: list[Segment] = []
    current: list[tuple[int, int, FactLine]] = []
    for start, end in pairwise(cuts):
        current = [match for match in current if match[1] > start]
        while coming and coming[-1][0] == start:
            current.append(coming.pop())
        segments.append(
            Segment(
                text=text[start:end],
                facts=tuple(fact for _, _, fact in current),
                starts=tuple(fact.n for first, _, fact in current if first == start),
            )
        )
    return segments


def _images(
    user: Viewer, submission: Submission, score: ItemScore, facts: Sequence[FactLine]
) -> list[ItemImage]:
    """The page's images, where the reader may open the dataset they belong to."""
    document, dataset = score.item.document, submission.phase.release.dataset
    if document is None:
        return []
    if dataset.visibility != Dataset.Visibility.PUBLIC and not is_organiser(user):
        return []
    document.dataset = dataset
    images = list(document.images.all())
    for image in images:
        image.document = document
    verdicts = {fact.n: (f"{fact.type} {fact.value}", fact.correct) for fact in facts}
    return item_images(images, score.item_id, verdicts)


def _may_dispute(user: Viewer, submission: Submission) -> bool:
    """Who is signed in and sees the release; a variant's gold is disputed at its original."""
    release = submission.phase.release
    if not user.is_authenticated or release.dataset.derived_from_id is not None:
        return False
    return (
        visible_releases(user, release.dataset)
        .filter(pk=release.pk, dataset__in=visible_datasets(user))
        .exists()
    )


def _neighbours(score: ItemScore) -> tuple[str, str]:
    """The names of the items before and after, empty at the ends."""
    items = ItemScore.objects.filter(grading=score.grading_id)
    position = score.item.position
    before = items.filter(item__position__lt=position).order_by("-item__position")
    after = items.filter(item__position__gt=position).order_by("item__position")
    names: list[Any] = [
        rows.values_list("item__name", flat=True).first() or "" for rows in (before, after)
    ]
    return names[0], names[1]
