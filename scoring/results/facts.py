"""The facts or fields of one item: verdicts, and their places in page images, gold and prediction.

Facts are only for readers to whom the phase shows every fact, fields for those who may see gold.
Fields are listed, chosen and linked like facts.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator

from portal.datasets.imaging.drawing import Area, areas_of
from portal.datasets.models import PageImage, TextBoxes
from scoring.benchmarks import FieldName, GradedItem, Sheet
from scoring.benchmarks.options import NAMES, TITLES, short_name
from scoring.models import Grading, ItemScore

_WORDS = tomllib.loads(Path(__file__).with_name("result_words.toml").read_text(encoding="utf-8"))
_MEANINGS: dict[str, str] = _WORDS["errors"]
WRONG, DIFFER = "wrong", "differ"
FACT = "fact"


def title_of(matcher: str) -> str:
    return TITLES.get(matcher, matcher.capitalize())


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
    def matchers_differ(self) -> bool:
        return any(also != self.correct for also in (self.beside or {}).values())

    @property
    def other_verdicts(self) -> list[tuple[str, bool]]:
        """The titles of the other matchers, and whether the fact is correct by each."""
        return [(title_of(name), correct) for name, correct in (self.beside or {}).items()]


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
    return {claim["n"]: claim["why"] for claim in result.get("judge", {}).get("overruled", [])}


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


PER_PAGE = 50


@dataclass(frozen=True)
class FactQuery:
    """The facts that a reader asks for: a filter, the number of one fact, and a page. Each may be
    empty, and unknown values count as empty."""

    which: str = ""
    fact: str = ""
    page: str = ""


ALL_FACTS = FactQuery()


@dataclass(frozen=True)
class FactChoice:
    """The facts shown, the available filters, and the titles of the matchers in the table, the
    board's own first."""

    key: str
    lines: list[FactLine]
    """In the order of the document."""
    page: Page[FactLine]
    """Some of the lines: of all of them, wrong facts come first."""
    current: FactLine | None
    """The fact that is highlighted."""
    tabs: list[FactTab]
    matchers: tuple[str, ...]
    query: str
    """The parameters of links to one fact or page, encoded."""
    noun: str = FACT

    @property
    def parameters(self) -> dict[str, str]:
        return {"facts": self.key} if self.key else {}

    @property
    def total(self) -> int:
        return self.tabs[0].count

    @property
    def right_count(self) -> int:
        return self.total - self.tabs[1].count

    @property
    def wrong(self) -> list[int]:
        """The numbers of the wrong facts, ascending."""
        return [line.n for line in self.lines if not line.correct]

    @property
    def error_meanings(self) -> list[tuple[str, str]]:
        """The types of errors in facts on this page with their meanings, by name."""
        shown = {line.error for line in self.page if line.error} if self.noun == FACT else set()
        return [(error, _MEANINGS[error]) for error in sorted(shown & _MEANINGS.keys())]

    @property
    def previous_wrong(self) -> int | None:
        """The last wrong fact before the current one."""
        if self.current is None:
            return None
        return max((n for n in self.wrong if n < self.current.n), default=None)

    @property
    def next_wrong(self) -> int | None:
        """The first wrong fact after the current one, or of all if there is none."""
        after = -1 if self.current is None else self.current.n
        return min((n for n in self.wrong if n > after), default=None)


_CHOICES: dict[str, tuple[str, Callable[[FactLine], bool]]] = {
    "": ("All", lambda _: True),
    WRONG: ("Wrong", lambda line: not line.correct),
    DIFFER: ("Matchers disagree", lambda line: line.matchers_differ),
}


def choose_facts(
    score: ItemScore, grading: Grading, asked: FactQuery, parameters: Mapping[str, str]
) -> FactChoice:
    """Choose all facts, wrong ones, or those on which several matchers disagree. A fact that is
    asked for is on the page, and a filter that leaves it out is ignored. `parameters` are the other
    parameters of the page."""
    beside = [name for name in NAMES if name in score.result.get("beside", {})]
    names = (short_name(grading.options.get("matcher", "")), *beside)
    return choose_lines(fact_lines(score, grading), tuple(map(title_of, names)), asked, parameters)


def choose_lines(
    lines: Sequence[FactLine],
    matchers: tuple[str, ...],
    asked: FactQuery,
    parameters: Mapping[str, str],
    noun: str = FACT,
) -> FactChoice:
    """Choose lines of facts or fields. With several `matchers`, those on which they disagree are a
    choice of their own."""
    known = [key for key in _CHOICES if key != DIFFER or len(matchers) > 1]
    current = next((line for line in lines if str(line.n) == asked.fact), None)
    key = asked.which if asked.which in known else ""
    if current is not None and not _CHOICES[key][1](current):
        key = ""
    chosen = [line for line in lines if _CHOICES[key][1](line)]
    return FactChoice(
        key=key,
        lines=chosen,
        page=_fact_page(chosen, current, asked.page),
        current=current,
        tabs=[_tab(choice, lines, parameters, is_current=choice == key) for choice in known],
        matchers=matchers,
        query=urlencode({**parameters, **({"facts": key} if key else {})}),
        noun=noun,
    )


def _tab(
    key: str, lines: Iterable[FactLine], parameters: Mapping[str, str], *, is_current: bool
) -> FactTab:
    title, is_in = _CHOICES[key]
    query = "?" + urlencode({**parameters, **({"facts": key} if key else {})})
    return FactTab(title, sum(map(is_in, lines)), query, is_current)


def _fact_page(lines: Sequence[FactLine], current: FactLine | None, page: str) -> Page[FactLine]:
    """Return the page with the current fact unless another is asked for."""
    ordered = sorted(lines, key=lambda line: line.correct)
    if current is not None and not page:
        page = str(ordered.index(current) // PER_PAGE + 1)
    return Paginator(ordered, PER_PAGE).get_page(page or "1")


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


Boxes = Mapping[int, Sequence[Sequence[int]]]
"""Text boxes in the stored form, by the key of their image."""


def boxes_of(images: Iterable[PageImage]) -> Boxes:
    """Return the text boxes of the images that have them. One query."""
    rows = TextBoxes.objects.filter(image__in=[image.pk for image in images])
    return dict(rows.values_list("image", "boxes"))


def item_images(
    images: Sequence[PageImage],
    boxes: Boxes,
    facts: Iterable[Mapping[str, Any]],
    verdicts: Mapping[int, tuple[str, bool]],
) -> list[ItemImage]:
    """Return the images with those of the item's gold facts that `verdicts` has, by number."""
    sheets = [ItemImage(image) for image in images]
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


@dataclass(frozen=True)
class ShownPiece:
    """A piece of a side with the numbers of its fields, joined by spaces."""

    text: str
    numbers: str = ""
    is_wrong: bool = False
    is_current: bool = False


@dataclass(frozen=True)
class ShownSheet:
    """One side with its pieces by row."""

    form: str
    rows: list[list[ShownPiece]]
    is_cut: bool


@dataclass(frozen=True)
class LinkedFields:
    choice: FactChoice
    gold: ShownSheet
    prediction: ShownSheet | None


def graded_item(
    grading: Grading,
    score: ItemScore,
    gold: dict[str, Any],
    prediction: dict[str, Any] | None,
) -> GradedItem | None:
    """Return the fields of an item; None if it was not graded by field."""
    grades = grading.submission.phase.board.spec.field_grades
    return grades.item(gold, prediction, score.result, grading.options) if grades else None


def linked_fields(
    item: GradedItem, asked: FactQuery, parameters: Mapping[str, str], noun: str
) -> LinkedFields:
    lines = field_lines(item)
    choice = choose_lines(lines, (), asked, parameters, noun)
    current = choice.current.n if choice.current else None
    wrong = frozenset(line.n for line in lines if not line.correct)
    return LinkedFields(
        choice,
        _shown(item.gold, wrong, current),
        None if item.prediction is None else _shown(item.prediction, wrong, current),
    )


def field_lines(item: GradedItem) -> list[FactLine]:
    """Return the fields as the lines of facts."""
    return [
        FactLine(
            n=n,
            type=field.name,
            label=0,
            value=field.value,
            correct=not field.error,
            found=field.read is not None,
            matched_text=field.read,
            error=field.error or None,
            start=None,
            end=None,
        )
        for n, field in enumerate(item.fields)
    ]


def number_of(item: GradedItem | None, wanted: FieldName) -> int | None:
    """Return the number of a wrong field of a result, preferably of one that is wrong."""
    if item is None:
        return None
    numbers = [
        n
        for n, field in enumerate(item.fields)
        if field.key[:2] == wanted[:2] and wanted.value in {"", field.key.value}
    ]
    return next((n for n in numbers if item.fields[n].error), numbers[0] if numbers else None)


def _shown(sheet: Sheet, wrong: frozenset[int], current: int | None) -> ShownSheet:
    rows = [
        [
            ShownPiece(
                piece.text,
                " ".join(map(str, piece.fields)),
                is_wrong=bool(wrong.intersection(piece.fields)),
                is_current=current in piece.fields,
            )
            for piece in row
        ]
        for row in sheet.rows
    ]
    return ShownSheet(sheet.form, rows, sheet.is_cut)
