"""Canonical HTML and text, spans, fact values, inline fact tags. Pure functions; no Django."""

from .borders import Borders, text_borders
from .canonical import Canonical, canonical_text, canonicalise, html_page
from .document_files import (
    DocumentLine,
    read_document_json,
    read_document_line,
    read_line_spans,
    read_span_elements,
    write_document_json,
    write_document_line,
    write_span_elements,
)
from .file_reading import decode_html
from .finding import (
    GRAVE_WARNINGS,
    FoundFact,
    SpanWarning,
    find_facts,
    is_not_annotated,
    snap,
    span_warnings,
)
from .labelstudio.placing import Page, Placement, SourcePage, place_regions
from .labelstudio.tasks import (
    LabelledBy,
    Region,
    Task,
    TaskAnnotation,
    label_config,
    read_tasks,
    write_task,
)
from .markup import RefusedHtml, TagError
from .page_text import visible_text
from .spans import (
    KNOWN_LABELS,
    LABEL_SETS,
    Fact,
    FactSpan,
    ReadingError,
    Span,
    check_labels,
    check_spans,
    codepoint_to_utf16,
    is_blank,
    label_kind,
    trim_span,
    utf16_to_codepoint,
)
from .tags import TaggedPage, read_tags, write_tags
from .values import SIGNS, FactValue, check_value, read_value
from .xbrl import read_xbrl

__all__ = [
    "GRAVE_WARNINGS",
    "KNOWN_LABELS",
    "LABEL_SETS",
    "SIGNS",
    "Borders",
    "Canonical",
    "DocumentLine",
    "Fact",
    "FactSpan",
    "FactValue",
    "FoundFact",
    "LabelledBy",
    "Page",
    "Placement",
    "ReadingError",
    "RefusedHtml",
    "Region",
    "SourcePage",
    "Span",
    "SpanWarning",
    "TagError",
    "TaggedPage",
    "Task",
    "TaskAnnotation",
    "canonical_text",
    "canonicalise",
    "check_labels",
    "check_spans",
    "check_value",
    "codepoint_to_utf16",
    "decode_html",
    "find_facts",
    "html_page",
    "is_blank",
    "is_not_annotated",
    "label_config",
    "label_kind",
    "place_regions",
    "read_document_json",
    "read_document_line",
    "read_line_spans",
    "read_span_elements",
    "read_tags",
    "read_tasks",
    "read_value",
    "read_xbrl",
    "snap",
    "span_warnings",
    "text_borders",
    "trim_span",
    "utf16_to_codepoint",
    "visible_text",
    "write_document_json",
    "write_document_line",
    "write_span_elements",
    "write_tags",
    "write_task",
]
