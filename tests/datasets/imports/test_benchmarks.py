"""FCMBench, CC-OCR and receipts as published, and that their records can be graded."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from portal.datasets.imports.items import SourceItem, SourceItems
from portal.datasets.imports.layouts import read_ccocr, read_fcmbench, read_receipts
from portal.files.archives import ArchiveFault, ArchiveLimits
from scoring.benchmarks.base import GoldLine
from scoring.benchmarks.ccocr.readers import read_gold as read_ccocr_gold
from scoring.benchmarks.fcmbench.readers import read_gold as read_fcmbench_gold
from scoring.benchmarks.receiptbench.readers import read_gold as read_receipts_gold
from tests.counting import LINEAR, growth
from tests.datasets.imports.reading import LIMITS, items, names, picture, pictures, refusals, zipped

QUESTION: dict[str, Any] = {
    "id": "doc_cla_001_1",
    "images": ["人/卡/001_正.jpeg", "人/本/001_正.jpeg"],
    "question": "<image_001><image_002> What is it?",
    "response": '{"answer": ["card"]}',
    "task": "DTR",
    "subtask": "doc_cla_001",
    "robustness": "Normal Captures",
    "source": "v1",
}
CARDS = {"V1/人/卡/001_正.jpeg": picture(1), "V1/人/本/001_正.jpeg": picture(2)}
INDEX = [
    {"dataset": "CORD", "base_dir": "data/kie/CORD", "group": "kie", "op": "constrained_category"},
    {"dataset": "Table", "base_dir": "data/doc/Table", "group": "doc_parsing", "op": "table"},
    {"dataset": "Korean", "base_dir": "data/ko", "group": "multi_lan_ocr", "op": ""},
]
SUBSETS = {
    "CC-OCR/data/kie/CORD/label.json": json.dumps({"1.jpg": {"total": "9"}}).encode(),
    "CC-OCR/data/kie/CORD/images/1.jpg": picture(1),
    "CC-OCR/data/kie/CORD/qa.jsonl": b'{"url": "images/1.jpg", "prompt": "Read it."}\n',
    "CC-OCR/data/doc/Table/label.json": json.dumps(
        {"1": "<table><tr><td>2</td></tr></table>"}
    ).encode(),
    "CC-OCR/data/doc/Table/images/1.jpg": picture(2),
    "CC-OCR/data/ko/label.json": json.dumps({"1.png": "하나"}).encode(),
    "CC-OCR/data/ko/images/1.png": picture(3),
}


def lines(*values: dict[str, Any]) -> bytes:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values).encode()


def fcmbench(files: dict[str, bytes]) -> SourceItems:
    return read_fcmbench(zipped(files), "fcm.zip", LIMITS)


def ccocr(files: dict[str, bytes], index: Any = INDEX) -> SourceItems:
    packed = {"CC-OCR/index/all.json": json.dumps(index).encode()} | files
    return read_ccocr(zipped(packed), "cc.zip", LIMITS)


def receipts(files: dict[str, bytes]) -> SourceItems:
    return read_receipts(zipped(files), "r.zip", LIMITS)


def graded(read: SourceItems, read_gold: Callable[..., Any]) -> list[str]:
    """The ids that the benchmark's own reader finds in the records."""
    gold = read_gold(io.BytesIO(lines(*(one.record or {} for one in items(read)))))
    return [line.id if isinstance(line, GoldLine) else str(line) for line in gold]


def test_question_has_its_pictures_prompt_and_record() -> None:
    files = {"test.jsonl": lines(QUESTION)} | CARDS
    (one,) = items(fcmbench(files))
    assert (one.where, one.name, one.html) == ("test.jsonl:1", "doc_cla_001_1", None)
    assert (one.benchmark, one.prompt, one.language) == ("fcmbench", QUESTION["question"], "zh")
    assert one.record == {
        key: QUESTION[key] for key in ("id", "task", "subtask", "robustness", "response")
    }
    assert one.meta.metadata == {"images": QUESTION["images"], "source": "v1"}
    assert pictures(fcmbench(files)) == {"doc_cla_001_1": [picture(1), picture(2)]}


def test_question_in_english_says_so() -> None:
    (one,) = items(fcmbench({"a.jsonl": lines(QUESTION | {"subtask": "en.doc_cla_001"})} | CARDS))
    assert one.language == "en"


def test_questions_that_cannot_be_taken_are_refused_one_by_one() -> None:
    data = lines(
        QUESTION | {"images": ["gone.png"]},
        QUESTION | {"images": []},
        QUESTION | {"images": [7]},
        QUESTION | {"images": ["x.png"] * 101},
        QUESTION | {"images": ["../../etc/passwd"]},
        QUESTION | {"id": "a/b"},
        QUESTION | {"id": 7},
        QUESTION | {"question": ["?"]},
        QUESTION,
    )
    found = list(fcmbench({"a.jsonl": b"null\n{\n\n" + data} | CARDS))
    assert refusals(found) == [
        ("a.jsonl:1", "bad_json"),
        ("a.jsonl:2", "bad_json"),
        ("a.jsonl:4", "no_image"),
        ("a.jsonl:5", "no_image"),
        ("a.jsonl:6", "no_image"),
        ("a.jsonl:7", "too_many"),
        ("a.jsonl:8", "no_image"),
        ("a.jsonl:9", "bad_name"),
        ("a.jsonl:10", "bad_name"),
        ("a.jsonl:11", "bad_value"),
    ]
    assert names(found) == [QUESTION["id"]]


def test_line_longer_than_allowed_ends_the_file() -> None:
    source = zipped({"a.jsonl": lines(QUESTION | {"note": "x" * 5_000})} | CARDS)
    with pytest.raises(ArchiveFault, match="larger than"):
        list(read_fcmbench(source, "a.zip", ArchiveLimits(member=1_000)))


def test_questions_grow_with_their_number() -> None:
    def run(size: int) -> None:
        rows = lines(*(QUESTION | {"id": str(n)} for n in range(size)))
        assert len(items(fcmbench({"a.jsonl": rows} | CARDS))) == size

    assert growth(run, 50) <= LINEAR


def test_label_has_its_picture_prompt_and_record() -> None:
    kie, table, korean = items(ccocr(SUBSETS))
    assert (kie.where, kie.name) == ("CC-OCR/data/kie/CORD/label.json:label 1", "CORD__1")
    assert (kie.prompt, table.prompt) == ("Read it.", "")
    assert kie.record == {
        "id": "1",
        "subset": "CORD",
        "track": "kie",
        "op": "kie",
        "answer": {"total": "9"},
    }
    assert (table.record or {})["op"] == "table"
    assert (korean.record or {})["op"] == "ocr"
    assert pictures(ccocr(SUBSETS)) == {
        "CORD__1": [picture(1)],
        "Table__1": [picture(2)],
        "Korean__1": [picture(3)],
    }


def test_rotated_images_of_a_subset_are_items_of_their_own() -> None:
    normal, turned = INDEX[2], INDEX[2] | {"orientation": 90}
    first, second = items(ccocr(SUBSETS, [normal, turned]))
    assert (first.name, second.name) == ("Korean__1", "Korean__1@90")
    assert "orientation" not in (first.record or {})
    assert second.record == (first.record or {}) | {"id": "1@90", "orientation": 90}
    assert graded(ccocr(SUBSETS, [normal, turned]), read_ccocr_gold) == ["Korean:1", "Korean:1@90"]


def test_index_may_lie_at_the_top() -> None:
    files = {name.removeprefix("CC-OCR/"): data for name, data in SUBSETS.items()}
    source = zipped(files | {"index.json": json.dumps(INDEX).encode()})
    assert len(items(read_ccocr(source, "x.zip", LIMITS))) == 3


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ({}, [("CC-OCR/index/all.json", "bad_index")]),
        (["x"], [("CC-OCR/index/all.json:subset 1", "bad_index")]),
        ([INDEX[0] | {"group": 7}], [("CC-OCR/index/all.json:subset 1", "bad_index")]),
        ([INDEX[0] | {"orientation": 45}], [("CC-OCR/index/all.json:subset 1", "bad_index")]),
        ([INDEX[0] | {"base_dir": "../../x"}], [("CC-OCR/index/all.json:subset 1", "no_labels")]),
        ([INDEX[0] | {"base_dir": "/data"}], [("CC-OCR/index/all.json:subset 1", "no_labels")]),
    ],
)
def test_index_that_cannot_be_followed_is_named(index: Any, expected: list[Any]) -> None:
    assert refusals(ccocr(SUBSETS, index)) == expected


def test_labels_that_cannot_be_taken_are_named() -> None:
    files = SUBSETS | {
        "CC-OCR/data/kie/CORD/label.json": b'{"gone.jpg": {}, "1.jpg": {}}',
        "CC-OCR/data/kie/CORD/qa.jsonl": b'{"url": "images/1.jpg"}\n',
        "CC-OCR/data/doc/Table/label.json": b'{\n"1":',
        "CC-OCR/data/ko/label.json": b"[]",
    }
    found = list(ccocr(files))
    assert refusals(found) == [
        ("CC-OCR/data/kie/CORD/qa.jsonl:1", "bad_json"),
        ("CC-OCR/data/kie/CORD/label.json:label 1", "no_image"),
        ("CC-OCR/data/doc/Table/label.json:2", "bad_json"),
        ("CC-OCR/data/ko/label.json:1", "bad_json"),
    ]
    assert names(found) == ["CORD__1"]


@pytest.mark.parametrize("wrap", [True, False])
def test_receipt_is_a_picture_with_its_fields(wrap: bool) -> None:
    fields = {"seller_name": "Café", "std_total": 12.5}
    value = {"fields": fields, "language": "fr"} if wrap else {**fields, "language": "fr"}
    files = {"r/0001.json": lines(value), "r/0001.jpg": picture(7)}
    (one,) = items(receipts(files))
    assert (one.where, one.name, one.language) == ("r/0001.json", "0001", "fr")
    assert one.record == {"id": "0001", "language": "fr", "fields": fields}
    assert pictures(receipts(files)) == {"0001": [picture(7)]}


def test_receipts_may_lie_in_two_folders(tmp_path: Path) -> None:
    for name, data in {"labels/a.json": b"{}", "images/a.png": picture()}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(data)
    assert pictures(read_receipts(tmp_path, "set", LIMITS)) == {"a": [picture()]}


def test_receipt_has_its_numbered_pages_and_no_others() -> None:
    files = {
        "r/a.json": b"{}",
        "r/a.png": picture(1),
        "r/a-2.jpg": picture(2),
        "r/a-3.png": picture(3),
        "r/a-5.png": picture(5),
        "r/b.json": b"{}",
        "r/b.png": picture(6),
        "r/b-2.json": b"{}",
        "r/b-2.png": picture(7),
        "r/c.json": json.dumps({"images": ["front.png", "back.png"], "fields": {}}).encode(),
        "r/front.png": picture(8),
        "r/back.png": picture(9),
    }
    assert pictures(receipts(files)) == {
        "a": [picture(1), picture(2), picture(3)],
        "b": [picture(6)],
        "b-2": [picture(7)],
        "c": [picture(8), picture(9)],
    }
    assert refusals(receipts(files)) == [("r/a-5.png", "image_without_record")]
    records = [one.record for one in receipts(files) if isinstance(one, SourceItem)]
    assert records[3] == {"id": "c", "fields": {}}


def test_receipts_that_cannot_be_taken_are_named() -> None:
    found = list(
        receipts(
            {
                "a.json": b"[]",
                "b.json": b"{}",
                "c.json": b'{"total": 1}',
                "c.png": b"not looked at",
                "d.png": b"alone",
            }
        )
    )
    assert refusals(found) == [
        ("a.json:1", "bad_json"),
        ("b.json", "no_image"),
        ("d.png", "image_without_record"),
    ]
    assert names(found) == ["c"]


@pytest.mark.parametrize(
    ("read", "missing"), [(fcmbench, r"no \.jsonl"), (receipts, r"no \.json"), (ccocr, "no label")]
)
def test_source_of_another_layout_is_unfit(
    read: Callable[[dict[str, bytes]], SourceItems], missing: str
) -> None:
    with pytest.raises(ArchiveFault, match=missing):
        list(read({"a.txt": b"x"}))


@pytest.mark.parametrize("language", ["Chinese", "", 7, "EN", None])
def test_language_in_words_is_no_tag(language: Any) -> None:
    (one,) = items(receipts({"a.json": lines({"language": language}), "a.png": b""}))
    assert one.language == ""


def test_records_are_what_the_benchmarks_read() -> None:
    assert graded(fcmbench({"a.jsonl": lines(QUESTION)} | CARDS), read_fcmbench_gold) == [
        QUESTION["id"]
    ]
    assert graded(ccocr(SUBSETS), read_ccocr_gold) == ["CORD:1", "Table:1", "Korean:1"]
    receipt = {"a.json": lines({"std_total": 3}), "a.png": picture()}
    assert graded(receipts(receipt), read_receipts_gold) == ["a"]


def test_items_are_of_the_kinds_the_contract_names() -> None:
    (one,) = fcmbench({"a.jsonl": lines(QUESTION)} | CARDS)
    assert isinstance(one, SourceItem)
    assert one.faults == ()
    assert one.xbrl is None
