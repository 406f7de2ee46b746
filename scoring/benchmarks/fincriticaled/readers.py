"""Reads FinCriticalED's gold and submissions, in canonical lines and in the benchmark's own layout.

Gold is `{"id", "html"}` with inline fact tags, optionally with `doc_type`, or a folder or ZIP of
`ID.html`; predictions are the same without tags, or a folder or ZIP of `ID.html`, `ID.txt` or
`pred_ID.txt`.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from portal.facts import RefusedHtml, TagError, read_tags, write_tags
from portal.facts.spans import KNOWN_LABELS
from portal.facts.tags import unknown_tags, unknown_tags_reason
from scoring.benchmarks.base import GoldLine, PredictionLine
from scoring.benchmarks.checking import check_id, check_text, read_lines
from scoring.benchmarks.items import Options, Payload
from scoring.benchmarks.reading import (
    DEFAULT_LIMITS,
    ReadFault,
    ReadLimits,
    Record,
    Source,
    read_records,
)
from scoring.metrics.facts import FactTagError, read_page

from .options import check_options, labels_of

_PREDICTION_PREFIX = "pred_"
_LONGEST_TYPE = 60
# Characters of one gold page's visible text. Longer texts would not be aligned completely.
LONGEST_TEXT = 400_000


def read_gold(
    source: Source, *, options: Options | None = None, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[GoldLine | ReadFault]:
    """Yield the gold lines. A page whose fact tags cannot be read as facts, or with more than
    LONGEST_TEXT characters of text, is a fault."""
    labels = labels_of(options or check_options({}))

    def problem(record: Record) -> str | ReadFault | None:
        return _problem(record, limits) or _type_problem(record) or _page_problem(record, labels)

    return read_lines(GoldLine, read_records(source, limits), problem, _gold_payload)


def read_predictions(
    source: Source, *, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[PredictionLine | ReadFault]:
    """Yield the prediction lines. Keys other than `id` and `html` are ignored."""
    records = read_records(source, limits, prefix=_PREDICTION_PREFIX)
    return read_lines(PredictionLine, records, partial(_problem, limits=limits), _payload)


def _payload(value: dict[str, Any]) -> Payload:
    return {key: value[key] for key in ("id", "html")}


def _gold_payload(value: dict[str, Any]) -> Payload:
    stated = {"doc_type": value["doc_type"]} if value.get("doc_type") else {}
    return _payload(value) | stated


def as_frozen(line: GoldLine, options: Options) -> GoldLine | ReadFault:
    """Return the gold line with its page in canonical form, as imports and releases store it.
    Nothing of the head counts, including its title.
    """
    html = line.payload["html"]
    if "<" not in html or ">" not in html:
        return line
    try:
        page = read_tags(html, labels_of(options))
    except (TagError, RefusedHtml) as error:
        message = f"in 'html', {error}, so no release can hold this page"
        return ReadFault(line.file, line.line, line.id, message)
    return replace(
        line, payload={**line.payload, "html": write_tags(page.canonical.html, page.spans)}
    )


def _problem(record: Record, limits: ReadLimits) -> str | None:
    """Return what is wrong with the record's id or HTML, or None."""
    return check_id(record) or check_text(record, "html", limits.characters)


def _type_problem(record: Record) -> str | None:
    """Return what is wrong with the document type, or None. Any short name is allowed."""
    if record.value.get("doc_type") is None:
        return None
    return check_text(record, "doc_type", _LONGEST_TYPE)


def _page_problem(record: Record, labels: tuple[str, ...]) -> str | ReadFault | None:
    """Return what is wrong with the fact tags or the length of the text, or None. A tag's line is
    that of a page file, else one within the HTML. Labels of the shipped sets may be missing from
    `labels`; any other tag that is not an element is a fault."""
    if unknown := unknown_tags(record.value["html"], [*labels, *KNOWN_LABELS]):
        reason = unknown_tags_reason(unknown, labels)
        line = record.value["html"].count("\n", 0, unknown[0].start) + 1
        return record.fault(reason, line=line) if record.is_page else reason
    try:
        page = read_page(record.value["html"], labels)
    except FactTagError as error:
        if record.is_page:
            return record.fault(error.reason, line=error.line)
        return f"in 'html', {error}"
    if len(page.text) > LONGEST_TEXT:
        return f"'html' has more than {LONGEST_TEXT:,} characters of visible text"
    return None
