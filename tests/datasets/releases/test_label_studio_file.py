"""The release's Label Studio file has the settled values, and derives none."""

import json
from typing import Any

import pytest

from portal.datasets.access import ALL_GOLD
from portal.datasets.models import Release
from portal.datasets.releases.files import FILES
from portal.datasets.releases.freezing import gold_of_release
from portal.datasets.releases.gold import GoldItem, Meanings
from portal.datasets.releases.services import freeze_gold, freeze_release
from portal.facts import FactValue, Span
from tests.datasets.factories import LABELS
from tests.factories import empty_dataset, make_document

pytestmark = pytest.mark.django_db

TEXT = "Loss (1,234) and 56 and 7"
SPANS = [Span(6, 11, "Number"), Span(17, 19, "Number"), Span(24, 25, "Number")]
SETTLED: Meanings = {
    (6, 11): FactValue("-1234", "parentheses"),
    (17, 19): FactValue("-56", "minus"),
    (24, 25): FactValue("", ""),
}


def release_of(meanings: Meanings) -> Release:
    dataset = empty_dataset(slug="set")
    document = make_document(dataset, "a", f"<p>{TEXT}</p>")
    items = [GoldItem(document, SPANS[::-1], meanings)]
    return freeze_release(dataset=dataset, version="1.0.0", items=items, labels=LABELS)


def said(release: Release) -> dict[str, dict[str, Any]]:
    """The value and sign in the file, by text."""
    [task] = json.loads(b"".join(FILES["labelstudio.json"].pieces(release, ALL_GOLD)))
    found: dict[str, dict[str, Any]] = {}
    quotes: dict[str, str] = {}
    for result in task["annotations"][0]["result"]:
        if result["type"] == "hypertextlabels":
            quotes[result["id"]] = result["value"]["text"]
            found[result["value"]["text"]] = {}
        else:
            found[quotes[result["id"]]][result["from_name"]] = result["value"]["text"]
    return found


EXPECTED = {
    "1,234": {"value": ["-1234"], "sign": ["parentheses"]},
    "56": {"value": ["-56"], "sign": ["minus"]},
    "7": {"value": [""], "sign": [""]},
}


def test_settled_values_are_in_the_file() -> None:
    assert said(release_of(SETTLED)) == EXPECTED


def test_values_that_no_one_settled_are_not() -> None:
    assert said(release_of({})) == {"1,234": {}, "56": {}, "7": {}}


def test_release_of_a_release_keeps_them_and_its_hash_does_not_change() -> None:
    release = release_of(SETTLED)
    later = freeze_gold(
        dataset=release.dataset, gold=gold_of_release(release=release), version="1.0.1"
    )
    assert said(later) == EXPECTED
    assert later.gold_sha256 == release.gold_sha256
    lines = b"".join(FILES["facts.jsonl"].pieces(later, ALL_GOLD))
    assert b"meaning" not in lines
