"""Reads the folders in which CC-OCR is published, and those its own evaluator reads from.

Gold: index files (`index.json`, or one per track in `index/`), lists of `{"dataset", "base_dir",
"group", "op"}`, and in every `base_dir` a `label.json`, which maps image names to answers.
Predictions: `SUBSET/IMAGE.json` with `{"model_name", "response"}`, at any depth.
"""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from portal.common.archives import Archive, ArchiveFault, open_archive
from scoring.benchmarks.reading import ReadFault, ReadLimits, Record, Source, read_records

from .subsets import TRACKS, find_subset

_LABELS = "label.json"
# What the published evaluator writes beside the predictions.
_REPORT = "status.json"
# Where the services' own answers, stored as they came, have their text.
_TEXTS: tuple[tuple[str | int, ...], ...] = (
    ("data", "response", "choices", 0, "message", "content"),
    ("content", 0, "text"),
    ("candidates", 0, "content", "parts", 0, "text"),
    ("output", "choices", 0, "message", "content", 0, "text"),
)


def is_published(source: Source, limits: ReadLimits) -> bool:
    """Whether this is a folder or ZIP of JSON files, rather than of JSON Lines."""
    if isinstance(source, Path) and not source.is_dir() and not _is_zip(source):
        return False
    if not isinstance(source, Path):
        source.seek(0)
        magic = source.read(2)
        source.seek(0)
        if magic != b"PK":
            return False
    try:
        with open_archive(source, limits.archive) as archive:
            return any(_is_json(member.name) for member in archive.members())
    except ArchiveFault:
        return False  # What is wrong with it the reader of records says.


def _is_zip(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"PK"
    except OSError:
        return False


def _is_json(name: str) -> bool:
    return name.lower().endswith(".json")


def read_published_gold(source: Source, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    """One record per label, as a gold line has it."""
    shown = _shown(source)
    try:
        with open_archive(source, limits.archive) as archive:
            names = sorted(member.name for member in archive.members() if _is_json(member.name))
            labels = {name for name in names if PurePosixPath(name).name == _LABELS}
            indexes = [name for name in names if name not in labels]
            if not indexes:
                yield ReadFault(shown, 0, None, "holds no index of its subsets")
            for name in indexes:
                yield from _read_index(archive, name, labels, shown, limits)
    except ArchiveFault as error:
        yield ReadFault(shown, 0, None, str(error))


def _read_index(
    archive: Archive, name: str, labels: set[str], shown: str, limits: ReadLimits
) -> Iterator[Record | ReadFault]:
    index = _read_json(archive, name, f"{shown}/{name}", limits, key="index")
    if isinstance(index, ReadFault):
        yield index
        return
    entries = index.value["index"]
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
            labelled = _read_json(archive, path, f"{shown}/{path}", limits)
            yield from [labelled] if isinstance(labelled, ReadFault) else _labelled(labelled, entry)


def _entry_problem(entry: Any) -> str:
    if not isinstance(entry, dict):
        return "not an object"
    for key in ("dataset", "base_dir", "group"):
        if not isinstance(entry.get(key), str):
            return f"{key!r} must be a string"
    if entry["group"] not in TRACKS:
        return f"'group' must be one of {', '.join(TRACKS)}, not {entry['group']!r}"
    return ""


def _labels_of(index: str, base: str, labels: set[str]) -> str:
    """The label file of a subset, whose folder is given from one of those around the index."""
    for folder in PurePosixPath(index).parents:
        path = (folder / base / _LABELS).as_posix()
        if path in labels:
            return path
    return ""


def _labelled(labels: Record, entry: dict[str, Any]) -> Iterator[Record]:
    track = TRACKS[entry["group"]]
    names = {"subset": _subset_name(track, entry["dataset"]), "track": track}
    op = {"kie": "kie", "doc_parsing": entry.get("op")}.get(track, "ocr")
    for image, answer in labels.value.items():
        yield replace(labels, value={"id": image, **names, "op": op, "answer": answer})


def _subset_name(track: str, dataset: str) -> str:
    """The name as it is, unless another track has a subset of that name."""
    subset = find_subset(track, dataset)
    return subset.distinct if subset is not None and subset.distinct else dataset


def read_published_predictions(source: Source, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    """One record per file, as a prediction line has it."""
    shown = _shown(source)
    try:
        with open_archive(source, limits.archive) as archive:
            for member in sorted(archive.members(), key=lambda member: member.name):
                path = PurePosixPath(member.name)
                if not _is_json(member.name):
                    yield ReadFault(f"{shown}/{path}", 0, None, "not expected among JSON files")
                elif path.name != _REPORT:
                    yield _prediction(archive, path, f"{shown}/{path}", limits)
    except ArchiveFault as error:
        yield ReadFault(shown, 0, None, str(error))


def _prediction(
    archive: Archive, path: PurePosixPath, shown: str, limits: ReadLimits
) -> Record | ReadFault:
    record = _read_json(archive, path.as_posix(), shown, limits)
    if isinstance(record, ReadFault):
        return record
    if "response" not in record.value:
        return record.fault("has no 'response'")
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


def _read_json(
    archive: Archive, name: str, shown: str, limits: ReadLimits, key: str = ""
) -> Record | ReadFault:
    """The object in a file, or whatever is in it under a key; read as strictly as a line.

    Line feeds can only stand between the parts of a JSON text, so that without them it is one
    line.
    """
    try:
        data = archive.read(name).removeprefix(b"\xef\xbb\xbf").replace(b"\n", b" ")
    except ArchiveFault as error:
        return ReadFault(shown, 0, None, str(error))
    if key:
        data = b'{"%s":%s}' % (key.encode(), data)
    roomy = replace(limits, line=len(data) + 1)
    record = next(read_records(io.BytesIO(data), roomy), None)
    if record is None:
        return ReadFault(shown, 0, None, "is empty")
    return replace(record, file=shown)


def _shown(source: Source) -> str:
    """How a source is called in messages: a path as it was given, an upload by its name alone."""
    if isinstance(source, Path):
        return str(source)
    return PurePosixPath(str(getattr(source, "name", "") or "upload")).name
