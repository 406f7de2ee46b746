"""One annotated document as JSON: where it is from, which text it has, and its spans.

    {"format": "factboard-document", "version": 1,
     "document": {"name": ..., "text_sha256": ..., and whatever else is known of its source},
     "spans": [{"key", "label", "start", "end", "quote", "value", "sign"}, ...]}

Offsets count code points of the canonical text, whose UTF-8 bytes have the hash.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from hashlib import sha256
from typing import Any

from portal.facts.errors import ReadingError
from portal.facts.fact_spans import FactSpan
from portal.facts.labels import check_labels
from portal.facts.spans import check_spans
from portal.facts.values import check_value, read_value

FORMAT = "factboard-document"
VERSION = 1

_FIELDS = tuple(field.name for field in fields(FactSpan))
_DERIVED = ("value", "sign")


def write_document_json(
    meta: Mapping[str, Any], text_sha256: str, spans: Sequence[FactSpan]
) -> dict[str, Any]:
    """The document as a JSON object; `meta` is all that is to be said about the source."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "document": {**meta, "text_sha256": text_sha256},
        "spans": [asdict(span) for span in sorted(spans, key=lambda span: span.start)],
    }


def read_document_json(data: object, text: str) -> list[FactSpan]:
    """The spans of a decoded JSON object over the canonical text it must belong to.

    A span without value and sign, or with null, gets those that its quote means. Raises
    ReadingError naming the field: for a wrong type, an unknown or missing field, another text, a
    quote that is not at its place, a value that cannot be one, a key used twice, and for spans that
    `check_spans` faults.
    """
    document = _object(data, "the file")
    _check_head(document, text)
    return read_span_list(_field(document, "spans", list, ""), text)


def read_span_list(items: Sequence[object], text: str) -> list[FactSpan]:
    """The spans of such a list over its canonical text; raises ReadingError as above."""
    spans = [_span(item, f"spans[{index}]", text) for index, item in enumerate(items)]
    seen: dict[str, int] = {}
    for index, span in enumerate(spans):
        if (first := seen.setdefault(span.key, index)) != index:
            raise ReadingError(f"spans[{index}].key", f"{span.key!r} is that of spans[{first}] too")
    labels = sorted({span.label for span in spans})
    if faults := check_spans(text, [span.span for span in spans], labels):
        raise ReadingError(f"spans[{faults[0].index}]", faults[0].message)
    return spans


def _check_head(document: Mapping[str, Any], text: str) -> None:
    if _field(document, "format", str, "") != FORMAT:
        raise ReadingError("format", f"this is not {FORMAT!r}")
    if (version := _field(document, "version", int, "")) != VERSION:
        raise ReadingError("version", f"{version} cannot be read, only {VERSION}")
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
        reason = f"[{start}, {end}) is not a stretch of the text's {len(text)} characters"
        raise ReadingError(f"{path}.start", reason)
    if quote != text[start:end]:
        reason = f"the text at [{start}, {end}) is {_short(text[start:end])}, not {_short(quote)}"
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
    # A bool is an int in Python, in JSON it is no number.
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
