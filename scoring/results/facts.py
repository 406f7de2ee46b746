"""The facts of one item: the verdict of each matcher, and the place on the page's images.

Only for readers to whom the phase shows every fact.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from portal.datasets.imaging.drawing import Area, areas_of
from portal.datasets.models import PageImage, ReleaseItem, TextBoxes
from scoring.benchmarks.judging import NAMES, TITLES, short_name
from scoring.leaderboard.figures import show
from scoring.models import Grading, ItemScore

WRONG, DIFFER = "wrong", "differ"


@dataclass(frozen=True, kw_only=True)
class FactLine:
    """A gold fact and its verdict. `matched_text` is None if nothing was found."""

    n: int
    type: str
    label: int
    """1-based position of the type in the label set, for its colour."""
    value: str
    correct: bool
    found: bool
    matched_text: str | None
    confidence: float | None = None
    """How well the context matches, in [0, 1]; None if unknown."""
    error: str | None
    start: int | None
    end: int | None
    beside: Mapping[str, bool] | None = None
    """Whether it is correct by each of the other matchers, by short name. None in results that
    predate them."""
    why: str = ""
    """The judge's reason, if it was asked. It may quote the gold."""
    overruled: str = ""
    """Why the judge's claim about the fact is invalid. Empty if it is valid."""

    @property
    def confidence_text(self) -> str:
        return show(self.confidence, decimals=0)

    @property
    def matchers_differ(self) -> bool:
        return any(also != self.correct for also in (self.beside or {}).values())


def labels_of(grading: Grading) -> list[str]:
    return str(grading.options.get("labels", "")).split(",")


def fact_lines(score: ItemScore, grading: Grading) -> list[FactLine]:
    labels = labels_of(grading)
    beside: dict[str, list[int]] | None = score.result.get("beside")
    overruled = overruled_in(score.result)
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
            beside=_other_verdicts(fact, beside),
            why=fact.get("why", ""),
            overruled=overruled.get(fact["n"], ""),
        )
        for fact in score.result["facts"]
    ]


def overruled_in(result: Mapping[str, Any]) -> dict[int, str]:
    """Return the reasons why claims of the judge are invalid, by number of the fact."""
    return {each["n"]: each["why"] for each in result.get("judge", {}).get("overruled", [])}


def _other_verdicts(
    fact: Mapping[str, Any], beside: Mapping[str, Sequence[int]] | None
) -> dict[str, bool] | None:
    """Return the verdicts in the order of NAMES, since a database does not keep it."""
    if beside is None:
        return None
    return {name: fact["n"] in beside[name] for name in NAMES if name in beside}


@dataclass(frozen=True)
class FactTab:
    """A filter of the facts, with its link."""

    title: str
    count: int
    query: str
    is_current: bool


@dataclass(frozen=True)
class FactChoice:
    """The facts shown, the available filters, and the titles of the matchers in the table, the
    board's own first."""

    key: str
    lines: list[FactLine]
    tabs: list[FactTab]
    matchers: tuple[str, ...]

    @property
    def parameters(self) -> dict[str, str]:
        return {"facts": self.key} if self.key else {}

    @property
    def total(self) -> int:
        return self.tabs[0].count

    @property
    def is_compared(self) -> bool:
        return len(self.matchers) > 1

    @property
    def has_reasons(self) -> bool:
        return any(line.why for line in self.lines)


_CHOICES: dict[str, tuple[str, Callable[[FactLine], bool]]] = {
    "": ("All", lambda _: True),
    WRONG: ("Wrong", lambda line: not line.correct),
    DIFFER: ("Matchers disagree", lambda line: line.matchers_differ),
}


def choose_facts(
    score: ItemScore, grading: Grading, wanted: str, kept: Mapping[str, str]
) -> FactChoice:
    """Choose all facts, wrong ones, or those on which several matchers disagree. Unknown choices
    select all. `kept` are the other parameters of the page."""
    lines = fact_lines(score, grading)
    beside = [name for name in NAMES if name in score.result.get("beside", {})]
    known = [key for key in _CHOICES if key != DIFFER or beside]
    current = wanted if wanted in known else ""
    tabs = [
        FactTab(
            title=_CHOICES[key][0],
            count=sum(map(_CHOICES[key][1], lines)),
            query="?" + urlencode({**kept, **({"facts": key} if key else {})}),
            is_current=key == current,
        )
        for key in known
    ]
    names = (short_name(grading.options.get("matcher", "")), *beside)
    return FactChoice(
        key=current,
        lines=[line for line in lines if _CHOICES[current][1](line)],
        tabs=tabs,
        matchers=tuple(TITLES.get(name, name.capitalize()) for name in names),
    )


@dataclass(frozen=True)
class FactPlace:
    """One line of a fact on an image. Links to the fact lead to the line with `is_first`."""

    n: int
    text: str
    correct: bool
    area: Area
    is_first: bool


@dataclass(frozen=True)
class ItemImage:
    """A page image with the facts whose place on it is known."""

    image: PageImage
    places: list[FactPlace] = field(default_factory=list)


def item_images(
    images: Sequence[PageImage], item: int, verdicts: dict[int, tuple[str, bool]]
) -> list[ItemImage]:
    """Return the images with those facts of `item` (key of a ReleaseItem) that `verdicts` has, by
    number.

    Two more queries if any image was rendered here. Text places are unknown on other images.
    """
    sheets = [ItemImage(image) for image in images]
    rendered = [image.pk for image in images if image.is_rendered]
    if not rendered or not verdicts:
        return sheets
    found = TextBoxes.objects.filter(image__in=rendered).values_list("image", "boxes")
    boxes = dict(found)
    facts = ReleaseItem.objects.values_list("facts", flat=True).get(pk=item)
    for fact in facts:
        if fact["n"] not in verdicts:
            continue
        is_first = True
        for sheet in sheets:
            for area in areas_of(boxes.get(sheet.image.pk, []), fact["start"], fact["end"]):
                sheet.places.append(FactPlace(fact["n"], *verdicts[fact["n"]], area, is_first))
                is_first = False
    return sheets


def placed(sheets: Sequence[ItemImage]) -> frozenset[int]:
    """Return the numbers of the facts that have a place on an image."""
    return frozenset(place.n for sheet in sheets for place in sheet.places)
