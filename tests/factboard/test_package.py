"""The wheel, alone in an empty environment: the command works there, without Django, and grades
as the site does."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.scoring.answering.kit_files import make_kit

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample" / "benchmarks"
MOST_MEGABYTES = 250
# Part of every new environment, not of the package.
TOOLS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")

COMMANDS = "run grade submit check watch pull boards leaderboard compare export suggest".split()

pytestmark = pytest.mark.slow

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that nothing is written into the checkout."""
    copy, to = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for name in ("factboard", "portal", "scoring", "requirements"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, copy)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    done = subprocess.run(
        [*command, "--no-build-isolation", "--wheel-dir", str(to), str(copy)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [path] = to.glob("factboard-*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that has only the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pins = folder / "pins.txt"
    locked = (ROOT / "requirements" / "base.txt").read_text().splitlines()
    pinned = (line.split()[0] for line in locked if "==" in line and line[0].isalnum())
    # A constraint must not have extras.
    pins.write_text("\n".join(re.sub(r"\[.*?\]", "", pin) for pin in pinned))
    found = folder / "bin" / "python"
    done = subprocess.run(
        [str(found), "-m", "pip", "install", "--quiet", "--constraint", str(pins), str(wheel)],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode and os.environ.get("REQUIRE_INDEX", "") in {"", "0"}:
        pytest.skip("NO PACKAGE INDEX: connect to one to run this")
    assert done.returncode == 0, done.stderr
    return found


@pytest.fixture
def run(python: Path, tmp_path: Path) -> Run:
    """Runs a program of the environment, far from the checkout."""

    def call(program: str, *arguments: str | Path) -> CompletedProcess[str]:
        command = [str(python.parent / program), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    return call


@pytest.mark.parametrize("name", ["django", "numba", "pyarrow", "sample", "portal.settings"])
def test_nothing_of_the_site_is_there(run: Run, name: str) -> None:
    done = run("python", "-c", f"import {name}")
    assert done.stderr.splitlines()[-1].startswith("ModuleNotFoundError")


def test_it_is_light(python: Path) -> None:
    packages = next((python.parent.parent / "lib").glob("python*")) / "site-packages"
    size = sum(
        path.stat().st_size
        for path in packages.rglob("*")
        if path.is_file() and not path.relative_to(packages).parts[0].startswith(TOOLS)
    )
    assert size < MOST_MEGABYTES * 1_000_000


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_there(run: Run, command: str) -> None:
    done = run("factboard", command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"\n  factboard {command}" in done.stdout, "the help has an example"


@pytest.mark.parametrize("program", ["inspect", "lm-eval"])
def test_a_task_is_written(run: Run, tmp_path: Path, program: str) -> None:
    kit = make_kit(tmp_path / "kit")
    done = run("factboard", "export", kit, "--to", program, "task")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "task" / "README.md").is_file()


def test_a_prompt_for_suggestions_is_there(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "p1.html").write_text("<p>Sales 5</p>", encoding="utf-8")
    model = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    done = run("factboard", "suggest", "pages", *model, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "Sales 5" in done.stdout


def test_the_client_is_typed_and_there(run: Run) -> None:
    done = run("python", "-c", "import factboard; print(factboard.Client('https://a.example'))")
    assert done.stdout == "Client('https://a.example')\n", done.stderr


def test_cards_and_prompts_are_there(run: Run) -> None:
    code = (
        "from scoring.benchmarks import BENCHMARKS, benchmark_card, get_benchmark\n"
        "from scoring.benchmarks import item_prompts\n"
        "for key in BENCHMARKS: get_benchmark(key).reported, item_prompts(key)[0].text\n"
        "print(*(len(benchmark_card(key)) for key in BENCHMARKS))\n"
    )
    done = run("python", "-c", code)
    cards = [SAMPLE.parent.parent / "scoring/benchmarks" / key / "README.md" for key in
             ("fincriticaled", "fcmbench", "findoc", "receiptbench", "ccocr")]  # fmt: skip
    assert done.stdout.split() == [str(len(card.read_text())) for card in cards], done.stderr


@pytest.mark.parametrize("benchmark", ["ccocr", "fcmbench", "findoc", "receiptbench"])
def test_it_grades_as_the_site_does(run: Run, benchmark: str) -> None:
    """To the last digit, though the site compiles its loops with numba."""
    folder = SAMPLE / benchmark
    arguments = [
        "grade", benchmark, "--gold", str(folder / "gold/dev.jsonl"),
        "--submission", str(folder / "submissions/dev/tesseract.jsonl"), "--json",
    ]  # fmt: skip
    there = run("factboard", *arguments)
    assert there.returncode == 0, there.stderr
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    here = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert json.loads(there.stdout) == json.loads(here.stdout)
