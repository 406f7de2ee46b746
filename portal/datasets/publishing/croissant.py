"""A release in Croissant 1.1 (https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html).

The records are those of the Parquet file, in which an id stays a text and facts stay nested. The
other files are listed with their hashes.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from .citation import bibtex, split_name
from .rows import PublishedRelease

CROISSANT = "croissant.json"
CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
ITEMS = "items"

_MEDIA_TYPES = {
    ".parquet": "application/x-parquet",
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".zip": "application/zip",
    ".html": "text/html",
    ".png": "image/png",
    ".jpg": "image/jpeg",
}
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
# The first is the word of 1.1, the second that of 1.0, by which readers still go.
_SEVERAL = {"isArray": True, "repeated": True}
_FACT_FIELDS = {
    "n": ("sc:Integer", "Number of the fact in its item, from 0."),
    "type": ("sc:Text", "Label of the fact."),
    "value": ("sc:Text", "The fact as the text has it."),
    "start": ("sc:Integer", "Where it begins, in code points of the canonical text."),
    "end": ("sc:Integer", "Where it ends, in code points; the character there is no part."),
}


@dataclass(frozen=True)
class DistributedFile:
    """A file one can have: its `name`, where (`url`: absolute, or relative to the Croissant
    file), size and SHA-256 of its bytes.
    """

    name: str
    url: str
    bytes: int
    sha256: str
    description: str = ""


@dataclass(frozen=True)
class ItemFile:
    """Which of the files is the Parquet file of the items, and with what columns it was written."""

    name: str
    gold: bool
    images: bool


def croissant(
    release: PublishedRelease, files: Sequence[DistributedFile], items: ItemFile | None = None
) -> dict[str, Any]:
    """The JSON-LD. Without `items` it tells of files only, not of what is in them.

    Raises ValueError if two files have one name, or `items` is none of them.
    """
    names = [file.name for file in files]
    if len(set(names)) < len(names):
        raise ValueError("two files have the same name")
    if items and items.name not in names:
        raise ValueError(f"{items.name} is none of the files")
    content: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": release.title,
        "alternateName": release.dataset,
        "description": release.description or f"{release.title}, version {release.version}.",
        "version": release.version,
        "datePublished": release.frozen_at.date().isoformat(),
        "citeAs": bibtex(release),
        "isLiveDataset": False,
        "distribution": [_file(file) for file in files],
    }
    optional = {
        "license": release.licence,
        "url": release.page,
        "sameAs": f"https://doi.org/{release.citation.doi}" if release.citation.doi else "",
        "creator": [_creator(name) for name in release.citation.authors],
        "keywords": list(release.keywords),
        "recordSet": [_items(items)] if items else [],
    }
    return content | {key: value for key, value in optional.items() if value}


def croissant_bytes(
    release: PublishedRelease, files: Sequence[DistributedFile], items: ItemFile | None = None
) -> bytes:
    """The file as it is sent."""
    content = croissant(release, files, items)
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def _file(file: DistributedFile) -> dict[str, Any]:
    described = {"description": file.description} if file.description else {}
    suffix = PurePosixPath(file.name).suffix.lower()
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        **described,
        "contentUrl": file.url,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": _MEDIA_TYPES.get(suffix, "application/octet-stream"),
        "sha256": file.sha256,
    }


def _creator(name: str) -> dict[str, str]:
    person = split_name(name)
    if person is None:
        return {"@type": "sc:Organization", "name": name}
    return {"@type": "sc:Person", "name": f"{person[1]} {person[0]}"}


def _items(file: ItemFile) -> dict[str, Any]:
    fields = [
        _field(file, "id", "The published id of the item."),
        _field(file, "split", "The part of the release: dev or test; empty if it has none."),
        _field(file, "prompt", "What a model is asked; empty if the benchmark asks all alike."),
    ]
    if file.images:
        images = _field(file, "images", "The page images, in order.", "sc:ImageObject", "bytes")
        fields.append({**images, "name": "image", "@id": f"{ITEMS}/image", **_SEVERAL})
    if file.gold:
        fields += _gold_fields(file)
    return {
        "@type": "cr:RecordSet",
        "@id": ITEMS,
        "name": ITEMS,
        "description": "The items of the release.",
        "key": {"@id": f"{ITEMS}/id"},
        "field": fields,
    }


def _gold_fields(file: ItemFile) -> list[dict[str, Any]]:
    facts = {
        "@type": "cr:Field",
        "@id": f"{ITEMS}/facts",
        "name": "facts",
        "description": "The facts of the page, in document order.",
        **_SEVERAL,
        "subField": [
            {
                **_field(file, "facts", description, data_type, key),
                "@id": f"{ITEMS}/facts/{key}",
                "name": key,
            }
            for key, (data_type, description) in _FACT_FIELDS.items()
        ],
    }
    return [
        _field(file, "html", "Gold HTML with inline fact tags, where the benchmark is of pages."),
        _field(file, "record", "The rest of the gold line, as JSON."),
        facts,
        _field(file, "sha256", "SHA-256 of the gold line in canonical JSON."),
    ]


def _field(
    file: ItemFile, column: str, description: str, data_type: str = "sc:Text", part: str = ""
) -> dict[str, Any]:
    """A field of a column, or of a part of each of its objects."""
    source: dict[str, Any] = {"fileObject": {"@id": file.name}, "extract": {"column": column}}
    if part:
        source["transform"] = {"jsonPath": part}
    return {
        "@type": "cr:Field",
        "@id": f"{ITEMS}/{column}",
        "name": column,
        "description": description,
        "dataType": data_type,
        "source": source,
    }
