"""Real pages and filings: what the rules find there, and what they must not."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from portal.datasets.curation.near_duplicates import near_duplicates, similarity
from portal.datasets.curation.pii import PiiMatch, find_pii, mask_html
from portal.datasets.documents.content_rules import find_content
from portal.facts import (
    Canonical,
    canonical_text,
    canonicalise,
    decode_html,
    read_tags,
    text_borders,
)
from tests.many import each_part, part_of
from tests.shared import FILINGS, REALDATA, needs_filings, needs_realdata

# The number of matches in each part of the pages.
FOUND: dict[str, dict[str, int]] = {
    "some": {"phone": 6, "toll_free": 1, "email": 1},
    "rest": {"phone": 19, "toll_free": 2},
}


@cache
def page(path: Path) -> Canonical:
    return canonicalise(decode_html(path.read_bytes()))


def findings(paths: Iterable[Path]) -> Iterator[tuple[Path, PiiMatch]]:
    for path in sorted(paths):
        canonical = page(path)
        for match in find_pii(canonical.text, text_borders(canonical.html)):
            yield path, match


def counts(found: Iterable[tuple[Path, PiiMatch]]) -> Counter[str]:
    return Counter(match.rule for _, match in found)


@needs_realdata
@each_part
def test_no_tagged_number_or_date_is_taken_for_personal_data(part: str) -> None:
    """No fact of the 132 pages matches: the bound of false positives is 0.

    All matches were checked by hand: phone numbers of registrants, tax preparers and contacts, and
    the email address and toll-free number of an information agent. They are correct, though few
    are personal. Check again if a count changes.
    """
    paths = part_of(sorted((REALDATA / "gold").glob("*.html")), part)
    found = list(findings(REALDATA / "pages" / path.name for path in paths))
    facts = 0
    for path in paths:
        tagged = read_tags(path.read_text(), ("Number", "Date"))
        facts += len(tagged.spans)
        assert tagged.canonical.text == page(REALDATA / "pages" / path.name).text
        matches = [match for place, match in found if place.name == path.name]
        meeting = [
            (path.name, match, span)
            for match in matches
            for span in tagged.spans
            if span.start < match.end and match.start < span.end
        ]
        assert meeting == []
    assert facts > 25 * len(paths)
    assert counts(found) == FOUND[part]


@pytest.mark.slow
@needs_filings
def test_filings_have_no_false_personal_data() -> None:
    """All matches in seven complete filings from 1999 to 2025 were checked; the bound is 0.

    Phone numbers are on covers and, in a fund's prospectus, wherever it names a contact. The
    fund's shareholders wire money to the two account numbers.
    """
    found = list(findings(FILINGS.iterdir()))
    assert counts(found) == {"phone": 7, "toll_free": 25, "email": 1, "routing": 1, "account": 1}
    values = {page(path).text[match.start : match.end] for path, match in found}
    assert {"+31 70 344 3210", "(408) 996-1010", "011001234", "000073-6910"} <= values


@pytest.mark.slow
@needs_filings
def test_masked_filing_is_canonical_and_clean() -> None:
    canonical = page(FILINGS / "Delaware.485BPOS.html")
    matches = find_pii(canonical.text, text_borders(canonical.html))
    masked = mask_html(canonical.html, [match[:2] for match in matches])
    assert matches
    assert canonicalise(masked).html == masked
    assert len(canonical_text(masked)) == len(canonical.text)
    assert find_pii(canonical_text(masked), text_borders(masked)) == []


@needs_realdata
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_duplicates_are_those_of_a_comparison_of_all_pairs(step: int) -> None:
    """Two pages that differ only in the person match; the same tax form of others does not."""
    known = ("0001076809_24_000144_sc_13g_p002", "0001076809_24_000144_sc_13g_p003")
    paths = sorted((REALDATA / "pages").glob("*.html"))
    paths = [path for n, path in enumerate(paths) if n % step == 0 or path.stem in known]
    texts = {path.stem: page(path).text for path in paths}
    search = near_duplicates(texts, texts.__getitem__)
    assert [pair[:2] for pair in search.pairs] == [known]
    alike = {
        pair: similarity(texts[pair[0]], texts[pair[1]], cutoff=0.95)
        for pair in combinations(texts, 2)
    }
    assert {pair for pair, value in alike.items() if value} == {pair[:2] for pair in search.pairs}
    assert search.compared < len(alike) / 100


@needs_realdata
def test_statements_have_all_the_content_and_contracts_do_not() -> None:
    def content(name: str) -> frozenset[str]:
        return find_content(page(REALDATA / "pages" / f"{name}.html").html)

    for statement in ("cl_10q_p003", "mara_10q_p004", "trv_10q_p013"):
        assert content(statement) == {"numeric_table", "footnote", "dated_reference"}
    assert content("0001104659_25_064107_ex_4_1_p021") == frozenset()
    assert content("0001779026_23_000027_ex_33_2_p001") == {"dated_reference"}
    assert content("irs202310629349300511_irs990_p010") >= {"numeric_table"}
