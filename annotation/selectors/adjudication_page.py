"""A whole page in adjudication: gold that needs no case, cases, remarks, and where to go next."""

import re
from dataclasses import asdict
from typing import Any

from annotation.models import CampaignDocument, Case
from annotation.selectors.page_facts import page_facts

from .adjudication import CaseFilter, filtered_cases, label_css, next_page, page_address
from .case_views import case_views, page_remarks
from .doubts import page_doubts

# Reasons to choose by key. They name the rule; what exactly was wrong stands in the marks.
QUICK_REASONS = (
    "Slip: overlooked or marked by mistake.",
    "Boundary rule: the mark covers the whole fact and nothing more.",
    "Not a fact by the guidelines.",
    "A fact by the guidelines.",
    "Wrong label by the guidelines.",
    "Value or sign misread.",
)
_HEADING = re.compile(r"^#{1,3}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
MAX_HEADINGS = 12
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def quick_reasons(guidelines: str) -> list[str]:
    """Reasons that can be chosen at a key: the usual ones, then the sections of the guidelines.

    >>> quick_reasons("## Signs\\nMark them.")[-1]
    'Guidelines, “Signs”.'
    """
    headings = _HEADING.findall(_FENCE.sub("", guidelines))[:MAX_HEADINGS]
    return [*QUICK_REASONS, *(f"Guidelines, “{heading}”." for heading in headings)]


def adjudication_page(campaign_document: CampaignDocument, wanted: CaseFilter) -> dict[str, Any]:
    """Everything that is decided on one page. The document comes with its campaign.

    `marks`: gold of no case, [{start, end, label, quote, value, sign, origin}]; `cases` as
    CaseView; `queue`: keys of the open cases that match the filter, in its order; `remarks`: what
    annotators wrote; `doubtful`: gold and proposals with a warning; `facts`: [start, end, kind] to
    snap to; `reasons` to choose from; `next`: the next page with an open case that matches, or
    null.
    """
    campaign, document = campaign_document.campaign, campaign_document.document
    cases = campaign_document.cases.select_related(
        "campaign_document__document", "decided_by"
    ).prefetch_related("decisions__decided_by")
    fields = ("start", "end", "label", "quote", "value", "sign", "origin")
    return {
        "document": document.name,
        "stage": campaign_document.stage,
        "text_sha256": document.text_sha256,
        "labels": [
            {"name": name, "key": str(place), "css": label_css(name, campaign.labels)}
            for place, name in enumerate(campaign.labels, start=1)
        ],
        "marks": list(campaign_document.gold_spans.filter(case__isnull=True).values(*fields)),
        "cases": [asdict(view) for view in case_views(cases.order_by("start"))],
        "queue": page_queue(campaign_document, wanted),
        "remarks": [remark._asdict() for remark in page_remarks(campaign_document)],
        "facts": [[fact.start, fact.end, fact.kind] for fact in page_facts(document).facts],
        "reasons": quick_reasons(campaign.guidelines),
        "doubtful": [asdict(doubt) for doubt in page_doubts(campaign_document)],
        "next": next_address(campaign_document, wanted),
        "review_round": campaign_document.review_round_id is not None,
    }


def page_queue(campaign_document: CampaignDocument, wanted: CaseFilter) -> list[int]:
    """The open cases of the page that match, in the order of the filter."""
    open_ = CaseFilter(Case.State.OPEN, wanted.kind, wanted.label, "", wanted.order)
    cases = filtered_cases(campaign_document.campaign, open_)
    return list(cases.filter(campaign_document=campaign_document).values_list("pk", flat=True))


def next_address(campaign_document: CampaignDocument, wanted: CaseFilter) -> str | None:
    """The next page with an open case that matches the filter, with the same filter."""
    open_ = CaseFilter(Case.State.OPEN, wanted.kind, wanted.label, "", wanted.order)
    campaign = campaign_document.campaign
    name = next_page(campaign, campaign_document, open_)
    return page_address(campaign, name, open_) if name else None
