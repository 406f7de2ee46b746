"""What may be written into the fields that describe a document, and how it is checked.

Forms, serializers and services ask here, so that a page and the API refuse the same.
"""

import json
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from .models import Document
from .models.documents import document_source
from .sources.json_values import JsonError, read_object
from .sources.meta import FIRST_YEAR, LAST_YEAR, LINE_LIMIT, DocumentMeta, described

# Of one document, and of many at once.
EDITABLE = (
    "doc_type",
    "company",
    "form_type",
    "fiscal_year",
    "language",
    "source_url",
    "licence",
    "metadata",
)
BULK_EDITABLE = ("doc_type", "company", "form_type", "fiscal_year", "language", "licence")
# Described by an import in the same way.
_IMPORTED = frozenset(EDITABLE) - {"language", "metadata"}
METADATA_LIMIT = LINE_LIMIT
_EMPTY = DocumentMeta().fields()
MAX_LANGUAGE = 12

__all__ = ["BULK_EDITABLE", "EDITABLE", "FIRST_YEAR", "LAST_YEAR", "check_fields", "read_metadata"]


def check_fields(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes as they are stored; `source` follows `source_url`.

    Raises ValidationError by field: for a field that is none of EDITABLE, and for a value that an
    import would refuse in it.
    """
    checked: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for name, value in changes.items():
        try:
            checked[name] = _checked(name, value)
        except ValueError as error:
            faults[name] = str(error)
    if faults:
        raise ValidationError({name: [message] for name, message in faults.items()})
    return checked


def read_metadata(text: str) -> dict[str, Any]:
    """The JSON object that a person wrote. Raises ValidationError, which names the line."""
    data = text.encode("utf-8", errors="surrogatepass")
    try:
        _check_size(len(data))
        return read_object(data)
    except JsonError as error:
        raise ValidationError(f"Line {error.line}: {error}.") from error
    except ValueError as error:
        raise ValidationError(str(error)) from error


def sourced(document: Document, source_url: str) -> str:
    """Where the document comes from once it has this address; a benchmark's name stays.

    Without an address it has the source it had, unless that was the host of the former one.
    """
    former = document_source(document.source_url)
    benchmark = "" if document.source == former else document.source
    return document_source(source_url, benchmark)


def _checked(name: str, value: Any) -> Any:
    if name not in EDITABLE:
        raise ValueError("This field cannot be changed.")
    if name == "metadata":
        return _metadata(value)
    if name == "language":
        return _language(value)
    if value in (None, ""):
        return _EMPTY[name]
    try:
        return getattr(described({name: value}), name)
    except ValueError as error:
        raise ValueError(_sentence(str(error).removeprefix(f"{name}: "))) from error


def _metadata(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("This must be a JSON object.")
    try:
        data = json.dumps(value, ensure_ascii=False).encode("utf-8")
        _check_size(len(data))
        return read_object(data)
    except (RecursionError, UnicodeEncodeError) as error:
        raise ValueError("This is nested too deeply, or holds half a character.") from error
    except JsonError as error:
        raise ValueError(_sentence(str(error))) from error


def _language(value: Any) -> str:
    text = str(value or "").strip()
    if len(text) > MAX_LANGUAGE or not text.isprintable():
        raise ValueError(f"A language is a code such as en or zh, of at most {MAX_LANGUAGE} signs.")
    return text


def _check_size(size: int) -> None:
    if size > METADATA_LIMIT:
        raise ValueError(f"This is longer than {METADATA_LIMIT // 1024} kB.")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
