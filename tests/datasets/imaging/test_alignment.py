"""Aligning the canonical text with printed characters."""

import pytest

from portal.datasets.imaging import drawing as alignment
from portal.datasets.imaging.drawing import align, printable_count


def places(text: str, printed: str) -> list[tuple[int, int]]:
    return align(text, list(printed))


def test_equal_texts_are_aligned_one_to_one_over_white_space() -> None:
    assert places("a b\n\xa0c", "abc") == [(0, 0), (2, 1), (5, 2)]


@pytest.mark.parametrize(
    ("text", "printed", "expected"),
    [
        ("Total", "TOTAL", [(n, n) for n in range(5)]),
        # Bullets and numbers of lists are not in the text.
        ("ab", "•ab", [(0, 1), (1, 2)]),
        # Hidden text is not printed.
        ("aXXb", "ab", [(0, 0), (3, 1)]),
        ("a\u2011b", "a-b", [(0, 0), (1, 1), (2, 2)]),
        # Soft hyphens and joiners are not matched.
        ("a\u00adb\u200bc", "abc", [(0, 0), (2, 1), (4, 2)]),
        ("", "abc", []),
        ("abc", "", []),
        # An astral character counts as one.
        ("\U0001d7d9 2", "\U0001d7d92", [(0, 0), (2, 1)]),
    ],
)
def test_differences_are_stepped_over(
    text: str, printed: str, expected: list[tuple[int, int]]
) -> None:
    assert places(text, printed) == expected


def test_moved_stretch_is_found_where_it_was_printed() -> None:
    text = "first column 1,200 second column 3,400 the end of the page"
    printed = "secondcolumn3,400firstcolumn1,200theendofthepage"
    pairs = dict(places(text, printed))
    assert len(pairs) == printable_count(text) == 48
    assert printed[pairs[text.index("1,200")]] == "1"
    assert pairs[text.index("1,200")] == printed.index("1,200")
    assert pairs[text.index("3,400")] == printed.index("3,400")


def test_each_printed_character_is_used_once() -> None:
    pairs = places("12 12 12", "1212")
    assert len(pairs) == 4
    assert len({index for _, index in pairs}) == 4


def test_very_long_texts_are_aligned_at_their_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "_CELLS", 10)
    assert places("abXcd", "abYYcd") == [(0, 0), (1, 1), (3, 4), (4, 5)]


def test_unprintable_characters_are_not_counted() -> None:
    assert printable_count("a \t\xad\u200b\u2028b") == 2
