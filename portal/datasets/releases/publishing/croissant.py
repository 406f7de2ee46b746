"""The description and citation of a release: Croissant 1.1, BibTeX and CITATION.cff 1.2.0.

A name written “Family, Given” belongs to a person. Any other name is used as a whole, because an
institute cannot be distinguished from a person whose family name comes first.

The records of the Croissant file
(https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html) are those of the Parquet file,
which keeps ids as strings and facts nested. The other files are listed with their hashes.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from .rows import Citation, PublishedRelease

BIBTEX = "citation.bib"
CFF = "CITATION.cff"
_BREAKS = frozenset("\x85\u2028\u2029")
CFF_VERSION = "1.2.0"
# SPDX identifiers that are used for data; CFF accepts no other text as a licence.
SPDX = frozenset(
    """
    CC0-1.0 CC-BY-3.0 CC-BY-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC-BY-NC-4.0 CC-BY-NC-SA-4.0
    CC-BY-ND-4.0 CC-BY-NC-ND-4.0 CDLA-Permissive-1.0 CDLA-Permissive-2.0 CDLA-Sharing-1.0
    ODbL-1.0 ODC-By-1.0 PDDL-1.0 MIT Apache-2.0 BSD-2-Clause BSD-3-Clause GPL-3.0-only
    """.split()
)
_CITATION_FIELDS = frozenset({"authors", "year", "doi", "url"})
_DOI = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)?/[A-Za-z0-9:/_;\-.()\[\]\\]+")
_URL = re.compile(r"https?://[^\s<>\"{}|\\^`]+")
_YEARS = range(1900, 2201)
_ESCAPES = {
    "\\": r"\textbackslash{}",
    # BibTeX counts every brace, even an escaped one, so text must not contain any.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "#$%&_"},
}


def read_citation(value: object) -> Citation:
    """Reads a citation `{authors: [name, …], year, doi, url}`; all fields are optional.

    Raises ValueError, naming the field.
    """
    if not isinstance(value, Mapping):
        raise ValueError("a citation must be an object")
    if unknown := sorted(set(value) - _CITATION_FIELDS):
        raise ValueError(f"{unknown[0]}: unknown field; use authors, year, doi and url")
    authors = value.get("authors") or []
    if not isinstance(authors, list) or not all(map(_is_name, authors)):
        raise ValueError("authors: must be a list of names")
    year = value.get("year") or None
    if year is not None and (type(year) is not int or year not in _YEARS):
        raise ValueError(f"year: must be a year such as 2024, not {year!r:.40}")
    return Citation(
        authors=tuple(" ".join(name.split()) for name in authors),
        year=year,
        doi=_matched(value, "doi", _DOI, "such as 10.5281/zenodo.1234"),
        url=_matched(value, "url", _URL, "a URL that begins with https:// or http://"),
    )


def bibtex(release: PublishedRelease, *, has_former_key: bool = False) -> str:
    """A BibTeX entry in UTF-8, ending with a line break. Earlier versions wrote the former key."""
    citation = release.citation
    fields = {
        "title": f"{{{escape(release.title)}}}",
        "author": " and ".join(map(_bibtex_author, citation.authors)),
        "year": str(_year(release)),
        "version": escape(release.version),
        "note": f"Dataset, version {escape(release.version)}",
        # URLs are written unescaped, except for characters that would end the braces.
        "doi": quote(citation.doi, safe="/:;()[].,_-"),
        "url": quote(_url(release), safe="/:;?&=#%+,.@!~*'()[]_-$"),
    }
    lines = [f"  {key} = {{{value}}}" for key, value in fields.items() if value]
    key = _former_key(release) if has_former_key else _key(release)
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}\n"


def citation_cff(release: PublishedRelease) -> str:
    """CITATION.cff 1.2.0. PyYAML is imported when it is needed."""
    import yaml

    citation = release.citation
    message = "If you use this data set, please cite it as below."
    licence: dict[str, str] = {}
    if release.licence in SPDX:
        licence = {"license": release.licence}
    elif _URL.fullmatch(release.licence):
        licence = {"license-url": release.licence}
    elif release.licence:
        # The format has no field for a licence in free text.
        message += f" Licence: {release.licence}"
    content: dict[str, Any] = {
        "cff-version": CFF_VERSION,
        "message": message,
        "type": "dataset",
        "title": release.title,
        "version": release.version,
        "date-released": release.frozen_at.date().isoformat(),
        # The format requires an author.
        "authors": [_cff_author(name) for name in dict.fromkeys(citation.authors)]
        or [{"name": f"The authors of {release.title}"}],
        **licence,
        **({"abstract": release.description} if release.description else {}),
        **({"doi": citation.doi} if citation.doi else {}),
        **({"url": _url(release)} if _url(release) else {}),
        **({"keywords": list(dict.fromkeys(release.keywords))} if release.keywords else {}),
    }

    class Dumper(yaml.SafeDumper):
        """Quotes strings with non-ASCII line breaks, which YAML would otherwise lose."""

        def represent_str(self, data: str) -> yaml.ScalarNode:
            style = '"' if _BREAKS & set(data) else None
            return self.represent_scalar("tag:yaml.org,2002:str", data, style)

    Dumper.add_representer(str, Dumper.represent_str)
    return str(yaml.dump(content, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=10_000))


def escape(text: str) -> str:
    r"""Text for a BibTeX field, on one line.

    >>> print(escape("Q&A: 50%\n~x_{1"))
    Q\&A: 50\% \textasciitilde{}x\_\textbraceleft{}1
    """
    return "".join(_ESCAPES.get(character, character) for character in " ".join(text.split()))


def split_name(name: str) -> tuple[str, str] | None:
    """Family and given name of a person; None for any other name.

    >>> split_name("Doe, Jane"), split_name("Institute of Records")
    (('Doe', 'Jane'), None)
    """
    family, comma, given = (part.strip() for part in name.partition(","))
    is_person = bool(comma and family and given and "," not in given)
    return (family, given) if is_person else None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _matched(value: Mapping[str, Any], key: str, pattern: re.Pattern[str], wanted: str) -> str:
    text = value.get(key) or ""
    if not isinstance(text, str) or (text and not pattern.fullmatch(text)):
        raise ValueError(f"{key}: must be {wanted}, not {text!r:.80}")
    return text


def _bibtex_author(name: str) -> str:
    """BibTeX splits names at “and” and at commas unless braces protect them."""
    person = split_name(name)
    if person is None:
        return f"{{{escape(name)}}}"
    return ", ".join(_kept(part) for part in person)


def _kept(part: str) -> str:
    holds_and = "and" in part.lower().split()
    return f"{{{escape(part)}}}" if holds_and else escape(part)


def _cff_author(name: str) -> dict[str, str]:
    person = split_name(name)
    return {"family-names": person[0], "given-names": person[1]} if person else {"name": name}


def _year(release: PublishedRelease) -> int:
    return release.citation.year or release.frozen_at.year


def _url(release: PublishedRelease) -> str:
    return release.citation.url or release.page


def _key(release: PublishedRelease) -> str:
    """The citation key, such as `my_set-1-0-0`: underscores are kept, so that slugs differ."""
    return re.sub("[^A-Za-z0-9_]+", "-", f"{release.dataset}-{release.version}").strip("-")


def _former_key(release: PublishedRelease) -> str:
    return re.sub("[^A-Za-z0-9]+", "-", f"{release.dataset}-{release.version}").strip("-")


CROISSANT = "croissant.json"
CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
ITEMS = "items"
# The JSON-LD context, media types by extension, and descriptions of columns and fact fields.
_TERMS = json.loads(
    resources.files(__package__).joinpath("croissant_terms.json").read_text("utf-8")
)
# The first key is from version 1.1; readers still use the second, from 1.0.
_SEVERAL = {"isArray": True, "repeated": True}


@dataclass(frozen=True)
class DistributedFile:
    """A downloadable file; `url` is absolute or relative to the Croissant file."""

    name: str
    url: str
    bytes: int
    sha256: str
    description: str = ""


@dataclass(frozen=True)
class ItemFile:
    """The Parquet file of the items, and whether it has columns of gold and images."""

    name: str
    gold: bool
    images: bool


def croissant(
    release: PublishedRelease, files: Sequence[DistributedFile], items: ItemFile | None = None
) -> dict[str, Any]:
    """The JSON-LD. Without `items` it describes the files but not their records.

    Raises ValueError if two files have the same name or `items` is not among them.
    """
    names = [file.name for file in files]
    if len(set(names)) < len(names):
        raise ValueError("two files have the same name")
    if items and items.name not in names:
        raise ValueError(f"{items.name} is none of the files")
    content: dict[str, Any] = {
        "@context": _TERMS["context"],
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
    """The bytes of the Croissant file."""
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
        "encodingFormat": _TERMS["media_types"].get(suffix, "application/octet-stream"),
        "sha256": file.sha256,
    }


def _creator(name: str) -> dict[str, str]:
    person = split_name(name)
    if person is None:
        return {"@type": "sc:Organization", "name": name}
    return {"@type": "sc:Person", "name": f"{person[1]} {person[0]}"}


def _items(file: ItemFile) -> dict[str, Any]:
    fields = [_column(file, column) for column in ("id", "split", "prompt")]
    if file.images:
        description = _TERMS["columns"]["images"]
        images = _field(file, "images", description, "sc:ImageObject", "bytes")
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
                **_field(file, "facts", field["description"], field["dataType"], key),
                "@id": f"{ITEMS}/facts/{key}",
                "name": key,
            }
            for key, field in _TERMS["fact_fields"].items()
        ],
    }
    return [_column(file, "html"), _column(file, "record"), facts, _column(file, "sha256")]


def _column(file: ItemFile, column: str) -> dict[str, Any]:
    return _field(file, column, _TERMS["columns"][column])


def _field(
    file: ItemFile, column: str, description: str, data_type: str = "sc:Text", part: str = ""
) -> dict[str, Any]:
    """A field for a column, or for the key `part` of the objects in it."""
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
