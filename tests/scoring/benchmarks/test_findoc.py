"""Financial document accuracy: scores by hand, options, hostile files, and the reference."""

import io
import json
import random
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.benchmarks import OptionError, ReadFault, check_gold, check_predictions
from scoring.benchmarks.base import GoldLine, PredictionLine
from scoring.benchmarks.findoc import FINDOC
from scoring.benchmarks.findoc.readers import MOST_VALUES
from tests.shared import ORACLE, needs_oracle

OPTIONS = FINDOC.check_options({})
SKIP = FINDOC.check_options({"missing": "skip"})
SUBSTRING = FINDOC.check_options({"matching": "substring"})
KEYS = [column.key for column in FINDOC.columns]


def gold(item: str = "d1") -> dict[str, Any]:
    return {"id": item, "gold": {"Revenue": "1,200", "Auditor": "Rao & Co", "shares": 50}}


def text(words: str) -> dict[str, Any]:
    return {"id": "d1", "text": words}


def named(data: bytes) -> io.BytesIO:
    file = io.BytesIO(data)
    file.name = "folder/texts.jsonl"
    return file


def read_gold(data: bytes) -> list[GoldLine | ReadFault]:
    return list(FINDOC.read_gold(named(data)))


def read_predictions(data: bytes) -> list[PredictionLine | ReadFault]:
    return list(FINDOC.read_predictions(named(data)))


# --- scores -------------------------------------------------------------------------------


def test_one_document_by_hand() -> None:
    result = FINDOC.score_item(gold(), text("AUDITOR rao  & co: 1200, 1,500"), OPTIONS)
    # Numbers 1200 and 50: one is in the text. Items "1,200" and "Rao & Co": one. "auditor": 1 of 4.
    assert [result[key] for key in KEYS] == pytest.approx(
        [0.5, 0.5, 0.25, 0, 0.4 * 0.5 + 0.2 * 0.5 + 0.2 * 0.25]
    )
    assert result["parts"]["numbers"] == {"total": 2, "found": 1, "missed": ["50"]}
    assert result["parts"]["line_items"]["missed"] == ["1,200"]
    assert result["parts"]["disclosures"]["total"] == 4


def test_the_published_rule_finds_numbers_inside_others() -> None:
    result = FINDOC.score_item(gold(), text("1200, 1,500"), SUBSTRING)
    assert result["numeric_accuracy"] == 1


def test_phrases_come_from_the_options() -> None:
    options = FINDOC.check_options({"sections": "Notes, Directors", "disclosures": []})
    result = FINDOC.score_item(gold(), text("Notes"), options)
    assert (result["section_accuracy"], result["disclosure_accuracy"]) == (0.5, 0)


def test_a_document_without_a_text_counts_zero_or_not_at_all() -> None:
    zero = FINDOC.score_item(gold(), None, OPTIONS)
    skip = FINDOC.score_item(gold(), None, SKIP)
    assert [zero[key] for key in KEYS] == [0] * 5
    assert [skip[key] for key in KEYS] == [None] * 5
    full = FINDOC.score_item(gold(), text("1,200 50 Rao & Co"), SKIP)
    assert FINDOC.aggregate([zero, full], OPTIONS).scores["numeric_accuracy"] == 0.5
    scores = FINDOC.aggregate([skip, full], SKIP)
    assert (scores.items, scores.missing, scores.scores["numeric_accuracy"]) == (2, 1, 1)


def test_figures_are_means_over_documents() -> None:
    results = [
        FINDOC.score_item(gold(), text(words), OPTIONS)
        for words in ("1200 50", "50", "Balance Sheet")
    ]
    scores = FINDOC.aggregate(results, OPTIONS)
    assert scores.scores["numeric_accuracy"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert scores.scores["section_accuracy"] == pytest.approx(0.25 / 3)
    assert scores.counts["numbers"] == 6
    assert scores.counts["numbers_found"] == 3
    assert set(FINDOC.aggregate([], OPTIONS).scores.values()) == {None}


@given(
    st.lists(st.text(alphabet="1250, .-Raocoflwshbne&\n", max_size=40), max_size=12),
    st.randoms(use_true_random=False),
)
def test_the_order_of_documents_changes_no_digit(texts: list[str], shuffler: random.Random) -> None:
    results = [FINDOC.score_item(gold(), text(words), OPTIONS) for words in texts]
    shuffled = list(results)
    shuffler.shuffle(shuffled)
    assert FINDOC.aggregate(shuffled, OPTIONS) == FINDOC.aggregate(results, OPTIONS)


def test_the_order_of_keys_changes_no_figure() -> None:
    turned = {"id": "d1", "gold": dict(reversed(gold()["gold"].items()))}
    prediction = text("Rao & Co 1,200")
    first, second = (FINDOC.score_item(line, prediction, OPTIONS) for line in (gold(), turned))
    assert [first[key] for key in KEYS] == [second[key] for key in KEYS]


@given(st.text())
def test_any_text_is_scored(words: str) -> None:
    for options in (OPTIONS, SUBSTRING):
        result = FINDOC.score_item(gold(), text(words), options)
        assert all(0 <= result[key] <= 1 for key in KEYS)
        json.dumps(result, allow_nan=False)


# --- edits of the sample ------------------------------------------------------------------

SAMPLE = Path(__file__).parents[3] / "sample" / "benchmarks" / "findoc"


def sample(path: str) -> dict[str, dict[str, Any]]:
    lines = map(json.loads, (SAMPLE / path).read_text(encoding="utf-8").splitlines())
    return {line["id"]: line for line in lines}


@pytest.mark.parametrize("system", ["tesseract", "tesseract_72dpi"])
def test_an_edit_that_cannot_help_never_raises_the_score(system: str) -> None:
    chance = random.Random(7)
    for item, prediction in sample(f"submissions/dev/{system}.jsonl").items():
        line, lines = sample("gold/dev.jsonl")[item], prediction["text"].split("\n")
        before = FINDOC.score_item(line, prediction, OPTIONS)
        digits = [at for at, char in enumerate(prediction["text"]) if char.isdigit()]
        edits = ["", "cannot read this", prediction["text"].replace(" ", " \u2212")]
        for at in chance.sample(range(len(lines)), 8):
            edits.append("\n".join([*lines[:at], *lines[at + 1 :]]))
        for at in chance.sample(digits, min(8, len(digits))):
            kept = prediction["text"]
            edits.append(f"{kept[:at]}#{kept[at + 1 :]}")
        for edit in edits:
            result = FINDOC.score_item(line, {"id": item, "text": edit}, OPTIONS)
            assert result["final_score"] <= before["final_score"] + 1e-12
        assert FINDOC.score_item(line, None, OPTIONS)["final_score"] == 0


def as_it_may_be_printed(text: str) -> list[str]:
    return [
        text.upper(),
        text.replace(" ", "\u00a0 "),
        unicodedata.normalize("NFD", text),
        text.replace("-", "\u2212"),
        "".join(chr(ord(char) + 0xFEE0) if char.isdigit() else char for char in text),
        f"\n{text}\n\n",
    ]


@pytest.mark.parametrize("system", ["tesseract", "tesseract_72dpi"])
def test_an_edit_that_cannot_hurt_changes_nothing(system: str) -> None:
    for item, prediction in sample(f"submissions/dev/{system}.jsonl").items():
        line = sample("gold/dev.jsonl")[item]
        before = FINDOC.score_item(line, prediction, OPTIONS)
        for edit in as_it_may_be_printed(prediction["text"]):
            after = FINDOC.score_item(line, {"id": item, "text": edit}, OPTIONS)
            assert [after[key] for key in KEYS] == [before[key] for key in KEYS]


def test_found_values_are_linked_to_both_sides() -> None:
    line = {"id": "d1", "gold": {"Loss": "−1,200", "eps": 2.1, "par": 1e-05, "Café": "Rao’s"}}
    prediction = text("Loss -1,200; EPS 2.10; par 0.00001; RAO'S")
    result = FINDOC.score_item(line, prediction, OPTIONS)
    assert FINDOC.field_grades
    item = FINDOC.field_grades.item(line, prediction, result, OPTIONS)
    assert item
    numbers = [field for field in item.fields if field.kind == "number"]
    assert [(field.value, field.error) for field in numbers] == [
        ("-1200", ""), ("2.1", ""), ("0.00001", ""),
    ]  # fmt: skip


# --- options ------------------------------------------------------------------------------


def test_options_are_canonical() -> None:
    options = FINDOC.check_options({"sections": ["Cash  FLOW", "Auditor", "auditor", " "]})
    assert options["sections"] == "auditor,cash flow"
    assert FINDOC.check_options(options) == options


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"matching": "fuzzy"}, "matching must be exact or substring or unique-substring"),
        ({"sections": 3}, "option sections must be phrases"),
        ({"sections": ["a, b"]}, "a phrase must not contain"),
        ({"disclosures": "a|b"}, "a phrase must not contain"),
        ({"disclosures": ["x" * 201]}, "at most 200"),
        ({"sections": [f"s{n}" for n in range(51)]}, "more than 50"),
        ({"section": "x"}, "did you mean sections"),
    ],
)
def test_wrong_options_are_refused(raw: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        FINDOC.check_options(raw)


def test_the_signature_distinguishes_options_and_stays_short() -> None:
    assert FINDOC.signature(OPTIONS) == (
        "findoc|v2|matching:exact"
        "|sections:auditor,balance sheet,cash flow,statement of profit and loss"
        "|disclosures:as at march,earnings per equity share,for the year ended,true and fair"
        "|missing:zero|answer:shown"
    )
    many = [f"a long phrase with the number {n}" for n in range(40)]
    signatures = {
        FINDOC.signature(FINDOC.check_options({"sections": many[:n], "disclosures": many}))
        for n in range(30, 40)
    }
    assert len(signatures) == 10
    assert max(map(len, signatures)) <= 300


def test_columns_say_what_the_options_count() -> None:
    by_key = {column.key: column for column in FINDOC.columns_for(SUBSTRING)}
    assert "anywhere" in by_key["numeric_accuracy"].help
    assert "“auditor”" in by_key["section_accuracy"].help
    assert KEYS[-1] == "final_score"


# --- files --------------------------------------------------------------------------------


def test_gold_and_texts_are_read() -> None:
    (line,) = read_gold(json.dumps({**gold(), "company": "x"}).encode())
    assert isinstance(line, GoldLine)
    assert line.payload == gold()
    (prediction,) = read_predictions(b'{"id": "d1", "text": "", "engine": "x"}')
    assert isinstance(prediction, PredictionLine)
    assert prediction.payload == {"id": "d1", "text": ""}


def test_texts_may_be_a_folder_of_files(tmp_path: Path) -> None:
    (tmp_path / "d1.txt").write_text("Cash flow", encoding="utf-8")
    (tmp_path / "d2.txt").write_bytes(b"\xff")
    (tmp_path / "d3.html").write_text("<p>", encoding="utf-8")
    first, second, third = FINDOC.read_predictions(tmp_path)
    assert isinstance(first, PredictionLine)
    assert first.payload == {"id": "d1", "text": "Cash flow"}
    assert isinstance(second, ReadFault)
    assert "not valid UTF-8" in second.message
    assert isinstance(third, ReadFault)
    assert "ID.txt" in third.message
    faults = list(FINDOC.read_gold(tmp_path))
    assert all(isinstance(fault, ReadFault) for fault in faults)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"id": "d1"}, "has no 'gold'"),
        ({"gold": {}}, "has no 'id'"),
        ({"id": "d1", "gold": "x"}, "'gold' must be an object or a list, not a string"),
        ({"id": "d1", "gold": {"a\0": 1}}, "'gold' contains a NUL character"),
        ({"id": "d1", "gold": ["\0"]}, "'gold' contains a NUL character"),
        ({"id": "d1", "gold": ["7 " * (MOST_VALUES + 1)]}, "more than 20,000"),
    ],
)
def test_gold_that_cannot_be_used_is_a_fault(line: dict[str, object], message: str) -> None:
    (fault,) = read_gold(json.dumps(line).encode())
    assert isinstance(fault, ReadFault)
    assert str(fault).startswith("texts.jsonl:1: ")
    assert message in fault.message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"id": "d1"}', "has no 'text'"),
        (b'{"id": "d1", "text": null}', "'text' must be a string, not null"),
        (b'{"id": "d1", "text": "a\\u0000"}', "NUL"),
        (b'{"id": "d1", "text": "' + b"x" * 3_000_000 + b'"}', "longer than 2,000,000"),
    ],
    ids=lambda value: value[:24] if isinstance(value, bytes) else value,
)
def test_texts_that_cannot_be_used_are_faults(data: bytes, message: str) -> None:
    line, fault = read_predictions(b'{"id": "d0", "text": "ok"}\n' + data)
    assert isinstance(line, PredictionLine)
    assert isinstance(fault, ReadFault)
    assert (fault.file, fault.line) == ("texts.jsonl", 2)
    assert message in fault.message


# --- the reference ------------------------------------------------------------------------


@needs_oracle
def test_figures_equal_the_reference() -> None:
    folder = ORACLE / "findoc"
    items = check_gold(FINDOC.read_gold(folder / "gold.jsonl", options=SUBSTRING))
    texts = check_predictions(FINDOC.read_predictions(folder / "predictions.jsonl"), items.lines)
    assert not (*items.faults, *texts.faults)
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert expected["matching"] == "substring"
    results = [
        FINDOC.score_item(line.payload, texts.lines[item].payload, SUBSTRING)
        for item, line in items.lines.items()
    ]
    assert len(results) == len(expected["items"]) > 0
    for result in results:
        figures = {key: result[key] for key in KEYS}
        assert figures == pytest.approx(expected["items"][result["id"]], abs=1e-6)
    assert FINDOC.aggregate(results, SUBSTRING).scores == pytest.approx(expected["mean"], abs=1e-6)
