"""Functions for the code of an exported folder: scores with `scoring.benchmarks` if it has gold,
and writes the submission file for the board.

    task.json       the benchmark, its options, and where the items are from
    samples.jsonl   one line per item: id, prompt, images, kind
    images/         the page images
    gold.jsonl      only if the gold is open
"""

import json
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from scoring.answering.rendering import form_of, prediction, repaired, storable, write_atomically
from scoring.benchmarks import Benchmark, Payload, PredictionLine, ReadFault, get_benchmark

TASK, SAMPLES, GOLD, IMAGES = "task.json", "samples.jsonl", "gold.jsonl", "images"
SUBMISSION = "submission.jsonl"


class TaskFolderError(ValueError):
    """The folder was changed; the message names the file."""


class Scored(NamedTuple):
    """An item's result, and its own value of the deciding figure if there was something to score.
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
        found = get_benchmark(str(self.about["benchmark"]))
        if found.version != self.about["benchmark_version"]:
            raise TaskFolderError(
                f"{self.folder / TASK}: was exported for version {self.about['benchmark_version']} "
                f"of {found.key}, but {found.version} is installed; export it again"
            )
        return found

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
        for found in self.benchmark.read_predictions(BytesIO(line)):
            if isinstance(found, PredictionLine):
                payload = found.payload
            else:
                fault = str(found)
        result = self.benchmark.score_item(self._gold[item], payload, self._options)
        return Scored(result, self.benchmark.summarise(result, self._options).score, fault)

    def figures(self, results: Iterable[Mapping[str, Any]]) -> dict[str, float]:
        """The figures of the leaderboard, over these items. NaN where there is nothing to score."""
        scores = self.benchmark.aggregate((dict(each) for each in results), self._options).scores
        columns = [c.key for c in self.benchmark.columns_for(self._options) if c.headline]
        found = {key: scores.get(key) for key in columns}
        return {key: math.nan if v is None else float(v) for key, v in found.items()}

    def write_submission(self, answers: Iterable[tuple[str, str, str]], path: Path) -> Path:
        """Writes the board's submission file from (id, kind, answer), and returns its path."""
        lines = [self._prediction(*answer) for answer in answers]
        text = (json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        write_atomically(path, (line.encode() for line in text))
        return path

    def _prediction(self, item: str, kind: str, answer: str) -> dict[str, Any]:
        key = str(self.about["benchmark"])
        fixed, _ = repaired(answer, form_of(key, kind))
        return prediction(key, item, storable(fixed)[0], None)
