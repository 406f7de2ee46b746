"""One item of a submission: fact by fact with the prediction's text marked where there are facts,
else its gold, prediction and result field by field."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser
from portal.datasets.access import visible_datasets, visible_releases
from portal.datasets.models import Dataset, Release, ReleaseItem
from portal.facts import visible_text
from scoring.access import Viewer, require_items, shows_pages
from scoring.models import Grading, ItemScore, Phase, Prediction, Submission

from .fact_places import ItemImage, item_images, placed
from .item_diffs import ItemDiff, item_diff
from .item_facts import FactChoice, FactLine, choose_facts, labels_of
from .item_lists import EVERYTHING, ItemLine, ItemQuery, item_line, item_scores, neighbours
from .payloads import FieldTable, field_table
from .result_words import ResultPart, result_parts
from .submissions import finished_grading

# What the page says already.
_REPEATED = frozenset({"id", "missing"})


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
    facts: FactChoice | None
    segments: list[Segment] | None
    extra: Extra | None
    tables: list[FieldTable] | None
    """Gold and prediction where the reader may see them, and the result, for benchmarks without
    facts."""
    result: list[ResultPart] | None
    """The same result in words."""
    diff: ItemDiff | None
    """Gold and prediction compared; None where the reader may not see both, or they cannot be."""
    images: list[ItemImage]
    may_dispute: bool
    """Whether the reader can challenge the gold where it is published."""
    query: str
    """Keeps to an earlier grading, the order of the list and the choice of facts; empty without."""
    is_earlier: bool
    previous: str
    next: str

    @property
    def fact_lines(self) -> list[FactLine] | None:
        return None if self.facts is None else self.facts.lines

    @property
    def payloads(self) -> list[FieldTable]:
        """Gold and prediction."""
        return (self.tables or [])[:-1]

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

    @property
    def score(self) -> float | None:
        return self.line.score

    @property
    def part(self) -> str | None:
        return self.line.part

    @property
    def errors(self) -> list[str] | None:
        return self.line.errors


def item_page(
    user: Viewer,
    submission: Submission,
    name: str,
    wanted: str = "",
    asked: ItemQuery = EVERYTHING,
    which: str = "",
) -> ItemPage:
    """404 unless the phase shows single items to this user and the item was scored.

    `wanted` is the number of an earlier grading; the gold is that of its release. `asked` is the
    list it stands in, which says what comes before and after it. `which` facts are listed and
    marked: see `choose_facts`.
    """
    level, grading, score = scored_item(user, submission, name, wanted)
    shows_all, has_facts = level == Phase.Diagnostics.FACTS, "facts" in score.result
    with_page = shows_pages(level, grading.release, score.item.split)
    asked = asked.at(level, grading)
    before, after = neighbours(grading, score, asked)
    kept = ({"grading": str(grading.pk)} if wanted else {}) | asked.parameters
    line = item_line(submission, grading, score, level)
    facts = choose_facts(score, grading, which, kept) if shows_all and has_facts else None
    if facts is not None:
        kept |= facts.parameters
    return ItemPage(
        submission=submission,
        grading=grading,
        line=line,
        facts=facts,
        segments=_segments(score, grading, facts.lines)
        if with_page and facts is not None
        else None,
        extra=_extra(score.result) if shows_all else None,
        tables=_tables(score, grading, with_gold=with_page)
        if shows_all and not has_facts
        else None,
        result=_result(score, line, is_compared=with_page) if shows_all and not has_facts else None,
        diff=_diff(score, grading) if with_page else None,
        images=_images(user, grading, score, facts.lines if facts else []) if with_page else [],
        may_dispute=(facts is not None or with_page) and _may_dispute(user, grading.release),
        query=f"?{urlencode(kept)}" if kept else "",
        is_earlier=bool(wanted),
        previous=before,
        next=after,
    )


def scored_item(
    user: Viewer, submission: Submission, name: str, wanted: str
) -> tuple[Phase.Diagnostics, Grading, ItemScore]:
    """How much of an item the reader may see, the grading that is looked at, and the item's score;
    404 for what they may not see."""
    grading = finished_grading(user, submission, wanted)
    level = require_items(user, submission, grading.release)
    score = get_object_or_404(
        item_scores(grading).select_related("item__document"), item__name=name
    )
    return level, grading, score


def _extra(result: Mapping[str, Any]) -> Extra | None:
    found = result.get("hallucinated")
    if not isinstance(found, dict):
        return None
    return Extra(found["tokens"], found["count"], tuple(found["shown"]))


def _diff(score: ItemScore, grading: Grading) -> ItemDiff | None:
    gold: dict[str, Any] = ReleaseItem.objects.values_list("gold", flat=True).get(pk=score.item_id)
    spec = grading.submission.phase.board.spec
    sides = spec.sides(gold, prediction_of(score, grading), grading.options)
    return None if sides is None else item_diff(sides)


def _result(score: ItemScore, line: ItemLine, *, is_compared: bool) -> list[ResultPart]:
    """What the figures of the item do not say already."""
    without = _REPEATED | line.scores.keys()
    return result_parts(score.result, without=without, is_compared=is_compared)


def _tables(score: ItemScore, grading: Grading, *, with_gold: bool) -> list[FieldTable]:
    """The result, and where the reader may see them the gold and the prediction."""
    result = field_table("Result", score.result, without=_REPEATED)
    if not with_gold:
        return [result]
    gold: dict[str, Any] = ReleaseItem.objects.values_list("gold", flat=True).get(pk=score.item_id)
    prediction = prediction_of(score, grading)
    return [
        field_table("Gold", gold, without=_REPEATED),
        field_table("Prediction", prediction or {}, without=_REPEATED),
        result,
    ]


def prediction_of(score: ItemScore, grading: Grading) -> dict[str, Any] | None:
    """By name: it was made for a release that may be another one than the grading's."""
    predictions = Prediction.objects.filter(
        submission=grading.submission_id, item__name=score.item.name
    )
    payload: dict[str, Any] | None = predictions.values_list("payload", flat=True).first()
    return payload


def _segments(
    score: ItemScore, grading: Grading, facts: Sequence[FactLine]
) -> list[Segment] | None:
    """The prediction's visible text, cut where matches begin and end; None without a prediction."""
    html = (prediction_of(score, grading) or {}).get("html")
    if not isinstance(html, str):
        return None
    return mark(visible_text(html, labels_of(grading)), facts)


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
    user: Viewer, grading: Grading, score: ItemScore, facts: Sequence[FactLine]
) -> list[ItemImage]:
    """The page's images, where the reader may open the dataset they belong to."""
    document, dataset = score.item.document, grading.release.dataset
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


def _may_dispute(user: Viewer, release: Release) -> bool:
    """Who is signed in and sees the release; a variant's gold is disputed at its original."""
    if not user.is_authenticated or release.dataset.derived_from_id is not None:
        return False
    return (
        visible_releases(user, release.dataset)
        .filter(pk=release.pk, dataset__in=visible_datasets(user))
        .exists()
    )
