"""Documents with their spans as JSON Lines: one line for each document, or each annotator of one.

    {"name": ..., "text_sha256": ..., "annotator": ..., "spans": [{"key", "label", ...}, ...]}

Offsets count code points of the canonical text, whose UTF-8 bytes have the hash. `annotator` is
left out where the spans are gold.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from portal.facts.document_json import read_span_list
from portal.facts.errors import ReadingError
from portal.facts.fact_spans import FactSpan


@dataclass(frozen=True)
class DocumentLine:
    """A line that has the form of one; `spans` is not looked into before there is a text."""

    name: str
    text_sha256: str
    annotator: str
    spans: list[Any]


def write_document_line(
    name: str, text_sha256: str, spans: Sequence[FactSpan], annotator: str = ""
) -> str:
    """One line, without its end."""
    line: dict[str, Any] = {"name": name, "text_sha256": text_sha256}
    if annotator:
        line["annotator"] = annotator
    line["spans"] = [asdict(span) for span in sorted(spans, key=lambda span: span.start)]
    return json.dumps(line, ensure_ascii=False)


def read_document_line(line: str) -> DocumentLine:
    """Raises ReadingError naming the field: for what is no JSON object or lacks a field."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ReadingError("the line", f"is not JSON: {error}"[:300]) from error
    if not isinstance(data, dict):
        raise ReadingError("the line", "must be a JSON object")
    for name in ("name", "text_sha256", "annotator"):
        if not isinstance(data.get(name, ""), str):
            raise ReadingError(name, "must be a string")
    name, text_sha256 = data.get("name", ""), data.get("text_sha256", "")
    if not name and not text_sha256:
        raise ReadingError("name", "this field is missing, and text_sha256 as well")
    spans = data.get("spans")
    if not isinstance(spans, list):
        raise ReadingError("spans", "must be a list")
    return DocumentLine(name, text_sha256, data.get("annotator", ""), spans)


def read_line_spans(line: DocumentLine, text: str) -> list[FactSpan]:
    """The spans over the canonical text they must belong to; raises ReadingError."""
    return read_span_list(line.spans, text)
