"""The starter kit holds the model's input and nothing that reveals gold."""

import json
from dataclasses import fields
from typing import Any

import pytest

from portal.datasets.releases.publishing.covered import bare_item
from portal.datasets.releases.publishing.formats import gold_lines
from portal.datasets.releases.publishing.kits import KitItem, empty_line_like, kit_name, starter_kit
from scoring.answering.kits import open_kit
from scoring.benchmarks import BENCHMARKS, check_predictions
from tests.datasets.releases.publishing.examples import ITEMS, PNG, members, release

HTML_LINE = empty_line_like('{"id": "x", "html": "<p>"}')


def kit(**changes: Any) -> dict[str, bytes]:
    pieces = starter_kit(release(**changes), lambda: map(bare_item, ITEMS), HTML_LINE)
    return members(b"".join(pieces))


def test_kit_holds_ids_prompts_images_and_an_empty_submission() -> None:
    files = kit(licence="CC-BY-4.0", page="https://example.org/set/1.0.0")
    assert list(files) == [
        "README.md",
        "kit.json",
        "items.jsonl",
        "submission.jsonl",
        "images/001-0.png",
        "images/001-1.png",
    ]
    assert files["images/001-0.png"] == PNG
    assert [json.loads(line) for line in files["items.jsonl"].splitlines()] == [
        {
            "id": "001",
            "split": "dev",
            "prompt": "",
            "images": ["images/001-0.png", "images/001-1.png"],
        },
        {"id": "IC:x.jpg", "split": "dev", "prompt": "What?", "images": []},
        {"id": "no facts", "split": "test", "prompt": "", "images": []},
    ]
    submission = [json.loads(line) for line in files["submission.jsonl"].splitlines()]
    assert submission == [{"id": item.name, "html": ""} for item in ITEMS]
    readme = files["README.md"].decode()
    assert "Licence: CC-BY-4.0" in readme
    assert "https://example.org/set/1.0.0" in readme


def test_kit_names_its_release_for_programs() -> None:
    about = json.loads(kit(page="https://example.org/set/1.0.0")["kit.json"])
    assert about == {
        "format": "factboard-kit-1",
        "dataset": "set",
        "version": "1.0.0",
        "benchmark": "fincriticaled",
        "page": "https://example.org/set/1.0.0",
    }


def test_kit_can_be_run(tmp_path: Any) -> None:
    path = tmp_path / "kit.zip"
    path.write_bytes(b"".join(starter_kit(release(), lambda: map(bare_item, ITEMS), HTML_LINE)))
    with open_kit(path) as found:
        assert (found.benchmark, found.dataset, found.version) == ("fincriticaled", "set", "1.0.0")
        assert [item.id for item in found.items] == [item.name for item in ITEMS]
        assert [image.read() for image in found.items[0].images] == [PNG, PNG]
        assert found.items[1].question == "What?"


def test_kit_is_the_same_every_time() -> None:
    first, again = (
        b"".join(starter_kit(release(), lambda: map(bare_item, ITEMS), HTML_LINE)) for _ in range(2)
    )
    assert first == again


def test_kit_holds_nothing_of_the_gold() -> None:
    files = kit(notes="We corrected 1,200.", description="Of 2025.")
    everything = b"\n".join([*map(str.encode, files), *files.values()])
    golds = [item.gold for item in ITEMS if item.gold]
    hashes = [release().sha256, "5" * 64, *(gold.sha256 for gold in golds)]
    texts = ["1,200", "2025", "<p>", "ü 𝟙", "tax_form", "1.5"]
    for secret in [*hashes, *texts]:
        assert secret.encode() not in everything
    # The texts are looked for as the gold spells them.
    written = b"".join(gold_lines(ITEMS))
    assert all(text.encode() in written for text in texts)


def test_a_kits_item_has_no_field_for_gold() -> None:
    """Any new field must be safe to publish."""
    names = ["name", "split", "prompt", "images", "document"]
    assert [field.name for field in fields(KitItem)] == names


def test_kit_has_a_name() -> None:
    assert kit_name(release()) == "set-1.0.0-starter-kit.zip"


def ccocr_line(name: str) -> dict[str, str]:
    """Its item ids are `subset:id`."""
    subset, _, item = name.partition(":")
    return {"id": item, "subset": subset, "response": ""}


@pytest.mark.parametrize("key", list(BENCHMARKS))
def test_an_empty_submission_is_one_that_the_benchmark_reads(key: str, tmp_path: Any) -> None:
    spec = BENCHMARKS[key]
    names = ["IC15:a.jpg", "IC15:b"] if key == "ccocr" else ["a", "b c"]
    line = ccocr_line if key == "ccocr" else empty_line_like(spec.example)
    items = [KitItem(name, "", "", ()) for name in names]
    files = members(b"".join(starter_kit(release(), lambda: items, line)))
    path = tmp_path / "submission.jsonl"
    path.write_bytes(files["submission.jsonl"])
    check = check_predictions(spec.read_predictions(path), set(names), path.name)
    assert not check.faults
    assert not check.missing
