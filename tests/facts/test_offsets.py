"""Between UTF-16 code units and code points."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.facts import codepoint_to_utf16, utf16_to_codepoint
from tests.counting import LINEAR, ScannedText, growth

# "a", an astral note, "e" with a combining acute, an astral emoji.
TEXT = "a\U0001d11ee\u0301\U0001f4b6"


def test_offsets_of_a_hand_made_text() -> None:
    assert codepoint_to_utf16(TEXT, [0, 1, 2, 3, 4, 5]) == [0, 1, 3, 4, 5, 7]
    assert utf16_to_codepoint(TEXT, [7, 0, 3, 1, 5, 4, 3]) == [5, 0, 2, 1, 4, 3, 2]
    assert utf16_to_codepoint("", [0]) == [0]


@pytest.mark.parametrize("offset", [-1, 8])
def test_utf16_offsets_outside_the_text_are_refused(offset: int) -> None:
    with pytest.raises(ValueError, match="outside 0 to 7"):
        utf16_to_codepoint(TEXT, [offset])


@pytest.mark.parametrize("offset", [2, 6])
def test_utf16_offsets_inside_a_character_are_refused(offset: int) -> None:
    with pytest.raises(ValueError, match="inside a character"):
        utf16_to_codepoint(TEXT, [offset])


@pytest.mark.parametrize("offset", [-1, 6])
def test_codepoint_offsets_outside_the_text_are_refused(offset: int) -> None:
    with pytest.raises(ValueError, match="outside 0 to 5"):
        codepoint_to_utf16(TEXT, [offset])


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\U0001f4b6\U00010000")))
@settings(max_examples=150, deadline=None)
def test_offsets_agree_with_the_encoder_and_convert_back(text: str) -> None:
    points = list(range(len(text) + 1))
    units = codepoint_to_utf16(text, points)
    assert units == [len(text[:point].encode("utf-16-le")) // 2 for point in points]
    assert utf16_to_codepoint(text, units) == points


def test_offsets_take_linear_time() -> None:
    def convert(size: int) -> None:
        text = ScannedText("x\U0001f4b6" * size)
        utf16_to_codepoint(text, codepoint_to_utf16(text, range(0, len(text), 7)))
        assert text.scanned == 0, "a part of the text is gone over for each offset"

    assert growth(convert, 5_000) <= LINEAR
