"""A release of pages as tasks of Label Studio, with the gold as their ground truth."""

import json
from collections.abc import Iterable, Iterator, Sequence

from portal.facts import FactSpan, LabelledBy, read_tags, read_value, write_task

from .rows import Fact, ItemGold, PublishedItem

LABEL_STUDIO = "labelstudio.json"


def label_studio_pieces(items: Iterable[PublishedItem], labels: Sequence[str]) -> Iterator[bytes]:
    """The file's bytes while it is made. Items whose gold is hidden have no task."""
    separator = "[\n"
    number = 0
    for item in items:
        if item.gold is None:
            continue
        number += 1
        task = json.dumps(_task(number, item, item.gold, labels), ensure_ascii=False)
        yield f"{separator}{task}".encode()
        separator = ",\n"
    yield b"\n]\n" if number else b"[]\n"


def _task(
    number: int, item: PublishedItem, gold: ItemGold, labels: Sequence[str]
) -> dict[str, object]:
    data = {"name": item.name, "text_sha256": gold.text_sha256}
    if item.split:
        data["split"] = item.split
    html = read_tags(gold.line["html"], labels).canonical.html
    labelled = LabelledBy(number, None, [_span(fact) for fact in gold.facts], is_gold=True)
    return write_task(number, data, html, [labelled])


def _span(fact: Fact) -> FactSpan:
    value, sign = read_value(fact.value, fact.type)
    return FactSpan(
        key=f"fact-{fact.n}",
        label=fact.type,
        start=fact.start,
        end=fact.end,
        quote=fact.value,
        value=value,
        sign=sign,
    )
