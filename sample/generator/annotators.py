"""Labels of the sample annotators: the gold, with a few human errors (slips).

`content/annotators.toml` defines who labels which page and the kinds of slips; the page's own
seed selects the facts. Offsets are code points of the canonical text.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from portal.facts import Span, read_tags, read_value
from sample.generator.content import content
from sample.generator.figures import Draw

LABELS = ("Number", "Date")
SHARE_IN_PROGRESS = 3  # a task in progress holds the first third of the page's labels


class Change(NamedTuple):
    """The span that a slip removes from, and the one it adds to, the gold spans of a page, or None.

    `fields` override fields of the added span.
    """

    removed: Span | None
    added: Span | None
    fields: tuple[tuple[str, str], ...] = ()


def missed(_text: str, span: Span) -> Change | None:
    """A fact is missed."""
    return Change(span, None)


def parenthesis(text: str, span: Span) -> Change | None:
    """`(1,204)` is marked without its closing parenthesis."""
    shorter = Span(span.start, span.end - 1, span.label)
    return Change(span, shorter) if text[span.end - 1] == ")" else None


def percent(text: str, span: Span) -> Change | None:
    """`7.5%` marked without the percent sign."""
    shorter = Span(span.start, span.end - 1, span.label)
    return Change(span, shorter) if text[span.end - 1] == "%" else None


def currency(text: str, span: Span) -> Change | None:
    """The dollar sign before an amount marked with it."""
    longer = Span(span.start - 1, span.end, span.label)
    return Change(span, longer) if text[span.start - 1] == "$" else None


def connective(text: str, span: Span) -> Change | None:
    """`ended June 30, 2026` marked instead of the date alone."""
    words = "ended "
    longer = Span(span.start - len(words), span.end, span.label)
    return Change(span, longer) if text[: span.start].endswith(words) else None


def year(text: str, span: Span) -> Change | None:
    """A bare year labelled Number."""
    is_year = re.fullmatch(r"\d{4}", text[span.start : span.end]) and span.label == "Date"
    return Change(span, Span(span.start, span.end, "Number")) if is_year else None


def thousands(text: str, span: Span) -> Change | None:
    """An amount read in thousands, because the table's head says so."""
    value, sign = read_value(text[span.start : span.end], span.label)
    if span.label != "Number" or not re.fullmatch(r"-?\d+", value):
        return None
    return Change(span, span, (("value", f"{value}000"), ("sign", sign)))


def drift(text: str, span: Span) -> Change | None:
    """A quote that differs from the text, as a faulty script would write."""
    if span.label != "Number":
        return None
    return Change(span, span, (("quote", f"{text[span.start : span.end]}0"),))


FACT_SLIPS: dict[str, Callable[[str, Span], Change | None]] = {
    "missed": missed,
    "parenthesis": parenthesis,
    "percent": percent,
    "currency": currency,
    "connective": connective,
    "year": year,
    "thousands": thousands,
    "drift": drift,
}


def section_numbers(text: str) -> list[Change]:
    """The number of a section marked as if it were a financial figure."""
    return [
        Change(None, Span(*match.span(1), "Number"))
        for match in re.finditer(r"Section\s+(\d+\.\d+)", text)
    ]


def candidates(kind: str, text: str, spans: Sequence[Span]) -> list[Change]:
    if kind == "section":
        return section_numbers(text)
    changes = (FACT_SLIPS[kind](text, span) for span in spans)
    return [change for change in changes if change]


def annotators_json(gold_pages: dict[str, str]) -> str:
    """The file `annotators.json`; `gold_pages` maps page ids to gold HTML. One page per line."""
    plan = content("annotators")
    documents = [document(entry, gold_pages[entry["id"]]) for entry in plan["documents"]]
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in documents)
    head = json.dumps({"sample": True, "labels": LABELS, "annotators": plan["annotators"]})
    return f'{head[:-1]}, "documents": [\n{lines}\n]}}\n'


def document(entry: dict[str, Any], gold: str) -> dict[str, Any]:
    """One page: the assignments of its annotators, and their slips."""
    page = read_tags(gold, LABELS)
    text, spans = page.canonical.text, list(page.spans)
    slips = drawn_slips(entry, text, spans)
    return {
        "id": entry["id"],
        "text_sha256": page.canonical.text_sha256,
        "purpose": entry.get("purpose", "work"),
        "stage": entry.get("stage", "annotation"),
        "assignments": [
            assignment(who, state, text, spans, [slip for slip in slips if slip[0] == who])
            for who, state in states(entry)
        ],
        "slips": [
            {"annotator": who, "kind": kind, "quote": quote(text, change)}
            for who, kind, change in slips
        ],
    }


def states(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """The annotators of the page and their states: all have submitted, except perhaps the last."""
    team = [(who, "submitted") for who in entry["team"]]
    return [*team[:-1], (team[-1][0], entry.get("last", "submitted"))] if team else []


def drawn_slips(
    entry: dict[str, Any], text: str, spans: Sequence[Span]
) -> list[tuple[str, str, Change]]:
    """Select the fact of every slip by seed, each fact at most once. Raises ValueError."""
    draw, taken, slips = Draw(f"annotators/{entry['id']}"), set[Span](), []
    for who, kind in entry["slips"]:
        free = [change for change in candidates(kind, text, spans) if change.removed not in taken]
        if not free:
            raise ValueError(f"{entry['id']}: nothing on the page for a slip of kind {kind!r}")
        change = free[draw.between(0, len(free) - 1)]
        if change.removed:
            taken.add(change.removed)
        slips.append((who, kind, change))
    return slips


def labelled(spans: Sequence[Span], changes: Sequence[Change]) -> list[Span]:
    removed = {change.removed for change in changes}
    added = [change.added for change in changes if change.added]
    return sorted([span for span in spans if span not in removed] + added)


def so_far(state: str, spans: list[Span]) -> list[Span]:
    """The labels saved in a task of this state."""
    kept = {"submitted": len(spans), "in_progress": len(spans) // SHARE_IN_PROGRESS, "assigned": 0}
    return spans[: kept[state]]


def assignment(
    annotator: str,
    state: str,
    text: str,
    spans: Sequence[Span],
    slips: Sequence[tuple[str, str, Change]],
) -> dict[str, Any]:
    changes = [change for _, _, change in slips]
    fields = {change.added: dict(change.fields) for change in changes if change.added}
    marks = [
        {
            "start": span.start,
            "end": span.end,
            "label": span.label,
            "quote": text[span.start : span.end],
            **fields.get(span, {}),
        }
        for span in so_far(state, labelled(spans, changes))
    ]
    return {"annotator": annotator, "state": state, "spans": marks}


def quote(text: str, change: Change) -> str:
    span = change.removed or change.added
    assert span is not None
    return text[span.start : span.end]
