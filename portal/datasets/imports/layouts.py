"""The layouts of imports, their file extensions and their readers.

`opening` reads the layout `pages`; the readers of all other layouts yield SourceItems. This module
holds the readers of CC-OCR, FCMBench and receipts:

CC-OCR has index files, and a folder with pictures and labels for each subset. An index
(`index.json`, or one per track in `index/`) is a list of `{"dataset", "base_dir", "group", "op"}`.
A `base_dir` holds `label.json`, an object of answers by image, the pictures in `images/`, and
often `qa.jsonl` with lines `{"url", "prompt"}`. The same picture can be in several subsets, so an
item is named `SUBSET__PICTURE`.

FCMBench is JSON Lines with pictures. A line is `{"id", "images": [path, …], "question",
"response", "task", "subtask", "robustness"}`. The paths are relative to the authors' folder of
pictures. `subtask` begins with `en.` for questions in English; the others are Chinese.

Receipts are one JSON file per picture, with the same name, in the same or another folder. The
object is the fields themselves or holds them under `fields`. The benchmark's own reader decides
which of them are gold.
"""

from collections.abc import Iterator, Set
from contextlib import closing
from io import BytesIO
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from portal.datasets.models import ImportRun
from portal.files.archives import ArchiveFault, ArchiveLimits

from .filings import FILING_SUFFIXES, read_filings
from .formats import ImportFormat, import_format, register_format
from .items import (
    PICTURE_SUFFIXES,
    DocumentMeta,
    ItemError,
    JsonError,
    PictureFile,
    PicturePaths,
    SourceItem,
    SourceItems,
    item_name,
    read_json,
    read_object,
    refused,
    unreadable,
)
from .labelled_pages import read_fincriticaled, read_labelstudio
from .opening import (
    Refusal,
    Source,
    SourceFiles,
    bounded_lines,
    counted_by_folder,
    open_source,
    printable,
)
from .tables import MOST_PICTURES, read_parquet

CCOCR = "ccocr"
_LABELS = "label.json"
_QUESTIONS = "qa.jsonl"
_KEYS = ("dataset", "base_dir", "group")
_LONGEST_NAME = 300
# Tracks whose op is the kind of answer; in other tracks it is the part of the track.
_OPS = {"kie": "kie", "multi_scene_ocr": "ocr", "multi_lan_ocr": "ocr"}
_ORIENTATIONS = (0, 90, 180, 270)
_PICTURES_ONLY = (".png", ".jpg", ".jpeg")


def read_ccocr(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """One item per label, in index order. Raises ArchiveFault if the source is unusable."""
    with open_source(source, name, limits) as files:
        objects = files.named(".json")
        labels = {path for path in objects if PurePosixPath(path).name == _LABELS}
        indexes = [path for path in objects if _is_index(path)]
        if not indexes or not labels:
            missing = _LABELS if indexes else "index.json"
            raise ArchiveFault("no_index", f"the source has no {missing}")
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
    except (JsonError, ArchiveFault) as error:
        yield unreadable(name, error)
        return
    if not isinstance(entries, list):
        yield Refusal(shown, "bad_index", "must be a list of subsets")
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
    """The folder of a subset; its path is relative to one of the index's parent folders."""
    if not isinstance(entry, dict):
        raise ItemError("bad_index", "must be an object")
    for key in _KEYS:
        value = entry.get(key)
        if not isinstance(value, str) or not value or len(value) > _LONGEST_NAME:
            reason = f"{key}: missing or not a string of at most {_LONGEST_NAME} characters"
            raise ItemError("bad_index", reason)
    if entry.get("orientation") not in (None, *_ORIENTATIONS):
        raise ItemError("bad_index", "orientation: must be 0, 90, 180 or 270")
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
    except (JsonError, ArchiveFault) as error:
        yield unreadable(member, error)
        return
    prompts: dict[str, str] = {}
    yield from _read_prompts(files, f"{folder}/{_QUESTIONS}", prompts)
    for number, (image, answer) in enumerate(labels.items(), start=1):
        where = f"{printable(member)}:label {number}"
        try:
            yield _ccocr_item(where, entry, image, answer, prompts, paths, folder)
        except ItemError as error:
            yield refused(where, error)


def _ccocr_item(
    where: str,
    entry: dict[str, Any],
    image: str,
    answer: Any,
    prompts: dict[str, str],
    paths: PicturePaths,
    folder: str,
) -> SourceItem:
    subset, track = entry["dataset"], entry["group"]
    # The published evaluator identifies an image by its name without the extension.
    stem = image.rpartition(".")[0] if image.lower().endswith(_PICTURES_ONLY) else image
    record = {"id": stem, "subset": subset, "track": track, "answer": answer}
    record["op"] = _OPS.get(track, entry.get("op"))
    if (orientation := entry.get("orientation")) is not None:
        record = oriented(record, orientation)
    return SourceItem(
        where,
        item_name(f"{subset}__{record['id']}"),
        pictures=(paths.find(image, folder=f"{folder}/images"),),
        record=record,
        benchmark=CCOCR,
        prompt=prompts.get(stem, ""),
        meta=DocumentMeta(metadata={"subset": subset, "track": track, "part": entry.get("op")}),
    )


def oriented(record: dict[str, Any], orientation: int) -> dict[str, Any]:
    """The record of a rotated image, with an id of its own."""
    return {**record, "id": f"{record['id']}@{orientation}", "orientation": orientation}


def _read_prompts(
    files: SourceFiles, member: str, prompts: dict[str, str]
) -> Iterator[SourceItem | Refusal]:
    """Fills `prompts` by picture name without extension; yields refusals of unreadable lines."""
    if member not in files.names:
        return
    shown = printable(member)
    try:
        data = files.read(member)
    except ArchiveFault as fault:
        yield unreadable(member, fault)
        return
    for number, line in bounded_lines(BytesIO(data), shown, files.limits):
        if not line.strip():
            continue
        try:
            value = read_object(line)
            url, prompt = value.get("url"), value.get("prompt")
            if not isinstance(url, str) or not isinstance(prompt, str):
                raise JsonError("url or prompt is missing or not a string")
            prompts[PurePosixPath(url).stem] = prompt
        except JsonError as error:
            yield refused(f"{shown}:{number}", error)


FCMBENCH = "fcmbench"
_FCMBENCH_GOLD = ("id", "task", "subtask", "robustness", "response")
_LONGEST_PATH = 1_000


def read_fcmbench(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """One item per question; refuses an item if a picture is missing.

    The benchmark's own reader checks the rest of a line. Raises ArchiveFault if the source is
    unusable.
    """
    with open_source(source, name, limits) as files:
        tables = files.needed("no_lines", ".jsonl", ".jsonl", ".jsonl.gz")
        paths = PicturePaths(files)
        for table in tables:
            shown = printable(table)
            with files.open(table) as file:
                for number, line in bounded_lines(file, shown, limits):
                    if line.strip():
                        yield _fcmbench_item(
                            f"{shown}:{number}", line, table.rpartition("/")[0], paths
                        )


def _fcmbench_item(
    where: str, line: bytes, folder: str, paths: PicturePaths
) -> SourceItem | Refusal:
    try:
        value = read_object(line)
        given = value.get("id")
        if not isinstance(given, str):
            raise ItemError("bad_name", "id: missing or not a string")
        name = item_name(given)
        pictures = _listed_pictures(value.get("images"), folder, paths)
        prompt = value.get("question", "")
        if not isinstance(prompt, str):
            raise ItemError("bad_value", "question: must be a string")
    except ItemError as error:
        return refused(where, error)
    return SourceItem(
        where,
        name,
        pictures=pictures,
        record={key: value[key] for key in _FCMBENCH_GOLD if key in value},
        benchmark=FCMBENCH,
        prompt=prompt,
        language=_fcmbench_language(value.get("subtask")),
        meta=DocumentMeta(metadata=_fcmbench_rest(value)),
    )


def _listed_pictures(value: Any, folder: str, paths: PicturePaths) -> tuple[PictureFile, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not value:
        raise ItemError("no_image", "images: missing or not a list of paths")
    if len(value) > MOST_PICTURES:
        raise ItemError("too_many", f"images: more than {MOST_PICTURES} paths")
    for path in value:
        if not isinstance(path, str) or len(path) > _LONGEST_PATH:
            reason = f"images: a path must be a string of at most {_LONGEST_PATH} characters"
            raise ItemError("no_image", reason)
    return tuple(paths.find(path, folder=folder) for path in value)


def _fcmbench_language(subtask: Any) -> str:
    if not isinstance(subtask, str):
        return ""
    return "en" if subtask.startswith("en.") else "zh"


def _fcmbench_rest(value: dict[str, Any]) -> dict[str, Any]:
    """All other fields, including the published paths."""
    return {key: part for key, part in value.items() if key not in (*_FCMBENCH_GOLD, "question")}


RECEIPTBENCH = "receiptbench"
_RECEIPT_ABOUT = ("id", "language", "category", "balanced", "images")


def read_receipts(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """One item per JSON file, sorted by name, then a refusal per picture without one.

    Raises ArchiveFault if the source is unusable.
    """
    with open_source(source, name, limits) as files:
        objects = files.needed("no_json", ".json", ".json")
        paths = PicturePaths(files)
        stems = {PurePosixPath(member).stem for member in objects}
        used: set[str] = set()
        for member in objects:
            yield _receipt_item(files, member, paths, used, stems)
        for picture in files.named(*PICTURE_SUFFIXES):
            if printable(picture) not in used:
                files.use(picture)
                reason = "there is no JSON file with this name"
                yield Refusal(printable(picture), "image_without_record", reason)


def _receipt_item(
    files: SourceFiles, member: str, paths: PicturePaths, used: set[str], stems: Set[str]
) -> SourceItem | Refusal:
    shown = printable(member)
    path = PurePosixPath(member)
    try:
        name = item_name(path.stem)
        value = read_object(files.read(member))
        pictures = _receipt_pictures(value.get("images"), path, paths, stems)
    except (JsonError, ArchiveFault) as error:
        return unreadable(member, error)
    except ItemError as error:
        return refused(shown, error)
    used.update(picture.shown for picture in pictures)
    language = value.get("language")
    return SourceItem(
        shown,
        name,
        pictures=pictures,
        record={"id": name, **_receipt_record(value)},
        benchmark=RECEIPTBENCH,
        language=_receipt_language(language),
        meta=DocumentMeta(metadata={}),
    )


def _receipt_pictures(
    listed: Any, member: PurePosixPath, paths: PicturePaths, stems: Set[str]
) -> tuple[PictureFile, ...]:
    """The pages of a receipt: those that `images` lists, or ID.png, ID-2.png, ID-3.png and so on,
    unless one of them has a JSON file of its own. Raises ItemError."""
    folder = member.parent.as_posix()
    if listed is not None:
        return _listed_pictures(listed, folder, paths)
    first = paths.find(member.stem, folder=folder)
    pictures, around = [first], PurePosixPath(first.shown).parent.as_posix()
    for number in range(2, MOST_PICTURES + 1):
        name = f"{member.stem}-{number}"
        further = None if name in stems else paths.at(name, folder=around)
        if further is None:
            break
        pictures.append(further)
    return tuple(pictures)


def _receipt_record(value: dict[str, Any]) -> dict[str, Any]:
    """The object as a gold line, without its id: the document is named after its files."""
    about = {key: value[key] for key in _RECEIPT_ABOUT[1:-1] if key in value}
    if "fields" in value:
        return {**about, "fields": value["fields"]}
    return {
        **about,
        "fields": {key: part for key, part in value.items() if key not in _RECEIPT_ABOUT},
    }


def _receipt_language(value: Any) -> str:
    """A tag such as `en`; empty for language names, which stay in the record."""
    is_tag = isinstance(value, str) and len(value) <= 12 and value.isascii()
    return value if is_tag and value[:2].islower() and value[2:3] in ("", "-") else ""


Form = ImportRun.Form

# Benchmarks whose gold a Parquet file can hold, by key, with their titles.
BENCHMARKS = {
    "fincriticaled": "FinCriticalED",
    "fcmbench": "FCMBench",
    "ccocr": "CC-OCR",
    "receiptbench": "ReceiptBench",
}

_TABLES = (".csv", ".csv.gz", ".parquet")


def _shipped(form: Form, *args: Any, **kwargs: Any) -> None:
    register_format(ImportFormat(form.value, str(form.label), *args, **kwargs))


_shipped(
    Form.PAGES,
    None,
    (".html", ".htm", ".png", ".jpg", ".jpeg", ".jsonl"),
    about="HTML in pages/, images in images/, metadata in meta.jsonl.",
)
_shipped(
    Form.FILING,
    read_filings,
    FILING_SUFFIXES,
    FILING_SUFFIXES,
    about="As downloaded from EDGAR.",
)
_shipped(
    Form.FINCRITICALED,
    read_fincriticaled,
    (*_TABLES, ".jsonl", ".html", ".htm", ".txt", *PICTURE_SUFFIXES),
    _TABLES,
    about="One row per document; gold is optional.",
)
_shipped(Form.LABEL_STUDIO, read_labelstudio, (".json",), (".json",))
_shipped(Form.FCMBENCH, read_fcmbench, (".jsonl", ".jsonl.gz", *PICTURE_SUFFIXES))
_shipped(Form.CCOCR, read_ccocr, (".json", ".jsonl", *PICTURE_SUFFIXES))
_shipped(Form.RECEIPTS, read_receipts, (".json", *PICTURE_SUFFIXES))
_shipped(
    Form.PARQUET,
    read_parquet,
    (".parquet", *PICTURE_SUFFIXES),
    (".parquet",),
    has_benchmark=True,
)


def suffixes_alone(form: str) -> tuple[str, ...]:
    """The extensions of files that a format accepts; all formats accept `.zip`."""
    return (".zip", *import_format(form).alone)


def read_items(
    form: str, source: Source, name: str, limits: ArchiveLimits, *, benchmark: str = ""
) -> SourceItems:
    """The items of a source in the format `form`, one at a time.

    `name` is the original file name; only formats that have a benchmark use `benchmark`. Raises
    ArchiveFault if the source is unusable.
    """
    chosen = import_format(form)
    assert chosen.read is not None
    more = {"benchmark": benchmark} if chosen.has_benchmark else {}
    return chosen.read(source, name, limits, **more)


def check_items(
    form: str, source: Source, name: str, limits: ArchiveLimits, *, benchmark: str = ""
) -> None:
    """Raises ArchiveFault if nothing can be imported, judging by the first two items.

    The report lists all other errors.
    """
    with closing(read_items(form, source, name, limits, benchmark=benchmark)) as items:
        first = list(islice(items, 2))
    if not first:
        raise ArchiveFault("empty", "the source has nothing to import")
    if len(first) == 1 and isinstance(first[0], Refusal):
        raise ArchiveFault(first[0].code, f"{first[0].name}: {first[0].reason}")


def left_alone(form: str, source: Source, name: str, limits: ArchiveLimits) -> dict[str, int]:
    """Counts by folder of the files with extensions that the format does not read.

    Raises ArchiveFault.
    """
    suffixes = import_format(form).suffixes
    with open_source(source, name, limits) as files:
        known = set(files.named(*suffixes))
        others = [file for file in files.names if file not in known]
        return counted_by_folder(others, among=files.names)
