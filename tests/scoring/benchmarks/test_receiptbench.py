"""ReceiptBench: files, figures of a submission by hand, hostile input, the papers' rows."""

import io
import json
import pickle
import random
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.process import cdist

from scoring.benchmarks import BENCHMARKS, OptionError, ReadFault
from scoring.benchmarks.base import GoldLine, PredictionLine, ReportedRow
from scoring.benchmarks.receiptbench import RECEIPTBENCH, build_benchmark
from scoring.benchmarks.receiptbench.embedding import Helpers
from scoring.benchmarks.receiptbench.readers import DEEPEST, UnparseableError, read_fields
from scoring.metrics.receipts import FIELDS, TASKS
from scoring.metrics.receipts import values as receipt_lists
from tests.counting import LINEAR, growth
from tests.many import short_id

OPTIONS = RECEIPTBENCH.check_options({})
SKIP = RECEIPTBENCH.check_options({"missing": "skip"})
PARTS = (*TASKS, "overall")


def gold(item: str = "r1", **about: Any) -> dict[str, Any]:
    fields = {
        "type": "taxi",
        "std_curr": "USD",
        "std_total": "50.58",
        "detail": [
            {"content": "Trip Fare", "amount": "45.00", "ifTax": False},
            {"content": "Tax fee", "amount": "5.58", "ifTax": True},
        ],
        "invoice_number": "0306",
    }
    return {"id": item, "fields": fields, **about}


def answer(**changes: Any) -> dict[str, Any]:
    return {"id": "r1", "fields": {**gold()["fields"], **changes}}


def named(data: bytes) -> io.BytesIO:
    file = io.BytesIO(data)
    file.name = "folder/receipts.jsonl"
    return file


def lines(*values: Any) -> io.BytesIO:
    return named("".join(json.dumps(value) + "\n" for value in values).encode())


def read_gold(*values: Any) -> list[GoldLine | ReadFault]:
    return list(RECEIPTBENCH.read_gold(lines(*values)))


def read_predictions(*values: Any) -> list[PredictionLine | ReadFault]:
    return list(RECEIPTBENCH.read_predictions(lines(*values)))


def score(prediction: dict[str, Any] | None, **options: str) -> dict[str, Any]:
    checked = RECEIPTBENCH.check_options(options)
    return RECEIPTBENCH.score_item(gold(), prediction, checked)


# --- scores -------------------------------------------------------------------------------


def test_it_is_registered() -> None:
    assert BENCHMARKS["receiptbench"] is RECEIPTBENCH


def test_one_receipt_by_hand() -> None:
    detail = [gold()["fields"]["detail"][0], {"content": "Tip", "amount": 3, "ifTax": False}]
    result = score(answer(type="bus", std_curr="", tax_number="7", detail=detail))
    fields = result["fields"]
    assert fields["type"]["counts"] == [0, 1, 1, 0]
    assert fields["std_curr"]["counts"] == [0, 0, 1, 0]
    assert fields["tax_number"]["counts"] == [0, 1, 0, 0]
    assert fields["detail"]["counts"] == [1, 1, 1, 0]
    assert fields["place"]["counts"] == [0, 0, 0, 1]
    assert (fields["type"]["gold"], fields["type"]["prediction"]) == ("taxi", "bus")
    assert (result["arithmetic"], result["arithmetic_gold"]) == (False, True)

    scores = RECEIPTBENCH.aggregate([result], OPTIONS)
    # invoice_number, std_total and one line item are correct; type, tax_number and a line item are
    # wrong; type, std_curr and a line item are missed; 13 fields are correctly empty.
    assert scores.scores["overall"] == scores.scores["f1"] == pytest.approx(6 / 12)
    assert scores.scores["precision"] == scores.scores["recall"] == pytest.approx(0.5)
    assert scores.scores["accuracy"] == pytest.approx(16 / 22)
    assert scores.scores["perception"] == pytest.approx(2 / 3)
    assert scores.scores["normalization"] == 1
    assert scores.scores["reasoning"] == 0
    assert scores.scores["structure"] == 0.5
    assert scores.scores["reward"] == pytest.approx((1 + 1 + 0.5 - 0.5 + 13 * 0.3) / 19)
    assert [scores.counts[key] for key in ("tp", "fp", "fn", "tn")] == [3, 3, 3, 13]
    # type, a line item: wrong; std_curr: missed, and so wrong for the rank; tax_number: invented.
    assert scores.scores["overall_strict"] == pytest.approx(6 / (6 + 3 * 2 + 1))
    assert scores.counts["err_hallucination"] == 1
    assert scores.scores["err_reasoning"] == pytest.approx(1 / 4)


def test_every_column_has_a_score() -> None:
    scores = RECEIPTBENCH.aggregate([score(answer())], OPTIONS).scores
    assert set(scores) == RECEIPTBENCH.figures_for(OPTIONS).keys()


def test_a_perfect_submission() -> None:
    scores = RECEIPTBENCH.aggregate([score(answer())], OPTIONS)
    assert [scores.scores[key] for key in PARTS] == [1] * 5
    assert scores.scores["arithmetic"] == 1
    assert scores.subsets["place"]["f1"] is None
    assert scores.subsets["place"]["accuracy"] == 1


def test_a_wrong_value_may_be_a_false_positive_alone() -> None:
    assert score(answer(type="bus"), mismatch="fp")["fields"]["type"]["counts"] == [0, 1, 0, 0]


def test_a_missing_prediction_is_all_missed_or_left_out() -> None:
    zero, skip = score(None), score(None, missing="skip")
    scores = RECEIPTBENCH.aggregate([zero, score(answer())], OPTIONS)
    assert (scores.items, scores.missing) == (2, 1)
    assert scores.scores["recall"] == pytest.approx(0.5)
    assert scores.counts["tn"] == 14  # none for the missing one
    assert zero["reward"] == 0
    left = RECEIPTBENCH.aggregate([skip, score(answer())], SKIP)
    assert (left.items, left.missing, left.scores["recall"]) == (2, 1, 1)
    assert left.counts["left_out"] == 1
    nothing = RECEIPTBENCH.aggregate([skip], SKIP)
    # Only the ranked score counts a receipt that is left out.
    assert nothing.scores.pop("overall_strict") == 0
    assert set(nothing.scores.values()) == {None}


def test_a_response_is_read_like_fields() -> None:
    text = "Here you are:\n```json\n" + repr(answer()["fields"]).replace("'", '"') + "\n```"
    assert "True" in text
    result = score({"id": "r1", "response": text})
    assert result["outcome"] == "read"
    assert result["fields"] == score(answer())["fields"]


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        ("", "no JSON object"),
        ("} {", "no JSON object"),
        ('{"type": NaN}', "NaN"),
        ('{"type": -Infinity}', "Infinity"),
        ('{"std_total": 1e400}', "too large"),
        ('{"std_total": ' + "9" * 5000 + "}", "too many digits"),
        ('{"type": "a", "type": "b"}', "twice"),
        ('{"type": "a"', "no JSON object"),
        ('{"type": "a}', "not valid JSON"),
        ('{"a":' * 100_000 + "}" * 100_000, "nested"),
        ('{"a":' + "[" * DEEPEST + "1" + "]" * DEEPEST + "}", "nested"),
        ('{"detail": [' + "1," * 2000 + "1]}", "items"),
        ('{"' + '\\"' * 900_000 + "}", "not valid JSON"),
    ],
    ids=short_id,
)
def test_unreadable_responses_are_counted(response: str, problem: str) -> None:
    result = score({"id": "r1", "response": response})
    assert result["outcome"] == "unparseable"
    assert problem in result["problem"]
    scores = RECEIPTBENCH.aggregate([result], OPTIONS)
    assert (scores.scores["unparseable"], scores.scores["recall"]) == (1, 0)


@given(st.text() | st.text('{}[]":,TrueFalsNn1\\ \n').map(lambda text: "{" + text + "}"))
def test_reading_a_response_raises_nothing_else(text: str) -> None:
    try:
        assert isinstance(read_fields(text), dict)
    except UnparseableError as error:
        assert str(error)


def test_words_of_python_inside_texts_stay() -> None:
    assert read_fields('{"place": "True \\" None", "type": None}') == {
        "place": 'True " None',
        "type": None,
    }


def test_unknown_fields_and_values_of_a_wrong_kind_are_counted() -> None:
    result = score(answer(type={"is": "taxi"}, colour="red"))
    counts = RECEIPTBENCH.aggregate([result], OPTIONS).counts
    assert (counts["wrong_kind"], counts["unknown_fields"]) == (1, 1)


def test_a_text_beyond_what_is_compared_is_unparseable() -> None:
    fields = {"place": "x" * 10_000}
    result = RECEIPTBENCH.score_item(
        {"id": "r1", "fields": fields},
        {"id": "r1", "fields": {"place": "y" * 5_000_001}},
        OPTIONS,
    )
    assert result["outcome"] == "unparseable"
    assert "not compared" in result["problem"]


# --- views --------------------------------------------------------------------------------


def test_views_by_language_category_and_balance() -> None:
    def item(prediction: dict[str, Any], **about: Any) -> dict[str, Any]:
        return RECEIPTBENCH.score_item(gold(**about), prediction, OPTIONS)

    wrong = {"id": "r1", "fields": {}}
    scores = RECEIPTBENCH.aggregate(
        [
            item(answer(), language="en", category="Hotel", balanced=True),
            item(answer(), language="English", category="hotel"),
            item(wrong, language="fr", category="Fuel", balanced=True),
            item(answer(), language="de"),
        ],
        OPTIONS,
    )
    subsets = scores.subsets
    assert scores.scores["balanced_overall"] == subsets["Category-balanced"]["overall"]
    assert scores.scores["non_english_overall"] == subsets["Non-English"]["overall"]
    assert subsets["language fr"]["overall"] == 0
    assert subsets["Non-English"]["receipts"] == 2
    # 6 of 12 values are correct, nothing is invented.
    assert subsets["Non-English"]["overall"] == pytest.approx(2 * 6 / (2 * 6 + 6))
    assert subsets["category hotel"]["receipts"] == 2
    assert subsets["category taxi"]["receipts"] == 1  # its gold type
    assert subsets["Category-balanced"]["overall"] == pytest.approx(2 / 3)
    # Each of three categories weighs 1: two correct, one missed.
    assert subsets["Categories weighed equally"]["overall"] == pytest.approx(4 / 5)


def test_false_positives_and_error_prone_fields() -> None:
    subsets = RECEIPTBENCH.aggregate(
        [score(answer(type="bus")), score(answer(type="bus", place="UK-London"))], OPTIONS
    ).subsets
    assert subsets["type"]["false_positives"] == 2
    assert (subsets["type"]["error_rank"], subsets["place"]["error_rank"]) == (1, 2)
    assert subsets["place"]["errors_hallucination"] == 1


def embed(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, float(len(text))] for text in texts]


def test_the_weights_are_compared() -> None:
    changed = [{"content": "Fare Trip", "amount": 45, "ifTax": False}]
    subsets = RECEIPTBENCH.aggregate([score(answer(detail=changed))], OPTIONS).subsets
    labels = [label for label in subsets if label.startswith("weights")]
    assert labels == [
        "weights A, lexical",
        "weights B, lexical",
        "weights C",
        "weights D, lexical",
    ]
    assert subsets["weights C"]["structure"] == 0
    assert subsets["weights C"]["overall"] == subsets["overall"]["f1"]

    richer = build_benchmark(Helpers(embed=embed, embedding_name="length"))
    options = richer.check_options({"weights": "D"})
    result = richer.score_item(gold(), answer(detail=changed), options)
    assert list(result["weights"]) == ["A", "B", "C", "D"]
    # Token sort and cosine 1, common subsequence 4 of 9: S = 0.3 + 0.3 * 4/9 + 0.4 = 0.83.
    assert result["fields"]["detail"]["counts"] == [1, 0, 1, 0]
    assert "embedding:length" in richer.signature(options)


def test_amounts_are_read_by_value_or_by_the_published_cleaning() -> None:
    fields = {
        "std_curr": "EUR",
        "orig_total": "1.234",
        "std_total": "1,234.00",
        "detail": [
            {"content": "Room", "amount": "1.313,33"},
            {"content": "Card", "amount": "(79.33)"},
        ],
    }
    said = {**fields, "orig_total": "€ 1.234,00", "std_total": 1234}
    said["detail"] = [
        {"content": "Room", "amount": 1313.33},
        {"content": "Card", "amount": "-79.33"},
    ]
    expected = {
        "value": ([1, 0, 0, 0], [2, 0, 0, 0], True),
        "reference": ([0, 1, 1, 0], [0, 2, 2, 0], False),
    }
    for amounts, (total, detail, arithmetic) in expected.items():
        options = RECEIPTBENCH.check_options({"amounts": amounts})
        result = RECEIPTBENCH.score_item(
            {"id": "r1", "fields": fields}, {"id": "r1", "fields": said}, options
        )
        assert result["fields"]["orig_total"]["counts"] == total
        assert result["fields"]["std_total"]["counts"] == [1, 0, 0, 0]
        assert result["fields"]["detail"]["counts"] == detail
        assert (result["arithmetic"], result["arithmetic_gold"]) == (True, arithmetic)


def test_order_of_receipts_changes_nothing() -> None:
    results = [score(answer()), score(answer(type="bus")), score(None), score(answer(place="x"))]
    assert RECEIPTBENCH.aggregate(results, OPTIONS) == RECEIPTBENCH.aggregate(
        results[::-1], OPTIONS
    )


def test_results_are_plain_json_and_the_benchmark_can_be_sent_to_processes() -> None:
    result = score(answer(type="bus"))
    assert json.loads(json.dumps(result)) == result
    scorer = pickle.loads(pickle.dumps(RECEIPTBENCH.score_item))
    assert scorer(gold(), answer(type="bus"), OPTIONS) == result


# --- options ------------------------------------------------------------------------------


def test_options_and_signature() -> None:
    assert OPTIONS == {
        "weights": "C",
        "amounts": "value",
        "mismatch": "both",
        "missing": "zero",
        "semantic": "levenshtein",
        "embedding": "none",
        "answer": "shown",
    }
    signatures = {
        RECEIPTBENCH.signature(RECEIPTBENCH.check_options(raw))
        for raw in ({}, {"mismatch": "fp"}, {"missing": "skip"}, {"amounts": "reference"})
    }
    assert len(signatures) == 4
    for raw in ({"weights": "A"}, {"weights": "E"}, {"mismatch": "fn"}, {"weight": "C"}):
        with pytest.raises(OptionError, match=r"weight|mismatch"):
            RECEIPTBENCH.check_options(raw)


# --- files --------------------------------------------------------------------------------


def test_gold_and_predictions_from_lines() -> None:
    (line,) = read_gold({**gold(language="fr", balanced=True), "file": "x.jpg"})
    assert isinstance(line, GoldLine)
    assert line.payload == gold(language="fr", balanced=True)
    found = read_predictions(
        answer(), {"id": "r2", "response": "{}"}, {"id": "r3", "response": None}
    )
    assert [line.payload for line in found if isinstance(line, PredictionLine)] == [
        answer(),
        {"id": "r2", "response": "{}"},
        {"id": "r3", "response": ""},
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": 5}, "'id'"),
        ({"fields": None}, "must be an object"),
        ({"fields": {"sort": "x"}}, "no field"),
        ({"fields": {"std_totl": "5"}}, "did you mean std_total?"),
        ({"fields": {"type": ["taxi"]}}, "'type' must be"),
        ({"fields": {"place": [{"x": 1}]}}, "'place' must be"),
        ({"fields": {"detail": ["fare"]}}, "must be an object"),
        ({"fields": {"detail": [{"amount": [1]}]}}, "detail.amount"),
        ({"fields": {"orig_curr": ["$"] * 501}}, "more than 500"),
        ({"fields": {"type": "x\0"}}, "NUL"),
        ({"language": 5}, "language"),
        ({"balanced": "yes"}, "balanced"),
    ],
)
def test_unusable_gold(changes: dict[str, Any], message: str) -> None:
    (fault,) = read_gold({**gold(), **changes})
    assert isinstance(fault, ReadFault)
    assert (fault.file, fault.line) == ("receipts.jsonl", 1)
    assert message in fault.message


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "r1", "fields": {"std_total": NaN}}',
        b'{"id": "r1", "fields": {"std_total": 1e999}}',
        b'{"id": "r1", "fields": {"std_total": ' + b"9" * 5000 + b"}}",
        b'{"id": "r1", "fields": {"type": "a", "type": "b"}}',
        b'{"id": "r1", "fields": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
        b'{"id": "r1", "fields": {"a": ' + b"[" * 50 + b"]" * 50 + b"}}",
        b'{"id": "r1", "fields": {"type": "\xff"}}',
        b'{"id": "r1", "fields": {"type": "a"',
        b'{"id": "r1", "fields": []}',
        b'{"id": "r1"}',
        b'{"id": "r1", "fields": {}, "response": ""}',
        b'{"id": "r1", "response": 5}',
        b"[]",
    ],
)
def test_unusable_lines_are_faults_with_their_line(line: bytes) -> None:
    data = json.dumps(answer()).encode() + b"\n" + line + b"\n"
    good, fault = RECEIPTBENCH.read_predictions(named(data))
    assert isinstance(good, PredictionLine)
    assert isinstance(fault, ReadFault)
    assert str(fault).startswith("receipts.jsonl:2: ")


@given(st.binary(max_size=200))
def test_any_bytes_are_faults_or_lines(data: bytes) -> None:
    for line in (*RECEIPTBENCH.read_predictions(named(data)), *RECEIPTBENCH.read_gold(named(data))):
        assert line.file


def test_one_file_per_image(tmp_path: Path) -> None:
    (tmp_path / "a.jpg.json").write_text(json.dumps(gold()["fields"], indent=1))
    (tmp_path / "b.json").write_text(json.dumps({"response": "{}"}))
    (tmp_path / "c.json").write_text("[1, NaN]")
    (tmp_path / "d.json").write_text('{"fields": {}}')
    (tmp_path / "e.json").write_text("")
    (tmp_path / "f.md").write_text("notes")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as bundle:
        for path in sorted(tmp_path.iterdir()):
            bundle.write(path, path.name)
    packed.name = "receipts.zip"
    for source in (tmp_path, packed):
        found = list(RECEIPTBENCH.read_predictions(source))
        assert [line.payload for line in found if isinstance(line, PredictionLine)] == [
            {"id": "a.jpg", "fields": gold()["fields"]},
            {"id": "b", "response": "{}"},
            {"id": "d", "fields": {}},
        ]
        faults = [line for line in found if isinstance(line, ReadFault)]
        assert [fault.file.rsplit("/", 1)[1] for fault in faults] == ["c.json", "e.json", "f.md"]


def test_gold_from_files_leaves_other_keys_aside(tmp_path: Path) -> None:
    value = {**gold()["fields"], "annotator": 7, "language": "fr"}
    (tmp_path / "r1.json").write_text(json.dumps(value))
    (line,) = RECEIPTBENCH.read_gold(tmp_path)
    assert isinstance(line, GoldLine)
    assert line.payload == gold(language="fr")


def test_a_source_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    (fault,) = RECEIPTBENCH.read_gold(tmp_path / "none.jsonl")
    assert isinstance(fault, ReadFault)


# --- reported rows ------------------------------------------------------------------------


REPORTED = [
    *RECEIPTBENCH.reported,
    *(row for view in RECEIPTBENCH.views_for(OPTIONS) for row in view.reported),
]


def rows(table: int) -> dict[str, ReportedRow]:
    return {row.name: row for row in REPORTED if row.provenance.endswith(f" {table}")}


def test_the_papers_rows() -> None:
    tables = [row.provenance.rsplit(" ", 1)[1] for row in REPORTED]
    assert {table: tables.count(table) for table in dict.fromkeys(tables)} == {
        "3": 20,
        "9": 4,
        "10": 8,
        "11": 4,
        "12": 2,
        "13": 5,
    }
    known = RECEIPTBENCH.figures_for(OPTIONS).keys()
    assert all(row.scores.keys() <= known for row in REPORTED)


def assert_between(found: dict[str, ReportedRow], view: str) -> None:
    assert found
    for row in found.values():
        parts = [row.scores[view + task] for task in TASKS]
        assert min(parts) < row.scores[f"{view}overall"] < max(parts)


def test_only_the_main_table_has_the_figures_of_a_leaderboard() -> None:
    headline = {column.reported or column.key for column in RECEIPTBENCH.columns if column.headline}
    full = {row.provenance for row in REPORTED if headline <= row.scores.keys()}
    assert full == {"ReceiptBench, Table 3"}


def test_overall_lies_between_the_sub_tasks() -> None:
    # A micro average is a weighted mean of the sub-tasks'.
    for table, part in ((3, ""), (9, "balanced_"), (10, "non_english_")):
        assert_between(rows(table), part)
    for row in rows(11).values():
        parts = [row.scores[f"{task}_precision"] for task in TASKS]
        assert min(parts) < row.scores["precision"] < max(parts)


def test_the_weights_of_the_main_table_are_a() -> None:
    main, weighted = rows(3), rows(13)
    assert len(weighted) == 5
    for name, row in weighted.items():
        full = name.replace("(+GRPO)", "(SFT+GRPO)")
        assert row.scores["weights_a"] == main[full].scores["overall"]


def test_the_ranking_is_the_same_under_all_weights() -> None:
    found = rows(13)
    rankings = []
    for column in ("weights_a", "weights_b", "weights_c", "weights_d"):
        by_score = {row.scores[column]: name for name, row in found.items()}
        rankings.append([by_score[score] for score in sorted(by_score, reverse=True)])
    assert rankings == [rankings[0]] * 4


def test_false_positives_fall_by_the_shares_of_the_paper() -> None:
    before, after = (
        {key.removeprefix("fp_"): count for key, count in row.scores.items()}
        for row in rows(12).values()
    )
    changes = {name: round((after[name] / before[name] - 1) * 100, 1) for name in before}
    assert changes == {
        "std_invoice_time": -68.8,
        "invoice_number": -64.3,
        "arrival": -49.1,
        "std_curr": -44.1,
        "seller_address": -21.1,
        "detail": -20.0,
    }


# --- speed --------------------------------------------------------------------------------


def test_the_work_grows_with_the_receipts_and_not_with_the_weights(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = random.Random(1)
    words = "room charge occupancy tax tourism levy breakfast parking fare service".split()

    def fields() -> dict[str, Any]:
        detail = [
            {
                "content": " ".join(chance.choices(words, k=4)),
                "amount": f"{chance.uniform(1, 99):.2f}",
                "ifTax": chance.random() < 0.2,
            }
            for _ in range(chance.randint(1, 30))
        ]
        text = {rule.name: " ".join(chance.choices(words, k=2)) for rule in FIELDS}
        return {**text, "orig_curr": ["$", "USD"], "detail": detail}

    pairs = [({"id": "r", "fields": fields()}, {"id": "r", "fields": fields()}) for _ in range(40)]
    compare = Mock(wraps=cdist)
    monkeypatch.setattr(receipt_lists, "cdist", compare)

    def grade(size: int) -> None:
        compare.reset_mock()
        results = [RECEIPTBENCH.score_item(*pair, OPTIONS) for pair in pairs[:size]]
        RECEIPTBENCH.aggregate(results, OPTIONS)
        # Three similarities of each list, one of each text unless both are the same.
        kinds = Counter(rule.kind for rule in FIELDS)
        assert 0 < compare.call_count <= 3 * size * (kinds["list"] + kinds["semantic"])

    assert growth(grade, 20) <= LINEAR
