"""Joining, and scoring on several cores: equal results for any number of cores, in little
memory."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from django.conf import settings

from scoring.benchmarks import (
    Benchmark,
    ItemResult,
    Options,
    Payload,
    check_gold,
    check_predictions,
    get_benchmark,
)
from scoring.benchmarks.checking import JoinedItems, cores, jobs_for, score_items
from tests.scoring.benchmarks.test_grade_command import grade_here

ITEMS = 3000
MANY = 200_000


def gold_lines(number: int) -> Iterator[str]:
    for i in range(number):
        task = {"task": "KIE", "subtask": f"zh.{i % 3}", "robustness": "Normal Captures"}
        yield json.dumps({"id": f"item-{i}", **task, "response": json.dumps({"n": str(i % 7)})})


def prediction_lines(number: int) -> Iterator[str]:
    """In another order than the gold, with some missing."""
    for i in reversed(range(number)):
        if i % 10:
            yield json.dumps({"id": f"item-{i}", "response": json.dumps({"n": str(i % 5)})})


def write(path: Path, lines: Iterator[str]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path


@pytest.fixture
def fcmbench() -> Benchmark:
    return get_benchmark("fcmbench")


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "gold.jsonl", gold_lines(ITEMS))


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    return write(tmp_path / "sub.jsonl", prediction_lines(ITEMS))


def joined(benchmark: Benchmark, gold: Path, submission: Path) -> JoinedItems:
    items = JoinedItems()
    assert not items.add_gold(benchmark.read_gold(gold)).listed
    assert not items.add_predictions(benchmark.read_predictions(submission)).listed
    return items


def test_results_are_those_of_the_plain_loop(
    fcmbench: Benchmark, gold: Path, submission: Path
) -> None:
    options = fcmbench.check_options({})
    lines = check_gold(fcmbench.read_gold(gold)).lines
    predictions = check_predictions(fcmbench.read_predictions(submission), lines).lines
    plain = [
        fcmbench.score_item(
            line.payload, predictions[name].payload if name in predictions else None, options
        )
        for name, line in lines.items()
    ]
    with joined(fcmbench, gold, submission) as items:
        assert len(items) == ITEMS
        for jobs in (1, 2, 3):
            assert list(score_items(items, fcmbench.score_item, options, jobs)) == plain
    assert not items.path.exists()


@pytest.mark.parametrize("kind", ["gz", "zip", "folder"])
def test_every_layout_is_joined(
    fcmbench: Benchmark, gold: Path, submission: Path, tmp_path: Path, kind: str
) -> None:
    data = submission.read_bytes()
    packed = tmp_path / f"packed.{kind}"
    if kind == "gz":
        packed.write_bytes(gzip.compress(data, mtime=0))
    elif kind == "zip":
        with zipfile.ZipFile(packed, "w") as bundle:
            bundle.writestr("inner/sub.jsonl", data)
    else:
        packed.mkdir()
        (packed / "sub.jsonl").write_bytes(data)
    options = fcmbench.check_options({})
    found = []
    for source in (submission, packed):
        with joined(fcmbench, gold, source) as items:
            results = score_items(items, fcmbench.score_item, options, 1)
            found.append(fcmbench.aggregate(results, options))
    assert found[0] == found[1]


def test_faults_are_those_of_the_checks(fcmbench: Benchmark, gold: Path, tmp_path: Path) -> None:
    faulty = tmp_path / "faulty.jsonl"
    lines = ['{"id": "item-1", "response": "{}"}', "{", '{"id": "x", "response": "{}"}', "", ""]
    faulty.write_text("\n".join([*lines, lines[0], '{"id": "item-2"}']))
    twice = tmp_path / "twice.jsonl"
    twice.write_text(gold.read_text() + next(gold_lines(1)) + "\n")
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    known = check_gold(fcmbench.read_gold(gold)).lines
    with JoinedItems() as items:
        for path in (twice, empty):
            expected = check_gold(fcmbench.read_gold(path), str(path))
            with JoinedItems() as other:
                found = other.add_gold(fcmbench.read_gold(path), str(path))
            assert tuple(found.listed) == expected.faults != ()
        items.add_gold(fcmbench.read_gold(gold))
        for path in (faulty, empty):
            read = check_predictions(fcmbench.read_predictions(path), known, str(path))
            found = items.add_predictions(fcmbench.read_predictions(path), str(path))
            assert tuple(found.listed) == read.faults != ()


def test_lines_come_back_as_they_were(tmp_path: Path) -> None:
    odd = {"a": 10**30, "b": [1e-7, 0.1, None, True], "c": "é\u2028\x01😀", "ü": {"": {}}}
    findoc = get_benchmark("findoc")
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"id": "a", "gold": odd}))
    with JoinedItems() as items:
        assert not items.add_gold(findoc.read_gold(gold)).listed
        (chunk,) = items.chunks()
        with items.path.open("rb") as file:
            assert chunk[0].gold.read(file.fileno()) == {"id": "a", "gold": odd}
        assert chunk[0].prediction is None


def slow_at_first(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    if gold["id"] == "item-0":
        time.sleep(0.3)
    return {"id": gold["id"]}


def broken(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    raise LookupError(gold["id"])


def test_results_keep_the_order_of_the_gold(
    fcmbench: Benchmark, gold: Path, submission: Path
) -> None:
    with joined(fcmbench, gold, submission) as items:
        results = list(score_items(items, slow_at_first, {}, 2))
    assert [result["id"] for result in results] == [f"item-{i}" for i in range(ITEMS)]


def test_an_error_of_a_scorer_is_not_swallowed(
    fcmbench: Benchmark, gold: Path, submission: Path
) -> None:
    with joined(fcmbench, gold, submission) as items, pytest.raises(LookupError, match="item-0"):
        list(score_items(items, broken, {}, 2))


def killed(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def test_a_killed_process_is_no_hang(fcmbench: Benchmark, gold: Path, submission: Path) -> None:
    with joined(fcmbench, gold, submission) as items, pytest.raises(BrokenProcessPool):
        list(score_items(items, killed, {}, 2))


def test_few_items_are_scored_by_one_process(fcmbench: Benchmark, tmp_path: Path) -> None:
    for number, jobs in ((10, 1), (ITEMS, cores())):
        gold = write(tmp_path / "gold.jsonl", gold_lines(number))
        submission = write(tmp_path / "sub.jsonl", prediction_lines(number))
        with joined(fcmbench, gold, submission) as items:
            assert jobs_for(items) == jobs


def test_the_command_says_the_same_with_any_number_of_jobs(
    gold: Path, submission: Path, tmp_path: Path
) -> None:
    outputs = []
    for jobs in ("1", "2"):
        file = tmp_path / f"items{jobs}.jsonl"
        done = grade_here(
            "fcmbench", "--gold", gold, "--submission", submission, "--json",
            "--jobs", jobs, "--items", file,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        outputs.append((done.stdout, done.stderr, file.read_bytes()))
    assert outputs[0] == outputs[1]
    names = [json.loads(line)["id"] for line in io.BytesIO(outputs[0][2])]
    assert names == [f"item-{i}" for i in range(ITEMS)]


@pytest.mark.parametrize("jobs", ["0", "-1", "many"])
def test_a_wrong_number_of_jobs_is_explained(gold: Path, jobs: str) -> None:
    done = grade_here("fcmbench", "--gold", gold, "--submission", gold, f"--jobs={jobs}")
    assert done.returncode == 2
    assert f"'{jobs}' is not a whole number of at least 1" in done.stderr


MEASURED = """
import re, resource, sys
from pathlib import Path
from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
# ru_maxrss of this process would start with that of the test process, which started it.
print(re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1], file=sys.stderr)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_items(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", gold_lines(MANY))
    submission = write(tmp_path / "sub.jsonl", prediction_lines(MANY))
    done = subprocess.run(
        [
            sys.executable, "-c", MEASURED, "grade", "fcmbench", "--gold", gold,
            "--submission", submission, "--jobs", "2", "--json",
        ],
        capture_output=True, text=True, cwd=settings.BASE_DIR,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["items"], report["missing"]) == (MANY, MANY // 10)
    largest = [int(used) // 1024 for used in done.stderr.splitlines() if used.isdigit()]
    assert len(largest) == 2
    assert max(largest) < 400, f"{largest} MB in this process and in the largest of its children"
