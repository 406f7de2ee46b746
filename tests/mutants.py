"""Mutation testing: do the tests detect small faults? The seeded sample is always the same.

    python -m tests.mutants cover    # run the whole suite once; record which test runs which line
    python -m tests.mutants run      # put in each fault; run the tests that run its line
    python -m tests.mutants table    # show how many were detected, and list the others

A mutant is the code with one fault: one expression or statement is changed. The sample is drawn
from critical code: access, limits, claims and leases, readers of untrusted files, metrics, span
offsets, frozen releases. `cover` takes as long as `make test-all`, `run` about one hour on two
cores. Results are in `var/mutants`. Use `--results` for another folder, to compare two states of
the suite. docs/testing.md has the latest results.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import Queue
from xml.etree import ElementTree

import coverage

ROOT = Path(__file__).resolve().parents[1]
SEED = 17
PER_GROUP = 20
WORKERS = 2
# Seconds. A fault may make a test wait forever, which counts as detected.
TEST_TIMEOUT = 60
SERVICES = {
    "DATABASE_URL": "postgres://postgres@127.0.0.1:5432/mutants",
    "REDIS_URL": "redis://127.0.0.1:6379/2",
}
GROUPS = {
    "access": ["*/access.py", "portal/*/*access.py", "portal/accounts/teams/access.py"],
    "limits": ["scoring/boards/limits.py", "portal/datasets/imaging/renderer.py"],
    "claims and leases": ["portal/jobs/handlers.py", "portal/jobs/leases.py"],
    "readers": [
        "portal/files/archives.py",
        "portal/datasets/imports/opening.py",
        "portal/datasets/imports/items.py",
        "portal/datasets/imports/labelled_pages.py",
        "portal/datasets/imports/tables.py",
        "scoring/benchmarks/checking.py",
        "portal/facts/labelstudio/tasks.py",
    ],
    "metrics": ["scoring/metrics/*.py"],
    "offsets": [
        "portal/facts/spans.py",
        "portal/facts/finding.py",
        "portal/facts/canonical.py",
        "portal/facts/tags.py",
        "portal/facts/labelstudio/placing.py",
    ],
    "frozen releases": [
        "portal/datasets/releases/freezing.py",
        "portal/datasets/releases/gold.py",
        "portal/datasets/releases/services.py",
        "portal/datasets/releases/selectors.py",
    ],
}


@dataclass(frozen=True)
class Mutant:
    """One fault: bytes `start` to `end` of a file, and the code that replaces them.

    `line` is the line of `start`, `statement` the first line of the statement.
    """

    group: str
    path: str
    statement: int
    line: int
    start: int
    end: int
    before: str
    after: str

    @property
    def key(self) -> str:
        return f"{self.path}:{self.line}:{self.start}:{self.after}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}\n  - {self.before}\n  + {self.after}"


@dataclass(frozen=True)
class Outcome:
    """The lane ("fast", "slow", "services", "" for none) and the test that detected a mutant."""

    key: str
    group: str
    tests: int
    lane: str
    killer: str
    seconds: float


# --- the sample -----------------------------------------------------------------------------------

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}


def changed_expression(node: ast.AST) -> str | None:
    """Returns the expression with another operator or constant, or None if it has neither."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=rest):
            other = COMPARISONS[type(op)]()
            return ast.unparse(ast.Compare(left=left, ops=[other], comparators=rest))
        case ast.BoolOp(op=op, values=values):
            swapped = ast.Or() if isinstance(op, ast.And) else ast.And()
            return f"({ast.unparse(ast.BoolOp(op=swapped, values=values))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"({ast.unparse(operand)})"
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in ARITHMETIC:
            changed = ast.BinOp(left=left, op=ARITHMETIC[type(operator)](), right=right)
            return f"({ast.unparse(changed)})"
        case ast.Constant(value=bool() as value):
            return str(not value)
        case ast.Constant(value=int() as value):
            return str(value + 1)
    return None


def changed_statement(node: ast.AST) -> str | None:
    """Returns a replacement for a return of a value, a raise, a call or a continue, else None."""
    match node:
        case ast.Return(value=ast.Constant(value=None)):
            return None
        case ast.Return(value=ast.expr()):
            return "return None"
        case ast.Expr(value=ast.Call()) | ast.Raise(exc=ast.expr()) | ast.Continue():
            return "pass"
    return None


def mutants_of(path: Path, group: str) -> list[Mutant]:
    """Returns all mutants of a file in order. Only code in functions changes, never f-strings."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node, statement in _code_of_functions(ast.parse(source)):
        after = changed_expression(node) or changed_statement(node)
        if after is None or not isinstance(node, ast.expr | ast.stmt):
            continue
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        before = source[start:end].decode()
        where = str(path.relative_to(ROOT))
        found.append(Mutant(group, where, statement, node.lineno, start, end, before, after))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end))


def _code_of_functions(tree: ast.Module) -> Iterator[tuple[ast.AST, int]]:
    """Yields every node inside a function, with the first line of its statement."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                yield from _inside(statement, statement.lineno)


def _inside(node: ast.AST, line: int) -> Iterator[tuple[ast.AST, int]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.JoinedStr | ast.arguments):
        return
    line = node.lineno if isinstance(node, ast.stmt) else line
    yield node, line
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if name != "annotation" and isinstance(child, ast.AST):
                yield from _inside(child, line)


def sample() -> list[Mutant]:
    """Draws PER_GROUP mutants from each group. The same sources give the same mutants."""
    drawn = []
    for group, patterns in GROUPS.items():
        paths = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
        everything = [mutant for path in paths for mutant in mutants_of(path, group)]
        chosen = random.Random(f"{SEED} {group}").sample(everything, PER_GROUP)
        drawn += sorted(chosen, key=lambda mutant: (mutant.path, mutant.start))
    return drawn


# --- which test runs which line ---------------------------------------------------------------


def cover(results: Path, options: list[str]) -> None:
    """Runs the suite once; records the tests of each line, and the seconds of each test."""
    results.mkdir(parents=True, exist_ok=True)
    files = "\n    ".join(sorted({mutant.path for mutant in sample()}))
    settings = results / "settings.ini"
    settings.write_text(f"[run]\ndata_file = {results / 'coverage'}\ninclude =\n    {files}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(WORKERS), *options]
    command += ["--cov", "--cov-context=test", f"--cov-config={settings}", "--cov-report="]
    command += [f"--junit-xml={results / 'seconds.xml'}"]
    subprocess.run(command, cwd=ROOT, check=False)


def seconds_by_test(results: Path) -> dict[str, float]:
    cases = ElementTree.parse(results / "seconds.xml").iter("testcase")
    return {
        f"{case.get('classname')}::{case.get('name')}": float(case.get("time", 0)) for case in cases
    }


def tests_by_line(results: Path) -> dict[str, dict[int, set[str]]]:
    """Returns the node ids of the tests that run each line, for the files of the sample."""
    data = coverage.CoverageData(str(results / "coverage"))
    data.read()
    found: dict[str, dict[int, set[str]]] = {mutant.path: {} for mutant in sample()}
    for measured in data.measured_files():
        path = next(mutant.path for mutant in sample() if measured.endswith(f"/{mutant.path}"))
        found[path] = {
            line: {context.rpartition("|")[0] for context in contexts if context}
            for line, contexts in data.contexts_by_lineno(measured).items()
        }
    return found


def by_speed(node_ids: set[str], seconds: dict[str, float]) -> list[str]:
    """Sorts fast tests first, and one test of every module before the second of any."""
    by_module: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for node_id in node_ids:
        path = node_id.partition("::")[0]
        by_module[path].append((seconds.get(_junit_name(node_id), 1.0), node_id))
    ranked = [
        (place, cost, node_id)
        for tests in by_module.values()
        for place, (cost, node_id) in enumerate(sorted(tests))
    ]
    return [node_id for _, _, node_id in sorted(ranked)]


def _junit_name(node_id: str) -> str:
    """Turns `tests/a.py::TestB::test_c[x]` into JUnit's `tests.a.TestB::test_c[x]`."""
    test, bracket, parameters = node_id.partition("[")
    path, *classes, name = test.split("::")
    module = path.removesuffix(".py").replace("/", ".")
    return f"{'.'.join([module, *classes])}::{name}{bracket}{parameters}"


# --- the tests against each mutant ------------------------------------------------------------


def run(results: Path, only: str) -> None:
    """Tests each mutant. Continues where an earlier run stopped."""
    covered, seconds, in_lanes = tests_by_line(results), seconds_by_test(results), lanes()
    kept = results / "outcomes.json"
    outcomes = json.loads(kept.read_text()) if kept.exists() else []
    done = {outcome["key"] for outcome in outcomes}
    waiting = [mutant for mutant in sample() if mutant.key not in done and only in mutant.key]
    copies: Queue[Checkout] = Queue()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for number in range(WORKERS):
            copies.put(Checkout(Path(folder) / str(number)))

        def attempt(mutant: Mutant) -> Outcome:
            copy = copies.get()
            try:
                lines = range(mutant.statement, mutant.line + 1)
                node_ids = set().union(*(covered[mutant.path].get(line, ()) for line in lines))
                return copy.attempt(mutant, by_speed(node_ids, seconds), in_lanes)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(WORKERS) as pool:
            for outcome in pool.map(attempt, waiting):
                outcomes.append(asdict(outcome))
                kept.write_text(json.dumps(outcomes, indent=1))
                _print(f"{outcome.lane or 'SURVIVED':9}{outcome.seconds:6.0f} s  {outcome.key}")


@dataclass(frozen=True)
class Lane:
    """A lane of the suite. The tests in `always` run for every mutant."""

    name: str
    tests: set[str]
    always: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def chosen(self, node_ids: list[str]) -> list[str]:
        return [*self.always, *(node_id for node_id in node_ids if node_id in self.tests)]


def lanes() -> list[Lane]:
    """Returns the lanes of the Makefile. `cover` has no races, as it runs on SQLite: all run."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    fast = next(line for line in makefile.splitlines() if line.startswith("FAST := "))
    quick = _collected("-m", fast.removeprefix("FAST := "))
    database = _collected("-m", "database and not (browser or processes)")
    races = _collected("-m", "race", environment=SERVICES)
    return [
        Lane("fast", quick),
        Lane("slow", _collected() - quick),
        Lane("services", database, sorted(races), SERVICES),
    ]


def _collected(*options: str, environment: dict[str, str] | None = None) -> set[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:xdist", *options]
    env = os.environ | (environment or {})
    listed = subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True)
    return {line for line in listed.stdout.splitlines() if "::" in line}


class Checkout:
    """A copy of the checkout that tests one mutant at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # Lanes and tests known to pass without a fault.
        self.sound: set[tuple[str, str]] = set()
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)

    def attempt(self, mutant: Mutant, node_ids: list[str], lanes: list[Lane]) -> Outcome:
        began = time.monotonic()
        name, killer = "", ""
        for lane in lanes:
            killer = self._killer(mutant, lane.chosen(node_ids), lane)
            if killer:
                name = lane.name
                break
        seconds = round(time.monotonic() - began, 1)
        return Outcome(mutant.key, mutant.group, len(node_ids), name, killer, seconds)

    def _killer(self, mutant: Mutant, node_ids: list[str], lane: Lane) -> str:
        """Returns the first test that fails only with the fault, or "" if there is none."""
        while node_ids:
            with self._fault(mutant):
                failed = self._first_failure(node_ids, lane)
            if failed not in node_ids or (lane.name, failed) in self.sound:
                return failed
            if not self._first_failure([failed], lane):
                self.sound.add((lane.name, failed))
                return failed
            _print(f"fails without a fault: {failed}")
            node_ids = node_ids[node_ids.index(failed) + 1 :]
        return ""

    @contextmanager
    def _fault(self, mutant: Mutant) -> Iterator[None]:
        file = self.folder / mutant.path
        source = file.read_bytes()
        try:
            self._write(file, source[: mutant.start] + mutant.after.encode() + source[mutant.end :])
            yield
        finally:
            self._write(file, source)

    @staticmethod
    def _write(file: Path, source: bytes) -> None:
        """Writes the file and deletes its byte code.

        Python checks byte code only by size and second, which a fault may not change.
        """
        file.write_bytes(source)
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
            compiled.unlink()

    def _first_failure(self, node_ids: list[str], lane: Lane) -> str:
        """Returns the first failing test, "" if all pass, or the error if pytest itself fails."""
        arguments = self.folder / "var" / "node-ids"
        arguments.parent.mkdir(exist_ok=True)
        arguments.write_text("".join(f"{node_id}\n" for node_id in node_ids))
        environment = os.environ | lane.environment
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment.setdefault("FACTBOARD_SHARED", str(ROOT.parent / "shared"))
        if "DATABASE_URL" in lane.environment:
            environment["DATABASE_URL"] += self.folder.name
        options = ["-x", "-q", "--tb=no", "-rfE", "-p", "no:xdist", f"--timeout={TEST_TIMEOUT}"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, f"@{arguments}"],
            cwd=self.folder,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode == 0:
            return ""
        failed = re.search(r"^(?:FAILED|ERROR) (.*)$", done.stdout, re.MULTILINE)
        named = [node_id for node_id in node_ids if failed and failed[1].startswith(node_id)]
        if named:
            return max(named, key=len)
        return f"exit code {done.returncode}: {(done.stderr or done.stdout)[-300:]}"


# --- results ------------------------------------------------------------------------------------


def table(results: Path) -> None:
    outcomes = [Outcome(**one) for one in json.loads((results / "outcomes.json").read_text())]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        for group in (outcome.group, "all"):
            counts[group][outcome.lane] += 1
    names = ["fast", "slow", "services", ""]
    _print("| code | mutants | `make test` | `make test-slow` | `make test-services` | survived |")
    _print("|---|---|---|---|---|---|")
    for group in [*GROUPS, "all"]:
        cells = [group, counts[group].total(), *(counts[group][name] for name in names)]
        _print(f"| {' | '.join(map(str, cells))} |")
    mutants = {mutant.key: mutant for mutant in sample()}
    for outcome in outcomes:
        if outcome.lane != "fast":
            _print(f"\n{outcome.lane or 'SURVIVED'}, {outcome.tests} tests, {mutants[outcome.key]}")


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=["list", "cover", "run", "table"])
    parser.add_argument("--results", type=Path, default=ROOT / "var" / "mutants")
    parser.add_argument(
        "--only", default="", help="only mutants whose file and line have this text"
    )
    given, options = parser.parse_known_args()
    results = given.results.resolve()
    if given.step == "list":
        _print("\n".join(map(str, sample())))
    elif given.step == "cover":
        cover(results, options)
    elif given.step == "run":
        run(results, given.only)
    else:
        table(results)


if __name__ == "__main__":
    main()
