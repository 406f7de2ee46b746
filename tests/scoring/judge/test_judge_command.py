"""`manage.py judge`: offline, with no database in reach."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management.base import CommandError

from .conftest import Command, lines
from .server import MODEL, JudgeServer, broken, perfect, slow, status

MANAGE = settings.BASE_DIR / "manage.py"
GOLD = [
    {"id": "a", "html": "<p>Net loss of <Number>(1,200)</Number> in <Date>Q2 2023</Date></p>"},
    {"id": "b", "html": "<p>Dividends of <Number>42</Number> were paid</p>"},
    {"id": "c", "html": "<p>Assets of <Number>7</Number></p>"},
]
READ = [
    {"id": "a", "html": "<p>Net loss of 1,200 in Q2 2023</p>"},
    {"id": "b", "html": "<p>Dividends of 42 were paid</p>"},
]
Judge = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(command: Command, files: dict[str, Any]) -> Judge:
    def call(benchmark: str = "fincriticaled", **options: Any) -> tuple[int, str, str]:
        return command("judge", benchmark, **{**files, **options})

    return call


def test_json_holds_verdicts_and_summary(server: JudgeServer, run: Judge, tmp_path: Path) -> None:
    items = tmp_path / "items.jsonl"
    code, out, err = run(json=True, items=items)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["signature"].startswith(
        f"fincriticaled|v6|labels:Number,Date|matcher:judge({MODEL},facts-1)|"
    )
    assert (found["items"], found["missing"], found["unscored"]) == (3, 1, [])
    assert found["scores"]["ffa"] == 0.5
    assert found["usage"] == {
        "input": 200, "output": 100, "calls": 2, "attempts": 2, "uncertain": 0,
        "cost": pytest.approx((200 * 2 + 100 * 10) / 1_000_000),
    }  # fmt: skip
    assert found["summary"]["entity_accuracy"] == 0.5
    first, second, third = found["verdicts"]
    assert (first["id"], first["structure_score"], first["entity_accuracy"]) == ("a", 2, 0.5)
    assert (first["entity_score"], first["overall_score"]) == (2.5, 6.5)
    assert [fact["correct"] for fact in first["facts"]] == [False, True]
    assert second["overall_score"] == 9.0
    assert (third["overall_score"], third["facts"][0]["error"]) == (0.0, "missing")
    written = [json.loads(line) for line in items.read_text().splitlines()]
    assert [line["judge"]["overall_score"] for line in written] == [6.5, 9.0, 0.0]
    assert len(server.calls) == 2


def test_run_again_it_costs_nothing(server: JudgeServer, run: Judge) -> None:
    first, again = run(json=True), run(json=True)
    assert len(server.calls) == 2
    assert json.loads(again[1])["usage"]["cost"] == 0
    assert json.loads(first[1])["verdicts"] == json.loads(again[1])["verdicts"]


def test_a_dry_run_asks_nothing(server: JudgeServer, run: Judge) -> None:
    code, out, _ = run(dry_run=True, json=True)
    told = json.loads(out)
    assert (code, told["calls"], told["kept"], server.calls) == (0, 2, 0, [])
    cost = (told["input_tokens"] * 2 + told["most_output_tokens"] * 10) / 1_000_000
    assert told["most_cost"] == pytest.approx(cost)
    run()
    assert run(dry_run=True)[1].startswith("0 calls would be made; 2 answers are cached\n")


def test_the_table(run: Judge) -> None:
    code, out, _ = run()
    assert code == 0
    assert "3 items, 1 without a prediction" in out
    assert "FFA" in out
    assert "2 calls answered in 2 attempts, 200 input and 100 output tokens, cost 0.0014" in out


def test_items_without_a_verdict_are_named(server: JudgeServer, run: Judge) -> None:
    server.script = lambda call: (broken if "Dividends" in call.transcription else perfect)(call)
    code, out, err = run(json=True)
    assert code == 3
    assert err.startswith("b: unscored: the judge's answer cannot be used")
    assert "1 items have no verdict and are not counted; run again to judge them" in err
    found = json.loads(out)
    assert [each["id"] for each in found["unscored"]] == ["b"]
    assert (found["items"], found["scores"]["ffa"]) == (2, 1 / 3)
    server.script = perfect
    assert run()[0] == 0


def test_a_budget_that_is_used_up(server: JudgeServer, run: Judge) -> None:
    code, _, err = run(budget=0.000001, concurrency=1)
    assert code == 3
    assert "a: unscored: the budget of 1e-06 is used up" in err
    assert server.calls == []


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"benchmark": "ccocr"}, "CC-OCR does not use a judge"),
        ({}, {"option": [("matcher", "aligned")]}, "option matcher is the judge here"),
        ({}, {"option": [("override", "x")]}, "option override must be paper or reference"),
        ({"JUDGE_MODEL": ""}, {}, "JUDGE_MODEL is not set"),
        ({"JUDGE_BASE_URL": ""}, {}, "JUDGE_BASE_URL is not set"),
        (
            {"JUDGE_PRICE_INPUT": 0.0, "JUDGE_PRICE_OUTPUT": 0.0},
            {"budget": 1.0},
            "a budget needs JUDGE_PRICE_INPUT",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_named(
    run: Judge,
    settings: Any,
    change: dict[str, Any],
    options: dict[str, Any],
    message: str,
) -> None:
    for name, value in change.items():
        setattr(settings, name, value)
    code, out, err = run(**options)
    assert (code, out) == (2, "")
    assert message in err


def test_a_refused_key_is_told_without_the_key(
    server: JudgeServer, run: Judge, settings: Any
) -> None:
    settings.JUDGE_API_KEY = "sk-very-secret"
    server.script = status(401)
    code, out, err = run()
    assert code == 3
    assert "rejects all calls: HTTP 401" in err
    assert "sk-very-secret" not in out + err


def test_a_folder_of_answers_that_cannot_be_written(run: Judge, tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.write_text("")
    with pytest.raises(CommandError, match=f"{folder}.*: Not a directory"):
        run(cache=folder)


@pytest.mark.slow
def test_killed_it_goes_on_where_it_was(
    server: JudgeServer, tmp_path: Path, files: dict[str, Any]
) -> None:
    pages = [{"id": f"p{n}", "html": f"<p>Page <Number>{n}</Number> of it</p>"} for n in range(30)]
    lines(files["gold"], pages)
    lines(files["submission"], [{**page, "html": f"Page {page['id'][1:]} of it"} for page in pages])
    server.script = slow(0.05)
    command = [
        sys.executable, str(MANAGE), "judge", "fincriticaled", "--json",
        "--gold", str(files["gold"]), "--submission", str(files["submission"]),
        "--concurrency", "2",
    ]  # fmt: skip
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "DATABASE_URL": "postgres://nobody:none@127.0.0.1:1/none",
        "VAR_DIR": str(tmp_path / "var"),
        "JUDGE_BASE_URL": server.url,
        "JUDGE_MODEL": MODEL,
    }
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE) as first:
        end = time.monotonic() + 60
        while len(server.calls) < 10 and time.monotonic() < end:
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
    before = len(server.calls)
    assert 10 <= before < 30
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (len(found["verdicts"]), found["scores"]["ffa"]) == (30, 1.0)
    # Answers to running calls may be lost with the kill: two calls at most.
    assert len(server.calls) <= 30 + 2
