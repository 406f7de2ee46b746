"""One item of a submission.

With facts, the prediction's text is shown with the facts marked; without facts, gold, prediction
and result are shown field by field. Gold and prediction are also rendered as cleaned pages with
every fact marked. Right and wrong facts differ by their outline and error name, never by colour
alone.
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
from portal.facts.errors import RefusedHtml
from portal.facts.page_text import Fragment, enclose, fragments
from portal.facts.spans import Span
from scoring.access import Viewer, require_items, shows_pages
from scoring.grading.selectors import finished_grading
from scoring.models import Grading, ItemScore, Phase, Prediction, Submission

from .facts import (
    FactChoice,
    FactLine,
    ItemImage,
    choose_facts,
    fact_lines,
    item_images,
    labels_of,
    placed,
)
from .fields import FieldTable, ItemDiff, ResultPart, field_table, item_diff, result_parts
from .item_lists import EVERYTHING, ItemLine, ItemQuery, item_line, item_scores, neighbours

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
    starts: tuple[int, ...]
    """Numbers of the facts whose match begins here, as link targets."""

    @property
    def is_wrong(self) -> bool:
        return any(not fact.correct for fact in self.facts)


@dataclass(frozen=True)
class ItemPage:
    """One item for one reader. Fields that the phase hides are None."""

    submission: Submission
    grading: Grading
    line: ItemLine
    facts: FactChoice | None
    segments: list[Segment] | None
    extra: Extra | None
    tables: list[FieldTable] | None
    """The result, and gold and prediction if the reader may see them, for benchmarks without facts.
    """
    result: list[ResultPart] | None
    """The result in words."""
    diff: ItemDiff | None
    """The comparison of gold and prediction; None if the reader may not see both or they cannot be
    compared."""
    images: list[ItemImage]
    may_dispute: bool
    """Whether the reader can dispute the published gold."""
    query: str
    """The query string that keeps an earlier grading, the list's order and the choice of facts."""
    is_earlier: bool
    previous: str
    next: str

    @property
    def payloads(self) -> list[FieldTable]:
        """Gold and prediction."""
        return (self.tables or [])[:-1]

    @property
    def placed(self) -> frozenset[int]:
        """Numbers of the facts that are shown on an image."""
        return placed(self.images)


def item_page(
    user: Viewer,
    submission: Submission,
    name: str,
    wanted: str = "",
    asked: ItemQuery = EVERYTHING,
    which: str = "",
) -> ItemPage:
    """Return the page of an item. Raises Http404 unless the phase shows single items to this user
    and the item was scored.

    `wanted` is the number of an earlier grading; the gold is that of its release. `asked` is the
    list that determines the previous and next item. `which` selects the facts: see `choose_facts`.
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
    """Return the level of diagnostics for this reader, the grading, and the item's score. Raises
    Http404 if they may not see it."""
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
    sides = spec.sides(gold, prediction_of(grading.submission_id, score.item.name), grading.options)
    return None if sides is None else item_diff(sides)


def _result(score: ItemScore, line: ItemLine, *, is_compared: bool) -> list[ResultPart]:
    """Return the parts of the result that the item's figures do not show."""
    without = _REPEATED | line.scores.keys()
    return result_parts(score.result, without=without, is_compared=is_compared)


def _tables(score: ItemScore, grading: Grading, *, with_gold: bool) -> list[FieldTable]:
    """Return the result, and the gold and the prediction if the reader may see them."""
    result = field_table("Result", score.result, without=_REPEATED)
    if not with_gold:
        return [result]
    gold: dict[str, Any] = ReleaseItem.objects.values_list("gold", flat=True).get(pk=score.item_id)
    prediction = prediction_of(grading.submission_id, score.item.name)
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


def _segments(
    score: ItemScore, grading: Grading, facts: Sequence[FactLine]
) -> list[Segment] | None:
    """Split the prediction's visible text at the ends of matches; None without a prediction."""
    html = (prediction_of(grading.submission_id, score.item.name) or {}).get("html")
    if not isinstance(html, str):
        return None
    return mark(visible_text(html, labels_of(grading)), facts)


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
    """Return the page's images if the reader may open their dataset."""
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
_RIGHT = "color:#111;background:#e2f2e6;border-bottom:2px solid #1b6e34"
_WRONG = "color:#111;background:#fde3e1;outline:2px dashed #a8201a"
_ERROR = "color:#a8201a;font:600 11px sans-serif;vertical-align:super"


class MarkTags(Protocol):
    """Returns the text before and after a piece of marked text."""

    def __call__(self, facts: Sequence[FactLine], /, *, is_last: bool) -> tuple[str, str]: ...


def verdict_tags(facts: Sequence[FactLine], *, is_last: bool) -> tuple[str, str]:
    """Return the tags around a piece with these facts; `is_last` if it is their last piece."""
    wrong = [fact.error or "wrong" for fact in facts if not fact.correct]
    words = "; ".join(f"{fact.type} {fact.value}: {fact.error or 'right'}" for fact in facts)
    style = _WRONG if wrong else _RIGHT
    # Add the name of the error once, after the fact.
    note = f'<span style="{_ERROR}"> ✗ {escape(", ".join(wrong))}</span>' if wrong else ""
    return f'<mark style="{style}" title="{escape(words)}">', f"</mark>{note if is_last else ''}"


def rendered_item(
    user: Viewer, submission: Submission, name: str, side: str, wanted: str = ""
) -> str:
    """Return HTML for a sandboxed frame. Raises Http404 if the reader may not see this side of the
    item."""
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
    return marked_html(html, visible_text(html, labels), facts)


def _gold(score: ItemScore) -> str:
    return str(score.item.gold["html"])


def _predicted(score: ItemScore, grading: Grading) -> str:
    html: Any = (prediction_of(grading.submission_id, score.item.name) or {}).get("html")
    if not isinstance(html, str):
        raise Http404("There is no prediction.")
    return html


def marked_html(
    html: str, visible: str, facts: Sequence[FactLine], mark_tags: MarkTags = verdict_tags
) -> str:
    """Return the cleaned HTML with facts marked by `mark_tags`. Offsets are in the visible text.
    Unmarked if the cleaned page has another text; plain text if it cannot be cleaned."""
    try:
        clean = clean_html(html)
    except RefusedHtml:
        return f"<p>{escape(visible)}</p>"
    found = _places(visible, canonical_text(clean))
    if found is None:
        return clean
    spans, marked, position = [], [], 0
    for segment in mark(visible, facts):
        start, position = position, position + len(segment.text)
        places = [found[place] for place in range(start, position) if place in found]
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
