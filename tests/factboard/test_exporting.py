"""`factboard export`: the folder has everything that lm-evaluation-harness and inspect_ai load."""

import importlib.util
import io
import json
import math
import os
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from PIL import Image

from factboard.cli import main
from factboard.exporting import TaskFolder, TaskFolderError, gold_of

from .packages import require_package

GOLD = {
    "p1": "<p>Sales <number>1,200</number> on <date>March 31, 2025</date></p>",
    "p2": "<p>Loss <number>(310)</number></p>",
}


def picture() -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (40, 20), "white").save(data, "PNG")
    return data.getvalue()


def gold_line(name: str) -> dict[str, str]:
    return {"id": name, "html": GOLD[name]}


def kit(path: Path, *, with_gold: bool, image: str = "images/{}.png") -> Path:
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr("kit.json", json.dumps({"benchmark": "fincriticaled", "dataset": "tiny"}))
        lines = []
        for name in GOLD:
            lines.append({"id": name, "images": [image.format(name)], "prompt": ""})
            bundle.writestr(image.format(name), picture())
        bundle.writestr("items.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        if with_gold:
            rows = [json.dumps(gold_line(name)) + "\n" for name in GOLD]
            bundle.writestr("gold.jsonl", "".join(rows))
    return path


def export(tmp_path: Path, program: str, *, with_gold: bool = True) -> Path:
    out = tmp_path / program
    source = kit(tmp_path / "kit.zip", with_gold=with_gold)
    assert main(["export", str(source), "--to", program, str(out)]) == 0
    return out


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("exported_utils", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Functions(yaml.SafeLoader):
    """Reads `!function utils.name` as its text."""


_Functions.add_constructor("!function", lambda _, node: str(node.value))


def task_of(out: Path) -> dict[str, Any]:
    (path,) = out.glob("*.yaml")
    task: dict[str, Any] = yaml.load(path.read_text(), Loader=_Functions)
    assert task["task"] == path.stem == "factboard_fincriticaled_kit"
    return task


@pytest.mark.parametrize("program", ["inspect", "lm-eval"])
def test_samples_have_prompts_and_images(tmp_path: Path, program: str) -> None:
    out = export(tmp_path, program)
    first, second = map(json.loads, (out / "samples.jsonl").read_text().splitlines())
    assert (first["id"], second["id"]) == ("p1", "p2")
    assert "financial document" in first["prompt"]
    assert (out / first["images"][0]).read_bytes() == picture()
    about = json.loads((out / "task.json").read_text())
    assert (about["benchmark"], about["dataset"]) == ("fincriticaled", "tiny")
    assert about["prompts"][0]["version"] == "paper-1"


@pytest.mark.parametrize("program", ["inspect", "lm-eval"])
def test_hidden_gold_stays_hidden(tmp_path: Path, program: str) -> None:
    out = export(tmp_path, program, with_gold=False)
    assert not (out / "gold.jsonl").exists()
    whole = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert b"1,200" not in whole
    assert "hidden" in (out / "README.md").read_text()


def test_task_of_lm_eval_names_functions_that_exist(tmp_path: Path) -> None:
    out = export(tmp_path, "lm-eval")
    task, utils = task_of(out), loaded(out / "utils.py")
    named = [value for value in task.values() if str(value).startswith("utils.")]
    named += [metric["aggregation"] for metric in task["metric_list"]]
    assert len(named) >= 6
    for function in named:
        assert callable(getattr(utils, function.removeprefix("utils.")))
    directions = {each["metric"]: each["higher_is_better"] for each in task["metric_list"]}
    assert directions["ffa"] is True
    assert directions["edit_distance"] is False
    doc = {"id": "p1", "kind": "", "images": ["images/000001-1.png"], "prompt": "Read."}
    assert utils.doc_to_text(doc) == "<image>Read."
    assert utils.doc_to_image(doc)[0].size == (40, 20)


def test_figures_are_those_of_the_benchmark(tmp_path: Path) -> None:
    utils = loaded(export(tmp_path, "lm-eval") / "utils.py")
    plain = GOLD["p1"].replace("<number>", "").replace("</number>", "")
    plain = plain.replace("<date>", "").replace("</date>", "")
    perfect = utils.process_results({"id": "p1", "kind": ""}, [f"```html\n{plain}\n```"])
    wrong = utils.process_results({"id": "p2", "kind": ""}, ["<p>Loss 9</p>"])
    assert utils.figure_ffa([perfect["ffa"]]) == 1.0
    # Three facts in all; the one of the second page is wrong.
    assert utils.figure_ffa([perfect["ffa"], wrong["ffa"]]) == pytest.approx(2 / 3)


def test_empty_answer_is_scored_as_an_empty_answer(tmp_path: Path) -> None:
    folder = TaskFolder(export(tmp_path, "inspect"))
    scored = folder.score("p1", "", "")
    assert folder.figures([scored.result])["ffa"] == 0.0
    assert all(math.isfinite(v) for v in folder.figures([scored.result]).values())


def test_hidden_gold_gives_a_submission_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACTBOARD_SUBMISSION", str(tmp_path / "mine.jsonl"))
    out = export(tmp_path, "lm-eval", with_gold=False)
    utils = loaded(out / "utils.py")
    (metric,) = task_of(out)["metric_list"]
    assert metric["metric"] == "answered"
    rows = [
        utils.process_results({"id": name, "kind": ""}, [answer])["answered"]
        for name, answer in (("p1", "<p>A</p>"), ("p2", " "))
    ]
    assert utils.answered(rows) == 0.5
    lines = [json.loads(line) for line in (tmp_path / "mine.jsonl").read_text().splitlines()]
    assert lines[0] == {"id": "p1", "html": "<p>A</p>"}


def test_names_of_images_cannot_leave_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = kit(tmp_path / "kit.zip", with_gold=False, image="images/{}.py")
    code = main(["export", str(source), "--to", "inspect", str(tmp_path / "out")])
    assert code == 2
    assert "p1.py is not an image of a known type" in capsys.readouterr().err


def test_folder_with_files_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = kit(tmp_path / "kit.zip", with_gold=False)
    assert main(["export", str(source), "--to", "inspect", str(tmp_path)]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_gold_without_a_line_for_an_item_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = kit(tmp_path / "kit.zip", with_gold=False)
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold_line("p1")) + "\n")
    out = str(tmp_path / "out")
    code = main(
        ["export", str(source), "--to", "inspect", out, "--gold", str(tmp_path / "gold.jsonl")]
    )
    assert code == 2
    assert "no line for p2" in capsys.readouterr().err


def test_other_version_of_the_benchmark_is_named(tmp_path: Path) -> None:
    out = export(tmp_path, "inspect")
    about = json.loads((out / "task.json").read_text())
    (out / "task.json").write_text(json.dumps(about | {"benchmark_version": "0"}))
    with pytest.raises(TaskFolderError, match="was exported for version 0"):
        TaskFolder(out).score("p1", "", "")


def test_folder_named_like_a_board_gives_no_gold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kit(tmp_path / "board", with_gold=True)
    with gold_of("board", None, is_board=True) as gold:
        assert gold is None
    with gold_of("board", None, is_board=False) as gold:
        assert gold is not None


# --- the programs themselves, where they are installed ------------------------------------------


@pytest.mark.slow
# inspect_ai uses old names of its dependencies and leaves its streams open.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_inspect_runs_the_task(tmp_path: Path) -> None:
    require_package("inspect_ai")
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelAPI, ModelOutput, modelapi

    @modelapi(name="scripted")
    class Scripted(ModelAPI):  # type: ignore[misc]
        async def generate(self, input: Any, *args: Any, **more: Any) -> Any:  # noqa: A002
            kinds = [part.type for part in input[-1].content]
            assert kinds == ["image", "text"]
            return ModelOutput.from_content("scripted/x", "<p>Loss (310)</p>")

        async def count_tokens(self, *args: Any, **more: Any) -> int:
            return 1

    out = export(tmp_path, "inspect")
    before = Path.cwd()
    os.chdir(out)
    try:
        (log,) = evaluate(
            "task.py", model="scripted/x", log_dir=str(tmp_path / "logs"), display="none"
        )
    finally:
        os.chdir(before)
    assert log.status == "success", log.error
    figures = {name: each.value for name, each in log.results.scores[0].metrics.items()}
    assert figures["ffa"] == pytest.approx(1 / 3)


@pytest.mark.slow
def test_lm_eval_runs_the_task(tmp_path: Path) -> None:
    require_package("lm_eval")
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Scripted(LM):  # type: ignore[misc]
        MULTIMODAL = True

        def generate_until(self, requests: Any, **more: Any) -> list[str]:
            assert requests[0].args[2]["visual"][0].size == (40, 20)
            return ["<p>Loss (310)</p>"] * len(requests)

        def loglikelihood(self, *args: Any, **more: Any) -> Any:
            raise AssertionError("the task asks for no likelihoods")

        loglikelihood_rolling = loglikelihood

    out = export(tmp_path, "lm-eval")
    manager = TaskManager(include_path=str(out), include_defaults=False)
    name = task_of(out)["task"]
    found = lm_eval.simple_evaluate(
        model=Scripted(), tasks=[name], task_manager=manager, bootstrap_iters=0
    )
    assert found["results"][name]["ffa,none"] == pytest.approx(1 / 3)
