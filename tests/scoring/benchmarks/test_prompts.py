"""Prompts for models: a used text never changes, and the operator's words are a version apart."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring.benchmarks import BENCHMARKS, item_prompts
from scoring.judge import use_folder
from scoring.metrics.receipts import FIELDS

SHIPPED = {
    "fincriticaled/paper-1/item": "6a1e7158f0b2",
    "fcmbench/paper-1/item": "cc811abfeea9",
    "findoc/paper-1/item": "3527e756dbd9",
    "receiptbench/paper-1/item": "1da3a1d983a1",
    "ccocr/paper-1/doc": "48a4be6ca8e4",
    "ccocr/paper-1/formula": "8e2ce4958811",
    "ccocr/paper-1/grounding": "b562abc2af7f",
    "ccocr/paper-1/kie": "f3c4eb2e6821",
    "ccocr/paper-1/molecular": "3bd2fa96f3f8",
    "ccocr/paper-1/ocr": "b0ea6b528171",
    "ccocr/paper-1/table": "b1b51f39f1ed",
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "receiptbench").mkdir()
    (tmp_path / "receiptbench" / "item.md").write_text("The paper's words.")
    use_folder(tmp_path)
    yield tmp_path
    use_folder(None)


def test_a_text_of_a_version_never_changes() -> None:
    found = {
        f"{key}/{each.version}/{each.name}": each.sha256[:12]
        for key in BENCHMARKS
        for each in item_prompts(key)
    }
    assert found == SHIPPED
    assert all(each.source for key in BENCHMARKS for each in item_prompts(key))


def test_the_receipts_prompt_names_every_field() -> None:
    [prompt] = item_prompts("receiptbench")
    assert [rule.name for rule in FIELDS if f"`{rule.name}`" not in prompt.text] == []


def test_the_operators_words_are_a_version_of_their_own(folder: Path) -> None:
    shipped, published = item_prompts("receiptbench")
    assert (shipped.version, published.version) == ("paper-1", "published")
    assert published.text == "The paper's words."
    assert published.sha256 == hashlib.sha256(b"The paper's words.").hexdigest()
    assert len(item_prompts("findoc")) == 1


def test_an_unknown_benchmark_has_no_prompts() -> None:
    assert item_prompts("none") == ()
