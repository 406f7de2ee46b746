"""Documents and spans as files: JSON, JSON Lines, and HTML with elements for spans.

A JSON object for one document, or a line per document, or per annotator of a document:

    {"format": "factboard-document", "version": 1,
     "document": {"name": ..., "text_sha256": ..., and whatever else is known of its source},
     "spans": [{"key", "label", "start", "end", "quote", "value", "sign"}, ...]}

    {"name": ..., "text_sha256": ..., "annotator": ..., "spans": [{"key", "label", ...}, ...]}

Offsets count code points of the canonical text; the hash is that of its UTF-8 bytes. Gold has no
`annotator`. In HTML, as in FinCriticalED, elements have type, value and sign:

    <span data-fact="k1" data-type="Number" data-value="-12" data-sign="parentheses">(12)</span>

Canonical documents have no `data-` attributes, so these elements cannot be confused with their own.
The fragments of a fact share `data-fact`, its key, and repeat the other attributes. White space at
the edges of a fact is counted in `data-before` and `data-after`, because between table cells no
element can contain it.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from html import escape, unescape
from typing import Any, NamedTuple
from unicodedata import normalize

from .canonical import Canonical, canonical_text
from .markup import Kind, TagError, Token, tokens
from .other_tools import other_tool
from .page_text import Fragment, enclose, fragments
from .spans import (
    FactSpan,
    ReadingError,
    Span,
    characters,
    check_labels,
    check_spans,
    require_labels,
    trim_span,
)
from .tags import TaggedPart, locate, tagged_part
from .values import check_value, read_value
from .xhtml import as_html, is_xhtml

FORMAT = "factboard-document"
VERSION = 1

_FIELDS = tuple(field.name for field in fields(FactSpan))
_DERIVED = ("value", "sign")


def write_document_json(
    meta: Mapping[str, Any], text_sha256: str, spans: Sequence[FactSpan]
) -> dict[str, Any]:
    """The document as a JSON object; `meta` describes the source."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "document": {**meta, "text_sha256": text_sha256},
        "spans": [asdict(span) for span in sorted(spans, key=lambda span: span.start)],
    }


def read_document_json(data: object, text: str) -> list[FactSpan]:
    """Return the spans of a decoded JSON object, which must belong to the canonical text.

    Missing or null values and signs are derived from the quote. Raises ReadingError with the field
    for a wrong type, an unknown or missing field, a different text, a quote that is not at its
    place, an invalid value, a duplicate key, and errors of `check_spans`.
    """
    document = _object(data, "the file")
    _check_head(document, text)
    return read_span_list(_field(document, "spans", list, ""), text)


def read_span_list(items: Sequence[object], text: str) -> list[FactSpan]:
    """Return the spans of a list over the canonical text. Raises ReadingError, as above."""
    spans, faults = _sound_spans(items, text)
    if faults:
        raise faults[0]
    return spans


def _sound_spans(
    items: Sequence[object], text: str, labels: Sequence[str] | None = None
) -> tuple[list[FactSpan], list[ReadingError]]:
    """The spans without errors, and an error for every other span.

    Without `labels`, a span can have any label.
    """
    read, faults = _read_spans(items, text)
    if labels is None:
        labels = sorted({span.label for span in read if span})
    # Spans with errors keep their places, so that messages number the spans as the list does.
    places = [span.span if span else Span(-1, -1, "") for span in read]
    reasons: dict[int, list[str]] = {}
    for fault in check_spans(text, places, labels):
        if read[fault.index]:
            reasons.setdefault(fault.index, []).append(fault.message)
    faults += [ReadingError(f"spans[{n}]", "; ".join(said)) for n, said in reasons.items()]
    return [span for n, span in enumerate(read) if span and n not in reasons], faults


def _read_spans(
    items: Sequence[object], text: str
) -> tuple[list[FactSpan | None], list[ReadingError]]:
    """Each span by itself, or None if it has an error."""
    read: list[FactSpan | None] = []
    faults: list[ReadingError] = []
    seen: dict[str, int] = {}
    for index, item in enumerate(items):
        try:
            span = _span(item, f"spans[{index}]", text)
            if (first := seen.setdefault(span.key, index)) != index:
                raise ReadingError(
                    f"spans[{index}].key", f"{span.key!r} is already the key of spans[{first}]"
                )
        except ReadingError as fault:
            read.append(None)
            faults.append(fault)
        else:
            read.append(span)
    return read, faults


def _check_head(document: Mapping[str, Any], text: str) -> None:
    if _field(document, "format", str, "") != FORMAT:
        raise ReadingError("format", f"this is not {FORMAT!r}")
    if (version := _field(document, "version", int, "")) != VERSION:
        raise ReadingError("version", f"unsupported version {version}; use {VERSION}")
    about = _object(_field(document, "document", dict, ""), "document")
    expected = sha256(text.encode()).hexdigest()
    if (given := _field(about, "text_sha256", str, "document.")) != expected:
        raise ReadingError(
            "document.text_sha256", f"{given[:64]} is another text; this document has {expected}"
        )


def _span(item: object, path: str, text: str) -> FactSpan:
    values = _object(item, path)
    if unknown := sorted(set(values) - set(_FIELDS)):
        raise ReadingError(
            f"{path}.{unknown[0]}", f"unknown field; a span has {', '.join(_FIELDS)}"
        )
    key, label, quote = (_field(values, n, str, f"{path}.") for n in ("key", "label", "quote"))
    start, end = (_field(values, name, int, f"{path}.") for name in ("start", "end"))
    if not key:
        raise ReadingError(f"{path}.key", "a span needs a key")
    if problems := check_labels([label]):
        raise ReadingError(f"{path}.label", problems[0])
    if not 0 <= start < end <= len(text):
        where = characters(start, end)
        reason = f"{where}: not a valid range in a text of {len(text)} characters"
        raise ReadingError(f"{path}.start", reason)
    if quote != text[start:end]:
        where, found = characters(start, end), _short(text[start:end])
        reason = f"the text at {where} is {found}, not {_short(quote)}"
        raise ReadingError(f"{path}.quote", reason)
    return FactSpan(key, label, start, end, quote, *_meaning(values, path, label, quote))


def _meaning(values: Mapping[str, Any], path: str, label: str, quote: str) -> tuple[str, str]:
    if all(values.get(name) is None for name in _DERIVED):
        return read_value(quote, label)
    value, sign = (_field(values, name, str, f"{path}.") for name in _DERIVED)
    if problem := check_value(value, sign, label):
        raise ReadingError(f"{path}.value", problem)
    return value, sign


def _object(data: object, path: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise ReadingError(path, f"must be an object, not {_name(type(data))}")
    return data


def _field(values: Mapping[str, Any], name: str, kind: type, path: str) -> Any:
    if name not in values:
        raise ReadingError(f"{path}{name}", "this field is missing")
    # A bool is an int in Python, but not a number in JSON.
    if type(values[name]) is not kind:
        reason = f"must be {_name(kind)}, not {_name(type(values[name]))}"
        raise ReadingError(f"{path}{name}", reason)
    return values[name]


def _name(kind: type) -> str:
    names = {str: "a string", int: "a whole number", float: "a decimal", bool: "true or false"}
    names |= {list: "a list", dict: "an object", type(None): "null"}
    return names.get(kind, kind.__name__)


def _short(quote: str) -> str:
    return repr(quote if len(quote) <= 60 else f"{quote[:59]}…")


@dataclass(frozen=True)
class DocumentLine:
    """A parsed line; its `spans` are checked later, against a text."""

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
    """Raises ReadingError with the field if it is not a JSON object or lacks a field."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ReadingError("the line", f"is not JSON: {error}"[:300]) from error
    if not isinstance(data, dict):
        raise ReadingError("the line", "must be a JSON object")
    if reason := other_tool(data):
        raise ReadingError("the line", reason)
    for name in ("name", "text_sha256", "annotator"):
        if not isinstance(data.get(name, ""), str):
            raise ReadingError(name, "must be a string")
    # In Unicode form NFC, as names of documents are.
    name, text_sha256 = normalize("NFC", data.get("name", "")), data.get("text_sha256", "")
    if not name and not text_sha256:
        raise ReadingError("name", "this field is missing, and text_sha256 as well")
    spans = data.get("spans")
    if not isinstance(spans, list):
        raise ReadingError("spans", "must be a list")
    return DocumentLine(name, text_sha256, data.get("annotator", ""), spans)


def read_line_spans(
    line: DocumentLine, text: str, labels: Sequence[str]
) -> tuple[list[FactSpan], list[ReadingError]]:
    """Return the spans that belong to the canonical text and have one of `labels`, and an error for
    every other span.
    """
    return _sound_spans(line.spans, text, labels)


_ATTRIBUTE = re.compile(
    r"""([^ \t\r\n\f"'>/=]++)[ \t\r\n\f]*+"""
    r"""(?:=[ \t\r\n\f]*+(?:"([^"]*)"|'([^']*)'|([^ \t\r\n\f>"']++)))?"""
)
_WHITE = str.maketrans({"\t": "&#9;", "\n": "&#10;", "\r": "&#13;", "\f": "&#12;"})
_COUNT = re.compile("[0-9]{1,6}")


@dataclass(frozen=True)
class FactPage:
    """A page without fact elements, and their facts in document order."""

    canonical: Canonical
    spans: list[FactSpan]


class _Said(NamedTuple):
    """The attributes of a fact, without `data-`; None if missing."""

    fact: str = ""
    type: str = ""
    value: str | None = None
    sign: str | None = None
    before: str | None = None
    after: str | None = None


class _Opening(NamedTuple):
    """The start tag of a fact element, and its attributes."""

    said: _Said
    token: Token


def write_span_elements(canonical_html: str, spans: Sequence[FactSpan]) -> str:
    """Wrap every fact of canonical HTML in elements as above, one per text node.

    Removing the elements restores `canonical_html` exactly, and `read_span_elements` returns the
    same spans. Raises ValueError if the spans fail `check_spans`, a label is unusable, a quote is
    not at its place, or a key is empty or duplicate.
    """
    ordered = sorted(spans, key=lambda span: span.start)
    if not ordered:
        return canonical_html
    labels = sorted({span.label for span in ordered})
    require_labels(labels)
    text = canonical_text(canonical_html)
    places = [span.span for span in ordered]
    if faults := check_spans(text, places, labels):
        raise ValueError("; ".join(fault.message for fault in faults))
    if moved := next((span for span in ordered if text[span.start : span.end] != span.quote), None):
        where = characters(moved.start, moved.end)
        raise ValueError(f"the quote of span {moved.key!r} is not at {where}")
    if len({span.key for span in ordered if span.key}) < len(ordered):
        raise ValueError("every span needs a key of its own")

    def tags(fragment: Fragment) -> tuple[str, str]:
        return f"<span{_attributes(ordered[fragment.span])}>", "</span>"

    return enclose(canonical_html, list(fragments(canonical_html, places)), tags)


def read_span_elements(html: str) -> FactPage:
    """Return the canonical page without fact elements, and the facts they mark.

    A missing value and sign are derived from the quote. Raises TagError, with the place, for
    elements that are nested, unpaired, empty, without a type, contradictory, or with an invalid
    value; RefusedHtml as `canonicalise` does.
    """
    html = as_html(html)
    openings: dict[str, _Opening] = {}
    canonical, facts = locate(html, list(_parts(html, openings)))
    text = canonical.text
    spans = [_fact_span(html, text, fact.span, openings[fact.identity]) for fact in facts]
    places = [span.span for span in spans]
    if faults := check_spans(text, places, sorted({span.label for span in spans})):
        at = openings[spans[faults[0].index].key].token.start
        raise TagError(f"the facts conflict: {faults[0].message}", html, at)
    return FactPage(canonical, spans)


def _attributes(span: FactSpan) -> str:
    quote = span.quote
    edges = len(quote) - len(quote.lstrip()), len(quote) - len(quote.rstrip())
    before, after = (str(width) if width else None for width in edges)
    said = _Said(span.key, span.label, span.value, span.sign, before, after)
    return "".join(
        f' data-{name}="{escape(value).translate(_WHITE)}"'
        for name, value in said._asdict().items()
        if value is not None
    )


def _parts(html: str, openings: dict[str, _Opening]) -> Iterator[TaggedPart]:
    """The fact elements; `openings` gets the first one of each key."""
    xml = is_xhtml(html)
    # Spans of the page itself are only tracked as open.
    stack: list[_Opening | None] = []
    texts: list[Token] = []
    for token in tokens(html, xml=xml):
        if token.kind is Kind.TEXT:
            texts.append(token)
        elif token.name == "span" and token.kind is Kind.START:
            is_closed = xml and html.endswith("/>", token.start, token.end)
            if opening := _opening(html, token):
                _check_opening(html, opening, is_closed=is_closed, is_nested=any(stack))
                _check_agreement(html, opening, openings)
                texts = []
            if not is_closed:
                stack.append(opening)
        elif token.name == "span" and token.kind is Kind.END and stack and (fact := stack.pop()):
            tags = fact.token, token
            yield tagged_part(html, fact.said.type, fact.said.fact, tags, texts)
    if fact := next(filter(None, stack), None):
        raise TagError("a fact's <span> is never closed", html, fact.token.start)


def _opening(html: str, token: Token) -> _Opening | None:
    """The start tag of a fact element; None for a span of the page's own."""
    said: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(html, token.start + len("<span"), token.end):
        name = match[1].lower().removeprefix("data-")
        if name in _Said._fields and name != match[1].lower():
            # The first of duplicate attributes counts, as in browsers.
            said.setdefault(name, unescape(match[2] or match[3] or match[4] or ""))
    return _Opening(_Said(**said), token) if "fact" in said else None


def _check_opening(html: str, opening: _Opening, *, is_closed: bool, is_nested: bool) -> None:
    said = opening.said
    problem = None
    if is_nested:
        problem = "a fact's <span> inside another"
    elif is_closed:
        problem = "a fact's <span/> is self-closing and contains no text"
    elif not said.fact:
        problem = "data-fact is empty: it holds the key of the fact"
    elif not said.type:
        problem = "a fact's <span> needs its label in data-type"
    elif problems := check_labels([said.type]):
        problem = problems[0]
    if problem:
        raise TagError(problem, html, opening.token.start)


def _check_agreement(html: str, opening: _Opening, openings: dict[str, _Opening]) -> None:
    first = openings.setdefault(opening.said.fact, opening)
    if first.said != opening.said:
        line = html.count("\n", 0, first.token.start) + 1
        reason = f"the parts of fact {opening.said.fact!r} differ from the first on line {line}"
        raise TagError(reason, html, opening.token.start)


def _fact_span(html: str, text: str, span: Span, opening: _Opening) -> FactSpan:
    said, place = opening.said, opening.token.start
    start, end = _with_edges(html, text, span, opening)
    quote = text[start:end]
    value, sign = said.value, said.sign
    if value is None and sign is None:
        value, sign = read_value(quote, span.label)
    value, sign = value or "", sign or ""
    if problem := check_value(value, sign, span.label):
        raise TagError(f"fact {said.fact!r}: {problem}", html, place)
    return FactSpan(said.fact, span.label, start, end, quote, value, sign)


def _with_edges(html: str, text: str, span: Span, opening: _Opening) -> tuple[int, int]:
    """From the first to the last visible character, and the white space that is counted."""
    counts = opening.said.before or "0", opening.said.after or "0"
    if not all(_COUNT.fullmatch(count) for count in counts):
        reason = "data-before and data-after must be counts of characters"
        raise TagError(reason, html, opening.token.start)
    before, after = map(int, counts)
    visible = trim_span(text, span)
    start, end = visible.start - before, visible.end + after
    edges = text[max(start, 0) : visible.start] + text[visible.end : end]
    if len(edges) != before + after or edges.strip():
        reason = "data-before and data-after do not match the white space"
        raise TagError(reason, html, opening.token.start)
    return start, end
