"""A release as JSON Lines: `gold.jsonl` and `facts.jsonl`, one line per item in the same order.

The gold lines are the benchmark's own, and their ids need not be the items' names: the manifest
and `facts.jsonl` tell the names. Items whose gold is hidden have no lines.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import zip_longest
from typing import Any

from .manifest import ItemEntry, canonical_json, gold_sha256
from .rows import Fact, ItemGold, PublishedItem, PublishingError

GOLD_LINES = "gold.jsonl"
FACT_LINES = "facts.jsonl"


def gold_lines(items: Iterable[PublishedItem]) -> Iterator[bytes]:
    """The gold lines in canonical JSON: an item's hash is of its line without the line break."""
    for item in items:
        if item.gold:
            yield (canonical_json(item.gold.line) + "\n").encode()


def fact_lines(items: Iterable[PublishedItem]) -> Iterator[bytes]:
    """The items' facts with their offsets, and the text these count in."""
    for item in items:
        if item.gold:
            line = {
                "id": item.name,
                "text_chars": item.gold.text_chars,
                "text_sha256": item.gold.text_sha256,
                "facts": [asdict(fact) for fact in item.gold.facts],
            }
            yield (json.dumps(line, ensure_ascii=False) + "\n").encode()


def read_items(
    entries: Iterable[ItemEntry], gold: Iterable[bytes], facts: Iterable[bytes]
) -> Iterator[PublishedItem]:
    """The items again, without their images; one at a time.

    `entries` are the manifest's. Raises PublishingError, which names file and line, for a line
    that is missing, too many, unreadable, of another item, or not what its hash says.
    """
    entries = list(entries)
    lines = zip_longest(
        (entry for entry in entries if entry.sha256), enumerate(gold, 1), enumerate(facts, 1)
    )
    for entry in entries:
        if entry.sha256:
            yield _read_item(*next(lines))
        else:
            yield PublishedItem(entry.name, entry.split)
    for _, gold_line, fact_line in lines:
        name, (number, _) = (GOLD_LINES, gold_line) if gold_line else (FACT_LINES, fact_line)
        raise PublishingError(f"{name}:{number}", "a line of no item of the manifest")


def _read_item(
    entry: ItemEntry, gold: tuple[int, bytes] | None, facts: tuple[int, bytes] | None
) -> PublishedItem:
    for name, given in ((GOLD_LINES, gold), (FACT_LINES, facts)):
        if given is None:
            raise PublishingError(name, f"the line of {entry.name} is missing")
    assert gold is not None
    assert facts is not None
    line = read_line(GOLD_LINES, *gold)
    if gold_sha256(line) != entry.sha256:
        raise PublishingError(f"{GOLD_LINES}:{gold[0]}", f"not the gold of {entry.name}, by hash")
    where = f"{FACT_LINES}:{facts[0]}"
    about = read_line(FACT_LINES, *facts)
    if about.get("id") != entry.name:
        raise PublishingError(where, f"id: must be {entry.name}, is {about.get('id')!r:.80}")
    return PublishedItem(
        name=entry.name,
        split=entry.split,
        gold=ItemGold(
            line=line,
            sha256=entry.sha256,
            facts=read_facts(where, about.get("facts")),
            text_chars=_optional(where, about, "text_chars", int),
            text_sha256=_optional(where, about, "text_sha256", str),
        ),
    )


def read_line(name: str, number: int, line: bytes) -> dict[str, Any]:
    """The JSON object of a line; raises PublishingError."""
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise PublishingError(f"{name}:{number}", f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise PublishingError(f"{name}:{number}", "must be a JSON object")
    return value


def read_facts(where: str, facts: object) -> tuple[Fact, ...]:
    """The facts of `[{n, type, value, start, end}, …]`; raises PublishingError with the field."""
    if not isinstance(facts, list):
        raise PublishingError(where, "facts: missing, or not a list")
    return tuple(_fact(f"{where}: facts[{index}]", fact) for index, fact in enumerate(facts))


def _fact(where: str, fact: object) -> Fact:
    if not isinstance(fact, Mapping):
        raise PublishingError(where, "not an object")
    for key in ("n", "start", "end"):
        if type(fact.get(key)) is not int:
            raise PublishingError(where, f"{key}: missing, or not a whole number")
    for key in ("type", "value"):
        if not isinstance(fact.get(key), str):
            raise PublishingError(where, f"{key}: missing, or not a text")
    return Fact(fact["n"], fact["type"], fact["value"], fact["start"], fact["end"])


def _optional(where: str, about: Mapping[str, Any], key: str, kind: type) -> Any:
    value = about.get(key)
    if value is not None and type(value) is not kind:
        raise PublishingError(where, f"{key}: must be of type {kind.__name__}, or null")
    return value
