import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.datasets.curation.pii import COVER, find_pii, mask, mask_html
from portal.facts import canonical_text, canonicalise, text_borders

HTML = canonicalise(
    "<p>Net &amp; gross: <b>1&lt;2</b> 𝒞𝒶𝓁𝓁 (212)&nbsp;555-0100</p>"
    "<table><tr><td>a@b.example</td><td>1,200</td></tr></table>"
).html
TEXT = canonical_text(HTML)

stretches = st.lists(
    st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, 20)).map(
        lambda pair: (pair[0], min(pair[0] + pair[1], len(TEXT)))
    ),
    max_size=5,
)


def test_mask_covers_text_and_keeps_white_space() -> None:
    assert (
        mask("Call (212)\u00a0555-0100 now", [(5, 19)]) == f"Call {COVER * 5}\u00a0{COVER * 8} now"
    )


def test_mask_html_covers_entities_and_astral_characters_as_one() -> None:
    start = TEXT.index("&")
    assert "Net █ gross" in mask_html(HTML, [(start, start + 1)])
    start = TEXT.index("<2")
    assert "<b>1██</b>" in mask_html(HTML, [(start, start + 2)])
    start = TEXT.index("𝒞")
    assert "</b> ████ (" in mask_html(HTML, [(start, start + 4)])


def test_mask_html_goes_over_elements() -> None:
    start, end = TEXT.index("0100"), TEXT.index("@") + 1
    assert "555-████</p>" in mask_html(HTML, [(start, end)])
    assert "<td>██b.example</td>" in mask_html(HTML, [(start, end)])


@pytest.mark.parametrize("stretch", [(3, 3), (-1, 2), (0, len(TEXT) + 1), (5, 4)])
def test_stretches_outside_the_text_are_refused(stretch: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=r"range of a text|within the"):
        mask(TEXT, [stretch])
    with pytest.raises(ValueError, match=r"range of a text|within the"):
        mask_html(HTML, [stretch])


@given(stretches)
def test_masking_keeps_every_offset(covered: list[tuple[int, int]]) -> None:
    html = mask_html(HTML, covered)
    text = mask(TEXT, covered)
    assert canonical_text(html) == text
    assert len(text) == len(TEXT)
    assert text_borders(html) == text_borders(HTML)
    assert canonicalise(html).html == html
    assert mask_html(html, covered) == html
    inside = {at for start, end in covered for at in range(start, end)}
    for at, (before, after) in enumerate(zip(TEXT, text, strict=True)):
        is_covered = at in inside and not before.isspace()
        assert after == (COVER if is_covered else before)


def test_nothing_is_found_in_masked_text() -> None:
    matches = find_pii(TEXT, text_borders(HTML))
    assert [match.kind for match in matches] == ["phone", "email"]
    masked = mask_html(HTML, [match[:2] for match in matches])
    assert find_pii(canonical_text(masked), text_borders(masked)) == []
