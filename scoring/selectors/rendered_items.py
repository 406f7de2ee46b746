"""A page as gold and as prediction, cleaned like any document, with every fact marked.

Right and wrong differ by the line about them, and wrong ones name their error: never by colour
alone. For readers before whom gold and prediction may stand, and no others.
"""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any, Protocol

from django.http import Http404

from portal.facts import visible_text
from portal.facts.canonical import canonical_text, clean_html
from portal.facts.errors import RefusedHtml
from portal.facts.page_text import Fragment, enclose, fragments
from portal.facts.spans import Span
from scoring.access import Viewer, shows_pages
from scoring.models import Grading, ItemScore, Submission

from .item_facts import FactLine, fact_lines, labels_of
from .items import mark, prediction_of, scored_item

GOLD, PREDICTION = "gold", "prediction"
_RIGHT = "color:#111;background:#e2f2e6;border-bottom:2px solid #1b6e34"
_WRONG = "color:#111;background:#fde3e1;outline:2px dashed #a8201a"
_ERROR = "color:#a8201a;font:600 11px sans-serif;vertical-align:super"


class Inked(Protocol):
    """What stands before and after a piece of marked text."""

    def __call__(self, facts: Sequence[FactLine], /, *, is_last: bool) -> tuple[str, str]: ...


def verdict_tags(facts: Sequence[FactLine], *, is_last: bool) -> tuple[str, str]:
    """Before and after a piece of these facts; `is_last`: it is their last piece."""
    wrong = [fact.error or "wrong" for fact in facts if not fact.correct]
    words = "; ".join(f"{fact.type} {fact.value}: {fact.error or 'right'}" for fact in facts)
    style = _WRONG if wrong else _RIGHT
    # The name of the error stands behind the fact, once.
    note = f'<span style="{_ERROR}"> ✗ {escape(", ".join(wrong))}</span>' if wrong else ""
    return f'<mark style="{style}" title="{escape(words)}">', f"</mark>{note if is_last else ''}"


def rendered_item(
    user: Viewer, submission: Submission, name: str, side: str, wanted: str = ""
) -> str:
    """HTML for a sandboxed frame; 404 where the reader may not see this side of the item."""
    level, grading, score = scored_item(user, submission, name, wanted)
    is_shown = shows_pages(level, grading.release, score.item.split)
    if not is_shown or "facts" not in score.result or side not in {GOLD, PREDICTION}:
        raise Http404("There is no such page.")
    labels, facts = labels_of(grading), fact_lines(score, grading)
    if side == GOLD:
        html = _gold(score)
        # With it comes numpy, which no other page needs.
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
    html: Any = (prediction_of(score, grading) or {}).get("html")
    if not isinstance(html, str):
        raise Http404("There is no prediction.")
    return html


def marked_html(
    html: str, visible: str, facts: Sequence[FactLine], inked: Inked = verdict_tags
) -> str:
    """The cleaned HTML with the facts marked by `inked`, whose places are in the visible text.
    Unmarked where the cleaned page has another text; its bare text where it cannot be cleaned."""
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
        return inked(marked[piece.span], is_last=last[piece.span] == order[piece])

    return enclose(clean, pieces, tags)


def _places(visible: str, canonical: str) -> dict[int, int] | None:
    """Where each character of the one text that is no white space stands in the other; None where
    the texts differ in more than white space."""
    ours = [place for place, character in enumerate(visible) if not character.isspace()]
    theirs = [place for place, character in enumerate(canonical) if not character.isspace()]
    if len(ours) != len(theirs):
        return None
    places = dict(zip(ours, theirs, strict=True))
    return places if all(visible[a] == canonical[b] for a, b in places.items()) else None
