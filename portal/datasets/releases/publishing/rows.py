"""What is published of a release and its items, as plain values.

Also how the splits of a release were drawn, as it is published and read back, and the lines of
`meta.jsonl`: what is known of its documents beside their content, in the layout that imports
read. Documents whose gold is hidden have no line, because their source leads to the answer.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


class PublishingError(ValueError):
    """A file of a release that cannot be read; `where` names the file, or file and line."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


@dataclass(frozen=True)
class Citation:
    """How a release wants to be cited. A person is “Family, Given”; other names stay as they
    are.
    """

    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    url: str = ""


@dataclass(frozen=True)
class PublishedRelease:
    """A release without its items.

    `licence` is an SPDX identifier, an address or words; `must_accept` says that it stands before a
    download. `draw` says how its splits were drawn. `page` is the absolute address of the release's
    page. `sha256`, made as `scheme` says, is empty where gold is hidden, as is `fact_count`.
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


@dataclass(frozen=True)
class Fact:
    """The n-th fact of an item: `[start, end)` in code points of the canonical text."""

    n: int
    type: str
    value: str
    start: int
    end: int


@dataclass(frozen=True)
class ItemGold:
    """The canonical gold line of an item, its hash and its facts; the text the facts count in."""

    line: Mapping[str, Any]
    sha256: str
    facts: tuple[Fact, ...] = ()
    text_chars: int | None = None
    text_sha256: str | None = None


@dataclass(frozen=True)
class ItemImage:
    """A page image: its file's name, such as `ID.png`, and how to get at its bytes.

    `sha256` is that of the stored file, which the release covers; empty where nobody needs it.
    """

    name: str
    read: Callable[[], bytes]
    sha256: str = ""


@dataclass(frozen=True)
class PublishedItem:
    """One item; `gold` is None where it is hidden. What is left then may be told to anybody."""

    name: str
    split: str = ""
    prompt: str = ""
    images: tuple[ItemImage, ...] = ()
    gold: ItemGold | None = None


def image_name(document: str, number: int, suffix: str) -> str:
    """The file of a document's image: `ID.png` for the first, `ID-2.png` for the second."""
    return f"{document}{'' if number == 1 else f'-{number}'}{suffix}"


_COUNTS = ("seed", "items", "test_items", "groups", "divided")
_LONGEST = 40


def read_draw(value: Any) -> dict[str, Any]:
    """What a release tells of its draw: share, seed, group_by and counts; empty for none.

    Anything else in it stays out. Raises PublishingError, for archives come from outside.

    >>> read_draw({"share": 0.5, "seed": 7, "group_by": "filing", "kinds": []})
    {'share': 0.5, 'group_by': 'filing', 'seed': 7}
    """
    if not value:
        return {}
    if not isinstance(value, dict):
        raise PublishingError("draw", "not an object")
    share, group_by = value.get("share"), value.get("group_by")
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 < share < 1:
        raise PublishingError("draw.share", "not a number above 0 and below 1")
    if not isinstance(group_by, str) or len(group_by) > _LONGEST:
        raise PublishingError("draw.group_by", f"not a text of at most {_LONGEST} characters")
    counts = {key: value[key] for key in _COUNTS if key in value}
    if wrong := next((key for key, count in counts.items() if not _is_count(count)), ""):
        raise PublishingError(f"draw.{wrong}", "not a count")
    return {"share": share, "group_by": group_by, **counts}


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def draw_words(draw: dict[str, Any]) -> str:
    """A draw in a sentence, with its share beside the wanted one; empty for none.

    >>> draw_words({"share": 0.5, "seed": 7, "group_by": "filing", "items": 9, "test_items": 4,
    ...             "groups": 3, "divided": 0})
    'Drawn by filing with seed 7: 4 of 9 items (44.4 %, wanted 50 %) in 3 groups are the test part.'
    """
    if "test_items" not in draw or not draw.get("items"):
        return ""
    by = "" if draw["group_by"] == "none" else f" by {draw['group_by']}"
    reached = 100 * draw["test_items"] / draw["items"]
    words = (
        f"Drawn{by} with seed {draw.get('seed', 0)}: {draw['test_items']:,} of"
        f" {draw['items']:,} items ({reached:.1f} %, wanted {100 * draw['share']:g} %)"
        f" in {draw.get('groups', 0):,} groups are the test part."
    )
    if divided := draw.get("divided"):
        words += f" Earlier releases have {divided:,} of the groups in both parts."
    return words


def draw_deviations(draw: dict[str, Any]) -> str:
    """The kinds of items whose share in the test part is another than the wanted, in a sentence.

    Differences below one item do not count.

    >>> draw_deviations({"share": 0.5, "kinds": [{"kind": "tax_form", "items": 8, "test_items": 6},
    ...                                          {"kind": "other", "items": 5, "test_items": 2}]})
    'Away from the wanted share: tax_form 6 of 8 (4 wanted).'
    """
    away = [
        f"{row['kind'] or 'no type'} {row['test_items']:,} of {row['items']:,}"
        f" ({draw['share'] * row['items']:.3g} wanted)"
        for row in draw.get("kinds", ())
        if abs(row["test_items"] - draw["share"] * row["items"]) >= 1
    ]
    return f"Away from the wanted share: {', '.join(away)}." if away else ""


META_LINES = "meta.jsonl"
LANGUAGE = "language"


@dataclass(frozen=True)
class PublishedMeta:
    """What is told of one document: fields such as `company`, and any others in `metadata`."""

    document: str
    fields: Mapping[str, Any]
    metadata: Mapping[str, Any]


def meta_line(meta: PublishedMeta) -> bytes:
    """One line of JSON; fields without a value are left out, and win over others of their name.

    >>> meta_line(PublishedMeta("p1", {"company": "Acme", "licence": ""}, {"cik": 7}))
    b'{"id": "p1", "company": "Acme", "cik": 7}\\n'
    """
    told = {key: value for key, value in meta.fields.items() if value not in ("", None)}
    others = {key: meta.metadata[key] for key in sorted(meta.metadata) if key not in meta.fields}
    line = {"id": meta.document, **told, **others}
    return (json.dumps(line, ensure_ascii=False) + "\n").encode()
