"""Reads CC-OCR's gold and submissions: JSON Lines, or the benchmark's own folders.

Gold is `{"id", "subset", "track", "op", "answer"}` with an optional `orientation`, predictions are
`{"id", "subset", "response"}`. Images of different subsets may share an id, so an item's id is
`subset:id`. Other keys are ignored.

In the published folders, gold is index files (`index.json`, or one per track in `index/`), lists of
`{"dataset", "base_dir", "group", "op"}`, of rotated images also with their `orientation`, which is
added to their ids (`IMAGE@90`), and in every `base_dir` a `label.json`, which maps image
names to answers. Predictions are those that its own evaluator reads: `SUBSET/IMAGE.json` with
`{"model_name", "response"}`, at any depth.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from portal.files.archives import Archive, ArchiveFault, open_archive
from scoring.benchmarks.base import GoldLine, PredictionLine
from scoring.benchmarks.checking import check_id, check_text, holds_nul, kind_of, named, read_lines
from scoring.benchmarks.items import Options, Payload
from scoring.benchmarks.reading import (
    DEFAULT_LIMITS,
    LONGEST_ID,
    ReadFault,
    ReadLimits,
    Record,
    Source,
    holds_json_files,
    is_json,
    name_of,
    quoted,
    read_json_files,
    read_json_object,
    read_json_value,
    read_records,
)
from scoring.metrics import TooLargeError, is_deeper
from scoring.metrics.fields import UnparseableError
from scoring.metrics.reading import check_words, word_of
from scoring.metrics.structured import DEEPEST, check_gold_record, parse_record
from scoring.metrics.table_forms import check_gold_tables
from scoring.metrics.tables import check_gold_table

from .figures import OPS, TRACKS, find_subset

_LABELS = "label.json"
_LONGEST_NAME = 300
# Files that the published evaluator writes next to the predictions.
_REPORT = "status.json"
# Where the text is in stored responses of the services.
_TEXTS: tuple[tuple[str | int, ...], ...] = (
    ("data", "response", "choices", 0, "message", "content"),
    ("content", 0, "text"),
    ("candidates", 0, "content", "parts", 0, "text"),
    ("output", "choices", 0, "message", "content", 0, "text"),
)


def read_published_gold(source: Source, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    """Yield one record per label, in the form of a gold line."""
    shown = name_of(source)
    try:
        with open_archive(source, limits.archive) as archive:
            names = sorted(member.name for member in archive.members() if is_json(member.name))
            labels = {name for name in names if PurePosixPath(name).name == _LABELS}
            indexes = [name for name in names if name not in labels]
            if not indexes:
                yield ReadFault(shown, 0, None, "contains no index of its subsets")
            for name in indexes:
                yield from _read_index(archive, name, labels, shown)
    except ArchiveFault as error:
        yield ReadFault(shown, 0, None, str(error))


def _read_index(
    archive: Archive, name: str, labels: set[str], shown: str
) -> Iterator[Record | ReadFault]:
    index = read_json_value(archive, name, f"{shown}/{name}")
    if isinstance(index, ReadFault):
        yield index
        return
    entries = index.value["value"]
    if not isinstance(entries, list):
        yield index.fault("not an index: a list of subsets was expected")
        return
    for number, entry in enumerate(entries, 1):
        problem = _entry_problem(entry)
        path = "" if problem else _labels_of(name, entry["base_dir"], labels)
        if problem or not path:
            reason = problem or f"there is no {entry['base_dir']}/{_LABELS}"
            yield index.fault(f"subset {number}: {reason}")
        else:
            yield from _read_labels(archive, path, f"{shown}/{path}", entry)


def _entry_problem(entry: Any) -> str:
    if not isinstance(entry, dict):
        return "not an object"
    for key in ("dataset", "base_dir", "group"):
        name = entry.get(key)
        if not isinstance(name, str) or not name.isprintable() or len(name) > _LONGEST_NAME:
            return f"{key!r} must be a string of at most {_LONGEST_NAME} printable characters"
    if entry["group"] not in TRACKS:
        return f"'group' must be one of {', '.join(TRACKS)}, not {quoted(entry['group'])}"
    return ""


def _labels_of(index: str, base: str, labels: set[str]) -> str:
    """Return the label file of a subset, whose folder is relative to one of those around the
    index."""
    for folder in PurePosixPath(index).parents:
        path = (folder / base / _LABELS).as_posix()
        if path in labels:
            return path
    return ""


def _read_labels(
    archive: Archive, path: str, shown: str, entry: dict[str, Any]
) -> Iterator[Record | ReadFault]:
    labels = read_json_value(archive, path, shown)
    if isinstance(labels, ReadFault):
        yield labels
        return
    answers = labels.value["value"]
    if not isinstance(answers, dict):
        yield labels.fault("not a JSON object of answers by image")
        return
    track = TRACKS[entry["group"]]
    names = {"subset": _subset_name(track, entry["dataset"]), "track": track}
    op = {"kie": "kie", "doc_parsing": entry.get("op")}.get(track, "ocr")
    orientation = entry.get("orientation")
    turned = {} if orientation is None else {"orientation": orientation}
    for image, answer in answers.items():
        item = image if orientation is None else f"{image}@{orientation}"
        yield replace(labels, value={"id": item, **names, "op": op, "answer": answer, **turned})


def _subset_name(track: str, dataset: str) -> str:
    """Return the name, made distinct if another track has a subset of that name."""
    subset = find_subset(track, dataset)
    return subset.distinct if subset is not None and subset.distinct else dataset


def read_published_predictions(source: Source, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    """Yield one record per file, in the form of a prediction line."""
    read = partial(_prediction, limits=limits)
    yield from read_json_files(source, limits, read, ignored=_REPORT)


def _prediction(
    archive: Archive, member: str, shown: str, limits: ReadLimits
) -> Record | ReadFault:
    record = read_json_object(archive, member, shown, limits)
    if isinstance(record, ReadFault):
        return record
    if "response" not in record.value:
        return record.fault("has no 'response'")
    path = PurePosixPath(member)
    track = next((TRACKS[part] for part in path.parts[:-2] if part in TRACKS), "")
    value = {
        "id": path.stem,
        "subset": _subset_name(track, path.parent.name),
        "response": _text_of(record.value["response"]),
    }
    return replace(record, value=value)


def _text_of(response: Any) -> Any:
    """Return the text in a service's response. Other values are left for the reader to refuse."""
    for path in _TEXTS:
        value = response
        for step in path:
            value = _step(value, step)
        if isinstance(value, str):
            return value
    return response


def _step(value: Any, step: str | int) -> Any:
    if isinstance(step, str):
        return value.get(step) if isinstance(value, dict) else None
    return value[step] if isinstance(value, list) and len(value) > step else None


ORIENTATIONS = (0, 90, 180, 270)
_NO_PAGE = "a page, but this benchmark is read from JSON Lines or label.json files"


def read_gold(
    source: Source,
    *,
    options: Options | None = None,  # noqa: ARG001 - nothing here depends on it
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[GoldLine | ReadFault]:
    """Yield the gold lines. An answer of the wrong type for its op is a fault."""
    published = holds_json_files(source, limits)
    records = read_published_gold(source, limits) if published else read_records(source, limits)
    problem = partial(_gold_problem, limits=limits)
    return read_lines(GoldLine, records, problem, _gold_payload, _item)


def read_predictions(
    source: Source, *, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[PredictionLine | ReadFault]:
    """Yield the prediction lines. A response may be any text, or null, which means no words at
    all."""
    published = holds_json_files(source, limits)
    read = read_published_predictions if published else read_records
    problem = partial(_prediction_problem, limits=limits)
    return read_lines(PredictionLine, read(source, limits), problem, _prediction_payload, _item)


def _prediction_payload(value: dict[str, Any]) -> Payload:
    names = {key: value[key] for key in ("id", "subset")}
    return {**names, "response": value["response"] or ""}


def _item(payload: dict[str, Any]) -> str:
    return f"{payload['subset']}:{payload['id']}"


def _gold_payload(value: dict[str, Any]) -> dict[str, Any]:
    answer = value["answer"]
    if value["op"] in {"kie", "grounding"} and isinstance(answer, str):
        answer = parse_record(answer)
    payload = {
        "id": value["id"],
        "subset": value["subset"],
        "track": TRACKS[value["track"]],
        "op": value["op"],
        "answer": answer,
    }
    if value.get("orientation") is not None:
        payload["orientation"] = value["orientation"]
    return payload


def _names_problem(record: Record) -> str | None:
    """Return what is wrong with the names that every line has, or None."""
    if record.is_page:
        return _NO_PAGE
    problem = check_id(record) or check_text(record, "subset", LONGEST_ID)
    if problem:
        return problem
    if not record.value["subset"].strip() or not record.value["subset"].isprintable():
        return "'subset' must have printable characters"
    if len(_item(record.value)) > LONGEST_ID:
        return f"'subset' and 'id' have more than {LONGEST_ID} characters together"
    return None


def _gold_problem(record: Record, limits: ReadLimits) -> str | None:
    if problem := _names_problem(record):
        return problem
    for key, known in (("track", tuple(TRACKS)), ("op", OPS)):
        if key not in record.value:
            return f"has no {key!r}"
        if record.value[key] not in known:
            return f"{key!r} must be one of {', '.join(known)}, not {named(record.value[key])}"
    orientation = record.value.get("orientation")
    if orientation is not None and (
        type(orientation) is not int or orientation not in ORIENTATIONS
    ):
        return f"'orientation' must be 0, 90, 180 or 270, not {named(orientation)}"
    if "answer" not in record.value:
        return "has no 'answer'"
    return _answer_problem(record, limits)


def _answer_problem(record: Record, limits: ReadLimits) -> str | None:
    op = record.value["op"]
    if op in {"kie", "grounding"}:
        return _json_answer_problem(op, record.value["answer"])
    if problem := check_text(record, "answer", limits.characters):
        return problem
    if op == "table":
        try:
            check_gold_table(record.value["answer"])
            check_gold_tables(record.value["answer"])
        except TooLargeError as error:
            return f"'answer' contains too large a table: {error}"
    return None


def _json_answer_problem(op: str, answer: Any) -> str | None:
    """Return what is wrong with an answer that is a record or a list of words, or JSON text of
    one."""
    try:
        value = parse_record(answer) if isinstance(answer, str) else answer
        if holds_nul(value):
            return "'answer' contains a NUL character"
        if is_deeper(value, DEEPEST):
            return f"'answer' is nested more than {DEEPEST} deep"
        if op == "grounding":
            return _words_problem(value)
        if not isinstance(value, dict | list):
            return f"'answer' must be an object, not {kind_of(value)}"
        check_gold_record(value)
    except UnparseableError as error:
        return f"'answer' cannot be read: {error}"
    except TooLargeError as error:
        return f"'answer' is too large: {error}"
    return None


def _words_problem(value: Any) -> str | None:
    if not isinstance(value, list):
        return f"'answer' must be a list of words, not {kind_of(value)}"
    for number, entry in enumerate(value, 1):
        if word_of(entry) is None:
            return f"word {number} of 'answer' needs a 'text' and a 'point' or a 'box' of numbers"
    check_words(len(value), len(value))
    return None


def _prediction_problem(record: Record, limits: ReadLimits) -> str | None:
    problem = _names_problem(record)
    if problem is None and record.value.get("response", "") is not None:
        problem = check_text(record, "response", limits.characters)
    return problem
