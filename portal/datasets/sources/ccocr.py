"""CC-OCR as published: index files, and a folder with pictures and labels for each subset.

An index (`index.json`, or one per track in `index/`) is a list of `{"dataset", "base_dir",
"group", "op"}`. A `base_dir` holds `label.json`, an object of answers by picture, the pictures in
`images/`, and often `qa.jsonl` with lines `{"url", "prompt"}`. The same picture may occur in
several subsets: an item is called `SUBSET__PICTURE`.
"""

from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from portal.files.archives import ArchiveFault, ArchiveLimits

from .gold import bounded_lines
from .image_paths import PicturePaths
from .items import ItemError, SourceItem, SourceItems, item_name
from .json_values import JsonError, read_json, read_object
from .layout import Refusal, printable
from .meta import DocumentMeta
from .opening import Source, SourceFiles, open_source
from .table_rows import refused

BENCHMARK = "ccocr"
_LABELS = "label.json"
_QUESTIONS = "qa.jsonl"
_KEYS = ("dataset", "base_dir", "group")
_LONGEST_NAME = 300
# Tracks whose op says which kind of answer is meant; elsewhere it tells the part of the track.
_OPS = {"kie": "kie", "multi_scene_ocr": "ocr", "multi_lan_ocr": "ocr"}
_PICTURES_ONLY = (".png", ".jpg", ".jpeg")


def read_ccocr(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """One item per label, in the order of the indexes. Raises ArchiveFault when the source as a
    whole is unusable.
    """
    with open_source(source, name, limits) as files:
        objects = files.named(".json")
        labels = {path for path in objects if PurePosixPath(path).name == _LABELS}
        indexes = [path for path in objects if _is_index(path)]
        if not indexes or not labels:
            missing = _LABELS if indexes else "index.json"
            raise ArchiveFault("no_index", f"there is no {missing} in it")
        paths = PicturePaths(files)
        for index in indexes:
            yield from _read_index(files, index, labels, paths)


def _is_index(path: str) -> bool:
    plain = PurePosixPath(path)
    return plain.name == "index.json" or plain.parent.name == "index"


def _read_index(
    files: SourceFiles, name: str, labels: set[str], paths: PicturePaths
) -> SourceItems:
    shown = printable(name)
    try:
        entries = read_json(files.read(name))
    except JsonError as error:
        yield Refusal(f"{shown}:{error.line}", "bad_json", str(error))
        return
    except ArchiveFault as fault:
        yield Refusal(shown, fault.code, str(fault))
        return
    if not isinstance(entries, list):
        yield Refusal(shown, "bad_index", "not a list of subsets")
        return
    for number, entry in enumerate(entries, start=1):
        where = f"{shown}:subset {number}"
        try:
            folder = _folder(name, entry, labels)
        except ItemError as error:
            yield refused(where, error)
        else:
            yield from _read_subset(files, entry, folder, paths)


def _folder(index: str, entry: Any, labels: set[str]) -> str:
    """The folder of a subset, which is given from one of those around the index."""
    if not isinstance(entry, dict):
        raise ItemError("bad_index", "not an object")
    for key in _KEYS:
        value = entry.get(key)
        if not isinstance(value, str) or not value or len(value) > _LONGEST_NAME:
            reason = f"{key}: missing, or not a text of at most {_LONGEST_NAME} characters"
            raise ItemError("bad_index", reason)
    for around in PurePosixPath(index).parents:
        folder = str(around / entry["base_dir"])
        if f"{folder}/{_LABELS}" in labels:
            return folder
    raise ItemError("no_labels", f"there is no {entry['base_dir']!r:.100}/{_LABELS}")


def _read_subset(
    files: SourceFiles, entry: dict[str, Any], folder: str, paths: PicturePaths
) -> SourceItems:
    member = f"{folder}/{_LABELS}"
    try:
        labels = read_object(files.read(member))
    except JsonError as error:
        yield Refusal(f"{printable(member)}:{error.line}", "bad_json", str(error))
        return
    except ArchiveFault as fault:
        yield Refusal(printable(member), fault.code, str(fault))
        return
    prompts: dict[str, str] = {}
    yield from _read_prompts(files, f"{folder}/{_QUESTIONS}", prompts)
    for number, (image, answer) in enumerate(labels.items(), start=1):
        where = f"{printable(member)}:label {number}"
        try:
            yield _item(where, entry, image, answer, prompts, paths, folder)
        except ItemError as error:
            yield refused(where, error)


def _item(
    where: str,
    entry: dict[str, Any],
    image: str,
    answer: Any,
    prompts: dict[str, str],
    paths: PicturePaths,
    folder: str,
) -> SourceItem:
    subset, track = entry["dataset"], entry["group"]
    # The published evaluator knows an image by its name without the suffix.
    stem = image.rpartition(".")[0] if image.lower().endswith(_PICTURES_ONLY) else image
    record = {"id": stem, "subset": subset, "track": track, "answer": answer}
    record["op"] = _OPS.get(track, entry.get("op"))
    return SourceItem(
        where,
        item_name(f"{subset}__{stem}"),
        pictures=(paths.find(image, beside=f"{folder}/images"),),
        record=record,
        benchmark=BENCHMARK,
        prompt=prompts.get(stem, ""),
        meta=DocumentMeta(metadata={"subset": subset, "track": track, "part": entry.get("op")}),
    )


def _read_prompts(
    files: SourceFiles, member: str, prompts: dict[str, str]
) -> Iterator[SourceItem | Refusal]:
    """Fills `prompts` by picture, its name without suffix; yields what could not be read."""
    if member not in files.names:
        return
    shown = printable(member)
    try:
        data = files.read(member)
    except ArchiveFault as fault:
        yield Refusal(shown, fault.code, str(fault))
        return
    for number, line in bounded_lines(BytesIO(data), shown, files.limits):
        if not line.strip():
            continue
        try:
            value = read_object(line)
            url, prompt = value.get("url"), value.get("prompt")
            if not isinstance(url, str) or not isinstance(prompt, str):
                raise JsonError("url or prompt is missing or not a text")
            prompts[PurePosixPath(url).stem] = prompt
        except JsonError as error:
            yield Refusal(f"{shown}:{number}", "bad_json", str(error))
