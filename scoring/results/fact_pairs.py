"""The facts that one of two entries has right and the other wrong; of benchmarks without facts, the
fields.

They show gold, so they are listed only where all gold of the phase is public, for readers to whom
the phase shows every fact of both submissions.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404

from scoring.access import Viewer, diagnostics_for
from scoring.benchmarks import WHOLE, FieldName, GradedItem
from scoring.figures import show
from scoring.leaderboard.services import grading_stamp
from scoring.models import Board, Entry, Grading, ItemScore, Phase, Prediction
from scoring.web import cached

from .facts import FACT, graded_item, labels_of, number_of
from .selection import ComparisonRefused, compared_entries

PER_PAGE = 50
FIRST, SECOND = "first", "second"
_KEPT_SECONDS = 24 * 3600


class Differing(NamedTuple):
    """A gold fact by the key of its item and its number, or a field by its name, and which entry
    has it right."""

    item: int
    n: int
    type: str
    right: str
    field: FieldName | None = None


@dataclass(frozen=True)
class FactSide:
    """A submission's reading of a fact."""

    submission: int
    system: str
    text: str | None
    """None if nothing was found."""
    error: str
    """Empty if it is right."""


@dataclass(frozen=True)
class FactPair:
    """A fact with both readings."""

    item: str
    n: int | None
    """Its number on the item's page; None for a whole item."""
    type: str
    label: int
    """1-based position of the type in the label set, for its colour; 0 for fields."""
    value: str
    sides: tuple[FactSide, ...]


@dataclass(frozen=True)
class FactCount:
    """The number of facts that only one entry has right, with the query that lists them."""

    system: str
    count: int
    query: str
    is_current: bool


def noun_for(grading: Grading) -> str:
    """Return what the grading lists: facts, what the benchmark calls a field, or nothing."""
    if "facts" in grading.counts:
        return FACT
    grades = grading.submission.phase.board.spec.field_grades
    return grades.noun if grades else ""


def may_compare_facts(user: Viewer, gradings: Sequence[Grading]) -> bool:
    """Whether the reader may see the facts or fields of all these submissions, and their gold is
    public."""
    return all(
        noun_for(grading)
        and grading.release.opens(grading.submission.phase.split)
        and diagnostics_for(user, grading.submission, grading.release) == Phase.Diagnostics.FACTS
        for grading in gradings
    )


@dataclass(frozen=True)
class DifferingFacts:
    """All facts or fields that only one of two entries has right."""

    entries: list[Entry]
    gradings: list[Grading]
    found: list[Differing]
    cut: int
    """The number of items with more wrong fields than their results list. Those are left out."""

    @property
    def noun(self) -> str:
        return noun_for(self.gradings[0])

    @property
    def types(self) -> list[str]:
        return sorted({fact.type for fact in self.found})

    def chosen(self, right: str, kind: str) -> list[Differing]:
        """Return those that the first or second entry has right, of one type or of all."""
        return [fact for fact in self.found if fact.right == right and kind in {"", fact.type}]

    def lines(self, shown: Sequence[Differing]) -> list[FactPair]:
        """Return them with both readings. At most two queries."""
        listed = _lines if self.noun == FACT else _field_lines
        return listed(self.entries, self.gradings, shown)


def differing_facts(user: Viewer, board: Board, numbers: Sequence[int]) -> DifferingFacts:
    """Return the facts or fields on which two entries differ. Raises ComparisonRefused, and Http404
    if the reader may not see them."""
    if len(numbers) != 2:
        raise ComparisonRefused("Select exactly two models to compare their facts.")
    entries = compared_entries(board, numbers)
    gradings = [entry.grading for entry in entries if entry.grading is not None]
    if not may_compare_facts(user, gradings):
        raise Http404("The facts of these submissions are not shown.")
    return DifferingFacts(entries, gradings, *_kept_differing(gradings))


def list_query(entries: Sequence[Entry], right: str = "", kind: str = "") -> str:
    """Return the parameters of a list, encoded, without the page."""
    numbers = ",".join(str(entry.pk) for entry in entries)
    given = {"entries": numbers, "right": right, "type": kind}
    return urlencode({name: value for name, value in given.items() if value}, safe=",")


def fact_counts(
    both: DifferingFacts, current: tuple[str, str]
) -> list[tuple[str, list[FactCount]]]:
    """Return one row for all facts, then one for each type, with its title."""
    counted = Counter((fact.right, fact.type) for fact in both.found)
    counted.update((fact.right, "") for fact in both.found)
    return [
        (
            kind or "All",
            [
                FactCount(
                    entry.name,
                    counted[right, kind],
                    list_query(both.entries, right, kind),
                    is_current=(right, kind) == current,
                )
                for right, entry in zip((FIRST, SECOND), both.entries, strict=True)
            ],
        )
        for kind in ("", *both.types)
    ]


def _kept_differing(gradings: Sequence[Grading]) -> tuple[list[Differing], int]:
    """Return the differences and the number of items that are left out. Cached, since finished
    gradings do not change. At most two queries."""
    key = "scoring:fact-pairs:2:" + ":".join(map(grading_stamp, gradings))
    find = _differing if noun_for(gradings[0]) == FACT else _differing_fields
    return cached(key, lambda: find(gradings), _KEPT_SECONDS)


def _differing(gradings: Sequence[Grading]) -> tuple[list[Differing], int]:
    """Return the facts on which the two differ, in the order of the release; none are left out. Two
    queries."""
    first, second = gradings
    other = _correct(second)
    rows = first.item_scores.order_by("item__position")
    differing = [
        Differing(item, fact["n"], fact["type"], FIRST if fact["correct"] else SECOND)
        for item, facts in rows.values_list("item", "result__facts")
        if item in other
        for fact in facts
        if fact["correct"] != (fact["n"] in other[item])
    ]
    return differing, 0


def _differing_fields(gradings: Sequence[Grading]) -> tuple[list[Differing], int]:
    """Return the fields that only one of the two has wrong, in the order of the release. Two
    queries."""
    grades = gradings[0].submission.phase.board.spec.field_grades
    assert grades is not None
    first, second = (
        {item: grades.wrong(result) for item, result in _results(grading)} for grading in gradings
    )
    differing, cut = [], 0
    for item, ours in first.items():
        theirs = second.get(item)
        if ours is None or theirs is None:
            continue
        cut += ours.is_cut or theirs.is_cut
        for right, wrong, other in ((FIRST, theirs, ours), (SECOND, ours, theirs)):
            # A field that is on no complete list of wrong ones is right.
            if not other.is_cut:
                names = (wrong.fields - other.fields).elements()
                differing += [Differing(item, 0, name.kind, right, name) for name in names]
    return differing, cut


def _results(grading: Grading) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = grading.item_scores.order_by("item__position")
    return rows.values_list("item", "result").iterator()


def _correct(grading: Grading) -> dict[int, frozenset[int]]:
    """Return the numbers of the correct facts by item. One query."""
    rows = grading.item_scores.order_by().values_list("item", "result__facts")
    return {item: frozenset(f["n"] for f in facts if f["correct"]) for item, facts in rows}


def _lines(
    entries: Sequence[Entry], gradings: Sequence[Grading], shown: Sequence[Differing]
) -> list[FactPair]:
    """Return the facts with both readings. One query."""
    items = {fact.item for fact in shown}
    rows = ItemScore.objects.filter(grading__in=gradings, item__in=items).select_related("item")
    scores = {(row.grading_id, row.item_id): row for row in rows.defer("item__gold", "item__facts")}
    labels = labels_of(gradings[0])
    return [
        _line(entries, [scores[grading.pk, fact.item] for grading in gradings], fact.n, labels)
        for fact in shown
    ]


def _line(
    entries: Sequence[Entry], scores: Sequence[ItemScore], n: int, labels: Sequence[str]
) -> FactPair:
    facts: list[dict[str, Any]] = [
        next(fact for fact in score.result["facts"] if fact["n"] == n) for score in scores
    ]
    fact = facts[0]
    return FactPair(
        item=scores[0].item.name,
        n=n,
        type=fact["type"],
        label=(labels.index(fact["type"]) if fact["type"] in labels else len(labels)) + 1,
        value=fact["value"],
        sides=tuple(
            FactSide(
                entry.grading.submission_id if entry.grading else 0,
                entry.name,
                reading["matched_text"],
                "" if reading["correct"] else reading["error"] or "wrong",
            )
            for entry, reading in zip(entries, facts, strict=True)
        ),
    )


def _field_lines(
    entries: Sequence[Entry], gradings: Sequence[Grading], shown: Sequence[Differing]
) -> list[FactPair]:
    """Return the fields with both readings. Two queries."""
    items = {field.item for field in shown}
    rows = ItemScore.objects.filter(grading__in=gradings, item__in=items).select_related("item")
    scores = {(row.grading_id, row.item_id): row for row in rows.defer("item__facts")}
    names = {score.item.name for score in scores.values()}
    submissions = [grading.submission_id for grading in gradings]
    payloads = Prediction.objects.filter(
        submission__in=submissions, item__name__in=names
    ).values_list("submission_id", "item__name", "payload")
    predictions = {(submission, name): payload for submission, name, payload in payloads}
    graded = {}
    for grading in gradings:
        for item in items:
            score = scores[grading.pk, item]
            prediction = predictions.get((grading.submission_id, score.item.name))
            graded[grading.pk, item] = graded_item(grading, score, score.item.gold, prediction)
    return [
        _field_line(
            entries,
            [scores[grading.pk, field.item] for grading in gradings],
            [graded[grading.pk, field.item] for grading in gradings],
            field,
        )
        for field in shown
    ]


def _field_line(
    entries: Sequence[Entry],
    scores: Sequence[ItemScore],
    graded: Sequence[GradedItem | None],
    differing: Differing,
) -> FactPair:
    field = differing.field
    assert field is not None
    wrong = graded[differing.right == FIRST]
    n = None if field.name == WHOLE else number_of(wrong, field)
    return FactPair(
        item=scores[0].item.name,
        n=n,
        type=field.name,
        label=0,
        value=field.value if n is None or wrong is None else wrong.fields[n].value,
        sides=tuple(
            FactSide(
                entry.grading.submission_id if entry.grading else 0,
                entry.name,
                f"score {show(score.score)}" if n is None or item is None else item.fields[n].read,
                _error(item, n, is_right=(at == 0) == (differing.right == FIRST)),
            )
            for at, (entry, score, item) in enumerate(zip(entries, scores, graded, strict=True))
        ),
    )


def _error(item: GradedItem | None, n: int | None, *, is_right: bool) -> str:
    if is_right:
        return ""
    return (item.fields[n].error if item and n is not None else "") or "wrong"
