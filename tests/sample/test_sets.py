"""Sample data of the other four benchmarks: reproducible, consistent, small, readable."""

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from portal.datasets.acceptance.records import raw_schema, read_amount, read_schema, validate_record
from sample.boards import SAMPLES
from sample.generator.content import content
from sample.generator.images import DIGEST_KEY
from sample.generator.sets.accounts import statements
from sample.generator.sets.base import SampleSet
from sample.generator.sets.write import SIMULATED, built, readers_of, sample_sets
from scoring.benchmarks import ReadFault, check_predictions, get_benchmark
from scoring.benchmarks.fcmbench.figures import CONDITIONS
from scoring.benchmarks.fcmbench.scorer import TASKS
from scoring.benchmarks.receiptbench.columns import LANGUAGES
from scoring.metrics.receipts import FIELDS
from tests.many import together

SETS = sample_sets()
EACH_SET = pytest.mark.parametrize("sample", SETS, ids=lambda sample: sample.benchmark)
MEGABYTE = 1_000_000
BY_KEY = {sample.benchmark: sample for sample in SETS}
SCHEMA = read_schema(raw_schema("receipts"))


def gold_ids(sample: SampleSet, split: str) -> dict[str, int]:
    """Returns the item ids from the benchmark's reader, which must not find errors."""
    spec = get_benchmark(sample.benchmark)
    lines = list(spec.read_gold(sample.folder / "gold" / f"{split}.jsonl"))
    faults = [line for line in lines if isinstance(line, ReadFault)]
    assert faults == []
    return {line.id: number for number, line in enumerate(lines) if not isinstance(line, ReadFault)}


def submissions(sample: SampleSet, split: str) -> list[Path]:
    return sorted((sample.folder / "submissions" / split).iterdir())


@EACH_SET
def test_regenerated_text_equals_the_shipped_one(sample: SampleSet) -> None:
    for name, text in built(sample):
        shipped = (sample.folder / name).read_bytes().decode()
        assert shipped == text, f"{name} is stale: run python -m sample.generator"


@EACH_SET
def test_the_folder_holds_only_generated_files(sample: SampleSet) -> None:
    made = {name for name, _ in built(sample)} | {each.path for each in sample.pictures}
    for reader in readers_of(sample):
        made.add(f"cards/{reader.key}.json")
        made |= {f"submissions/{split}/{reader.key}.jsonl" for split in sample.splits}
    found = {
        path.relative_to(sample.folder).as_posix()
        for path in sample.folder.rglob("*")
        if path.is_file()
    }
    assert found == made


@EACH_SET
def test_images_are_of_their_pages(sample: SampleSet) -> None:
    for picture in sample.pictures:
        with Image.open(sample.folder / picture.path) as image:
            note: Any = image.info.get(DIGEST_KEY) or image.info["comment"].decode()
        assert note == picture.digest, f"{picture.path} is stale: make sample"
        assert picture.path.endswith(".jpg") == bool(picture.capture)


@EACH_SET
def test_submissions_are_complete_and_their_cards_name_their_origin(
    sample: SampleSet,
) -> None:
    spec = get_benchmark(sample.benchmark)
    simulated = {reader.key for reader in SIMULATED}
    for split in sample.splits:
        ids = gold_ids(sample, split)
        for path in submissions(sample, split):
            check = check_predictions(spec.read_predictions(path), ids, name=path.name)
            assert (check.faults, check.missing) == ((), ())
            card = json.loads((sample.folder / "cards" / f"{path.stem}.json").read_bytes())
            assert card["sample"] is True
            is_simulated = path.stem in simulated
            assert card["notes"].startswith("Simulated" if is_simulated else "Output of tess")
            assert card["name"].startswith("Simulated") == is_simulated


def test_simulated_readers_differ_in_their_errors_and_are_never_perfect() -> None:
    for sample in SETS:
        if sample.simulate is None:
            continue
        wrong = []
        for reader in SIMULATED:
            answers = [
                sample.simulate(each, reader.errors, reader.key) for each in sample.questions
            ]
            perfect = [sample.simulate(each, 0, reader.key) for each in sample.questions]
            wrong.append(sum(one != other for one, other in zip(answers, perfect, strict=True)))
        assert 0 < wrong[0] < wrong[1]


def test_all_files_are_small() -> None:
    files = [path for sample in SETS for path in sample.folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 1.6 * MEGABYTE


def test_the_loader_and_the_generator_know_the_same_sets() -> None:
    assert {sample.key for sample in SAMPLES} == set(BY_KEY)
    for sample in SAMPLES:
        assert sample.folder == BY_KEY[sample.key].folder
        assert sample.splits == BY_KEY[sample.key].splits


# --- the content of each set --------------------------------------------------------------------


def test_both_splits_of_the_certificates_have_all_tasks() -> None:
    sample = BY_KEY["fcmbench"]
    for split in ("dev", "test"):
        asked = sample.of_split(split)
        assert {question.gold["task"] for question in asked} == set(TASKS)
        assert {question.gold["subtask"][:3] == "en." for question in asked} == {True, False}
    seen = {question.gold["robustness"] for question in sample.questions}
    assert seen >= set(CONDITIONS)


def test_calculations_follow_from_the_printed_rows() -> None:
    answers = {
        question.gold["id"]: json.loads(question.gold["response"])["answer"]
        for question in BY_KEY["fcmbench"].questions
        if question.gold["task"] == "NC"
    }
    # 4,850 + 320 - 1,034; 4,136 twice and 4,391; 12,600 - 1,323 - 188.31.
    assert answers["en-a-payslip-num_cal_001"] == 4136
    assert answers["en-a-statement-num_cal_002"] == 12663
    assert answers["zh-a-payslip-num_cal_001"] == 11088.69


def test_images_cover_the_four_tracks_and_ten_languages() -> None:
    subsets = {(each.gold["track"], each.gold["subset"]) for each in BY_KEY["ccocr"].questions}
    assert Counter(track for track, _ in subsets) == {
        "multi_scene_ocr": 3,
        "multi_lan_ocr": 10,
        "doc_parsing": 5,
        "kie": 2,
    }


@together("receipt", content("receipts")["receipt"])
def test_a_receipt_adds_up_and_is_valid_except_for_its_slips(
    receipt: dict[str, Any],
) -> None:
    path = BY_KEY["receiptbench"].folder / f"source/delivery-{receipt['delivery']}"
    record = json.loads((path / f"{receipt['id']}.json").read_bytes())["fields"]
    assert set(record) == {rule.name for rule in FIELDS}
    slips = receipt.get("slips", {})
    faults = {fault.field for fault in validate_record(record, SCHEMA)}
    # A wrong name has a valid format: only an inspector can find it.
    assert faults == set(slips) - {"arrival"}
    if "std_total" not in slips:
        amounts = [read_amount(item["amount"]) or Decimal(0) for item in record["detail"]]
        assert sum(amounts) == read_amount(record["std_total"])


def test_receipts_cover_all_languages_and_types() -> None:
    receipts = content("receipts")["receipt"]
    assert {each["language"] for each in receipts} >= set(LANGUAGES)
    (types,) = (rule.choices for rule in SCHEMA.fields if rule.name == "type")
    assert {each["type"] for each in receipts} == set(types)
    numbers = "".join(each.get("tax_number", "") for each in receipts)
    assert set(filter(str.isdigit, numbers)) == {"0"}


@pytest.mark.parametrize("entry", content("accounts")["accounts"], ids=lambda each: each["id"])
def test_accounts_balance(entry: dict[str, Any]) -> None:
    sheet = dict(statements(entry)["Balance Sheet"])
    funds = ("Equity share capital", "Long-term borrowings", "Trade payables", "Provisions")
    total = sum(sheet[name] for name in funds) + sheet["Other equity"]
    assert total == sheet["Total assets"] == sheet["Total equity and liabilities"]
    result = [figure for _, figure in statements(entry)["Statement of Profit and Loss"]]
    assert result[-1] == sum(result[:2]) - sum(result[3:7])
