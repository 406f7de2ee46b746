"""Reads the folders in which CC-OCR is published, and those its own evaluator reads from.

Gold: index files (`index.json`, or one per track in `index/`), lists of `{"dataset", "base_dir",
"group", "op"}`, and in every `base_dir` a `label.json`, which maps image names to answers.
Predictions: `SUBSET/IMAGE.json` with `{"model_name", "response"}`, at any depth.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from portal.files.archives import Archive, ArchiveFault, open_archive
from scoring.benchmarks.json_files import (
    is_json,
    read_json_files,
    read_json_object,
    read_json_value,
)
from scoring.benchmarks.reading import ReadFault, ReadLimits, Record, Source, name_of, quoted

from .subsets import TRACKS, find_subset

_LABELS = "label.json"
_LONGEST_NAME = 300
# What the published evaluator writes beside the predictions.
_REPORT = "status.json"
# Where the services' own answers, stored as they came, have their text.
_TEXTS: tuple[tuple[str | int, ...], ...] = (
    ("data", "response", "choices", 0, "message", "content"),
    ("content", 0, "text"),
    ("candidates", 0, "content", "parts", 0, "text"),
    ("output", "choices", 0, "message", "content", 0, "text"),
)


def read_published_gold(source: Source, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    """One record per label, as a gold line has it."""
    shown = name_of(source)
    try:
        with open_archive(source, limits.archive) as archive:
            names = sorted(member.name for member in archive.members() if is_json(member.name))
            labels = {name for name in names if PurePosixPath(name).name == _LABELS}
            indexes = [name for name in names if name not in labels]
            if not indexes:
                yield ReadFault(shown, 0, None, "holds no index of its subsets")
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
    """The label file of a subset, whose folder is given from one of those around the index."""
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
    for image, answer in answers.items():
        yield replace(labels, value={"id": image, **names, "op": op, "answer": answer})


def _subset_name(track: str, dataset: str) -> str:
    """The name as it is, unless another track has a subset of that name."""
    subset = find_subset(track, dataset)
    return subset.distinct if subset is not None and subset.distinct else dataset


def read_published_predictions(source: Source, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    """One record per file, as a prediction line has it."""
    read = partial(_prediction, limits=limits)
    yield from read_json_files(source, limits, read, left_aside=_REPORT)


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
    """The text in a service's answer; what is none of those is left for the reader to refuse."""
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
