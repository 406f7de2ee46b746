"""`factboard suggest`: quotes of a model's answer are found in pages, or counted as not found."""

import io
import json
import os
import signal
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tqdm import tqdm

from factboard.cli import main
from factboard.placing import (
    NO_FACT,
    NOT_FOUND,
    OTHER_LABEL,
    REPEATED,
    UNREADABLE,
    Page,
    PagesError,
    Piece,
    Placed,
    cut,
    place_answer,
    read_pages,
)
from portal.facts import canonicalise, text_borders
from scoring.offline.terminal import STOPPED
from tests.scoring.answering.chat_server import Call, Reply, serve

LABELS = ("Number", "Date")


def page_of(html: str, name: str = "p1") -> Page:
    canonical = canonicalise(html)
    borders = text_borders(canonical.html)
    return Page(name, canonical.text, canonical.text_sha256, borders)


def placed(html: str, *facts: object) -> tuple[list[tuple[str, str, int]], Placed]:
    """Each placed quote with its label and offset."""
    page = page_of(html)
    (piece,) = cut(page, 10_000)
    found = place_answer(json.dumps(facts), piece, LABELS)
    text = page.text
    return [(text[s.start : s.end], s.label, s.start) for s in found.spans], found


def number(quote: str, before: str = "") -> dict[str, str]:
    return {"label": "Number", "quote": quote, "before": before}


def test_quotes_get_their_offsets_in_the_text() -> None:
    html = "<p>Net loss (310) as of March 31, 2025</p>"
    spans, found = placed(html, number("(310)"), {"label": "date", "quote": "March 31,\n2025"})
    assert spans == [("(310)", "Number", 9), ("March 31, 2025", "Date", 21)]
    assert not +found.left_out


def test_quote_that_is_not_there_is_counted_and_not_made_up() -> None:
    spans, found = placed("<p>Total 1,200</p>", number("1,300"), number("1200"))
    assert spans == []
    assert found.left_out[NOT_FOUND] == 2


@pytest.mark.parametrize(
    ("text", "quote"), [("1,200", "200"), ("2025", "25"), ("12.5", "12"), ("A7", "7"), ("7th", "7")]
)
def test_part_of_a_longer_number_or_word_is_not_a_place(text: str, quote: str) -> None:
    spans, found = placed(f"<p>See {text} here</p>", number(quote))
    assert (spans, found.left_out[NOT_FOUND]) == ([], 1)


def test_number_at_the_end_of_a_sentence_is_found() -> None:
    assert placed("<p>It was 12.</p>", number("12"))[0] == [("12", "Number", 7)]


def test_equal_quotes_are_told_apart_by_the_text_before() -> None:
    html = "<p>Sales 5 and costs 5 and tax 5</p>"
    spans, found = placed(html, number("5", "tax"), number("5", "and   costs"))
    assert [start for _, _, start in spans] == [18, 28]
    assert found.by_order == 0


def test_equal_quotes_without_context_are_taken_in_order_and_counted() -> None:
    spans, found = placed("<p>5 and 5 and 5</p>", number("5"), number("5"))
    assert [start for _, _, start in spans] == [0, 6]
    assert found.by_order == 2


def test_quote_that_is_named_too_often_is_counted() -> None:
    spans, found = placed("<p>Sales 5</p>", number("5"), number("5"))
    assert len(spans) == 1
    assert found.left_out[REPEATED] == 1


def test_cells_do_not_run_together() -> None:
    html = "<table><tr><td>1,586</td><td>1,702</td></tr></table>"
    spans, _ = placed(html, number("1,586"), number("1,702", "1,586"))
    assert spans == [("1,586", "Number", 0), ("1,702", "Number", 5)]


def test_other_labels_and_other_things_are_counted() -> None:
    spans, found = placed(
        "<p>Total 7</p>", {"label": "Money", "quote": "7"}, 5, {"label": "Number"}, number(" ")
    )
    assert spans == []
    assert (found.left_out[OTHER_LABEL], found.left_out[NO_FACT]) == (1, 3)


@pytest.mark.parametrize("answer", ["", "no facts", '{"label": "Number"}', "[" * 100_000])
def test_answer_that_is_no_array_is_counted(answer: str) -> None:
    (piece,) = cut(page_of("<p>Total 7</p>"), 100)
    found = place_answer(answer, piece, LABELS)
    assert (found.spans, found.left_out[UNREADABLE]) == ([], 1)


def test_pieces_cover_the_page_and_end_at_borders() -> None:
    page = page_of("".join(f"<p>Paragraph {n} has {n},000</p>" for n in range(1, 10)))
    pieces = cut(page, 60)
    assert "".join(page.text[p.start : p.end] for p in pieces) == page.text
    assert all(p.end in {*page.borders, len(page.text)} for p in pieces)
    assert all(p.end - p.start <= 60 for p in pieces)
    assert [p.id for p in pieces][:2] == ["p1#1", "p1#2"]
    for piece in pieces:
        assert len(piece.shown) == len(piece.places)
        letters = [
            page.text[at] for at, c in zip(piece.places, piece.shown, strict=True) if c != "\n"
        ]
        assert "".join(letters) == piece.shown.replace("\n", "")


def test_paragraph_longer_than_a_piece_is_cut_anyway() -> None:
    pieces: list[Piece] = cut(page_of(f"<p>{'word ' * 100}</p>"), 60)
    assert len(pieces) == 9


def test_tags_of_an_export_are_removed(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "tags.zip", "w") as bundle:
        bundle.writestr("a/p1.html", "<p>Total <Number>7</Number></p>")
        bundle.writestr("a/notes.txt", "no page")
    (page,) = read_pages(tmp_path / "tags.zip", LABELS)
    assert (page.name, page.text) == ("p1", "Total 7")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "contains no ID.html"),
        ({"p1.html": "<p></p>"}, "p1.html: no text is left"),
        ({"a/p1.html": "<p>1</p>", "b/p1.html": "<p>2</p>"}, "b/p1.html: another page is"),
        ({"p1.html": "<p><Number>1</p>"}, "p1.html: "),
    ],
)
def test_pages_that_cannot_be_read_are_named(
    tmp_path: Path, files: dict[str, str], message: str
) -> None:
    for name, html in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(html, encoding="utf-8")
    with pytest.raises(PagesError, match=message):
        read_pages(tmp_path, LABELS)


# --- the command -----------------------------------------------------------------------------

Answer = Callable[[str], tuple[int, str]]


@pytest.fixture
def model() -> Iterator[tuple[str, list[str], dict[str, Answer]]]:
    """A scripted endpoint: its URL, the prompts it got, and its answer, which a test can change."""
    prompts: list[str] = []
    script: dict[str, Answer] = {"answer": lambda _: (200, "[]")}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompts.append(body["messages"][-1]["content"])
            status, text = script["answer"](prompts[-1])
            choice = {"message": {"content": text}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 10, "completion_tokens": 5}
            data = json.dumps({"choices": [choice], "usage": usage}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            """Keeps the output of tests clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", prompts, script
        server.shutdown()


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "p1.html").write_text("<p>Sales $5 of 1,200</p>", encoding="utf-8")
    (folder / "p2.html").write_text("<p>On March 31, 2025</p>", encoding="utf-8")
    return folder


def suggest(pages: Path, url: str, *more: str) -> tuple[int, Path]:
    out = pages.parent / "out"
    base = ["suggest", str(pages), "--model", "acme-7b", "--base-url", url, "--out", str(out)]
    return main([*base, "--attempts", "1", *more]), out


Model = tuple[str, list[str], dict[str, Answer]]


def test_file_names_model_prompt_and_text(pages: Path, model: Model) -> None:
    url, prompts, script = model
    script["answer"] = lambda prompt: (
        200,
        '```json\n[{"label": "Number", "quote": "1,200", "before": "of"}]\n```'
        if "Sales" in prompt
        else '[{"label": "Date", "quote": "April 1"}]',
    )
    code, out = suggest(pages, url)
    head, first, second = map(json.loads, (out / "suggestions.jsonl").read_text().splitlines())
    assert code == 0
    assert (head["format"], head["model"]) == ("factboard-suggestions-1", "acme-7b")
    assert (head["prompt"], len(head["prompt_sha256"])) == ("labels-1", 64)
    assert first["id"] == "p1"
    assert first["spans"] == [{"start": 12, "end": 17, "label": "Number"}]
    assert first["text_sha256"] == canonicalise("<p>Sales $5 of 1,200</p>").text_sha256
    assert second["spans"] == []
    report = json.loads((out / "report.json").read_text())
    assert report["left_out"] == {NOT_FOUND: 1}
    assert any("labels: Number, Date" in p and p.rstrip().endswith("$5 of 1,200") for p in prompts)


def test_page_without_an_answer_is_left_out_and_asked_again(pages: Path, model: Model) -> None:
    url, prompts, script = model
    script["answer"] = lambda prompt: (500 if "Sales" in prompt else 200, "[]")
    code, out = suggest(pages, url)
    assert code == 1
    assert json.loads((out / "report.json").read_text())["pages_without_answer"] == ["p1"]
    assert '"id": "p1"' not in (out / "suggestions.jsonl").read_text()
    prompts.clear()
    script["answer"] = lambda _: (200, "[]")
    code, out = suggest(pages, url)
    assert (code, len(prompts)) == (0, 1)
    assert len((out / "suggestions.jsonl").read_text().splitlines()) == 3


def test_ctrl_c_keeps_the_answers_under_way_and_the_next_run_asks_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C comes while two requests are under way, before either is answered."""
    pages, count = tmp_path / "pages", 6
    pages.mkdir()
    for number in range(count):
        (pages / f"p{number}.html").write_text(f"<p>Sales {number}</p>", encoding="utf-8")

    def script(call: Call) -> Reply:
        if call.number == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return Reply("[]", wait=1.0 if call.number <= 2 else 0.0)

    with serve(script) as server:
        code, out = suggest(pages, server.url, "--concurrency", "2")
        assert code == STOPPED
        assert "Run the same command again to continue" in capsys.readouterr().err
        assert not (out / "suggestions.jsonl").exists()
        kept = len((out / "answers.jsonl").read_text().splitlines())
        assert kept == len(server.calls) == 2

        assert suggest(pages, server.url)[0] == 0
        assert len(server.calls) == server.asked.total() == count
    assert len((out / "suggestions.jsonl").read_text().splitlines()) == count + 1


def test_progress_is_the_one_of_a_run(
    pages: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bar with rate, time left and tokens is shown where a person can see it."""
    shown: list[dict[str, Any]] = []

    class Bar(tqdm):  # type: ignore[misc]
        def __init__(self, **options: Any) -> None:
            super().__init__(**options | {"disable": False, "file": io.StringIO()})

        def close(self) -> None:
            shown.append(self.format_dict)
            super().close()

    monkeypatch.setattr("factboard.asking.tqdm", Bar)
    assert suggest(pages, model[0])[0] == 0
    assert (shown[0]["n"], shown[0]["total"], shown[0]["unit"]) == (2, 2, "piece")
    assert shown[0]["postfix"] == "tokens=30"


def test_dry_run_asks_nothing(
    pages: Path, model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    url, prompts, _ = model
    assert suggest(pages, url, "--dry-run")[0] == 0
    assert prompts == []
    assert "2 requests" in capsys.readouterr().out


def test_own_prompt_is_named_by_its_hash(pages: Path, model: Model, tmp_path: Path) -> None:
    url, prompts, _ = model
    (tmp_path / "own.md").write_text("Find $labels in: $text")
    _, out = suggest(pages, url, "--prompt-file", str(tmp_path / "own.md"), "--labels", "Money")
    head = json.loads((out / "suggestions.jsonl").read_text().splitlines()[0])
    assert head["prompt"].startswith("file-")
    assert "Find Money in: Sales $5 of 1,200" in prompts


def test_bad_input_is_named(
    pages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.md").write_text("nothing")
    code, _ = suggest(pages, "http://127.0.0.1:9/v1", "--prompt-file", str(tmp_path / "own.md"))
    assert code == 2
    assert "must contain $text" in capsys.readouterr().err
