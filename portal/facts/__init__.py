"""Canonical HTML and text, spans, inline fact tags. Pure functions; no Django."""

from portal.facts.canonical import Canonical, canonical_text, canonicalise, html_page
from portal.facts.encoding import decode_html
from portal.facts.errors import RefusedHtml, TagError
from portal.facts.labels import KNOWN_LABELS, LABEL_SETS, check_labels
from portal.facts.offsets import codepoint_to_utf16, utf16_to_codepoint
from portal.facts.spans import Span, SpanFault, check_spans, is_blank, trim_span
from portal.facts.tag_reading import TaggedPage, read_tags
from portal.facts.tag_writing import write_tags
from portal.facts.visible import visible_text

__all__ = [
    "KNOWN_LABELS",
    "LABEL_SETS",
    "Canonical",
    "RefusedHtml",
    "Span",
    "SpanFault",
    "TagError",
    "TaggedPage",
    "canonical_text",
    "canonicalise",
    "check_labels",
    "check_spans",
    "codepoint_to_utf16",
    "decode_html",
    "html_page",
    "is_blank",
    "read_tags",
    "trim_span",
    "utf16_to_codepoint",
    "visible_text",
    "write_tags",
]
