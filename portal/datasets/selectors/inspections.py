"""One sampled document of a batch to inspect: its images, its fields and what was said of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from portal.datasets.curation.record_fields import record_fields
from portal.datasets.curation.records import is_empty
from portal.datasets.curation.schemas import FieldRule
from portal.datasets.models import Batch, BatchDocument, Inspection, PageImage

from .acceptance import batch_schema, stamp_of
from .batches import next_to_inspect, sampled_documents

Said: TypeAlias = Literal["", "right", "wrong"]


@dataclass(frozen=True)
class ShownValue:
    """A value for reading: `text`, or `lines` of a list, or `rows` under the `columns` of objects.

    `missing` is `absent` where the record has no such key, `empty` where there is nothing in it.
    """

    text: str = ""
    lines: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    missing: Literal["", "absent", "empty"] = ""


@dataclass(frozen=True)
class InspectedField:
    """A field to look at. `number` counts from 1; `base` is the stamp of the verdict shown.

    `raw` and `raw_correct` are the values as JSON has them, for programs.
    """

    number: int
    name: str
    kind: str
    value: ShownValue
    faults: tuple[str, ...]
    said: Said
    inspector: str
    base: str
    correct: str
    should_be_empty: bool
    comment: str
    raw: Any
    raw_correct: Any


@dataclass(frozen=True)
class InspectionPage:
    """`position` of `sample_size` in the order of names; `said` of the fields have a verdict."""

    batch: Batch
    sampled: BatchDocument
    images: list[PageImage]
    fields: list[InspectedField]
    position: int
    previous: str
    following: str
    next_open: str

    @property
    def said(self) -> int:
        return sum(bool(field.said) for field in self.fields)


def inspection_page(batch: Batch, sampled: BatchDocument) -> InspectionPage:
    document = sampled.document
    names = list(sampled_documents(batch).values_list("document__name", flat=True))
    place = names.index(document.name)
    images = list(document.images.all())
    for image in images:
        image.document = document
    waiting = next_to_inspect(batch, document.name)
    return InspectionPage(
        batch=batch,
        sampled=sampled,
        images=images,
        fields=inspected_fields(batch, sampled),
        position=place + 1,
        previous=names[place - 1] if place else "",
        following=names[place + 1] if place + 1 < len(names) else "",
        next_open=waiting.document.name if waiting else "",
    )


def inspected_fields(batch: Batch, sampled: BatchDocument) -> list[InspectedField]:
    """The fields of the batch in their order, with the record's values and the verdicts."""
    record = record_fields(sampled.document.record.gold)
    said = {row.field: row for row in sampled.inspections.select_related("inspector")}
    return [
        _field(number, rule, record, sampled.faults, said.get(rule.name))
        for number, rule in enumerate(batch_schema(batch).fields, start=1)
    ]


def shown_value(record: Mapping[str, Any], rule: FieldRule) -> ShownValue:
    """How a field of a record is shown: texts as they are, lists line by line or as a table."""
    if rule.name not in record:
        return ShownValue(missing="absent")
    value = record[rule.name]
    if is_empty(value):
        return ShownValue(missing="empty")
    if not isinstance(value, list):
        return ShownValue(text=_text(value))
    if not all(isinstance(item, Mapping) for item in value):
        return ShownValue(lines=tuple(_text(item) for item in value))
    known = [item.name for item in rule.items]
    others = dict.fromkeys(str(key) for item in value for key in item if key not in known)
    columns = (*known, *others)
    rows = tuple(tuple(_text(item.get(column)) for column in columns) for item in value)
    return ShownValue(columns=columns, rows=rows)


def _field(
    number: int,
    rule: FieldRule,
    record: Mapping[str, Any],
    faults: Sequence[Mapping[str, str]],
    said: Inspection | None,
) -> InspectedField:
    correct = said.correct_value if said else None
    return InspectedField(
        number=number,
        name=rule.name,
        kind=rule.kind,
        value=shown_value(record, rule),
        faults=tuple(fault["message"] for fault in faults if fault["field"] == rule.name),
        said=("right" if said.is_right else "wrong") if said else "",
        inspector=str(said.inspector) if said else "",
        base=stamp_of(said),
        correct="" if correct is None else _text(correct),
        should_be_empty=correct == "",
        comment=said.comment if said else "",
        raw=record.get(rule.name),
        raw_correct=correct,
    )


def _text(value: Any) -> str:
    """A value as people read it; what JSON alone can say, as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
