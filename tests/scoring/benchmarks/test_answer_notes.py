"""Notes on answers that score nothing, without gold."""

import json
from typing import Any

import pytest

from portal.accounts.models import User
from scoring.benchmarks import get_benchmark
from scoring.benchmarks.answer_notes import answer_notes
from scoring.models import Board
from tests.fixture_types import ApiOf, ClientOf
from tests.scoring.factories import PERFECT, first_phase, lines_of, make_board, make_release, upload

GOOD = "<p>Net sales of the company were 1,200 in 2024</p>"
TABLE = "<table><tr><td>Net sales of the company</td></tr></table>"


def notes(benchmark: str, *outputs: str, **more: Any) -> list[str]:
    key = {"fincriticaled": "html", "findoc": "text"}.get(benchmark, "response")
    predictions = [{"id": str(n), key: output, **more} for n, output in enumerate(outputs)]
    return answer_notes(benchmark, predictions, get_benchmark(benchmark).check_options({}))


def test_good_answers_have_no_notes() -> None:
    assert notes("fincriticaled", GOOD, f"{GOOD}2", f"{GOOD}3") == []
    assert notes("fcmbench", '{"answer": 1}', 'Yes: {"answer": 2}.', "{'answer': None}")[1:] == [
        "JSON repaired in 1 of 3 answers."
    ]
    assert notes("receiptbench", '{"std_total": 45}') == []
    assert answer_notes("receiptbench", [{"id": "a", "fields": {"std_total": 45}}], {}) == []


@pytest.mark.parametrize("benchmark", ["fcmbench", "receiptbench", "ccocr"])
def test_unparseable_answers_are_counted_with_their_reason(benchmark: str) -> None:
    outputs = ["I cannot read the image."] * 37 + ['{"a": 1', '{"a" 1}']
    assert notes(benchmark, *outputs, subset="SROIE") == [
        "37 of 39 answers are unparseable: contains no JSON object.",
        "1 of 39 answers is unparseable: not valid JSON: a bracket is not closed.",
        "1 of 39 answers is unparseable: not valid JSON: Expecting ':' delimiter.",
    ]


def test_empty_answers_and_drafts_are_counted() -> None:
    assert notes("fincriticaled", "", "<think>1,200", f"<think>7</think>{GOOD}") == [
        "2 of 3 answers are empty, of which 1 has only reasoning: they score nothing.",
        "Reasoning removed from 2 of 3 answers. Only the rest is graded.",
    ]


@pytest.mark.parametrize(
    ("outputs", "note"),
    [
        ([GOOD, f"{GOOD}2", "<p>Net sales</p>"], "1 of 3 pages contain no number."),
        ([GOOD, f"{TABLE}2", GOOD], "1 of 3 pages have a table without a number."),
        (
            [GOOD, "1\n\n| Net | sales |\n|---|---|", ""],
            "1 of 2 pages have a table without a number.",
        ),
        ([f"```html\n{GOOD}\n```", GOOD], "Code fences removed from 1 of 2 answers."),
        (["7,200"] * 3, "All 3 answers are the same text."),
        (
            [GOOD, GOOD, GOOD, "貸借対照表 流動資産 現金及び預金 売掛金 商品及び製品 7,200"],
            "1 of 4 pages are written in CJK script, unlike most, which are in Latin.",
        ),
    ],
)
def test_pages_that_look_wrong_are_counted(outputs: list[str], note: str) -> None:
    assert note in notes("fincriticaled", *outputs)


@pytest.fixture
def board(db: None) -> Board:
    return make_board(make_release())


DRAFTS = {name: f"<think>{html}" for name, html in PERFECT.items()}
EMPTY = "3 of 3 answers are empty, of which 3 have only reasoning: they score nothing."


def test_api_says_what_will_score_nothing(board: Board, researcher: User, api_of: ApiOf) -> None:
    answer = api_of(researcher).post(
        "/api/v1/boards/board/check/", {"file": upload(lines_of(DRAFTS))}, format="multipart"
    )
    assert (answer.status_code, answer.json()["detail"]) == (200, "")
    assert answer.json()["warnings"][0] == EMPTY
    # No gold is in the notes.
    assert not any(html in json.dumps(answer.json()) for html in PERFECT.values())


def test_page_says_what_will_score_nothing(
    board: Board, researcher: User, client_of: ClientOf
) -> None:
    sent = {
        "name": "Reader", "category": "other", "phase": first_phase(board).pk,
        "form_key": "k", "file": upload(lines_of(DRAFTS)), "check_only": "1",
    }  # fmt: skip
    page = client_of(researcher).post("/boards/board/submit/", sent).content.decode()
    assert EMPTY in page
    assert "The file is valid" in page
