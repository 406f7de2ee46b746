"""One document with its spans as a file: inline tags, JSON with offsets, or span elements."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Assignment
from annotation.span_input import Draft
from portal.datasets.models import DocumentContent
from portal.facts import FactSpan, write_document_json, write_span_elements, write_tags
from portal.facts import Span as TextSpan

from .spans import stored_spans

# Form → what a file of it is called, and its media type.
FORMS = {
    "tags": ("tags.html", "text/html"),
    "json": ("json", "application/json"),
    "spans": ("spans.html", "text/html"),
}


@dataclass(frozen=True)
class DocumentFile:
    name: str
    media_type: str
    content: bytes


def document_file(assignment: Assignment, form: str) -> DocumentFile:
    """The document with its saved spans in one of FORMS.

    Inline tags hold places and labels; the other two hold everything but comments and history.
    """
    document = assignment.campaign_document.document
    content = DocumentContent.objects.get(pk=document.pk)
    drafts = stored_spans(assignment)
    if form == "json":
        data = write_document_json(_meta(assignment), document.text_sha256, _facts(drafts))
        text = json.dumps(data, ensure_ascii=False, indent=1)
    elif form == "spans":
        text = write_span_elements(content.html, _facts(drafts))
    else:
        spans = [TextSpan(draft.start, draft.end, draft.label) for draft in drafts]
        text = write_tags(content.html, spans)
    suffix, media_type = FORMS[form]
    return DocumentFile(f"{document.name}.{suffix}", media_type, text.encode())


def _facts(drafts: Sequence[Draft]) -> list[FactSpan]:
    return [
        FactSpan(
            key=draft.key,
            label=draft.label,
            start=draft.start,
            end=draft.end,
            quote=draft.quote,
            value=draft.value,
            sign=draft.sign,
        )
        for draft in drafts
    ]


def _meta(assignment: Assignment) -> dict[str, Any]:
    """Where the document comes from, and whose work in which campaign the spans are."""
    campaign = assignment.campaign_document.campaign
    document = assignment.campaign_document.document
    return {
        "name": document.name,
        "doc_type": document.doc_type,
        "company": document.company,
        "form_type": document.form_type,
        "fiscal_year": document.fiscal_year,
        "source_url": document.source_url,
        "licence": document.licence,
        "metadata": document.metadata,
        "campaign": campaign.slug,
        "labels": campaign.labels,
        "guidelines_version": campaign.guidelines_version,
        "revision": assignment.revision,
    }
