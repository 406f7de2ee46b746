"""`factboard run` as a whole: the files it writes, what it asks, and what it never shows."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from factboard.cli import main
from scoring.answering.manifest import RunManifest
from scoring.benchmarks import check_predictions, get_benchmark
from scoring.judge.endpoint import Backoff
from tests.scoring.answering.chat_server import MODEL, Call, ChatServer, Reply, echo, faulty, serve
from tests.scoring.answering.kit_files import make_kit

KEY = "sk-very-secret-12345"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)


def run(server: ChatServer, kit: Path, *more: str) -> int:
    return main(
        ["run", str(kit), "--model", MODEL, "--base-url", server.url, "--out", "out", *more]
    )


def lines_of(path: str = "out/submission.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def manifest() -> RunManifest:
    return RunManifest.model_validate_json(Path("out/manifest.json").read_bytes())


def test_run_writes_a_submission_and_its_manifest(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit", 20, sha256="a" * 64)
    with serve() as server:
        assert run(server, kit, "--price-in", "1", "--price-out", "2") == 0

    predictions = lines_of()
    assert [line["id"] for line in predictions] == [f"p{number:04}" for number in range(20)]
    assert all(line["html"].startswith("<p>Net loss ") for line in predictions)
    assert len({line["html"] for line in predictions}) == 20
    about = manifest()
    assert about.benchmark == "fincriticaled"
    assert (about.dataset, about.version, about.release_sha256) == ("filings", "1.0.0", "a" * 64)
    assert (about.engine, about.model) == ("openai", MODEL)
    assert about.host == server.url.split("/")[2]
    assert about.decoding == {"temperature": 0, "max_tokens": 8192}
    assert [prompt.name for prompt in about.prompts] == ["item"]
    assert about.tokens.input == 2000
    assert about.cost == pytest.approx(20 * (100 + 2 * 50) / 1e6)
    assert about.latency is not None
    assert about.count("answered") == 20


def test_submission_hash_is_that_of_the_file(tmp_path: Path) -> None:
    from hashlib import sha256

    with serve() as server:
        run(server, make_kit(tmp_path / "kit"))
    data = Path("out/submission.jsonl").read_bytes()
    assert manifest().submission_sha256 == sha256(data).hexdigest()


def test_second_run_asks_nothing(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit")
    with serve() as server:
        assert run(server, kit) == 0
        before = Path("out/submission.jsonl").read_bytes()
        assert run(server, kit) == 0
        assert len(server.calls) == 3
    assert Path("out/submission.jsonl").read_bytes() == before


def test_first_items_can_be_tried_before_the_rest(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit", 6)
    with serve() as server:
        assert run(server, kit, "--limit", "2") == 0
        assert len(lines_of()) == 2
        assert run(server, kit) == 0
        assert len(server.calls) == 6
    assert len(lines_of()) == 6


def test_failed_items_are_left_out_named_and_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = make_kit(tmp_path / "kit", 4)
    broken: set[str] = set()

    def script(call: Call) -> Reply:
        broken.update([call.key] if not broken else [])
        return Reply(status=418, text="no tea") if call.key in broken else echo(call)

    with serve(script) as server:
        assert run(server, kit) == 1
        said = capsys.readouterr().err
        assert "HTTP 418: no tea" in said
        assert "Items without an answer: 1." in said
        assert len(lines_of()) == 3
        assert manifest().count("failed") == 1
        server.script = echo
        assert run(server, kit) == 0
        assert len(server.calls) == 5
    assert len(lines_of()) == 4


FILTERED = {
    "message": "The response was filtered due to the prompt triggering the policy.",
    "param": "prompt",
    "code": "content_filter",
    "status": 400,
}


def test_item_that_a_content_filter_refuses_has_an_empty_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = make_kit(tmp_path / "kit", 4)

    def script(call: Call) -> Reply:
        if call.number == 1:
            return Reply(status=400, raw=json.dumps({"error": FILTERED}).encode())
        return echo(call)

    with serve(script) as server:
        assert run(server, kit) == 0
        said = capsys.readouterr().err
        assert run(server, kit) == 0
        assert len(server.calls) == 4
    assert "3 of 4 items answered, 1 refused" in said
    assert "Items refused: 1. They are in the file, with empty answers." in said
    assert sorted(line["html"] for line in lines_of())[0] == ""
    [refused] = [item for item in manifest().items if item.state == "refused"]
    assert refused.reason.startswith("refused by the provider's content filter: HTTP 400: The resp")
    assert f"{refused.id}: {refused.reason}" in said


def test_header_and_query_are_sent_and_in_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_KEY", "azure-key-12345")
    kit = make_kit(tmp_path / "kit", 3)

    def script(call: Call) -> Reply:
        said = f"<p>2024-10-21 {call.headers} {call.path}"
        return Reply(said, 400 if call.number == 2 else 200)

    with serve(script) as server:
        url = f"{server.url}?api-version=2024-10-21&sig=signed-12345"
        code = main(
            [
                *("run", str(kit), "--model", MODEL, "--base-url", url, "--out", "out"),
                *("--key-env", "AZURE_KEY", "--header", "api-key: {key}"),
                *("--header", "X-Team-Token: team-secret-1"),
            ]
        )
        first = server.calls[0]
    assert code == 1
    assert first.path == "/v1/chat/completions?api-version=2024-10-21&sig=signed-12345"
    assert first.headers["api-key"] == "azure-key-12345"
    assert first.headers["x-team-token"] == "team-secret-1"
    assert "authorization" not in first.headers
    kept = "".join(path.read_text() for path in Path("out").iterdir()) + str(capsys.readouterr())
    for secret in ("azure-key-12345", "signed-12345", "team-secret-1"):
        assert secret not in kept
    assert "2024-10-21" in lines_of()[0]["html"]
    command = manifest().command
    assert f"--base-url '{server.url}?QUERY'" in command
    assert "--header 'api-key: {key}' --header 'X-Team-Token: VALUE'" in command


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--decoding", "temperature=0.5"), "decoding was"),
        (("--prompt", "own"), "prompt changed"),
        (("--system", "You read."), "system changed"),
        (("--model", "other"), "model was"),
    ],
)
def test_other_settings_are_refused_unless_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: Sequence[str], words: str
) -> None:
    kit = make_kit(tmp_path / "kit", question="Read it.")
    with serve() as server:
        assert run(server, kit) == 0
        assert run(server, kit, *more) == 2
        assert words in capsys.readouterr().err
        assert len(server.calls) == 3
        assert run(server, kit, *more, "--new") == 0
        assert len(server.calls) == 6


def test_faults_lose_no_item_and_ask_none_more_than_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factboard.engines.Backoff", partial(Backoff, first=0.01))
    kit = make_kit(tmp_path / "kit", 60)
    with serve() as calm:
        run(calm, kit)
        wanted = Path("out/submission.jsonl").read_bytes()
    with serve(faulty(0.2)) as server:
        # A call that hangs ends with its timeout.
        more = ("--new", "--concurrency", "16", "--timeout", "2", "--attempts", "9")
        assert run(server, kit, *more) == 0
        assert all(count == 1 for count in server.answered.values())
        assert len(server.answered) == 60
        assert len(server.calls) > 60
    assert Path("out/submission.jsonl").read_bytes() == wanted


def test_budget_ends_a_run_and_counts_over_its_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = make_kit(tmp_path / "kit", 30)
    more = [
        *("--price-in", "1000", "--price-out", "1000", "--decoding", "max_tokens=60"),
        *("--image-tokens", "10", "--prompt-file", "short.md"),
    ]
    Path("short.md").write_text("Read.", encoding="utf-8")
    with serve() as server:
        assert run(server, kit, *more, "--budget", "1.5") == 1
        first = len(server.calls)
        assert "the budget of 1.5 is used up" in capsys.readouterr().err
        assert 0 < first * 0.15 <= 1.5
        assert run(server, kit, *more, "--budget", "1.5") == 1
        assert len(server.calls) * 0.15 <= 1.5
        assert len(lines_of()) == len(server.calls)


def test_cost_of_unknown_tokens_is_a_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = make_kit(tmp_path / "kit", 3)

    def script(call: Call) -> Reply:
        return Reply("<p>1", usage=None) if call.number == 1 else Reply("<p>1")

    with serve(script) as server:
        assert run(server, kit, "--price-in", "0", "--price-out", "1000") == 0

    assert "8,292 output tokens, at most 8.2920 USD" in capsys.readouterr().err
    about = manifest()
    assert about.cost == pytest.approx(8.292)
    assert about.tokens.uncertain == 1


def test_dry_run_shows_prompts_and_asks_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = make_kit(tmp_path / "kit", 5)
    with serve() as server:
        assert run(server, kit, "--dry-run", "--price-in", "1", "--price-out", "1") == 0
        assert not server.calls
    shown = capsys.readouterr().out
    assert shown.count("Convert the page to HTML") == 3
    assert "0000.png, " in shown
    assert "Items: 5. No calls were made." in shown
    assert "USD" in shown
    assert not Path("out").exists()


def test_key_is_in_no_file_and_no_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    kit = make_kit(tmp_path / "kit", 12)

    def script(call: Call) -> Reply:
        """Returns the key in answers, refusals and errors."""
        said = f"<p>{call.headers['authorization']} {call.key}"
        status = (200, 400, 418, 500)[call.number % 4]
        return Reply(said, status, message={"refusal": said} if call.number % 8 == 0 else {})

    with serve(script) as server:
        assert run(server, kit, "--attempts", "1", "--new") == 1
        assert len(server.calls) >= 4
    captured = capsys.readouterr()
    written = [path.read_text() for path in Path("out").rglob("*") if path.is_file()]
    for text in (*written, captured.out, captured.err, caplog.text):
        assert KEY not in text
    assert any("[key]" in text for text in written)


@pytest.mark.parametrize(
    ("raw", "html", "repairs"),
    [
        ((), "<p>1,204</p>", {"reasoning removed": 3, "code fences removed": 3}),
        (("--raw",), "<think>Hm</think>\n```html\n<p>1,204</p>\n```", {}),
    ],
)
def test_repairs_are_counted_and_can_be_switched_off(
    tmp_path: Path, raw: Sequence[str], html: str, repairs: dict[str, int]
) -> None:
    answer = "<think>Hm</think>\n```html\n<p>1,204</p>\n```"
    with serve(lambda _: Reply(answer)) as server:
        assert run(server, make_kit(tmp_path / "kit"), *raw) == 0
    assert {line["html"] for line in lines_of()} == {html}
    assert {repair.name: repair.items for repair in manifest().repairs} == repairs


PAGE = "<p>Sales 7,200</p>"


@pytest.mark.parametrize(
    ("draft", "finish_reason"),
    [
        ("<think>Sales 1,200?", "length"),
        ("[THINK]Sales 1,200?", "stop"),
        ("<reasoning>Sales 1,200?</reasoning>", "stop"),
        ("<|channel|>analysis<|message|>Sales 1,200?", "length"),
        # The chat template began the reasoning, which the other answers show.
        ("Sales 1,200? Or 7,200", "length"),
    ],
)
def test_draft_is_never_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], draft: str, finish_reason: str
) -> None:
    def script(call: Call) -> Reply:
        if call.number == 2:
            return Reply(draft, finish_reason=finish_reason)
        return Reply(f"Sales 1,200? Or 7,200.\n</think>\n\n{PAGE}")

    with serve(script) as server:
        assert run(server, make_kit(tmp_path / "kit", 4), "--concurrency", "1") == 0
    assert [line["html"] for line in lines_of()] == [PAGE, "", PAGE, PAGE]
    item = manifest().items[1]
    assert item.state == "empty"
    assert item.reason.endswith("only reasoning, no answer")
    said = capsys.readouterr().err
    assert f"p0001: {item.reason}" in said
    assert ("Answers cut off at max_tokens: 1." in said) == (finish_reason == "length")


def test_answer_that_was_cut_off_stays_if_the_model_does_not_reason(tmp_path: Path) -> None:
    def script(call: Call) -> Reply:
        return Reply(PAGE, finish_reason="length" if call.number == 2 else "stop")

    with serve(script) as server:
        assert run(server, make_kit(tmp_path / "kit", 4)) == 0
    assert {line["html"] for line in lines_of()} == {PAGE}
    assert sum(item.is_cut_off for item in manifest().items) == 1


def test_settings_that_no_manifest_can_have_are_refused_before_asking(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("long.md").write_text("x" * 100_001, encoding="utf-8")
    with serve() as server:
        assert run(server, make_kit(tmp_path / "kit"), "--prompt-file", "long.md") == 2
        assert not server.calls
    assert (
        "text is not valid in a run manifest: String should have at most" in capsys.readouterr().err
    )


def test_raw_can_be_chosen_after_the_run(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "kit", 1)
    with serve(lambda _: Reply("```html\n<p>\n```")) as server:
        run(server, kit)
        run(server, kit, "--raw")
        assert len(server.calls) == 1
    assert lines_of() == [{"id": "p0000", "html": "```html\n<p>\n```"}]


IDS = {"ccocr": ["sample_signs:a.jpg", "Table_scan_en:b"]}
ANSWERS = {
    "fcmbench": '{"answer": "ID card"}',
    "receiptbench": '{"type": "taxi"}',
}


@pytest.mark.parametrize(
    "benchmark", ["fincriticaled", "fcmbench", "findoc", "receiptbench", "ccocr"]
)
@pytest.mark.parametrize("text", [None, "", "\0 \ud83d half", "x" * 2_000_001])
def test_every_answer_makes_a_line_that_the_benchmark_reads(
    tmp_path: Path, benchmark: str, text: str | None
) -> None:
    ids = IDS.get(benchmark, ["a", "b c"])
    kit = make_kit(tmp_path / "kit", benchmark=benchmark, question="What?", ids=ids)
    answer = ANSWERS.get(benchmark, "Net loss") if text is None else text
    with serve(lambda _: Reply(answer)) as server:
        code = run(server, kit)
    assert code == 0
    path = Path("out/submission.jsonl")
    spec = get_benchmark(benchmark)
    check = check_predictions(spec.read_predictions(path), set(ids), path.name)
    assert not check.faults
    assert not check.missing
    has_none = not answer or len(answer) > 2_000_000
    assert manifest().count("empty") == (len(ids) if has_none else 0)


ASKED = ["kit", "--model", "m", "--base-url", "http://h"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.zip", "--model", "m", "--base-url", "http://h/v1"], "no such file"),
        (["board", "--model", "m", "--base-url", "http://h/v1"], "--site URL"),
        (["kit", "--model", "m"], "requires --model NAME and --base-url URL"),
        (["kit", "--model", "m", "--base-url", "http://u:p@h/v1"], "not contain a user, password"),
        (["kit", "--engine", "fax"], "unknown engine 'fax'"),
        (["kit", "--engine", "python"], "module:function"),
        (["kit", "--engine", "python", "none_such:f"], "none_such cannot be imported"),
        (["kit", "--engine", "command", "--command", "prog"], "{image}"),
        (["kit", "--engine", "tesseract", "more"], "unexpected argument 'more'"),
        (["kit", "--engine", "tesseract", "--system", "Read."], "remove --system"),
        (["kit", "--engine", "rapidocr", "--prompt-file", "own.md"], "remove --prompt-file"),
        (["kit", "--model", "m", "--base-url", "http://h", "--prompt", "x"], "paper-1"),
        (["kit", "--model", "m", "--base-url", "http://h", "--decoding", "n=2"], "cannot be set"),
        (["kit", "--model", "m", "--base-url", "http://h", "--budget", "2"], "--price-in"),
        (["kit", "--model", "m", "--base-url", "http://h", "--price-in", "2"], "each other"),
        (["kit", "--model", "m", "--base-url", "http://h", "--key-file", "no"], "cannot be read"),
        ([*ASKED, "--header", "a: {key}", "--key-env", "NONE"], "NONE does not contain a valid"),
        ([], "specify a board"),
    ],
)
def test_bad_input_gets_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    make_kit(tmp_path / "kit")
    assert main(["run", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert not Path("runs").exists()


def test_own_text_without_the_question_is_refused_where_items_have_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("own.md").write_text("Answer with JSON.", encoding="utf-8")
    kit = make_kit(tmp_path / "kit", benchmark="fcmbench", question="Which shop?")
    with serve(echo) as server:
        assert run(server, kit, "--prompt-file", "own.md") == 2
        assert "does not contain $question" in capsys.readouterr().err
        assert main(["export", str(kit), "--to", "inspect", "task", "--prompt-file", "own.md"]) == 2
        assert not server.calls

        Path("own.md").write_text("$question Answer with JSON.", encoding="utf-8")
        assert run(server, kit, "--prompt-file", "own.md") == 0
    assert {call.body["messages"][0]["content"][-1]["text"] for call in server.calls} == {
        "Which shop? Answer with JSON."
    }


@pytest.mark.parametrize(("subset", "code"), [("Doc_zh", 0), ("SROIE", 2)])
def test_own_text_of_ccocr_needs_the_question_only_where_items_ask(
    tmp_path: Path, subset: str, code: int
) -> None:
    Path("own.md").write_text("Read it.", encoding="utf-8")
    kit = make_kit(tmp_path / "kit", benchmark="ccocr", ids=[f"{subset}:1"], question="Q?")
    with serve(echo) as server:
        assert run(server, kit, "--prompt-file", "own.md", "--dry-run") == code


def test_sample_outside_a_checkout_is_a_board_of_the_site(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("factboard.targets.SAMPLE_FOLDER", tmp_path / "none")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("FACTBOARD_SITE", raising=False)
    assert main(["run", "sample", "--engine", "tesseract"]) == 2
    assert "Specify the site with --site URL" in capsys.readouterr().err
