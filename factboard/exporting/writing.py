"""Writes the folder of a task: samples, images, gold if it is open, and the program's own files."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any

from portal.files.archives import ArchiveFault, ArchiveLimits, open_archive
from scoring.answering.kits import SAMPLE_FOLDER, SAMPLES, SUFFIXES, Kit
from scoring.answering.prompts import PromptError, PromptSet
from scoring.benchmarks import ReadFault, get_benchmark
from scoring.benchmarks.reading import Source
from scoring.offline.terminal import BadInput

from .folder import GOLD, IMAGES, SUBMISSION, TASK
from .folder import SAMPLES as SAMPLE_LINES

_TEMPLATES = Path(__file__).parent / "templates"
_LIMITS = ArchiveLimits(total=2**50)
_PROGRAMS = {"inspect": "inspect_ai", "lm-eval": "lm-evaluation-harness"}
_MAX_TOKENS = 8192


class ExportError(BadInput):
    """The task cannot be written. The message names the file."""


@contextmanager
def gold_of(target: str, gold: Path | None, *, is_board: bool) -> Iterator[Source | None]:
    """The open gold: a file that was named, that of a sample, or the one in the target itself.
    None if there is none, as in a starter kit or for a board of a site."""
    path = Path(target)
    if gold is not None:
        if not gold.exists():
            raise ExportError(f"{gold}: there is no such file or folder")
        yield gold
    elif is_board or (target not in SAMPLES and not path.exists()):
        yield None
    elif target in SAMPLES:
        yield SAMPLE_FOLDER / SAMPLES[target].gold
    elif path.is_dir():
        yield next((path / name for name in ("gold.jsonl", "gold") if (path / name).exists()), None)
    elif path.suffix == ".jsonl":
        yield path
    else:
        try:
            with open_archive(path, _LIMITS) as archive:
                names = {member.name for member in archive.members()}
                yield BytesIO(archive.read(GOLD)) if GOLD in names else None
        except ArchiveFault as fault:
            raise ExportError(f"{path}: {fault}") from fault


def write_task(
    out: Path, program: str, name: str, kit: Kit, prompts: PromptSet, gold: Source | None
) -> None:
    """Raises ExportError, KitError or PromptError."""
    try:
        if out.exists() and any(out.iterdir()):
            raise ExportError(f"{out}: is not empty; name a new folder")
        (out / IMAGES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExportError(f"{out}: cannot be written: {error.strerror}") from error
    benchmark = get_benchmark(kit.benchmark)
    about = {
        "format": "factboard-task-1",
        "name": task_name(kit.benchmark, name),
        "benchmark": benchmark.key,
        "benchmark_version": benchmark.version,
        "options": benchmark.default_options,
        "figures": [column.key for column in benchmark.columns if column.headline],
        "dataset": kit.dataset,
        "version": kit.version,
        "prompts": [prompt.model_dump() for prompt in prompts.manifest()],
    }
    _write(out / SAMPLE_LINES, "".join(_lines(_samples(out, kit, prompts))))
    if gold is not None:
        _write(out / GOLD, "".join(_lines(_gold(kit, gold))))
    _write(out / TASK, json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    _write_program(out, program, about, gold is not None)


def task_name(benchmark: str, name: str) -> str:
    """
    >>> task_name("fincriticaled", "Spring board (2).zip")
    'factboard_fincriticaled_spring_board_2_zip'
    """
    return "_".join(["factboard", benchmark, *re.findall(r"[a-z0-9]+", name.lower())])


def _samples(out: Path, kit: Kit, prompts: PromptSet) -> Iterator[dict[str, Any]]:
    for number, item in enumerate(kit.items, 1):
        try:
            text = prompts.text(item.question, item.kind)
        except PromptError as error:
            raise PromptError(f"the item {item.id} {error}") from error
        images = []
        for place, image in enumerate(item.images, 1):
            # Names of our own: those of a file from elsewhere could leave the folder.
            suffix = PurePath(image.name).suffix.lower()
            if suffix not in SUFFIXES:
                raise ExportError(f"{item.id}: {image.name} is not an image of a known type")
            path = f"{IMAGES}/{number:06d}-{place}{suffix}"
            (out / path).write_bytes(image.read())
            images.append(path)
        yield {"id": item.id, "prompt": text, "images": images, "kind": item.kind}


def _gold(kit: Kit, gold: Source) -> Iterator[dict[str, Any]]:
    benchmark = get_benchmark(kit.benchmark)
    wanted = {item.id for item in kit.items}
    found: dict[str, dict[str, Any]] = {}
    for line in benchmark.read_gold(gold):
        if isinstance(line, ReadFault):
            raise ExportError(str(line))
        if line.id in wanted:
            found[line.id] = line.payload
    if missing := sorted(wanted - found.keys()):
        raise ExportError(f"the gold has no line for {missing[0]} ({len(missing):,} in all)")
    yield from (found[item.id] for item in kit.items)


def _lines(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _write_program(out: Path, program: str, about: dict[str, Any], has_gold: bool) -> None:
    name = about["name"]
    if program == "inspect":
        _write(out / "task.py", _template("inspect_task.py.txt"))
        command = "inspect eval task.py --model openai/NAME"
    else:
        _write(out / "utils.py", _template("lm_eval_utils.py.txt"))
        _write(out / f"{name}.yaml", _yaml(about, has_gold))
        command = f"lm_eval run --include_path . --tasks {name} --model MODEL"
    words = {
        "$name": name,
        "$source": f"{about['dataset']} {about['version']}".strip() or about["benchmark"],
        "$program": _PROGRAMS[program],
        "$command": command,
        "$gold": "The figures are those of the leaderboard, over the items that were asked."
        if has_gold
        else f"The gold is hidden. Upload {SUBMISSION} to the board, which scores it.",
    }
    text = _template("readme.md")
    for word, value in words.items():
        text = text.replace(word, value)
    _write(out / "README.md", text)


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _yaml(about: dict[str, Any], has_gold: bool) -> str:
    """The task of lm-evaluation-harness. JSON strings are YAML strings."""
    columns = {column.key: column for column in get_benchmark(about["benchmark"]).columns}
    metrics = (
        [(key, f"figure_{key}", columns[key].direction == "up") for key in about["figures"]]
        if has_gold
        else [("answered", "answered", True)]
    )
    lines = [
        f"task: {json.dumps(about['name'])}",
        "custom_dataset: !function utils.load",
        "test_split: test",
        "output_type: generate_until",
        "doc_to_text: !function utils.doc_to_text",
        "doc_to_image: !function utils.doc_to_image",
        'doc_to_target: ""',
        "process_results: !function utils.process_results",
        "generation_kwargs:",
        "  until: []",
        "  do_sample: false",
        "  temperature: 0.0",
        f"  max_gen_toks: {_MAX_TOKENS}",
        "metric_list:",
    ]
    for key, function, is_higher_better in metrics:
        lines += [
            f"  - metric: {json.dumps(key)}",
            f"    aggregation: !function utils.{function}",
            f"    higher_is_better: {str(is_higher_better).lower()}",
        ]
    lines += ["metadata:", f"  version: {json.dumps(about['benchmark_version'])}"]
    return "\n".join(lines) + "\n"
