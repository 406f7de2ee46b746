"""Citations: readers of BibTeX and YAML parse the original values."""

import re
from itertools import accumulate
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from portal.datasets.releases.publishing.croissant import (
    bibtex,
    citation_cff,
    escape,
    read_citation,
)
from portal.datasets.releases.publishing.rows import Citation
from tests.datasets.releases.publishing.examples import TEXTS, release

FULL = Citation(
    ("Doe, Jane", "van der Berg, R.", "Institute of Records and Sons"),
    2023,
    "10.5281/zenodo.1234",
    "https://example.org/a_set?x=1&y=%20",
)


def cff(**fields: Any) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(citation_cff(release(**fields)))
    return content


def test_bibtex_has_every_field() -> None:
    entry = bibtex(release(title="Q&A: 50% of {facts}", dataset="my_set", citation=FULL))
    assert entry == (
        "@misc{my_set-1-0-0,\n"
        "  title = {{Q\\&A: 50\\% of \\textbraceleft{}facts\\textbraceright{}}},\n"
        "  author = {Doe, Jane and van der Berg, R. and {Institute of Records and Sons}},\n"
        "  year = {2023},\n"
        "  version = {1.0.0},\n"
        "  note = {Dataset, version 1.0.0},\n"
        "  doi = {10.5281/zenodo.1234},\n"
        "  url = {https://example.org/a_set?x=1&y=%20}\n"
        "}\n"
    )


def test_bibtex_does_without_what_is_not_known() -> None:
    entry = bibtex(release(page="https://example.org/set/1.0.0"))
    assert "author" not in entry
    assert "doi" not in entry
    assert "year = {2024}" in entry
    assert "url = {https://example.org/set/1.0.0}" in entry


def test_bibtex_keeps_names_with_and_in_one_piece() -> None:
    names = Citation(("Band and Co", "Rock and Roll, Jane", "Sand, Andy"))
    entry = bibtex(release(citation=names))
    assert "author = {{Band and Co} and {Rock and Roll}, Jane and Sand, Andy}" in entry


_COMMANDS = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textbraceleft{}": "{",
    r"\textbraceright{}": "}",
    **{f"\\{character}": character for character in "#$%&_"},
}


def unescaped(text: str) -> str:
    pattern = "|".join(map(re.escape, _COMMANDS))
    return re.sub(pattern, lambda match: _COMMANDS[match[0]], text)


@given(st.text(st.sampled_from("\\{}~^#$%&_ab é𝟙\n"), max_size=30))
def test_escaped_text_reads_as_it_was(text: str) -> None:
    escaped = escape(text)
    assert unescaped(escaped) == " ".join(text.split())
    # Nothing is left that TeX takes for a command of its own, and braces are balanced.
    rest = re.sub("|".join(map(re.escape, _COMMANDS)), "", escaped)
    assert not set(rest) & set("\\{}~^#$%&_\n")


@given(TEXTS, st.lists(TEXTS.filter(str.strip), max_size=3))
def test_bibtex_is_balanced_whatever_the_names(title: str, authors: list[str]) -> None:
    entry = bibtex(release(title=title, citation=read_citation({"authors": authors})))
    # BibTeX counts every brace, even after a backslash.
    depths = list(accumulate((c == "{") - (c == "}") for c in entry))
    assert min(depths) >= 0
    assert depths[-1] == 0
    assert 0 not in depths[entry.index("{") : entry.rindex("}")]


def test_cff_has_every_field() -> None:
    content = cff(
        title="A: set #1",
        description="Line one.\nLine two: - [x]",
        licence="CC-BY-4.0",
        citation=FULL,
        keywords=("fincriticaled", "fincriticaled", "simulated captures"),
    )
    assert content == {
        "cff-version": "1.2.0",
        "message": "If you use this data set, please cite it as below.",
        "type": "dataset",
        "title": "A: set #1",
        "version": "1.0.0",
        "date-released": "2024-05-06",
        "authors": [
            {"family-names": "Doe", "given-names": "Jane"},
            {"family-names": "van der Berg", "given-names": "R."},
            {"name": "Institute of Records and Sons"},
        ],
        "license": "CC-BY-4.0",
        "abstract": "Line one.\nLine two: - [x]",
        "doi": "10.5281/zenodo.1234",
        "url": "https://example.org/a_set?x=1&y=%20",
        "keywords": ["fincriticaled", "simulated captures"],
    }


def test_cff_always_has_the_required_fields() -> None:
    content = cff()
    assert {"cff-version", "message", "title", "authors"} <= content.keys()
    assert content["authors"] == [{"name": "The authors of A set"}]
    assert "license" not in content


def test_cff_puts_a_licence_where_it_fits() -> None:
    assert cff(licence="https://example.org/terms")["license-url"] == "https://example.org/terms"
    content = cff(licence="public record: filings")
    assert "license" not in content
    assert content["message"].endswith("Licence: public record: filings")


def test_cff_names_an_author_once() -> None:
    assert len(cff(citation=Citation(("Doe, Jane", "Doe, Jane")))["authors"]) == 1


@example("\x85", "a\u2028b", "\u2029Doe")
@given(TEXTS, TEXTS, TEXTS.filter(str.strip))
def test_cff_keeps_any_text(title: str, description: str, author: str) -> None:
    content = cff(
        title=title, description=description, citation=read_citation({"authors": [author]})
    )
    assert content["title"] == title
    assert content.get("abstract", "") == description
    assert len(content["authors"]) == 1


def test_a_citation_is_read() -> None:
    value = {"authors": ["Doe,  Jane\n"], "year": 2023, "doi": "10.1000/x", "url": "http://a.b"}
    assert read_citation(value) == Citation(("Doe, Jane",), 2023, "10.1000/x", "http://a.b")
    assert read_citation({}) == read_citation({"authors": [], "year": None, "doi": ""})


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ([], "must be an object"),
        ({"author": ["A"]}, "author: unknown field"),
        ({"authors": "Doe"}, "authors: "),
        ({"authors": [" "]}, "authors: "),
        ({"year": "2024"}, "year: "),
        ({"year": True}, "year: "),
        ({"year": 24}, "year: "),
        ({"doi": "https://doi.org/10.1000/x"}, "doi: "),
        ({"doi": "10.1000/x}"}, "doi: "),
        ({"url": "javascript:alert(1)"}, "url: "),
        ({"url": "https://a.b/}c"}, "url: "),
    ],
)
def test_a_citation_with_a_fault_is_refused_by_field(value: Any, fault: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fault)):
        read_citation(value)
