"""Download a document with its spans as a file, and import the spans of a file as one save."""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any

from annotation.errors import InvalidSpans
from annotation.models import Assignment
from annotation.spans import Draft
from portal.accounts.models import User
from portal.datasets.models import DocumentContent
from portal.datasets.releases.gold import text_difference
from portal.datasets.responses import TextFile
from portal.facts import (
    Canonical,
    FactSpan,
    ReadingError,
    RefusedHtml,
    TagError,
    decode_html,
    read_document_json,
    read_span_elements,
    read_tags,
    write_document_json,
    write_span_elements,
    write_tags,
)
from portal.facts import Span as TextSpan

from .selectors import stored_spans
from .services import Saved, save_spans

# Form → suffix and media type.
FORMS = {
    "tags": ("tags.html", "text/html"),
    "json": ("json", "application/json"),
    "spans": ("spans.html", "text/html"),
}


def document_file(assignment: Assignment, form: str) -> TextFile:
    """The document with its saved spans in one of FORMS.

    Inline tags have only offsets and labels. The other forms lack only comments and history.
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
    return TextFile(f"{document.name}.{suffix}", media_type, text)


def _facts(drafts: Sequence[Draft]) -> list[FactSpan]:
    return [FactSpan(*(getattr(draft, each.name) for each in fields(FactSpan))) for draft in drafts]


def _meta(assignment: Assignment) -> dict[str, Any]:
    """The source of the document, and the campaign and revision of its spans."""
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


_NAME_SHOWN = 150


def import_document(
    *,
    assignment: Assignment,
    data: bytes,
    filename: str,
    form: str,
    base_revision: int,
    save_key: str,
    author: User,
) -> Saved:
    """Replaces the assignment's spans by those of a file, in one revision.

    `form` is one of FORMS, or empty to detect it. The same file with the same key returns the first
    result. Raises InvalidSpans, naming the file and its line or field, if the file cannot be read
    or has another text, and as `save_spans` does.
    """
    name = filename[-_NAME_SHOWN:]
    try:
        spans = _read(assignment, data, form)
    except (ReadingError, TagError, RefusedHtml, ValueError) as error:
        raise InvalidSpans([_file_fault(f"{name}: {error}")]) from error
    try:
        return save_spans(
            assignment=assignment,
            base_revision=base_revision,
            save_key=save_key,
            spans=spans,
            author=author,
            note=f"imported {name}",
            digest=hashlib.sha256(form.encode() + b"\0" + data).hexdigest(),
        )
    except InvalidSpans as refusal:
        raise InvalidSpans([_in_file(name, error) for error in refusal.errors]) from refusal


def _read(assignment: Assignment, data: bytes, form: str) -> list[dict[str, Any]]:
    """The spans for `save_spans`; raises ValueError with the place of a fault."""
    document = assignment.campaign_document.document
    text = decode_html(data)
    labels = assignment.campaign_document.campaign.labels
    form = form or _form_of(text, labels)
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}")
    if form == "json":
        return _own(read_document_json(_json(text), document.content.text))
    if form == "spans":
        page = read_span_elements(text)
        _require_same_text(assignment, page.canonical)
        return _own(page.spans)
    tagged = read_tags(text, labels)
    _require_same_text(assignment, tagged.canonical)
    return _keyed(assignment, tagged.canonical.text, tagged.spans)


def _form_of(text: str, labels: Sequence[str]) -> str:
    if text.lstrip()[:1] in {"{", "["}:
        return "json"
    tags = re.compile(rf"<(?:{'|'.join(map(re.escape, labels))})[\s>]", re.IGNORECASE)
    # Without either, it is read as tags, because that finds mistyped ones.
    return "spans" if "data-fact" in text and not tags.search(text) else "tags"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _require_same_text(assignment: Assignment, canonical: Canonical) -> None:
    document = assignment.campaign_document.document
    if canonical.text_sha256 != document.text_sha256:
        raise ValueError(text_difference(canonical.text, document))


def _own(spans: Iterable[FactSpan]) -> list[dict[str, Any]]:
    """Spans with their values. A value equal to the derived one does not count as edited."""
    return [asdict(span) for span in spans]


def _keyed(assignment: Assignment, text: str, spans: Sequence[Any]) -> list[dict[str, Any]]:
    """Spans of tags with keys. Existing spans keep theirs, so that comments stay attached."""
    known = {(draft.start, draft.end, draft.label): draft.key for draft in stored_spans(assignment)}
    kept = {known.get((span.start, span.end, span.label)) for span in spans}
    keyed = []
    for span in spans:
        key = known.get((span.start, span.end, span.label)) or _free_key(span.start, kept)
        place = {"start": span.start, "end": span.end, "quote": text[span.start : span.end]}
        keyed.append({"key": key, "label": span.label, **place})
    return keyed


def _free_key(start: int, taken: set[str | None]) -> str:
    key = f"t{start}"
    while key in taken:
        key += "x"
    return key


def _in_file(name: str, error: dict[str, Any]) -> dict[str, Any]:
    if "index" not in error:
        return error
    return error | {"message": f"{name}: spans[{error['index']}]: {error['message']}"}


def _file_fault(message: str) -> dict[str, Any]:
    return {"field": "file", "code": "file", "message": message}
