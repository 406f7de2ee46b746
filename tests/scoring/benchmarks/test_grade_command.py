"""`manage.py grade` works offline, without a database."""

import errno
import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from scoring.management.commands.grade import Command
from tests.many import SOME, part_of
from tests.shared import REALDATA, needs_realdata

MANAGE = settings.BASE_DIR / "manage.py"
GOLD = [
    {"id": "a", "html": "<p>Net loss of <Number>(1,200)</Number> in <Date>Q2 2023</Date></p>"},
    {"id": "b", "html": "<p>Dividends of <Number>42</Number> were paid</p>"},
]
Done = CompletedProcess[str]


def grade(*arguments: str | Path, cwd: Path) -> Done:
    """Run the command as a user would, in its own process."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "DATABASE_URL": "postgres://nobody:none@127.0.0.1:1/none",
        "VAR_DIR": str(cwd / "var"),
    }
    command = [sys.executable, str(MANAGE), "grade", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd)


def grade_here(*arguments: str | Path) -> Done:
    """Run the command in this process, which is much faster.

    There is no database here either: a test that uses one without marking it fails.
    """
    command = ["manage.py", "grade", *map(str, arguments)]
    code = 0
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()) as errors:
        try:
            Command().run_from_argv(command)
        except SystemExit as end:
            code = int(end.code or 0)
    return CompletedProcess(command, code, output.getvalue(), errors.getvalue())


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in GOLD))
    return path


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    path = tmp_path / "sub.jsonl"
    path.write_text(json.dumps({"id": "a", "html": "<p>Net loss of 1,200 in Q2 2023</p>"}))
    return path


def test_json_and_items(gold: Path, submission: Path, tmp_path: Path) -> None:
    items = tmp_path / "items.jsonl"
    done = grade(
        "fincriticaled", "--gold", gold, "--submission", submission, "--json", "--items", items,
        "--option", "missing=skip", "--option", "labels=v1", cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert set(report) == {
        "benchmark",
        "signature",
        "items",
        "missing",
        "changed_answers",
        "scores",
        "views",
        "subsets",
    }
    assert "|missing:skip|" in report["signature"]
    assert (report["items"], report["missing"]) == (2, 1)
    assert report["scores"]["ffa"] == 0.5
    lines = [json.loads(line) for line in items.read_text().splitlines()]
    assert [line["id"] for line in lines] == ["a", "b"]
    fact = lines[0]["facts"][0]
    assert {key: fact[key] for key in ("n", "type", "value", "correct", "found")} == {
        "n": 0,
        "type": "Number",
        "value": "(1,200)",
        "correct": False,
        "found": True,
    }
    assert (fact["matched_text"], fact["error"]) == ("1,200", "sign")
    assert {line["facts"][0]["error"] for line in lines} == {"sign", "missing"}


def test_table(gold: Path, submission: Path) -> None:
    done = grade_here("fincriticaled", "--gold", gold, "--submission", submission)
    assert done.returncode == 0
    assert "2 items, 1 without a prediction" in done.stdout
    shown = {line.split()[0]: line.split()[-1] for line in done.stdout.splitlines() if "↑" in line}
    assert (shown["N-FFA"], shown["T-FFA"], shown["FFA"]) == ("0.00%", "100.00%", "33.33%")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "a"}', "has no 'html'"),
        ("{", "not valid JSON"),
        ('{"id": "zzz", "html": ""}', "unknown id 'zzz'"),
        ('{"id": "a", "html": ""}', "the id 'a' was already used at"),
    ],
)
def test_bad_lines_are_named_by_file_and_line(
    gold: Path, submission: Path, tmp_path: Path, line: str, message: str
) -> None:
    submission.write_text(submission.read_text() + "\n" + line)
    items = tmp_path / "items.jsonl"
    done = grade_here("fincriticaled", "--gold", gold, "--submission", submission, "--items", items)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{submission}:2: {message}")
    assert not items.exists()


@pytest.mark.slow
def test_a_refusal_ends_the_process_with_its_code(gold: Path, tmp_path: Path) -> None:
    submission = tmp_path / "bad.jsonl"
    submission.write_text("{")
    done = grade("fincriticaled", "--gold", gold, "--submission", submission, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{submission}:1: this is a JSON object on several lines")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fincritcaled"], "did you mean fincriticaled?"),
        (
            ["fincriticaled", "--option", "matcher=x"],
            "option matcher must be aligned, substring, judge(MODEL)",
        ),
        (["fincriticaled", "--option", "matcher"], "'matcher' is not KEY=VALUE"),
    ],
)
def test_wrong_names_are_explained(
    gold: Path, submission: Path, arguments: list[str], message: str
) -> None:
    done = grade_here(*arguments, "--gold", gold, "--submission", submission)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_items_that_cannot_be_written(gold: Path, submission: Path, tmp_path: Path) -> None:
    items = tmp_path / "none" / "items.jsonl"
    done = grade_here("fincriticaled", "--gold", gold, "--submission", submission, "--items", items)
    assert (done.returncode, done.stderr) == (
        2,
        f"{items}:0: cannot be written: No such file or directory\n",
    )


def test_a_temporary_file_that_cannot_be_read_is_not_blamed_on_the_items(
    gold: Path, submission: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("scoring.benchmarks.checking.os.pread", unreadable)
    items = tmp_path / "items.jsonl"
    with pytest.raises(CommandError, match=r"factboard-grade-.*: cannot be read: Input/output"):
        call_command("grade", "fincriticaled", gold=gold, submission=submission, items=items)
    assert not list(tmp_path.glob("items*"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /dev/full")
def test_a_full_disk_is_blamed_on_the_items(
    gold: Path, submission: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = tmp_path / "items.jsonl"
    (tmp_path / "items.jsonl.partial").symlink_to("/dev/full")
    with pytest.raises(SystemExit):
        call_command("grade", "fincriticaled", gold=gold, submission=submission, items=items)
    assert f"{items}:0: cannot be written: No space left on device" in capsys.readouterr().err
    assert not items.exists()


@pytest.mark.slow
@needs_realdata
def test_a_real_engine_is_graded(tmp_path: Path) -> None:
    for name in ("gold", "predictions/tesseract"):
        folder = tmp_path / Path(name).name
        folder.mkdir()
        for path in part_of(sorted((REALDATA / name).iterdir()), SOME):
            shutil.copy(path, folder)
    done = grade(
        "fincriticaled", "--gold", tmp_path / "gold",
        "--submission", tmp_path / "tesseract", "--json", cwd=tmp_path,
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert (report["items"], report["missing"]) == (33, 0)
    assert 0.98 < report["scores"]["ffa"] < 0.99


TITLED = (
    "<html><head><title>Quarterly results of the company</title></head>"
    "<body><p>Net sales <Number>1,200</Number></p></body></html>"
)


def test_nothing_of_the_head_of_a_gold_page_counts(tmp_path: Path) -> None:
    for folder, html in (("gold", TITLED), ("submission", "<p>Net sales 1,200</p>")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p1.html").write_text(html)
    files = ("--gold", tmp_path / "gold", "--submission", tmp_path / "submission", "--json")
    done = grade_here("fincriticaled", *files)
    scores = json.loads(done.stdout)["scores"]
    assert (scores["r1"], scores["rl"], scores["edit_distance"], scores["ffa"]) == (1, 1, 0, 1)
    # The published script's rule keeps the title: 4 of 4 tokens found, of 9 (P = 1, R = 4/9).
    done = grade_here("fincriticaled", *files, "--raw-gold", "--option", "answer=whole")
    assert json.loads(done.stdout)["scores"]["r1"] == pytest.approx(2 * 4 / (4 + 9))


def test_a_gold_page_that_no_release_can_hold_is_named(tmp_path: Path) -> None:
    gold, submission = tmp_path / "gold.jsonl", tmp_path / "submission.jsonl"
    deep = "<b>" * 300 + "<Number>1</Number>" + "</b>" * 300
    gold.write_text(json.dumps({"id": "p1", "html": deep}) + "\n")
    submission.write_text(json.dumps({"id": "p1", "html": "1"}) + "\n")
    done = grade_here("fincriticaled", "--gold", gold, "--submission", submission)
    assert done.returncode == 2
    assert f"{gold}:1: in 'html', " in done.stderr
    assert "no release can hold this page" in done.stderr


def test_so_many_faults_are_printed_and_the_rest_is_counted(gold: Path, tmp_path: Path) -> None:
    submission = tmp_path / "bad.jsonl"
    submission.write_text("nope\n" * 1308)
    done = grade_here("fincriticaled", "--gold", gold, "--submission", submission)
    lines = done.stderr.splitlines()
    assert (done.returncode, len(lines), lines[-1]) == (2, 51, "and 1,258 more")
