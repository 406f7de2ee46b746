"""Engines on this machine: their output in every benchmark's form, and the examples of the docs."""

import json
import re
import shlex
import sys
from argparse import ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread, Timer

import pytest

from factboard.cli import main
from factboard.engines import header
from factboard.ocr import OcrEngine, Page, RapidOcr, Word, layout_body
from factboard.programs import Command, CommandEngine, EngineMissing, FunctionEngine
from factboard.targets import SAMPLE_FOLDER, SAMPLES, open_sample
from scoring.answering.core import ImageSource, RunItem
from scoring.answering.manifest import RunManifest
from scoring.answering.rendering import prediction
from scoring.benchmarks import check_predictions, get_benchmark
from tests.datasets.factories import png
from tests.programs import require_program

from .packages import require_package

DOCS = Path(__file__).parents[2] / "docs" / "running-models.md"
PYTHON = shlex.quote(sys.executable)
ITEM = RunItem(
    "p1", "Read.", (ImageSource("a.png", lambda: b"one"), ImageSource("b.png", lambda: b"two"))
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("prog {image}", "prog"),
        ("/opt/bin/prog {image}", "prog"),
        ("python3 tools/my_ocr.py {image}", "my_ocr"),
        ("python3.13 -u my_ocr.py {image}", "my_ocr"),
        ("python3 -m my_ocr {image}", "my_ocr"),
        ("bash run.sh {image}", "run"),
        ("python3 {image}", "python3"),
        ("python3 -c 'print(1)' {image}", "python3"),
    ],
)
def test_a_script_names_the_model_not_its_interpreter(text: str, name: str) -> None:
    assert Command.of(text).name == name


def command(text: str, benchmark: str = "findoc", timeout: float = 20) -> CommandEngine:
    return CommandEngine(Command.of(text), benchmark, timeout)


def script(tmp_path: Path, code: str) -> str:
    path = tmp_path / "program.py"
    path.write_text(code, encoding="utf-8")
    return f"{PYTHON} {shlex.quote(str(path))}"


READ = "import sys; print(*[open(p).read() for p in sys.argv[1:]])"


@pytest.mark.parametrize("text", ["api-key", "a b: secret", "Host: secret", "X-A: secr\nX-B: et"])
def test_header_that_cannot_be_sent_is_refused_without_its_value(text: str) -> None:
    with pytest.raises(ArgumentTypeError) as refused:
        header(text)
    assert "secr" not in str(refused.value)


def test_program_runs_once_per_image_or_once_for_all(tmp_path: Path) -> None:
    program = script(tmp_path, READ)
    assert command(f"{program} {{image}}").answer(ITEM).text == "one\n\ntwo\n"
    assert command(f"{program} {{images}}").answer(ITEM).text == "one two\n"


def test_prompt_is_one_argument_without_a_shell(tmp_path: Path) -> None:
    program = script(tmp_path, "import sys; print(sys.argv[2:])")
    item = RunItem("p1", "$(touch x); {image} 'a", ITEM.images[:1])

    answer = command(f"{program} {{image}} {{prompt}}").answer(item)

    assert answer.text.strip() == repr(["$(touch x); {image} 'a"])


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "import sys; print('no licence', file=sys.stderr); sys.exit(3)",
            "exit code 3: no licence",
        ),
        ("import time; time.sleep(60)", "took longer than 0.7 seconds"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "not UTF-8"),
        ("while True: print('x' * 100000)", "printed more than 16 MB"),
        ("import sys\nwhile True: print('x' * 100000, file=sys.stderr)", "took longer"),
    ],
)
def test_program_that_fails_gives_a_reason(tmp_path: Path, code: str, reason: str) -> None:
    timeout = 0.7 if "longer" in reason else 20
    engine = command(f"{script(tmp_path, code)} {{image}}", timeout=timeout)

    answer = engine.answer(ITEM)

    assert answer.state == "failed"
    assert reason in answer.reason


def test_program_that_is_not_there_gives_a_reason() -> None:
    answer = command("/nowhere/my-ocr {image}").answer(ITEM)
    assert answer.reason == "my-ocr cannot be run: No such file or directory"


@pytest.mark.parametrize("text", ["", "prog", "prog '{image}"])
def test_command_that_cannot_work_is_refused(text: str) -> None:
    with pytest.raises(EngineMissing):
        Command.of(text)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("Net loss", "Net loss"),
        ({"text": "Net loss"}, "Net loss"),
        ({"text": "a", "more": 1}, '{"text": "a", "more": 1}'),
        ([1], "[1]"),
        (None, ""),
    ],
)
def test_function_returns_text_or_an_object(output: object, text: str) -> None:
    answer = FunctionEngine(lambda _: output, "findoc").answer(ITEM)
    assert (answer.text, answer.state) == (text, "answered" if text else "empty")


@pytest.mark.parametrize("output", [7, {"a": {1, 2}}, ValueError("no page")])
def test_function_that_fails_fails_its_item(output: object) -> None:
    def function(_: RunItem) -> object:
        if isinstance(output, Exception):
            raise output
        return output

    assert FunctionEngine(function, "findoc").answer(ITEM).state == "failed"


class Fixed(OcrEngine):
    """Finds a heading and a table of two columns on every image."""

    def page(self, image: ImageSource) -> Page:
        words = [
            Word(1, 1, 1, 10, 40, 12, "Assets"),
            Word(2, 1, 1, 10, 40, 12, "Cash"),
            Word(2, 1, 1, 200, 250, 12, "1,204"),
        ]
        return Page("Assets\nCash 1,204", layout_body(words))


@pytest.mark.parametrize("benchmark", list(SAMPLES))
def test_output_of_ocr_passes_the_check_of_each_benchmark(benchmark: str, tmp_path: Path) -> None:
    kit = open_sample(benchmark)
    engine = Fixed(kit.benchmark)
    path = tmp_path / "submission.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for item in kit.items:
            run_item = RunItem(item.id, "", item.images, item.kind)
            line = prediction(kit.benchmark, item.id, engine.answer(run_item).text, None)
            file.write(json.dumps(line) + "\n")

    spec = get_benchmark(kit.benchmark)
    check = check_predictions(spec.read_predictions(path), {item.id for item in kit.items})

    assert not check.faults
    assert not check.missing


@pytest.mark.parametrize(
    ("benchmark", "kind", "start"),
    [
        ("fincriticaled", "", "<!DOCTYPE html>"),
        ("ccocr", "table", "<table>\n<tr><td>Cash</td><td>1,204</td></tr>"),
        ("ccocr", "ocr", "Assets\nCash 1,204"),
        ("findoc", "", "Assets\nCash 1,204"),
    ],
)
def test_ocr_has_the_form_of_the_benchmark(benchmark: str, kind: str, start: str) -> None:
    item = RunItem("p1", "", ITEM.images[:1], kind)
    assert Fixed(benchmark).answer(item).text.startswith(start)


def lines_of(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {json.loads(line)["id"]: line for line in lines}


def same_as_shipped(out: Path, more: Sequence[str] = (), engine: str = "tesseract") -> int:
    """Runs an engine over the sample; the number of lines, which equal the shipped ones."""
    if engine == "tesseract":
        require_program(engine)
    else:
        require_package("rapidocr_onnxruntime")
    assert main(["run", "sample", "--engine", engine, "--out", str(out), *more]) == 0
    made = lines_of(out / "submission.jsonl")
    shipped = lines_of(SAMPLE_FOLDER / f"data/submissions/{engine}.jsonl")
    assert made == {item: shipped[item] for item in made}
    return len(made)


def test_tesseract_reads_the_sample_as_the_shipped_submission_has_it(tmp_path: Path) -> None:
    assert same_as_shipped(tmp_path / "out", ["--limit", "1"]) == 1
    about = RunManifest.model_validate_json((tmp_path / "out/manifest.json").read_bytes())
    assert about.versions["tesseract"].startswith("tesseract ")
    assert about.command == "factboard run sample --engine tesseract --limit 1"
    assert about.prompts == ()


@pytest.mark.slow
def test_tesseract_reads_the_whole_sample_as_the_shipped_submission_has_it(tmp_path: Path) -> None:
    assert same_as_shipped(tmp_path / "out") == 30


def test_rapidocr_reads_the_sample_as_the_shipped_submission_has_it(tmp_path: Path) -> None:
    assert same_as_shipped(tmp_path / "out", ["--limit", "1"], "rapidocr") == 1
    about = RunManifest.model_validate_json((tmp_path / "out/manifest.json").read_bytes())
    assert about.versions["rapidocr"].startswith("rapidocr-onnxruntime ")


def test_rapidocr_ends_after_the_image_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """After Ctrl-C, Python would be aborted if it ended inside the library."""
    begun, may_end, ends = Event(), Event(), []

    def read(_: object) -> tuple[list[object], None]:
        begun.set()
        may_end.wait()
        ends.append("image")
        return [], None

    monkeypatch.setattr("factboard.ocr._rapidocr", lambda: (read, "rapidocr 1"))
    engine = RapidOcr("fincriticaled")
    image = ImageSource("p1.png", png)
    reading = Thread(target=engine.answer, args=(RunItem("p1", "", (image,)),), daemon=True)
    reading.start()
    begun.wait()
    Timer(0.2, may_end.set).start()
    engine.close()
    ends.append("engine")
    assert ends == ["image", "engine"]


@pytest.mark.slow
def test_rapidocr_reads_the_whole_sample_as_the_shipped_submission_has_it(tmp_path: Path) -> None:
    assert same_as_shipped(tmp_path / "out", engine="rapidocr") == 30


def examples() -> list[str]:
    """The commands of the section Engines, and its Python file."""
    section = DOCS.read_text(encoding="utf-8").partition("\n## Engines\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    (module,) = (text for language, text in blocks if language == "python")
    Path("my_model.py").write_text(module, encoding="utf-8")
    return [text.strip() for language, text in blocks if not language]


@pytest.mark.parametrize("number", range(3))
def test_examples_of_the_docs_run(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    commands = examples()
    program, *words = shlex.split(commands[number])
    if "tesseract" in words[-1] or "tesseract" in commands[number]:
        require_program("tesseract")
    assert program == "factboard"
    assert main([*words, "--limit", "1"]) == 0
    (path,) = tmp_path.glob("runs/*/submission.jsonl")
    check = check_predictions(
        get_benchmark("fincriticaled").read_predictions(path), {"sample-fl-01"}
    )
    assert not check.faults
    assert "sample-fl-01" in check.lines


def test_engine_can_come_before_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("other_model.py").write_text("answer = lambda item: item.id", encoding="utf-8")
    assert main(["run", "--engine", "python", "other_model:answer", "sample", "--limit", "2"]) == 0
    (path,) = tmp_path.glob("runs/*/submission.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["html"] for line in lines] == ["sample-fl-01", "sample-fl-02"]
