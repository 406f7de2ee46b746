"""Reads and writes Label Studio tasks in the format of its JSON export.

A span is a result of a HyperTextLabels control: XPaths of the text nodes at its ends, offsets in
them, and global offsets, in which a line break counts as one character. All offsets are in code
points. Value and sign are results of two TextArea controls with the same id, so that Label Studio
shows them with their span.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any
from unicodedata import normalize

from portal.facts.other_tools import other_tool
from portal.facts.page_text import TextPaths
from portal.facts.spans import FactSpan, ReadingError
from portal.facts.values import read_value

OBJECT = "html"
LABELS = "labels"
DETAILS = ("value", "sign")
# Colours of labels in the labelling interface, in order.
_COLOURS = ("#1f6feb", "#d29922", "#2da44e", "#a371f7", "#cf222e", "#1b7c83")


@dataclass(frozen=True)
class LabelledBy:
    """The labels of an annotator, or gold; `by` is the annotator's number in Label Studio.

    `unvalued` are the keys of spans whose value and sign are unknown, and are not written.
    """

    id: int
    by: int | None
    spans: Sequence[FactSpan]
    seconds: int | None = None
    is_gold: bool = False
    unvalued: Collection[str] = ()


def write_task(
    number: int,
    data: Mapping[str, Any],
    canonical_html: str,
    labelled: Sequence[LabelledBy],
) -> dict[str, Any]:
    """A document as a task; `data` is its metadata.

    The spans must lie in the text of `canonical_html`.
    """
    paths = TextPaths(canonical_html)
    return {
        "id": number,
        "data": {OBJECT: canonical_html, **data},
        "annotations": [_annotation_of(paths, one) for one in labelled],
        "predictions": [],
    }


def label_config(labels: Sequence[str]) -> str:
    """The labelling configuration for these tasks, as XML."""
    rows = "".join(
        f'    <Label value="{escape(label)}" background="{_COLOURS[n % len(_COLOURS)]}"/>\n'
        for n, label in enumerate(labels)
    )
    areas = "".join(
        f'  <TextArea name="{name}" toName="{OBJECT}" perRegion="true" maxSubmissions="1"/>\n'
        for name in DETAILS
    )
    return (
        f'<View>\n  <HyperTextLabels name="{LABELS}" toName="{OBJECT}">\n{rows}'
        f'  </HyperTextLabels>\n{areas}  <HyperText name="{OBJECT}" value="${OBJECT}"/>\n</View>\n'
    )


def _annotation_of(paths: TextPaths, labelled: LabelledBy) -> dict[str, Any]:
    ordered = sorted(labelled.spans, key=lambda span: span.start)
    person = {} if labelled.by is None else {"completed_by": labelled.by}
    return {
        "id": labelled.id,
        **person,
        "result": [
            result
            for span in ordered
            for result in _results(paths, span, is_valued=span.key not in labelled.unvalued)
        ],
        "was_cancelled": False,
        "ground_truth": labelled.is_gold,
        "lead_time": labelled.seconds,
    }


def _results(paths: TextPaths, span: FactSpan, *, is_valued: bool) -> list[dict[str, Any]]:
    first, last = paths.places(span.start, span.end)
    start, end = paths.global_offsets(span.start, span.end)
    place = {
        "start": first.path,
        "end": last.path,
        "startOffset": first.offset,
        "endOffset": last.offset,
        "globalOffsets": {"start": start, "end": end},
        "text": span.quote.replace("\n", "\\n"),
    }
    common = {"id": span.key, "to_name": OBJECT, "origin": "manual"}
    label = {**common, "from_name": LABELS, "type": "hypertextlabels"}
    results = [{**label, "value": {**place, "hypertextlabels": [span.label]}}]
    meant = read_value(span.quote, span.label)
    for name, said, derived in zip(DETAILS, (span.value, span.sign), meant, strict=True):
        # An empty value is written only if the quote has one.
        if is_valued and (said or derived):
            area = {**common, "from_name": name, "type": "textarea"}
            results.append({**area, "value": {**place, "text": [said]}})
    return results


# The types of results that are spans, and the value field with their labels.
SPAN_TYPES = ("hypertextlabels", "labels")
_HTML_FIELDS = (OBJECT, "text", "hypertext", "ner")
_TEXT_FIELDS = ("text", "ner")
# Keys that tools use for the document's name in the data of a task.
_NAMES = ("name", "id", "document", "filename", "file_name")


@dataclass(frozen=True)
class Region:
    """A labelled region of the export; missing details are None or empty.

    `start` and `end` are XPaths with offsets inside their nodes, or, in plain text, offsets alone.
    """

    id: str
    labels: tuple[str, ...]
    start: str = ""
    end: str = ""
    start_offset: int | None = None
    end_offset: int | None = None
    global_offsets: tuple[int, int] | None = None
    text: str = ""
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskAnnotation:
    """The results of an annotator; `other` counts results that are not spans, by type."""

    id: str
    by: str
    regions: tuple[Region, ...]
    is_cancelled: bool = False
    is_gold: bool = False
    other: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """A task; `html` is the page in Label Studio, empty if it is plain text or only a URL."""

    id: str
    data: Mapping[str, Any]
    annotations: tuple[TaskAnnotation, ...]

    @property
    def where(self) -> str:
        return f"task {self.id}"

    @property
    def name(self) -> str:
        """The document's name in the data in Unicode form NFC, as names are, or empty."""
        names = (self.data.get(field) for field in _NAMES)
        found = next((name for name in names if isinstance(name, str) and name), "")
        return normalize("NFC", found)

    @property
    def html(self) -> str:
        texts = (self.data.get(name) for name in _HTML_FIELDS)
        return next((text for text in texts if isinstance(text, str) and "<" in text), "")

    @property
    def is_plain_text(self) -> bool:
        """Whether the labelled text is not HTML."""
        return not self.html and any(isinstance(self.data.get(name), str) for name in _TEXT_FIELDS)


def read_tasks(data: object) -> Iterator[Task | ReadingError]:
    """Yield the tasks of a decoded export, and an error for each malformed task.

    Raises ReadingError if the export is not a list of tasks.
    """
    tasks = [data] if isinstance(data, dict) else data
    if not isinstance(tasks, list):
        raise ReadingError("the file", "must be a list of tasks, as Label Studio's JSON export is")
    for place, task in enumerate(tasks):
        try:
            yield _task(task, place)
        except ReadingError as error:
            yield error


def _task(task: object, place: int) -> Task:
    where = f"[{place}]"
    fields = _object(task, where)
    if reason := other_tool(fields):
        raise ReadingError(where, reason)
    name = str(fields.get("id", place + 1))[:40]
    data = _object(fields.get("data"), f"{where}.data")
    annotations = fields.get("annotations", fields.get("completions", []))
    found = [
        _read_annotation(item, f"task {name}: annotations[{number}]", data)
        for number, item in enumerate(_list(annotations, f"{where}.annotations"))
    ]
    return Task(name, data, tuple(found))


def _read_annotation(item: object, where: str, data: Mapping[str, Any]) -> TaskAnnotation:
    fields = _object(item, where)
    results = [
        _object(result, f"{where}.result[{number}]")
        for number, result in enumerate(_list(fields.get("result", []), f"{where}.result"))
    ]
    details = _details(results)
    regions: list[Region] = []
    other: dict[str, int] = {}
    for number, result in enumerate(results):
        kind = str(result.get("type", "no type"))[:40]
        if kind in SPAN_TYPES:
            regions.append(_region(result, kind, f"{where}.result[{number}]", details))
        elif not (kind == "textarea" and result.get("from_name") in DETAILS):
            other[kind] = other.get(kind, 0) + 1
    return TaskAnnotation(
        id=str(fields.get("id", ""))[:40],
        by=_person(fields.get("completed_by"), data),
        regions=tuple(regions),
        is_cancelled=fields.get("was_cancelled") is True,
        is_gold=fields.get("ground_truth") is True,
        other=other,
    )


def _details(results: list[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Value and sign by the id of their region."""
    found: dict[str, dict[str, str]] = {}
    for result in results:
        value = result.get("value")
        text = value.get("text") if isinstance(value, dict) else None
        said = text[-1] if isinstance(text, list) and text else text
        if result.get("from_name") in DETAILS and isinstance(said, str):
            found.setdefault(str(result.get("id")), {})[result["from_name"]] = said
    return found


def _region(
    result: Mapping[str, Any], kind: str, where: str, details: Mapping[str, Mapping[str, str]]
) -> Region:
    value = _object(result.get("value"), f"{where}.value")
    labels = _list(value.get(kind), f"{where}.value.{kind}")
    identity = str(result.get("id", ""))[:40]
    common: dict[str, Any] = {
        "id": identity,
        "labels": tuple(str(label)[:100] for label in labels),
        "text": _text(value.get("text")),
        "details": details.get(identity, {}),
    }
    start, end = value.get("start"), value.get("end")
    if isinstance(start, str) and isinstance(end, str):
        offsets = value.get("globalOffsets")
        ends = offsets if isinstance(offsets, dict) else {}
        return Region(
            **common,
            start=start,
            end=end,
            start_offset=_whole(value.get("startOffset")),
            end_offset=_whole(value.get("endOffset")),
            global_offsets=_pair(ends.get("start"), ends.get("end")),
        )
    pair = _pair(start, end)
    if pair is None:
        raise ReadingError(f"{where}.value", "start and end must be XPaths, or whole numbers")
    return Region(**common, start_offset=pair[0], end_offset=pair[1])


def _person(said: object, data: Mapping[str, Any]) -> str:
    """The annotator: from the data of our own exports, otherwise the email or number."""
    if isinstance(said, dict):
        said = said.get("email") or said.get("id")
    ours = data.get("annotators")
    name = ours.get(str(said)) if isinstance(ours, dict) else None
    return str(name if isinstance(name, str) else "" if said is None else said)[:100]


def _text(said: object) -> str:
    return said if isinstance(said, str) else ""


def _whole(said: object) -> int | None:
    # A bool is an int in Python, but not a number in JSON.
    return said if type(said) is int else None


def _pair(start: object, end: object) -> tuple[int, int] | None:
    first, last = _whole(start), _whole(end)
    return None if first is None or last is None else (first, last)


def _object(data: object, where: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise ReadingError(where, "must be an object")
    return data


def _list(data: object, where: str) -> list[Any]:
    if not isinstance(data, list):
        raise ReadingError(where, "must be a list")
    return data
