"""Canonical HTML and text, spans, fact values, inline fact tags. Pure functions; no Django."""

from portal.facts.borders import text_borders
from portal.facts.canonical import Canonical, canonical_text, canonicalise, html_page
from portal.facts.document_json import read_document_json, write_document_json
from portal.facts.document_lines import (
    DocumentLine,
    read_document_line,
    read_line_spans,
    write_document_line,
)
from portal.facts.encoding import decode_html
from portal.facts.errors import ReadingError, RefusedHtml, TagError
from portal.facts.fact_spans import FactSpan
from portal.facts.finding import FoundFact, find_facts
from portal.facts.labels import KNOWN_LABELS, LABEL_SETS, check_labels, label_kind
from portal.facts.labelstudio_placing import Page, Placement, SourcePage, place_regions
from portal.facts.labelstudio_reading import Region, Task, TaskAnnotation, read_tasks
from portal.facts.labelstudio_writing import LabelledBy, label_config, write_task
from portal.facts.offsets import codepoint_to_utf16, utf16_to_codepoint
from portal.facts.snapping import snap
from portal.facts.span_advice import GRAVE_WARNINGS, SpanWarning, span_warnings
from portal.facts.span_elements import FactPage, read_span_elements, write_span_elements
from portal.facts.spans import Span, SpanFault, check_spans, is_blank, trim_span
from portal.facts.tag_reading import TaggedPage, read_tags
from portal.facts.tag_writing import write_tags
from portal.facts.values import SIGNS, FactValue, check_value, read_value
from portal.facts.visible import visible_text
from portal.facts.xbrl import XbrlFact, read_xbrl

__all__ = [
    "GRAVE_WARNINGS",
    "KNOWN_LABELS",
    "LABEL_SETS",
    "SIGNS",
    "Canonical",
    "DocumentLine",
    "FactPage",
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
    "SpanFault",
    "SpanWarning",
    "TagError",
    "TaggedPage",
    "Task",
    "TaskAnnotation",
    "XbrlFact",
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
