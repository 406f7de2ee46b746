"""Semantic versions: validity and order."""

import itertools

import pytest

from portal.datasets.models.releases import Version

# In ascending order, after the example of semver.org §11.
ASCENDING = [
    "0.9.10",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "1.2.0",
    "1.10.0",
    "2.0.0",
]


def test_versions_compare_by_precedence() -> None:
    for smaller, greater in itertools.combinations(ASCENDING, 2):
        assert Version.parse(smaller) < Version.parse(greater)
        assert not Version.parse(greater) < Version.parse(smaller)


@pytest.mark.parametrize("text", ASCENDING)
def test_version_is_written_as_it_was_read(text: str) -> None:
    assert str(Version.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1.0",
        "v1.0.0",
        "1.0.0.0",
        "01.0.0",
        "1.0.0-",
        "1.0.0-a..b",
        "1.0.0-01",
        "1.0.0+build",
        " 1.0.0",
        "1.0.0\n",
        "1.0.0/../..",
        "٣.0.0",
        "1.0.0-" + "a" * 40,
    ],
)
def test_version_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a semantic version"):
        Version.parse(text)


def test_version_suggests_the_next_patch() -> None:
    assert str(Version.parse("1.4.2").next_patch()) == "1.4.3"
    assert str(Version.parse("1.5.0-rc.1").next_patch()) == "1.5.0"
