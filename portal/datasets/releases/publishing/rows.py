"""The published data of a release and its items, as plain values.

Includes the record of how splits were drawn and the lines of `meta.jsonl`, the metadata of the
documents in the layout that imports read. Documents with hidden gold have no line, because their
source would reveal the answers.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from portal.facts import Fact, FactValue


class PublishingError(ValueError):
    """A file of a release that cannot be read; `where` names the file, or file and line."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


@dataclass(frozen=True)
class Citation:
    """How to cite a release. A person is “Family, Given”; other names are used unchanged."""

    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    url: str = ""


@dataclass(frozen=True)
class PublishedRelease:
    """A release without its items.

    `licence` is an SPDX identifier, a URL or text; with `must_accept` users accept it before a
    download. `draw` records how the splits were drawn. `page` is the absolute URL of the release.
    `canary` is a text by which copies of the files can be found, for example in training data.
    `sha256` follows `scheme`. If any gold is hidden, `sha256` is empty and `fact_count` None.
    """

    dataset: str
    title: str
    version: str
    frozen_at: datetime
    description: str = ""
    licence: str = ""
    must_accept: bool = False
    benchmark: str = "fincriticaled"
    labels: tuple[str, ...] = ()
    visibility: str = "public"
    notes: str = ""
    scheme: str = "release-v1"
    sha256: str = ""
    item_count: int = 0
    fact_count: int | None = None
    citation: Citation = Citation()
    draw: Mapping[str, Any] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()
    page: str = ""
    canary: str = ""


@dataclass(frozen=True)
class ItemGold:
    """The canonical gold line of an item with its hash, facts, and text length and hash.

    `meanings` are the settled values and signs by the number of their fact, where they are known.
    """

    line: Mapping[str, Any]
    sha256: str
    facts: tuple[Fact, ...] = ()
    text_chars: int | None = None
    text_sha256: str | None = None
    meanings: Mapping[int, FactValue] = field(default_factory=dict)


@dataclass(frozen=True)
class ItemImage:
    """A page image: its file name, such as `ID.png`, and a function that reads its bytes.

    `sha256` is that of the stored file, which the release covers; empty where it is not needed.
    """

    name: str
    read: Callable[[], bytes]
    sha256: str = ""


@dataclass(frozen=True)
class PublishedItem:
    """One item. `gold` is None if it is hidden from the reader; the other fields are public.

    `canary` is written into every line with its gold; empty where the gold is public.
    """

    name: str
    split: str = ""
    prompt: str = ""
    images: tuple[ItemImage, ...] = ()
    gold: ItemGold | None = None
    canary: str = ""


def image_name(document: str, number: int, suffix: str) -> str:
    """The file name of a document's image: `ID.png` for the first, `ID-2.png` for the second."""
    return f"{document}{'' if number == 1 else f'-{number}'}{suffix}"


_COUNTS = ("seed", "items", "test_items", "groups", "kept", "divided")
_LONGEST = 40


def read_draw(value: Any) -> dict[str, Any]:
    """The public part of a draw: share, seed, group_by and counts; empty if there was none.

    Raises PublishingError if the value is malformed, because it may come from an archive.

    >>> read_draw({"share": 0.5, "seed": 7, "group_by": "filing", "kinds": []})
    {'share': 0.5, 'group_by': 'filing', 'seed': 7}
    """
    if not value:
        return {}
    if not isinstance(value, dict):
        raise PublishingError("draw", "must be an object")
    share, group_by = value.get("share"), value.get("group_by")
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 < share < 1:
        raise PublishingError("draw.share", "must be a number above 0 and below 1")
    if not isinstance(group_by, str) or len(group_by) > _LONGEST:
        raise PublishingError("draw.group_by", f"must be a string of at most {_LONGEST} characters")
    counts = {key: value[key] for key in _COUNTS if key in value}
    if wrong := next((key for key, count in counts.items() if not _is_count(count)), ""):
        raise PublishingError(f"draw.{wrong}", "must be a whole number from 0")
    return {"share": share, "group_by": group_by, **counts}


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def draw_words(draw: dict[str, Any]) -> str:
    """A draw as a sentence, with actual and requested share; empty if there was none.

    >>> draw_words({"share": 0.5, "seed": 7, "group_by": "filing", "items": 9, "test_items": 4,
    ...             "groups": 3, "divided": 0})
    'Drawn by filing with seed 7: the test split has 4 of 9 items (44.4%, 50% requested). 3 groups.'
    """
    if "test_items" not in draw or not draw.get("items"):
        return ""
    by = "" if draw["group_by"] == "none" else f" by {draw['group_by']}"
    reached = 100 * draw["test_items"] / draw["items"]
    words = (
        f"Drawn{by} with seed {draw.get('seed', 0)}: the test split has {draw['test_items']:,} of"
        f" {draw['items']:,} items ({reached:.1f}%, {100 * draw['share']:g}% requested)."
        f" {draw.get('groups', 0):,} groups."
    )
    if kept := draw.get("kept"):
        words += f" Items that keep the split of an earlier release: {kept:,}."
    if divided := draw.get("divided"):
        words += f" Groups in both splits because of earlier releases: {divided:,}."
    return words


_AWAY = "Document types that differ from the requested share"


def draw_deviations(draw: dict[str, Any]) -> str:
    """A sentence on the kinds of items whose test share differs from the requested one.

    Ignores differences of less than one item.

    >>> draw_deviations({"share": 0.5, "kinds": [{"kind": "tax_form", "items": 8, "test_items": 6},
    ...                                          {"kind": "other", "items": 5, "test_items": 2}]})
    'Document types that differ from the requested share: tax_form 6 of 8 (4 requested).'
    """
    away = [
        f"{row['kind'] or 'no type'} {row['test_items']:,} of {row['items']:,}"
        f" ({draw['share'] * row['items']:.3g} requested)"
        for row in draw.get("kinds", ())
        if abs(row["test_items"] - draw["share"] * row["items"]) >= 1
    ]
    return f"{_AWAY}: {', '.join(away)}." if away else ""


META_LINES = "meta.jsonl"
LANGUAGE = "language"


def meta_line(document: str, fields: Mapping[str, Any], metadata: Mapping[str, Any]) -> bytes:
    """One line of JSON without empty fields; `fields` take precedence over `metadata`.

    >>> meta_line("p1", {"company": "Acme", "licence": ""}, {"cik": 7})
    b'{"id": "p1", "company": "Acme", "cik": 7}\\n'
    """
    filled = {key: value for key, value in fields.items() if value not in ("", None)}
    others = {key: metadata[key] for key in sorted(metadata) if key not in fields}
    line = {"id": document, **filled, **others}
    return (json.dumps(line, ensure_ascii=False) + "\n").encode()
