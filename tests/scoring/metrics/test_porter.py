"""The stemmer equals NLTK's default PorterStemmer, which rouge-score uses."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from scoring.metrics.text import stem
from tests.many import each_part, part_of
from tests.shared import REALDATA, needs_realdata

REFERENCE = PorterStemmer()
BEGINNINGS = (
    "st b cr op oper rel sens vis comm y ay sky dy ti fall hop ag fe tr conn troubl plast in "
    "log al anal geo full bound syzyg"
).split()
SUFFIXES = (
    "ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness "
    "fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance "
    "ence er ic able ible ant ement ment ent ion sion tion ou ism ate iti ous ive ize ed ing eed "
    "ied ies sses ss s y e ll le at bl iz tted zzed"
).split()


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("ties", "tie"),
        ("agreed", "agre"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("happy", "happi"),
        ("relational", "relat"),
        ("formalize", "formal"),
        ("adjustment", "adjust"),
        ("controll", "control"),
        ("proceed", "proceed"),
        ("news", "news"),
        ("is", "is"),
        ("2024", "2024"),
    ],
)
def test_stem_of_known_words(word: str, expected: str) -> None:
    assert stem(word) == expected


@each_part
def test_stem_equals_nltk_on_every_suffix(part: str) -> None:
    beginnings, pairs = part_of(BEGINNINGS, part), ["", *SUFFIXES]
    words = {
        beginning + middle + suffix
        for beginning, middle, suffix in itertools.product(beginnings, pairs, SUFFIXES)
    }
    assert len(words) > 1_500 * len(beginnings)
    differing = {word for word in words if stem(word) != REFERENCE.stem(word)}
    assert differing == set()


@given(st.text(alphabet="aeiouybcdlnrstz09", min_size=1, max_size=12))
def test_stem_equals_nltk_on_any_word(word: str) -> None:
    assert stem(word) == REFERENCE.stem(word)


def test_stem_takes_linear_time() -> None:
    assert stem("y" * 200_000).startswith("yy")


@needs_realdata
def test_stem_equals_nltk_on_real_pages() -> None:
    words: set[str] = set()
    for path in (REALDATA / "pages").glob("*.html"):
        words.update(path.read_text(encoding="utf-8").lower().replace("<", " ").split())
    plain = {word for word in words if word.isascii() and word.isalnum()}
    assert len(plain) > 3_000
    assert {word for word in plain if stem(word) != REFERENCE.stem(word)} == set()
