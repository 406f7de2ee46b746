"""One item of a submission.

With facts, gold and prediction are rendered as cleaned pages with every fact marked, next to the
page image; without facts, gold, prediction and result are shown field by field. Right and wrong
facts differ by their outline, never by colour alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from typing import Any, Protocol
from urllib.parse import urlencode

from django.http import Http404
from django.shortcuts import get_object_or_404

from portal.accounts.access import is_organiser
from portal.datasets.access import visible_datasets, visible_releases
from portal.datasets.models import Dataset, Release, ReleaseItem
from portal.facts import visible_text
from portal.facts.canonical import canonical_text, clean_html
from portal.facts.markup import RefusedHtml
from portal.facts.page_text import Fragment, enclose, fragments
from portal.facts.spans import Span
from scoring.access import Viewer, require_items, shows_pages
from scoring.benchmarks.answers import CHANGES
from scoring.grading.selectors import finished_grading
from scoring.models import Grading, ItemScore, Phase, Prediction, Submission

from .facts import (
    ALL_FACTS,
    FactChoice,
    FactLine,
    FactQuery,
    ItemImage,
    LinkedFields,
    boxes_of,
    choose_facts,
    fact_lines,
    graded_item,
    item_images,
    labels_of,
    linked_fields,
    placed,
)
from .fields import FieldTable, ItemDiff, ResultPart, field_table, item_diff, result_parts
from .item_lists import EVERYTHING, WRONG, ItemLine, ItemQuery, item_line, item_scores, neighbours

# Shown elsewhere on the page.
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


@dataclass(frozen=True)
class ItemPage:
    """One item for one reader. Fields that the phase hides are None."""

    submission: Submission
    grading: Grading
    line: ItemLine
    facts: FactChoice | None
    fields: LinkedFields | None
    """The fields with their places, for benchmarks without facts."""
    shows_pages: bool
    """Whether the reader may see page image, gold and prediction."""
    extra: Extra | None
    tables: list[FieldTable] | None
    """The result, and gold and prediction if the reader may see them, for benchmarks without facts.
    """
    result: list[ResultPart] | None
    """The result in words."""
    diff: ItemDiff | None
    """The comparison of gold and prediction; None if the reader may not see both or they cannot be
    compared."""
    changes: Sequence[str]
    """The changes to the answer before it was graded, in words."""
    images: list[ItemImage]
    may_dispute: bool
    """Whether the reader can dispute the published gold."""
    query: str
    """The query string that keeps an earlier grading, the list's order and the choice of facts."""
    is_earlier: bool
    previous: str
    next: str
    previous_wrong: str
    """The nearest item before this one that is not fully correct; empty if there is none."""
    next_wrong: str

    @property
    def payloads(self) -> list[FieldTable]:
        """Gold and prediction."""
        return (self.tables or [])[:-1]

    @property
    def marked(self) -> FactChoice | None:
        """The facts or fields."""
        return self.fields.choice if self.fields else self.facts

    @property
    def placed(self) -> frozenset[int]:
        """Numbers of the facts that are shown on an image."""
        return placed(self.images)

    @property
    def nearest_found(self) -> int | None:
        """The current fact if it was found, or else the last one before it that was."""
        if self.facts is None or self.facts.current is None:
            return None
        numbers = (line.n for line in self.facts.lines if line.start is not None)
        return max((n for n in numbers if n <= self.facts.current.n), default=None)

    @property
    def frame_query(self) -> str:
        """The query of the frames of gold and prediction."""
        current = self.facts.current if self.facts else None
        asked = ({"grading": self.grading.pk} if self.is_earlier else {}) | (
            {"fact": current.n} if current else {}
        )
        return f"?{urlencode(asked)}" if asked else ""


def item_page(
    user: Viewer,
    submission: Submission,
    name: str,
    wanted: str = "",
    asked: ItemQuery = EVERYTHING,
    which: FactQuery = ALL_FACTS,
) -> ItemPage:
    """The page of an item. Raises Http404 unless the phase shows individual items to this user
    and the item was scored.

    `wanted` is the number of an earlier grading; the gold is that of its release. `asked` is the
    list that determines the previous and next item. `which` selects the facts.
    """
    level, grading, score = scored_item(user, submission, name, wanted)
    shows_all, has_facts = level == Phase.Diagnostics.FACTS, "facts" in score.result
    with_page = shows_pages(level, grading.release, score.item.split)
    asked = asked.at(level, grading)
    before, after = neighbours(grading, score, asked)
    wrong = neighbours(grading, score, replace(asked, show=WRONG))
    parameters = ({"grading": str(grading.pk)} if wanted else {}) | asked.parameters
    line = item_line(submission, grading, score, level)
    gold, prediction = _both(score, grading) if with_page else ({}, None)
    facts = choose_facts(score, grading, which, parameters) if shows_all and has_facts else None
    graded = graded_item(grading, score, gold, prediction) if with_page and not has_facts else None
    grades = submission.phase.board.spec.field_grades
    fields = linked_fields(graded, which, parameters, grades.noun) if graded and grades else None
    if choice := fields.choice if fields else facts:
        parameters |= choice.parameters
    return ItemPage(
        submission=submission,
        grading=grading,
        line=line,
        facts=facts,
        fields=fields,
        shows_pages=with_page,
        extra=_extra(score.result) if shows_all else None,
        tables=_tables(score, gold if with_page else None, prediction)
        if shows_all and not has_facts
        else None,
        result=_result(score, line, is_compared=with_page) if shows_all and not has_facts else None,
        diff=_diff(grading, gold, prediction) if with_page else None,
        changes=score.result.get(CHANGES, ()) if shows_all else (),
        images=_images(user, grading, score, facts.lines if facts else []) if with_page else [],
        may_dispute=(facts is not None or with_page) and _may_dispute(user, grading.release),
        query=f"?{urlencode(parameters)}" if parameters else "",
        is_earlier=bool(wanted),
        previous=before,
        next=after,
        previous_wrong=wrong[0],
        next_wrong=wrong[1],
    )


def scored_item(
    user: Viewer, submission: Submission, name: str, wanted: str
) -> tuple[Phase.Diagnostics, Grading, ItemScore]:
    """Return the level of diagnostics for this reader, the grading, and the item's score. Raises
    Http404 if they may not see it."""
    grading = finished_grading(user, submission, wanted)
    level = require_items(user, submission, grading.release)
    score = get_object_or_404(
        item_scores(grading).select_related("item__document"), item__name=name
    )
    return level, grading, score


def _extra(result: Mapping[str, Any]) -> Extra | None:
    hallucinated = result.get("hallucinated")
    if not isinstance(hallucinated, dict):
        return None
    return Extra(hallucinated["tokens"], hallucinated["count"], tuple(hallucinated["shown"]))


def _both(score: ItemScore, grading: Grading) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the gold and the prediction. Two queries."""
    gold: dict[str, Any] = ReleaseItem.objects.values_list("gold", flat=True).get(pk=score.item_id)
    return gold, prediction_of(grading.submission_id, score.item.name)


def _diff(
    grading: Grading, gold: dict[str, Any], prediction: dict[str, Any] | None
) -> ItemDiff | None:
    sides = grading.submission.phase.board.spec.sides(gold, prediction, grading.options)
    return None if sides is None else item_diff(sides)


def _result(score: ItemScore, line: ItemLine, *, is_compared: bool) -> list[ResultPart]:
    """Return the parts of the result that the item's figures do not show."""
    without = _REPEATED | line.scores.keys()
    return result_parts(score.result, without=without, is_compared=is_compared)


def _tables(
    score: ItemScore, gold: Mapping[str, Any] | None, prediction: Mapping[str, Any] | None
) -> list[FieldTable]:
    """Return the result, after the gold and the prediction if the reader may see them."""
    result = field_table("Result", score.result, without=_REPEATED)
    if gold is None:
        return [result]
    return [
        field_table("Gold", gold, without=_REPEATED),
        field_table("Prediction", prediction or {}, without=_REPEATED),
        result,
    ]


def prediction_of(submission: int, item: str) -> dict[str, Any] | None:
    """Return the prediction by the item's name, since it may have been made for another release."""
    predictions = Prediction.objects.filter(submission=submission, item__name=item)
    payload: dict[str, Any] | None = predictions.values_list("payload", flat=True).first()
    return payload


def mark(text: str, facts: Iterable[FactLine]) -> list[Segment]:
    """Split the text at every edge of a match. The joined pieces equal the text."""
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
        segments.append(Segment(text[start:end], tuple(fact for _, _, fact in current)))
    return segments


def _images(
    user: Viewer, grading: Grading, score: ItemScore, facts: Sequence[FactLine]
) -> list[ItemImage]:
    """Return the page's images if the reader may open their dataset."""
    document, dataset = score.item.document, grading.release.dataset
    if document is None or not may_see_images(user, dataset):
        return []
    document.dataset = dataset
    images = list(document.images.all())
    for image in images:
        image.document = document
    boxes = boxes_of(images) if facts else {}
    if not boxes:
        return item_images(images, boxes, [], {})
    verdicts = {fact.n: (f"{fact.type} {fact.value}", fact.correct) for fact in facts}
    placed_facts = ReleaseItem.objects.values_list("facts", flat=True).get(pk=score.item_id)
    return item_images(images, boxes, placed_facts, verdicts)


def may_see_images(user: Viewer, dataset: Dataset) -> bool:
    """Whether the user may open the page images of the dataset."""
    return dataset.visibility == Dataset.Visibility.PUBLIC or is_organiser(user)


def _may_dispute(user: Viewer, release: Release) -> bool:
    """Whether a signed-in user sees the release. The gold of a variant is disputed at its
    original."""
    if not user.is_authenticated or release.dataset.derived_from_id is not None:
        return False
    return (
        visible_releases(user, release.dataset)
        .filter(pk=release.pk, dataset__in=visible_datasets(user))
        .exists()
    )


GOLD, PREDICTION = "gold", "prediction"
# Wide pages are wrapped, since the page image shows them as they are.
_FRAME_STYLE = (
    "body{margin:8px 10px}"
    "body *{max-width:100%!important;min-width:0!important}"
    "body>div,body>div>div{margin:0!important;padding:0!important}"
    "td,th{white-space:normal!important}"
    "[id^=fact-]{scroll-margin:30vh 20vw}"
    "mark{color:#111;cursor:pointer}"
    "mark.right{background:#e2f2e6;border-bottom:2px solid #1b6e34}"
    "mark.wrong{background:#fde3e1;outline:2px dashed #a8201a}"
    "mark.current{background:#ffd866;outline:3px solid #111}"
    ".error{display:none;color:#a8201a;font:600 11px sans-serif;vertical-align:super}"
    "mark.current+.error{display:inline}"
)


class MarkTags(Protocol):
    """Returns the text before and after a piece of marked text."""

    def __call__(self, facts: Sequence[FactLine], /, *, is_last: bool) -> tuple[str, str]: ...


def verdict_tags(current: str) -> MarkTags:
    """Return the tags of a rendered page, in its order: each fact is a link target, and `current`
    is the number of the highlighted one."""
    seen: set[int] = set()

    def tags(facts: Sequence[FactLine], *, is_last: bool) -> tuple[str, str]:
        new = [fact.n for fact in facts if fact.n not in seen]
        seen.update(new)
        numbers = [str(fact.n) for fact in facts]
        wrong = [fact.error or "wrong" for fact in facts if not fact.correct]
        words = "; ".join(f"{fact.type} {fact.value}: {fact.error or 'correct'}" for fact in facts)
        classes = f"{'wrong' if wrong else 'right'}{' current' if current in numbers else ''}"
        targets = "".join(f'<span id="fact-{n}">' for n in new)
        # Add the name of the error once, after the fact.
        note = f'<span class="error"> ✗ {escape(", ".join(wrong))}</span>' if wrong else ""
        return (
            f'{targets}<mark class="{classes}" data-fact="{" ".join(numbers)}"'
            f' title="{escape(words)}">',
            f"</mark>{note if is_last else ''}{'</span>' * len(new)}",
        )

    return tags


def rendered_item(
    user: Viewer,
    submission: Submission,
    name: str,
    side: str,
    *,
    wanted: str = "",
    fact: str = "",
) -> str:
    """Return HTML for a sandboxed frame, with one fact highlighted. Raises Http404 if the reader
    may not see this side of the item."""
    level, grading, score = scored_item(user, submission, name, wanted)
    is_shown = shows_pages(level, grading.release, score.item.split)
    if not is_shown or "facts" not in score.result or side not in {GOLD, PREDICTION}:
        raise Http404("There is no such page.")
    labels, facts = labels_of(grading), fact_lines(score, grading)
    if side == GOLD:
        html = _gold(score)
        # Imports numpy, which no other page needs.
        from scoring.metrics.facts import read_page

        places = {fact.n: fact for fact in read_page(html, labels).facts}
        facts = [
            replace(fact, start=places[fact.n].start, end=places[fact.n].end)
            for fact in facts
            if fact.n in places
        ]
    else:
        html = _predicted(score, grading)
    marked = marked_html(html, visible_text(html, labels), facts, verdict_tags(fact))
    return f"<style>{_FRAME_STYLE}</style>{marked}"


def _gold(score: ItemScore) -> str:
    return str(score.item.gold["html"])


def _predicted(score: ItemScore, grading: Grading) -> str:
    prediction = prediction_of(grading.submission_id, score.item.name)
    spec = grading.submission.phase.board.spec
    html: Any = (spec.shown(score.item.gold, prediction, grading.options) or {}).get("html")
    if not isinstance(html, str):
        raise Http404("There is no prediction.")
    return html


def marked_html(html: str, visible: str, facts: Sequence[FactLine], mark_tags: MarkTags) -> str:
    """Return the cleaned HTML with facts marked by `mark_tags`. Offsets are in the visible text,
    which is marked instead if the page cannot be cleaned or then has another text."""
    try:
        clean = clean_html(html)
    except RefusedHtml:
        return _marked_text(visible, facts, mark_tags)
    in_clean = _places(visible, canonical_text(clean))
    if in_clean is None:
        return _marked_text(visible, facts, mark_tags) if facts else clean
    spans, marked, position = [], [], 0
    for segment in mark(visible, facts):
        start, position = position, position + len(segment.text)
        places = [in_clean[place] for place in range(start, position) if place in in_clean]
        if segment.facts and places:
            spans.append(Span(places[0], places[-1] + 1, segment.facts[0].type))
            marked.append(segment.facts)
    pieces = list(fragments(clean, spans))
    last = {piece.span: number for number, piece in enumerate(pieces)}
    order = {piece: number for number, piece in enumerate(pieces)}

    def tags(piece: Fragment) -> tuple[str, str]:
        return mark_tags(marked[piece.span], is_last=last[piece.span] == order[piece])

    return enclose(clean, pieces, tags)


def _places(visible: str, canonical: str) -> dict[int, int] | None:
    """Map the position of each non-space character of one text to the other; None if they differ in
    more than white space."""
    ours = [place for place, character in enumerate(visible) if not character.isspace()]
    theirs = [place for place, character in enumerate(canonical) if not character.isspace()]
    if len(ours) != len(theirs):
        return None
    places = dict(zip(ours, theirs, strict=True))
    return places if all(visible[a] == canonical[b] for a, b in places.items()) else None


def _marked_text(visible: str, facts: Sequence[FactLine], mark_tags: MarkTags) -> str:
    pieces = []
    for segment in mark(visible, facts):
        opening, closing = mark_tags(segment.facts, is_last=True) if segment.facts else ("", "")
        pieces.append(f"{opening}{escape(segment.text)}{closing}")
    return f"<p>{''.join(pieces)}</p>"
