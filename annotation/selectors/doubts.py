"""Facts with a warning that makes them doubtful as gold: cut, joined, without a value, mistyped.

A warning never refuses anything by itself. It is shown to whoever decides next: the annotator, the
lead in validation and adjudication, and whoever freezes a release.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models import Count, QuerySet, Sum

from annotation.models import CampaignDocument, Case, GoldSpan
from portal.datasets.models import Document
from portal.facts import GRAVE_WARNINGS, span_warnings

from .page_facts import content_facts

# Changes with the rules of `span_warnings`, so that nothing older is shown.
_VERSION = "1"
_KEPT_SECONDS = 7 * 24 * 3600
_PAGES_AT_ONCE = 200


class Mark(NamedTuple):
    """A labelled stretch with its value, if it has one."""

    start: int
    end: int
    label: str
    value: str


@dataclass(frozen=True)
class Doubt:
    """A mark with its warnings. `quote` is on one line."""

    start: int
    end: int
    label: str
    quote: str
    codes: tuple[str, ...]
    messages: tuple[str, ...]


@dataclass(frozen=True)
class DoubtfulFact:
    """A gold fact of a document with its warnings."""

    document: str
    doubt: Doubt


def doubts(document: Document, marks: Iterable[Mark]) -> list[Doubt]:
    """The doubtful ones of the marks, in text order. The document comes with its content."""
    text, (borders, facts) = document.content.text, content_facts(document)
    found = []
    for start, end, label, value in sorted(set(marks)):
        grave = [
            warning
            for warning in span_warnings(text, borders, start, end, label, facts, value)
            if warning.code in GRAVE_WARNINGS
        ]
        if grave:
            quote = " ".join(text[start:end].split())
            codes, messages = zip(*grave, strict=True)
            found.append(Doubt(start, end, label, quote, codes, messages))
    return found


def page_doubts(campaign_document: CampaignDocument) -> list[Doubt]:
    """Those of a compared page: of its gold, and of what annotators proposed in open cases."""
    gold = campaign_document.gold_spans.values_list("start", "end", "label", "value")
    marks = {Mark(*row) for row in gold}
    for proposals in campaign_document.cases.filter(state=Case.State.OPEN).values_list(
        "proposals", flat=True
    ):
        marks |= _proposed(proposals)
    return doubts(campaign_document.document, marks)


def case_doubts(case: Case) -> list[Doubt]:
    """Those of what annotators proposed in the case."""
    return doubts(case.campaign_document.document, _proposed(case.proposals))


def _proposed(proposals: Sequence[Mapping[str, Any]]) -> set[Mark]:
    return {_mark(span) for proposal in proposals for span in proposal["spans"]}


def _mark(span: Mapping[str, Any]) -> Mark:
    return Mark(span["start"], span["end"], span["label"], span.get("value", ""))


def doubtful_facts(pages: QuerySet[CampaignDocument]) -> tuple[DoubtfulFact, ...]:
    """The doubtful gold facts of the pages, by document name and place. Kept for each page until
    its gold changes: gold spans are made and deleted, never changed.
    """
    keys = _keys(pages)
    known: dict[str, list[Doubt]] = cache.get_many(list(keys.values()))
    missing = [pk for pk, key in keys.items() if key not in known]
    for first in range(0, len(missing), _PAGES_AT_ONCE):
        found = _doubts_of(missing[first : first + _PAGES_AT_ONCE])
        fresh = {keys[pk]: doubtful for pk, doubtful in found.items()}
        cache.set_many(fresh, _KEPT_SECONDS)
        known |= fresh
    names = pages.order_by("document__name").values_list("pk", "document__name")
    return tuple(
        DoubtfulFact(name, doubt) for pk, name in names if pk in keys for doubt in known[keys[pk]]
    )


def doubt_counts(facts: Sequence[DoubtfulFact]) -> dict[str, int]:
    """How many facts have each warning, the most frequent first."""
    counts = Counter(code for fact in facts for code in fact.doubt.codes)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def doubtful_row(fact: DoubtfulFact) -> dict[str, Any]:
    """The fields of the API."""
    return {"document": fact.document} | asdict(fact.doubt)


def _keys(pages: QuerySet[CampaignDocument]) -> dict[int, str]:
    """The cache key of each page that has gold facts."""
    rows = (
        GoldSpan.objects.filter(campaign_document__in=pages.order_by().values("pk"))
        .order_by()
        .values_list("campaign_document", "campaign_document__document__html_sha256")
        .annotate(n=Count("id"), ids=Sum("id"), starts=Sum("start"), ends=Sum("end"))
    )
    return {
        page: ":".join(["doubts", _VERSION, str(page), sha256, *map(str, figures)])
        for page, sha256, *figures in rows
    }


def _doubts_of(pages: Sequence[int]) -> dict[int, list[Doubt]]:
    marks: defaultdict[int, list[Mark]] = defaultdict(list)
    gold = GoldSpan.objects.filter(campaign_document__in=pages).order_by()
    for page, start, end, label, value in gold.values_list(
        "campaign_document", "start", "end", "label", "value"
    ):
        marks[page].append(Mark(start, end, label, value))
    rows = CampaignDocument.objects.filter(pk__in=pages).select_related("document__content")
    return {row.pk: doubts(row.document, marks[row.pk]) for row in rows}
