"""How to cite a release: BibTeX and CITATION.cff 1.2.0.

A name written “Family, Given” is a person's. Any other name is taken in one piece, since no rule
tells an institute from a person whose family name comes first.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from .rows import Citation, PublishedRelease

BIBTEX = "citation.bib"
CFF = "CITATION.cff"
_BREAKS = frozenset("\x85\u2028\u2029")
CFF_VERSION = "1.2.0"
# Of the identifiers of SPDX those that data are put under: CFF takes no other words.
SPDX = frozenset(
    """
    CC0-1.0 CC-BY-3.0 CC-BY-4.0 CC-BY-SA-3.0 CC-BY-SA-4.0 CC-BY-NC-4.0 CC-BY-NC-SA-4.0
    CC-BY-ND-4.0 CC-BY-NC-ND-4.0 CDLA-Permissive-1.0 CDLA-Permissive-2.0 CDLA-Sharing-1.0
    ODbL-1.0 ODC-By-1.0 PDDL-1.0 MIT Apache-2.0 BSD-2-Clause BSD-3-Clause GPL-3.0-only
    """.split()
)
_FIELDS = frozenset({"authors", "year", "doi", "url"})
_DOI = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)?/[A-Za-z0-9:/_;\-.()\[\]\\]+")
_URL = re.compile(r"https?://[^\s<>\"{}|\\^`]+")
_YEARS = range(1900, 2201)
_ESCAPES = {
    "\\": r"\textbackslash{}",
    # BibTeX counts every brace, behind a backslash too: in a text they must be none.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "#$%&_"},
}


def read_citation(value: object) -> Citation:
    """A citation of `{authors: [name, …], year, doi, url}`, each of which may be missing.

    Raises ValueError, which names the field.
    """
    if not isinstance(value, Mapping):
        raise ValueError("a citation must be an object")
    if unknown := sorted(set(value) - _FIELDS):
        raise ValueError(f"{unknown[0]}: a citation has no such field")
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
        url=_matched(value, "url", _URL, "an address that begins with https:// or http://"),
    )


def bibtex(release: PublishedRelease) -> str:
    """A BibTeX entry, with a line break at its end. Letters beyond ASCII stay: it is UTF-8."""
    citation = release.citation
    fields = {
        "title": f"{{{escape(release.title)}}}",
        "author": " and ".join(map(_bibtex_author, citation.authors)),
        "year": str(_year(release)),
        "version": escape(release.version),
        "note": f"Data set, version {escape(release.version)}",
        # An address is taken as it is; only what would end the braces has to go.
        "doi": quote(citation.doi, safe="/:;()[].,_-"),
        "url": quote(_url(release), safe="/:;?&=#%+,.@!~*'()[]_-$"),
    }
    lines = [f"  {key} = {{{value}}}" for key, value in fields.items() if value]
    return f"@misc{{{_key(release)},\n" + ",\n".join(lines) + "\n}\n"


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
        # In words it fits no field of the format.
        message += f" Licence: {release.licence}"
    content: dict[str, Any] = {
        "cff-version": CFF_VERSION,
        "message": message,
        "type": "dataset",
        "title": release.title,
        "version": release.version,
        "date-released": release.frozen_at.date().isoformat(),
        # One author there must be; the data set stands for those it does not name.
        "authors": [_cff_author(name) for name in dict.fromkeys(citation.authors)]
        or [{"name": f"The authors of {release.title}"}],
        **licence,
        **({"abstract": release.description} if release.description else {}),
        **({"doi": citation.doi} if citation.doi else {}),
        **({"url": _url(release)} if _url(release) else {}),
        **({"keywords": list(dict.fromkeys(release.keywords))} if release.keywords else {}),
    }

    class Dumper(yaml.SafeDumper):
        """Line breaks beyond ASCII's survive only in double quotes."""

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
    """Family and given name of a person; None of a name that is one piece.

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
    """Names are parted at “and” and at commas, wherever no braces keep them together."""
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
    """Of letters, digits and hyphens, whatever the slug has: `set-1-0-0`."""
    return re.sub("[^A-Za-z0-9]+", "-", f"{release.dataset}-{release.version}").strip("-")
