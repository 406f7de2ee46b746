"""Warnings about marks on a page.

A mark is doubtful if it is cut off, joined, without a value or of the wrong type. Annotators may
submit it. It becomes a case even if all of them agree, and only a decision on that very fact lets
it into a release.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models import Count, QuerySet, Sum

from portal.datasets.models import Document
from portal.facts import GRAVE_WARNINGS, SpanWarning, span_warnings
from portal.facts.spans import label_kind

from .models import CampaignDocument, Case, GoldSpan
from .page_facts import content_facts, page_facts
from .spans import Draft

# Increase it when the rules or texts of `span_warnings` change, or the class `Doubt` (also its
# module): cached warnings are then outdated, or cannot be read.
_VERSION = "3"
_KEPT_SECONDS = 7 * 24 * 3600
_PAGES_AT_ONCE = 200


def span_remarks(
    document: Document, drafts: Sequence[Draft], labels: Sequence[str]
) -> list[dict[str, Any]]:
    """The value, sign and warnings of each span, as API rows.

    The document's text must be loaded. `labels` are those of the campaign.
    """
    if not drafts:
        return []
    text, (borders, facts) = document.content.text, page_facts(document)
    return [
        {
            "key": draft.key,
            "value": draft.value,
            "sign": draft.sign,
            "edited": draft.edited,
            "warnings": [
                _warning_row(warning, draft.label, labels)
                for warning in span_warnings(
                    text, borders, draft.start, draft.end, draft.label, facts, draft.value
                )
            ],
        }
        for draft in drafts
    ]


def _warning_row(warning: SpanWarning, label: str, labels: Sequence[str]) -> dict[str, str]:
    fitting = _fitting_label(label, labels) if warning.code == "wrong_type" else ""
    return {"code": warning.code, "message": warning.message, "label": fitting}


def _fitting_label(label: str, labels: Sequence[str]) -> str:
    """The campaign's first label of the other kind (number or date); empty if there is none."""
    others = (one for one in labels if label_kind(one) not in {None, label_kind(label)})
    return next(others, "")


class Mark(NamedTuple):
    """A labelled range of the text with its value, if it has one."""

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
class DoubtfulFact(Doubt):
    """A gold fact of a document with its warnings, and whether a person decided on it."""

    document: str
    is_signed: bool


def doubts(document: Document, marks: Iterable[Mark]) -> list[Doubt]:
    """The doubtful marks in text order. The document's content must be loaded."""
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
    """Doubtful marks of a settled page: in its gold and in the proposals of open cases."""
    gold = campaign_document.gold_spans.values_list("start", "end", "label", "value")
    marks = {Mark(*row) for row in gold}
    for proposals in campaign_document.cases.filter(state=Case.State.OPEN).values_list(
        "proposals", flat=True
    ):
        marks |= _proposed(proposals)
    return doubts(campaign_document.document, marks)


def case_doubts(case: Case) -> list[Doubt]:
    """Doubtful marks in the proposals of the case."""
    return doubts(case.campaign_document.document, _proposed(case.proposals))


def _proposed(proposals: Sequence[Mapping[str, Any]]) -> set[Mark]:
    return {_mark(span) for proposal in proposals for span in proposal["spans"]}


def _mark(span: Mapping[str, Any]) -> Mark:
    return Mark(span["start"], span["end"], span["label"], span.get("value", ""))


def doubtful_facts(pages: QuerySet[CampaignDocument]) -> tuple[DoubtfulFact, ...]:
    """The doubtful gold facts of the pages, by document name and place. Cached per page until its
    gold changes: gold spans are created and deleted, never updated.
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
    signed = _signed([pk for pk, key in keys.items() if known[key]])
    return tuple(
        DoubtfulFact(**asdict(doubt), document=name, is_signed=(pk, doubt.start) in signed)
        for pk, name in names
        if pk in keys
        for doubt in known[keys[pk]]
    )


def doubt_counts(facts: Sequence[DoubtfulFact]) -> dict[str, int]:
    """The number of facts with each warning, most frequent first."""
    counts = Counter(code for fact in facts for code in fact.codes)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _signed(pages: Sequence[int]) -> set[tuple[int, int]]:
    """The page and start of every fact that a person decided on."""
    signed = GoldSpan.objects.filter(campaign_document__in=pages, origin__in=GoldSpan.SIGNED)
    return set(signed.order_by().values_list("campaign_document", "start"))


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
