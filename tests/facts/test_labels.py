"""Which names can be labels."""

import pytest

from portal.facts import KNOWN_LABELS, LABEL_SETS, check_labels, label_kind, read_tags
from portal.facts.spans import require_labels


def test_the_shipped_label_sets_can_be_used() -> None:
    for labels in LABEL_SETS.values():
        assert check_labels(labels) == []
    assert KNOWN_LABELS[:3] == ("Number", "Date", "Temporal")


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ([], "at least one"),
        (["Monetary Unit"], "cannot be a tag name"),
        (["1st"], "cannot be a tag name"),
        (["Zahl€"], "cannot be a tag name"),
        (["ix:fact"], "cannot be a tag name"),
        (["A" * 65], "cannot be a tag name"),
        (["TABLE"], "HTML element"),
        (["Text"], "HTML element"),
        (["Number", "NUMBER"], "occurs twice"),
    ],
)
def test_check_labels_says_what_is_wrong(labels: list[str], problem: str) -> None:
    assert problem in "; ".join(check_labels(labels))
    with pytest.raises(ValueError, match=problem):
        require_labels(labels)


def test_read_tags_refuses_a_label_that_is_an_element() -> None:
    with pytest.raises(ValueError, match="HTML element"):
        read_tags("<p>x</p>", ["P"])


def test_label_kind_is_that_of_its_values() -> None:
    assert [label_kind(label) for label in LABEL_SETS["v1"]] == ["number", "date"]
    assert [label_kind(label) for label in LABEL_SETS["v2"]] == ["number", "date", None, None, None]
