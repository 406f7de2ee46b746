"""Typical errors of a submission: an item for each of its most frequent kinds of errors.

They show gold and page images, so only items with public gold are chosen, for readers to whom the
phase shows every fact.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

from django.utils.text import Truncator

from portal.datasets.imaging.drawing import Area
from portal.datasets.models import PageImage
from scoring.access import Viewer, diagnostics_for, shows_pages
from scoring.leaderboard.services import grading_stamp
from scoring.models import Grading, ItemScore, Phase, Submission
from scoring.models.gradings import error_names
from scoring.web import cached

from .facts import boxes_of, item_images
from .fields import ItemDiff, item_diff
from .item_lists import NEARLY_ONE
from .items import may_see_images, prediction_of

MOST = 3
# The longest text of an example, in characters.
LONGEST = 80
_KEPT_SECONDS = 24 * 3600
# The part of a page around a fact: its width in heights of a line, and its shape.
_LINES_WIDE, _ASPECT = 22, 4


@dataclass(frozen=True)
class Crop:
    """The part of a page image around a fact, in pixels."""

    area: Area
    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True)
class Example:
    """A wrong fact, or for benchmarks without facts the first difference of an item."""

    item: str
    error: str
    """The kind of error; the part of the item if its benchmark has no kinds."""
    gold: str
    read: str
    """Empty if nothing was found."""
    fact: int | None = None
    image: PageImage | None = None
    crop: Crop | None = None
    """The place of the fact on the image, if it is known."""


class Pick(NamedTuple):
    """An item chosen as an example of a kind of error."""

    score: int
    kind: str


def typical_errors(user: Viewer, submission: Submission, grading: Grading) -> list[Example]:
    """Return up to three examples; none if the reader may not see facts or the gold is hidden. At
    most four queries for facts, and one more for each example without."""
    level = diagnostics_for(user, submission, grading.release)
    if level != Phase.Diagnostics.FACTS:
        return []
    picks = _kept_picks(grading)
    rows = ItemScore.objects.filter(pk__in=[pick.score for pick in picks])
    scores = {row.pk: row for row in rows.select_related("item")}
    examples = [
        (scores[pick.score], _example(grading, scores[pick.score], pick.kind))
        for pick in picks
        if shows_pages(level, grading.release, scores[pick.score].item.split)
    ]
    images = may_see_images(user, grading.release.dataset)
    return _with_pictures(grading, examples) if images else [each for _, each in examples]


def _kept_picks(grading: Grading) -> list[Pick]:
    """Cached, since finished gradings do not change."""
    key = f"scoring:examples:1:{grading_stamp(grading)}"
    return cached(key, lambda: _picks(grading), _KEPT_SECONDS)


class _Wrong(NamedTuple):
    pk: int
    part: str
    kinds: list[str]


def _picks(grading: Grading) -> list[Pick]:
    """Choose the item with the median score of those with each kind of error. One query."""
    rows = grading.item_scores.filter(score__lt=NEARLY_ONE).order_by("score", "item__position")
    wrong = [
        _Wrong(pk, part or "", error_names(errors))
        for pk, part, errors, split in rows.values_list("pk", "part", "errors", "item__split")
        if grading.release.opens(split)
    ]
    by_kind: defaultdict[str, list[_Wrong]] = defaultdict(list)
    for row in wrong:
        for kind in row.kinds:
            by_kind[kind].append(row)
    if not by_kind:
        lowest = {row.part: Pick(row.pk, row.part) for row in reversed(wrong)}
        return list(reversed(lowest.values()))[:MOST]
    return _medians(by_kind, grading.counts)


def _medians(by_kind: Mapping[str, Sequence[_Wrong]], counts: Mapping[str, int]) -> list[Pick]:
    """The most frequent kinds first, each with another item."""

    def frequency(kind: str) -> int:
        return counts.get(f"err_{kind}", len(by_kind[kind]))

    picks: list[Pick] = []
    for kind in sorted(by_kind, key=lambda kind: (-frequency(kind), kind)):
        used = {pick.score for pick in picks}
        free = [row for row in by_kind[kind] if row.pk not in used]
        if free and len(picks) < MOST:
            picks.append(Pick(free[len(free) // 2].pk, kind))
    return picks


def _example(grading: Grading, score: ItemScore, kind: str) -> Example:
    name = score.item.name
    facts: list[Mapping[str, Any]] = score.result.get("facts", [])
    fact = next((fact for fact in facts if fact["error"] == kind), None)
    if fact is not None:
        return Example(name, kind, fact["value"], fact["matched_text"] or "", fact["n"])
    spec = grading.submission.phase.board.spec
    prediction = prediction_of(grading.submission_id, name)
    sides = spec.sides(score.item.gold, prediction, grading.options)
    gold, read = next(differences(item_diff(sides)) if sides else iter(()), ("", ""))
    return Example(name, kind, _short(gold), _short(read))


def differences(diff: ItemDiff) -> Iterator[tuple[str, str]]:
    """Yield gold and prediction where they differ, each empty where there is nothing."""
    for pair in diff.fields or []:
        if pair.verdict != "same":
            yield f"{pair.path}: {pair.gold or '–'}", pair.prediction or ""
    for is_same, group in groupby(diff.stretches or [], key=lambda each: each.kind == "same"):
        if not is_same:
            sides = {each.kind: each.text for each in group}
            yield sides.get("missed", ""), sides.get("extra", "")


def _short(text: str) -> str:
    return Truncator(text).chars(LONGEST)


def _with_pictures(
    grading: Grading, examples: Sequence[tuple[ItemScore, Example]]
) -> list[Example]:
    """Add the images of the items, and the places of their facts. Two queries."""
    documents = [score.item.document_id for score, _ in examples]
    found = PageImage.objects.filter(document__in=documents).select_related("document")
    images = list(found.order_by("document", "number"))
    boxes = boxes_of(images)
    shown = []
    for score, example in examples:
        own = [image for image in images if image.document_id == score.item.document_id]
        for image in own:
            image.document.dataset = grading.release.dataset
        example = replace(example, image=own[0] if own else None)
        verdicts = {} if example.fact is None else {example.fact: ("", False)}
        for sheet in item_images(own, boxes, score.item.facts, verdicts):
            if sheet.places and example.crop is None:
                crop = crop_around(sheet.places[0].area, sheet.image.width, sheet.image.height)
                example = replace(example, image=sheet.image, crop=crop)
        shown.append(example)
    return shown


def crop_around(area: Area, width: float, height: float) -> Crop:
    """Return a part of an image of this size with the area in its middle, as far as possible.

    >>> crop = crop_around(Area(500, 100, 540, 120), 1000, 1000)
    >>> crop.left, crop.top, crop.width, crop.height
    (300.0, 55.0, 440.0, 110.0)
    """
    wide = min(width, max(_LINES_WIDE * (area.bottom - area.top), 1.2 * area.width))
    high = min(height, wide / _ASPECT)
    left = (area.left + area.right - wide) / 2
    top = (area.top + area.bottom - high) / 2
    return Crop(
        area,
        min(max(left, 0.0), width - wide),
        min(max(top, 0.0), height - high),
        wide,
        high,
    )
