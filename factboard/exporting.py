"""`factboard export`: a board's task as a folder that lm-evaluation-harness or inspect_ai loads.

    task.json       the benchmark, its options, and where the items are from
    samples.jsonl   one line per item: id, prompt, images, kind
    images/         the page images
    gold.jsonl      only if the gold is open

The code of such a folder imports `TaskFolder` from here. It scores with `scoring.benchmarks` if
there is gold, and writes the submission file for the board.
"""

import json
import math
import re
import sys
from argparse import ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from factboard.targets import SAMPLE_FOLDER, SAMPLES, add_target, open_target
from portal.files.archives import ArchiveFault, ArchiveLimits, open_archive
from scoring.answering.kits import SUFFIXES, Kit
from scoring.answering.prompts import (
    DEFAULT,
    PromptError,
    PromptSet,
    check_asks,
    named_prompts,
    prompt_of_file,
)
from scoring.answering.rendering import prediction, storable, write_atomically
from scoring.benchmarks import Benchmark, Payload, PredictionLine, ReadFault, get_benchmark
from scoring.benchmarks.answers import form_of
from scoring.benchmarks.reading import Source
from scoring.metrics.answer import read_answer
from scoring.offline.terminal import BadInput, add_command

# --- using a folder -----------------------------------------------------------------------------

TASK, SAMPLE_LINES, GOLD, IMAGES = "task.json", "samples.jsonl", "gold.jsonl", "images"
SUBMISSION = "submission.jsonl"


class TaskFolderError(ValueError):
    """The folder was changed; the message names the file."""


class Scored(NamedTuple):
    """An item's result, and its own value of the main score if there was something to score.
    `fault` says why the answer could not be read; it then counts as no prediction."""

    result: dict[str, Any]
    score: float | None
    fault: str = ""


class TaskFolder:
    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.about: Mapping[str, Any] = json.loads((self.folder / TASK).read_text("utf-8"))

    @property
    def has_gold(self) -> bool:
        return (self.folder / GOLD).is_file()

    @cached_property
    def benchmark(self) -> Benchmark:
        current = get_benchmark(str(self.about["benchmark"]))
        if current.version != self.about["benchmark_version"]:
            raise TaskFolderError(
                f"{self.folder / TASK}: was exported for version {self.about['benchmark_version']} "
                f"of {current.key}, but {current.version} is installed; export it again"
            )
        return current

    @cached_property
    def _options(self) -> dict[str, str]:
        return self.benchmark.check_options(self.about["options"])

    @cached_property
    def _gold(self) -> dict[str, Payload]:
        gold: dict[str, Payload] = {}
        for line in self.benchmark.read_gold(self.folder / GOLD, options=self._options):
            if isinstance(line, ReadFault):
                raise TaskFolderError(str(line))
            gold[line.id] = line.payload
        return gold

    def score(self, item: str, kind: str, answer: str) -> Scored:
        """Scores an answer as `factboard run` would submit it."""
        payload, fault = None, ""
        line = json.dumps(self._prediction(item, kind, answer)).encode()
        for line_read in self.benchmark.read_predictions(BytesIO(line)):
            if isinstance(line_read, PredictionLine):
                payload = line_read.payload
            else:
                fault = str(line_read)
        result = self.benchmark.score_item(self._gold[item], payload, self._options)
        return Scored(result, self.benchmark.summarise(result, self._options).score, fault)

    def figures(self, results: Iterable[Mapping[str, Any]]) -> dict[str, float]:
        """The figures of the leaderboard, over these items. NaN where there is nothing to score."""
        scores = self.benchmark.aggregate(map(dict, results), self._options).scores
        columns = [c.key for c in self.benchmark.columns_for(self._options) if c.headline]
        headline = {key: scores.get(key) for key in columns}
        return {key: math.nan if v is None else float(v) for key, v in headline.items()}

    def write_submission(self, answers: Iterable[tuple[str, str, str]], path: Path) -> Path:
        """Writes the board's submission file from (id, kind, answer), and returns its path."""
        lines = [self._prediction(*answer) for answer in answers]
        text = (json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        write_atomically(path, (line.encode() for line in text))
        return path

    def _prediction(self, item: str, kind: str, answer: str) -> dict[str, Any]:
        key = str(self.about["benchmark"])
        fixed, _ = read_answer(answer, form_of(key, kind))
        return prediction(key, item, storable(fixed)[0], None)


# --- writing a folder ---------------------------------------------------------------------------

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
            raise ExportError(f"{gold}: no such file or folder")
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
            raise ExportError(f"{out}: is not empty; choose a new folder")
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
    payloads: dict[str, dict[str, Any]] = {}
    for line in benchmark.read_gold(gold):
        if isinstance(line, ReadFault):
            raise ExportError(str(line))
        if line.id in wanted:
            payloads[line.id] = line.payload
    if missing := sorted(wanted - payloads.keys()):
        raise ExportError(
            f"the gold has no line for {missing[0]} (missing lines: {len(missing):,})"
        )
    yield from (payloads[item.id] for item in kit.items)


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
        "$gold": "The task computes the leaderboard's scores over the items that were run."
        if has_gold
        else f"The gold is hidden. To get scores, submit {SUBMISSION} to the board.",
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


# --- the command --------------------------------------------------------------------------------

_EXAMPLES = """examples:
  factboard export kit.zip --to inspect task/
  factboard export sample --to lm-eval task/
  factboard export kit.zip --to inspect task/ --gold gold.jsonl

If the gold is open, the task computes the scores. If it is hidden, the task writes the submission
file for the board."""


def add_parser(commands: "_SubParsersAction[ArgumentParser]") -> None:
    parser = add_command(
        commands,
        "export",
        "export a benchmark as a task for lm-evaluation-harness or inspect_ai",
        _EXAMPLES,
        "Export a benchmark as a folder that lm-evaluation-harness or inspect_ai can run.",
    )
    add_target(parser)
    parser.add_argument(
        "--to",
        choices=("lm-eval", "inspect"),
        required=True,
        help="the framework that will run the task",
    )
    parser.add_argument("out", type=Path, metavar="DIR", help="a new or empty folder")
    parser.add_argument(
        "--gold",
        type=Path,
        metavar="FILE",
        help="a file with open gold, if the target contains none",
    )
    parser.add_argument(
        "--prompt",
        default=DEFAULT,
        metavar="VERSION",
        help="version of the benchmark's prompt (default: %(default)s)",
    )
    parser.add_argument(
        "--prompt-file", type=Path, metavar="FILE", help="your own prompt, with $question"
    )
    parser.add_argument(
        "--language", default="", metavar="TEXT", help="value of $language in the prompt"
    )
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    with open_target(args) as (name, kit, _):
        prompts = (
            prompt_of_file(args.prompt_file, args.language)
            if args.prompt_file
            else named_prompts(kit.benchmark, args.prompt, kit.prompts, args.language)
        )
        check_asks(prompts, kit.benchmark, {item.kind for item in kit.items})
        with gold_of(args.target, args.gold, is_board=bool(args.site)) as gold:
            write_task(args.out, args.to, name, kit, prompts, gold)
    sys.stdout.write(f"{args.out}\n")
    return 0
